//! The steps of a decision, in order: each takes named values and gives one, and no step changes an earlier value.

pub(crate) mod actions;
pub(crate) mod authority;
pub(crate) mod burst;
pub(crate) mod conditions;
pub(crate) mod in_place;
pub(crate) mod leftovers;
pub(crate) mod manifests;
pub(crate) mod observe;
pub(crate) mod parts;
pub(crate) mod pod_template;
pub(crate) mod progress;
pub(crate) mod pulls;
pub(crate) mod rest_of_cluster;
pub(crate) mod restore;
pub(crate) mod status;
pub(crate) mod steps;
pub(crate) mod taken;
pub(crate) mod turns;
pub(crate) mod update;

use crate::action::Action;
use crate::bug;
use crate::input::Snapshot;
#[cfg(daemonset_mutants)]
use crate::mutants::{Mutant, is_active};
use crate::report::Plan;
use crate::report::explain::explain;
use actions::{Bodies, FromTemplate, actions};
use steps::{Decision, decide};

/// Decides the next actions of the controller.
///
/// A total function of the snapshot: no clock, no randomness, no I/O, no panic, and the same actions for any order of
/// the snapshot's lists. The caller executes the actions in order, may run consecutive creates and deletes of pods
/// of one batch at the same time, stops at the first failure and reconciles again. An empty list means that nothing has
/// to be done until something changes. It is empty, too, after a bug of this crate: [`plan()`] warns of it.
///
/// ```
/// use daemonset::{Recording, reconcile};
///
/// // A rollout over four nodes: the outdated pod of b is not Ready, and those of c and d wait for it.
/// let mut recording = Recording::from_json(&std::fs::read("examples/recording.json")?)?;
/// let actions = reconcile(&recording.snapshot()?);
/// assert_eq!(actions[0].to_string(), "DeletePod agent-b on b (OutdatedNotReady)");
///
/// recording.nodes.reverse();
/// assert_eq!(reconcile(&recording.snapshot()?), actions);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "syncDaemonSet")]
#[must_use = "a plan does nothing by itself: execute its actions"]
pub fn reconcile(snapshot: &Snapshot<'_>) -> Vec<Action> {
    // The template's own manifests are never refused: their error has no value, so that no other arm exists.
    let (Ok(actions), has_bug) = bug::watch(|| actions(snapshot, &decide(snapshot), &FromTemplate));
    if has_bug { Vec::new() } else { actions }
}

/// The same actions as [`reconcile`], with the reasons: a verdict on every node, the budget's figures and warnings.
///
/// ```
/// use daemonset::{Recording, plan, reconcile};
/// use daemonset::report::NodePlacement;
/// use serde_json::{from_value, json};
///
/// let mut recording = Recording::from_json(&std::fs::read("examples/recording.json")?)?;
/// recording.nodes.truncate(1);
/// recording.nodes[0].spec.taints = from_value(json!([{"key": "gpu", "effect": "NoSchedule"}]))?;
/// let snapshot = recording.snapshot()?;
/// let plan = plan(&snapshot);
/// assert_eq!(plan.actions, reconcile(&snapshot));
/// let NodePlacement::ContinueOnly { taint, .. } = &plan.report.nodes[0].placement else { panic!("the taint is not tolerated") };
/// assert_eq!(taint.key, "gpu");
/// assert_eq!(plan.warnings[0].to_string(), "no node should run the pod");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a plan does nothing by itself: execute its actions"]
pub fn plan(snapshot: &Snapshot<'_>) -> Plan {
    let Ok(plan) = plan_of(snapshot, &FromTemplate);
    plan
}

/// The plan with these bodies.
pub(crate) fn plan_of<B: Bodies>(snapshot: &Snapshot<'_>, bodies: &B) -> Result<Plan, B::Error> {
    let (plan, has_bug) = bug::watch(|| plan_decided(snapshot, &decide(snapshot), bodies));
    if has_bug { plan.map(Plan::after_bug) } else { plan }
}

/// The plan of a decision with these bodies.
pub fn plan_decided<B: Bodies>(
    snapshot: &Snapshot<'_>,
    decision: &Decision<'_>,
    bodies: &B,
) -> Result<Plan, B::Error> {
    #[cfg(daemonset_mutants)]
    if is_active(Mutant::BugMet) {
        bug::met();
    }
    let actions = actions(snapshot, decision, bodies)?;
    Ok(explain(snapshot, decision, actions))
}
