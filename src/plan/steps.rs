//! The decision, before it becomes actions and a report: the values of all steps, and their order.

use crate::choose::choose;
use crate::choose::unsorted::Unsorted;
use crate::input::Snapshot;
use crate::input::spec::Spec;
use crate::node::evaluation::{Evaluations, evaluate};
use crate::node::fleet::Fleet;
use crate::node::sync::{NodeSync, node_sync};
use crate::node::wait::Wait;
use crate::plan::burst::Burst;
use crate::plan::conditions::conditions;
use crate::plan::parts::Parts;
use crate::plan::progress::Progress;
use crate::plan::rest_of_cluster::RestOfCluster;
use crate::plan::status::status;
use crate::plan::update::Update;
use crate::pods::claim::{Claim, claim};
use crate::pods::history::History;
use crate::position::NodeIx;
use crate::rollout::goals::Goals;
use crate::rules::turn;
use crate::rules::turn_end::end_turns;
use daemonset_objects::model::DaemonSetStatus;
use std::cell::OnceCell;

/// The decision about a snapshot.
#[derive(Debug)]
pub enum Decision<'s> {
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
pub struct Steps<'s> {
    /// Of the nodes that the fleet lacks.
    pub rest: &'s RestOfCluster<'s>,
    pub claim: Claim,
    pub history: History<'s>,
    pub fleet: Fleet<'s>,
    pub node_sync: NodeSync,
    pub evaluations: Evaluations,
    pub update: Update,
    pub burst: Burst<'s>,
    pub status: DaemonSetStatus,
    /// See [`by_name`](Self::by_name).
    by_name: OnceCell<Vec<NodeIx>>,
}

impl Steps<'_> {
    /// The nodes by name. The first question sorts them: a decision by itself does not need the order.
    pub fn by_name(&self) -> &[NodeIx] {
        self.by_name.get_or_init(|| {
            let mut nodes: Vec<NodeIx> = self.fleet.nodes.positions().collect();
            nodes.sort_unstable_by(|a, b| self.fleet.snapshot.index.by_name(*a, *b));
            nodes
        })
    }

    /// The thing that the candidate of a node waits for, if that is no limit.
    pub fn wait_of_candidate(&self, node: NodeIx) -> Option<Wait> {
        let wait = self.evaluations.nodes.at(node).wait().cloned();
        wait.or_else(|| self.is_without_room(node).then_some(Wait::Room))
    }

    /// Whether a node in turn has lost its room.
    pub fn is_without_room(&self, node: NodeIx) -> bool {
        self.update.choice.without_room.binary_search(&node).is_ok()
    }
}

/// The decision on the nodes of a snapshot, beside the rest of the cluster.
pub fn decide<'s>(snapshot: &'s Snapshot<'s>, rest: &'s RestOfCluster<'s>) -> Decision<'s> {
    let Head { claim, history, fleet } = match Head::new(snapshot, rest) {
        Ok(head) => head,
        Err(decision) => return *decision,
    };
    let node_sync = node_sync(&fleet);
    let nodes = evaluate(&fleet, &history, &node_sync);
    let (evaluations, choice) = match &rest.chosen {
        Some((sums, choice)) => (Evaluations { nodes: nodes.into(), sums: (*sums).clone() }, choice.clone()),
        None => {
            let evaluations = Evaluations::new(nodes);
            let Spec { strategy, policy, .. } = &*snapshot.spec;
            let mut candidates = Unsorted::new(&fleet, &history, &node_sync, &evaluations);
            let takes_turns = turn::rules(&snapshot.spec).is_some();
            let choice = choose(&mut candidates, *strategy, policy.unready, takes_turns, &evaluations.sums);
            (evaluations, choice)
        }
    };
    let update = Update::new((&fleet, &history), (&node_sync, &evaluations), choice, rest);
    // The cap is over the deletes above as well.
    let parts =
        Parts { fleet: &fleet, history: &history, node_sync: &node_sync, evaluations: &evaluations, rest };
    let burst = Burst::new(&parts, &update);
    // Others may write conditions where this controller does not.
    let conditions = if snapshot.spec.policy.conditions {
        let progress = Progress::new(&fleet, &history, &evaluations.sums, &update.choice);
        conditions(&progress, &snapshot.spec.daemon_set.status.conditions, snapshot.now)
    } else {
        snapshot.spec.daemon_set.status.conditions.clone()
    };
    let status = status(&snapshot.spec.daemon_set, &evaluations.sums, conditions);
    let by_name = OnceCell::new();
    let steps = Steps { rest, claim, history, fleet, node_sync, evaluations, update, burst, status, by_name };
    Decision::Synced(Box::new(steps))
}

/// The first steps: they look at each node by itself, except for the goals of a rollout.
#[derive(Debug)]
struct Head<'s> {
    claim: Claim,
    history: History<'s>,
    fleet: Fleet<'s>,
}

impl<'s> Head<'s> {
    /// The fleet on the way to its goals; the decision where it ends early.
    fn new(snapshot: &'s Snapshot<'s>, rest: &'s RestOfCluster<'s>) -> Result<Self, Box<Decision<'s>>> {
        if let Some(decision) = ends_at_once(&snapshot.spec) {
            return Err(Box::new(decision));
        }
        // The history is of owned revisions, and a pod is classified by the history.
        let claim = claim(snapshot);
        let Ok(history) = History::new(snapshot, &claim.revisions) else {
            return Err(Box::new(Decision::NameCollision(one_more_collision(snapshot))));
        };
        let fleet = Fleet::build(snapshot, &claim, &history, &rest.hashes);
        fleet.set_image_changes(rest.image_changes.as_ref());
        // The goals depend on where the current revision runs, so that the fleet is built for that one first.
        let goals = Goals::new(&fleet, &history, rest.rollout.as_ref());
        let mut fleet = fleet.towards(goals);
        end_turns(&mut fleet);
        Ok(Head { fleet, claim, history })
    }
}

/// The decision on a DaemonSet for which nothing is done, whatever its nodes and pods are.
pub fn ends_at_once<'s>(spec: &Spec<'_>) -> Option<Decision<'s>> {
    // Before the deletion, as upstream: the warning is due for a DaemonSet that is being deleted, too.
    if spec.selector.is_empty() {
        return Some(Decision::SelectingAll);
    }
    spec.daemon_set.metadata.deletion_timestamp.map(|_| Decision::BeingDeleted)
}

/// The fleet with the goals of its nodes; `None` where a plan ends early.
pub(crate) fn fleet_towards_goal<'s>(
    snapshot: &'s Snapshot<'s>,
    rest: &'s RestOfCluster<'s>,
) -> Option<Fleet<'s>> {
    Head::new(snapshot, rest).ok().map(|head| head.fleet)
}

/// The same status with a collision count that gives the next revision another hash.
fn one_more_collision(snapshot: &Snapshot<'_>) -> DaemonSetStatus {
    let mut status = snapshot.spec.daemon_set.status.clone();
    status.collision_count = Some(status.collision_count.unwrap_or(0).saturating_add(1));
    status
}
