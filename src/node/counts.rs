//! Counts each node once, by its placement, its goal and its pods.

use crate::choose::limits::BudgetUse;
use crate::input::placement::Placement;
use crate::input::strategy::Strategy;
use crate::node::candidate::{candidate, has_place};
use crate::node::cause::unavailable_cause;
use crate::node::figures::{Counts, Figure, NodeFigures};
use crate::node::fleet::Fleet;
use crate::node::sync::NodeSync;
use crate::objects::position::NodeIx;
use crate::plan::authority::Authority;

/// The figures of all nodes of the snapshot, and their sums.
pub fn counts(fleet: &Fleet<'_>, node_sync: &NodeSync) -> Counts {
    let nodes = fleet.nodes.positions().map(|node| node_figures(fleet, node_sync, node));
    Counts::new(nodes.collect())
}

fn node_figures(fleet: &Fleet<'_>, node_sync: &NodeSync, node: NodeIx) -> NodeFigures {
    // Two views of the same pods. The budget is about the time after node sync's deletes, the status about now.
    let counts = BudgetUse::new(fleet, node_sync, node);
    let pods = PodsOfNode::new(fleet, node);
    let figures = counts.figures(NodeFigures::default());
    if fleet.placement(node) != Placement::Run {
        let figures = figures
            .with(Figure::Misscheduled, pods.is_present)
            .with(Figure::LeavesLast, node_sync.leaves_last(node));
        return figures.with_cause(unavailable_cause(fleet, node, counts));
    }
    let is_held = fleet.goals.of(node).is_held();
    // Only a driven update has such nodes: otherwise node sync creates the pod, from base where there is one.
    let is_held_without_pod = is_held && !pods.is_there && !Authority::of(fleet.snapshot).syncs_nodes();
    // The flag first: in a settled fleet no node is looked at twice.
    let is_candidate = pods.is_off_goal && candidate(fleet, node_sync, node).is_some();
    let figures = pods
        .figures(figures)
        .with(Figure::ReadyOutdated, pods.is_ready_off_goal && !is_held)
        .with(Figure::Held, is_held)
        .with(Figure::HeldWithoutPod, is_held_without_pod)
        .with(Figure::Candidate, is_candidate)
        .with(Figure::Waits, is_candidate && waits_for_the_limit(fleet, node_sync, node));
    // `unavailable_cause` makes this test again, over all pods of the node: most nodes are spared it.
    let cause = if pods.is_available { None } else { unavailable_cause(fleet, node, counts) };
    figures.with_cause(cause)
}

/// Whether a [candidate] waits for the budget or, under OnDelete, for a person, and for nothing else, unless this plan takes it:
/// as long as node sync deletes other pods of the node, their going comes first.
fn waits_for_the_limit(fleet: &Fleet<'_>, node_sync: &NodeSync, node: NodeIx) -> bool {
    let is_backed_off = node_sync.back_off(node).is_some();
    // The report gives such a node the outcome of the delete, not of the limit.
    let has_excess = fleet.pods_of(node).any(|(index, _)| node_sync.deletes_pod(index));
    let is_free = match fleet.snapshot.spec.strategy {
        Strategy::OnDelete | Strategy::Replace(_) => true,
        Strategy::Surge { .. } => has_place(fleet, node_sync, node),
    };
    is_free && !has_excess && !is_backed_off
}

/// The state of a node, over all of its pods.
struct PodsOfNode {
    /// A pod is there. A terminating one still is.
    is_there: bool,
    /// A pod is there or in flight.
    is_present: bool,
    is_ready: bool,
    is_available: bool,
    is_updated: bool,
    is_outdated: bool,
    /// A live pod is not of the node's goal.
    is_off_goal: bool,
    is_ready_off_goal: bool,
}

impl PodsOfNode {
    fn new(fleet: &Fleet<'_>, node: NodeIx) -> Self {
        // The status counts a create in flight as a pod that is there, so that it does not fall back while the list lags.
        let in_flight = fleet.in_flight(node);
        let mut state = PodsOfNode {
            is_there: false,
            is_present: in_flight.is_some(),
            is_ready: false,
            is_available: false,
            is_updated: in_flight.is_some_and(|create| create.updated),
            is_outdated: in_flight.is_some_and(|create| !create.updated),
            is_off_goal: false,
            is_ready_off_goal: false,
        };
        for (_, pod) in fleet.pods_of(node) {
            (state.is_there, state.is_present) = (true, true);
            // Finished and terminating pods are there, and nothing more `[finished-is-not-updated]`.
            if !pod.is_live() {
                continue;
            }
            state.is_ready |= pod.is_ready();
            state.is_available |= pod.is_available();
            state.is_updated |= pod.is_updated();
            state.is_outdated |= !pod.is_updated();
            state.is_off_goal |= !pod.of_goal;
            state.is_ready_off_goal |= !pod.of_goal && pod.is_ready();
        }
        state
    }

    /// The figures of a target node, beside others.
    fn figures(&self, others: NodeFigures) -> NodeFigures {
        others
            .with(Figure::Desired, true)
            .with(Figure::Scheduled, self.is_present)
            .with(Figure::Ready, self.is_ready)
            .with(Figure::Available, self.is_available)
            // A node is updated when it runs the current template and no older one: `kubectl rollout status` must not report
            // success while an old pod keeps a node up beside a new one that is not available.
            .with(Figure::Updated, self.is_updated && !self.is_outdated)
            .with(Figure::Outdated, self.is_outdated)
            .with(Figure::Done, self.is_available && !self.is_outdated)
    }
}
