//! The steps of a decision, in order: each takes named values and gives one, and no step changes an earlier value.

pub(crate) mod actions;
pub(crate) mod budget;
mod burst;
pub(crate) mod claim;
pub(crate) mod classify;
mod explain;
pub(crate) mod fleet;
pub(crate) mod history;
pub(crate) mod node_sync;
mod pod_template;
mod status;
pub(crate) mod steps;
pub(crate) mod update;
pub(crate) mod warnings;

pub use budget::{Budget, BudgetUse};
pub use classify::Evidence;

use crate::action::Action;
use crate::report::Plan;
use crate::snapshot::Snapshot;
use actions::actions;
use explain::explain;
use steps::decide;

/// Decides the next actions of the controller.
///
/// A total function of the snapshot: no clock, no randomness, no I/O, no panic, and the same actions for any order of
/// the snapshot's lists. The caller executes the actions in order, may run consecutive creates and deletes of pods
/// of one batch at the same time, stops at the first failure and reconciles again. An empty list means that nothing has
/// to be done until something changes.
#[doc(alias = "syncDaemonSet")]
#[must_use = "a plan does nothing by itself: execute its actions"]
pub fn reconcile(snapshot: &Snapshot<'_>) -> Vec<Action> {
    actions(snapshot, &decide(snapshot))
}

/// The same actions as [`reconcile`], with the reasons: a verdict on every node, the budget's figures and warnings.
#[must_use = "a plan does nothing by itself: execute its actions"]
pub fn plan(snapshot: &Snapshot<'_>) -> Plan {
    let decision = decide(snapshot);
    let actions = actions(snapshot, &decision);
    explain(snapshot, &decision, actions)
}
