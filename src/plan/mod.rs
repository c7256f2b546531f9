//! The steps of a decision, in order, and the actions that come of it: the only place with strings.

pub(crate) mod abandoned_turns;
pub(crate) mod actions;
pub(crate) mod burst;
pub(crate) mod conditions;
pub(crate) mod deleted_by_update;
pub(crate) mod in_place;
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
pub(crate) mod turns;
pub(crate) mod update;

use crate::action::Action;
use crate::bug;
use crate::input::Snapshot;
use actions::actions;
use rest_of_cluster::RestOfCluster;
use steps::decide;

/// Decides the next actions of the controller.
///
/// A total function of the snapshot: no clock, no randomness, no I/O, no panic, and the same actions for any order of
/// the snapshot's lists. The caller executes the actions in order, may run consecutive creates and deletes of pods
/// of one batch at the same time, stops at the first failure and reconciles again. An empty list means that nothing has
/// to be done until something changes. It is empty, too, after a bug of this crate, and where one of the caller's
/// [`Manifests`](crate::manifests::Manifests) must not be created: [`plan()`](crate::plan()) warns of both.
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
    let (actions, has_bug) = bug::watch(|| actions(snapshot, &decide(snapshot, RestOfCluster::none())));
    if has_bug { Vec::new() } else { actions.unwrap_or_default() }
}
