//! The decision, before it becomes actions and a report: the values of all steps, and their order.

use crate::conditions::conditions;
use crate::model::DaemonSetStatus;
use crate::reconcile::budget::Budget;
use crate::reconcile::burst::Burst;
use crate::reconcile::claim::{Claim, claim};
use crate::reconcile::counts::counts;
use crate::reconcile::figures::Counts;
use crate::reconcile::fleet::Fleet;
use crate::reconcile::goal::Goal;
use crate::reconcile::history::History;
use crate::reconcile::leave_last::leave_last;
use crate::reconcile::node_sync::{NodeSync, node_sync};
use crate::reconcile::outside::Outside;
use crate::reconcile::progress::Progress;
use crate::reconcile::status::status;
use crate::reconcile::update::{Update, update};
use crate::snapshot::Snapshot;
use crate::snapshot::position::NodeIx;
use crate::snapshot::spec::Spec;
use std::cell::OnceCell;

/// The decision about a snapshot.
#[derive(Debug)]
pub(crate) enum Decision<'s> {
    /// The selector is empty, and would select every pod of the namespace.
    SelectingAll,
    /// The DaemonSet is being deleted: its pods are the garbage collector's.
    BeingDeleted,
    /// The new revision's name is taken: the next pass tries another one, with this status.
    NameCollision(DaemonSetStatus),
    /// The usual case.
    Synced(Box<Steps<'s>>),
}

/// The values of all steps, in the order of the steps.
#[derive(Debug)]
pub(crate) struct Steps<'s> {
    pub(crate) claim: Claim,
    pub(crate) history: History<'s>,
    pub(crate) fleet: Fleet<'s>,
    pub(crate) node_sync: NodeSync,
    pub(crate) counts: Counts,
    pub(crate) budget: Budget,
    pub(crate) update: Update,
    pub(crate) burst: Burst,
    pub(crate) status: DaemonSetStatus,
    /// See [`by_name`](Self::by_name).
    by_name: OnceCell<Vec<NodeIx>>,
}

impl Steps<'_> {
    /// The nodes by name. The first question sorts them: a decision by itself does not need the order.
    pub(crate) fn by_name(&self) -> &[NodeIx] {
        self.by_name.get_or_init(|| {
            let mut nodes: Vec<NodeIx> = self.fleet.nodes.positions().collect();
            nodes.sort_unstable_by(|a, b| self.fleet.snapshot.index.by_name(*a, *b));
            nodes
        })
    }
}

/// The decision on every node of the cluster.
pub(crate) fn decide<'s>(snapshot: &'s Snapshot<'s>) -> Decision<'s> {
    decide_beside(snapshot, Outside::none())
}

/// The decision on the nodes of the snapshot, beside others.
pub(crate) fn decide_beside<'s>(snapshot: &'s Snapshot<'s>, outside: &'s Outside<'s>) -> Decision<'s> {
    if let Some(decision) = ends_at_once(&snapshot.spec) {
        return decision;
    }
    let claim = claim(snapshot);
    let Ok(history) = History::new(snapshot, &claim.revisions) else {
        return Decision::NameCollision(one_more_collision(snapshot));
    };
    let fleet = Fleet::build(snapshot, outside, &claim, &history);
    let goal = Goal::new(&fleet, &history);
    let fleet = fleet.towards(goal);
    let node_sync = node_sync(&fleet);
    let counts = counts(&fleet, &node_sync);
    let node_sync = leave_last(node_sync, &fleet, &counts);
    let budget = Budget::new(&counts.sums, snapshot.spec.strategy);
    let update = update(&fleet, &history, &node_sync, &counts, &budget);
    let burst = Burst::new(&fleet, &node_sync, &update);
    let conditions = if snapshot.spec.policy.conditions {
        let progress = Progress::new(&fleet, &history, &counts, &budget, &update);
        conditions(&progress, &snapshot.spec.daemon_set.status.conditions, snapshot.now)
    } else {
        snapshot.spec.daemon_set.status.conditions.clone()
    };
    let status = status(&snapshot.spec.daemon_set, &counts.sums, conditions);
    let by_name = OnceCell::new();
    let steps = Steps { claim, history, fleet, node_sync, counts, budget, update, burst, status, by_name };
    Decision::Synced(Box::new(steps))
}

/// The decision on a DaemonSet for which nothing is done, whatever its nodes and pods are.
pub(crate) fn ends_at_once<'s>(spec: &Spec<'_>) -> Option<Decision<'s>> {
    if spec.selector.is_empty() {
        return Some(Decision::SelectingAll);
    }
    spec.daemon_set.metadata.deletion_timestamp.map(|_| Decision::BeingDeleted)
}

/// The fleet with the goals of its nodes; `None` where a plan ends early.
pub(crate) fn fleet_towards_goal<'s>(
    snapshot: &'s Snapshot<'s>,
    outside: &'s Outside<'s>,
) -> Option<Fleet<'s>> {
    if ends_at_once(&snapshot.spec).is_some() {
        return None;
    }
    let claim = claim(snapshot);
    let history = History::new(snapshot, &claim.revisions).ok()?;
    let fleet = Fleet::build(snapshot, outside, &claim, &history);
    let goal = Goal::new(&fleet, &history);
    Some(fleet.towards(goal))
}

/// The same status with a collision count that gives the next revision another hash.
fn one_more_collision(snapshot: &Snapshot<'_>) -> DaemonSetStatus {
    let mut status = snapshot.spec.daemon_set.status.clone();
    status.collision_count = Some(status.collision_count.unwrap_or(0).saturating_add(1));
    status
}
