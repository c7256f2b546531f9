//! The way through: each step takes named values and gives one; none reaches back.

pub(crate) mod actions;
pub(crate) mod budget;
mod burst;
pub(crate) mod claim;
pub(crate) mod classify;
pub(crate) mod decision;
mod explain;
pub(crate) mod fleet;
pub(crate) mod history;
pub(crate) mod name_collision;
pub(crate) mod node_sync;
mod pod_template;
mod status;
pub(crate) mod update;
pub(crate) mod warnings;

pub use budget::{Budget, BudgetUse};
pub use classify::Evidence;

use crate::action::Action;
use crate::model::DaemonSetStatus;
use crate::report::Plan;
use crate::snapshot::Snapshot;
use actions::actions;
use burst::Agenda;
use claim::claim;
use decision::{Decision, Sync};
use explain::explain;
use fleet::Fleet;
use history::History;
use status::status;
use update::update;

/// Decides what the controller must do next.
///
/// A total function of the snapshot: no clock, no randomness, no I/O, no panic, and the same actions in whatever order
/// the snapshot's lists are. The caller executes the actions in order, may run consecutive creates and deletes of pods
/// of one batch at the same time, stops at the first failure and reconciles again. An empty list: nothing has to be
/// done until something changes.
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

pub(crate) fn decide<'s>(snapshot: &'s Snapshot<'s>) -> Decision<'s> {
    if snapshot.selector.is_empty() {
        return Decision::SelectingAll;
    }
    if snapshot.daemon_set.metadata.deletion_timestamp.is_some() {
        return Decision::BeingDeleted;
    }
    let claim = claim(snapshot);
    let Ok(history) = History::of(snapshot, &claim) else {
        return Decision::NameCollision(one_more_collision(snapshot));
    };
    let fleet = Fleet::muster(snapshot, &claim, &history);
    let node_sync = node_sync::sync(&fleet);
    let budget = Budget::of(&fleet, &node_sync);
    let update = update(&fleet, &history, &node_sync, &budget);
    let agenda = Agenda::of(&fleet, &node_sync, &update);
    let status = status(&fleet);
    let sync = Sync { claim, history, fleet, node_sync, budget, update, agenda, status };
    Decision::Sync(Box::new(sync))
}

/// The status as it was, but for the count that makes the next hash another one.
fn one_more_collision(snapshot: &Snapshot<'_>) -> DaemonSetStatus {
    let mut status = snapshot.daemon_set.status.clone();
    status.collision_count = Some(status.collision_count.unwrap_or(0).saturating_add(1));
    status
}
