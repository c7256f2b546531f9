//! Counts each node once, by its placement, its goal and its pods.

use crate::choose::limits::BudgetUse;
use crate::input::placement::Placement;
use crate::input::strategy::Strategy;
use crate::node::candidate::{candidate, has_place};
use crate::node::cause::unavailable_cause;
use crate::node::figures::{Addend, Counts, Figure, Figures};
use crate::node::fleet::Fleet;
use crate::node::sync::NodeSync;
use crate::objects::position::NodeIx;
use crate::plan::authority::Authority;

/// The figures of all nodes of the snapshot, and their sums.
pub fn counts(fleet: &Fleet<'_>, node_sync: &NodeSync) -> Counts {
    let addends = fleet.nodes.positions().map(|node| addend(fleet, node_sync, node));
    Counts::new(addends.collect())
}

fn addend(fleet: &Fleet<'_>, node_sync: &NodeSync, node: NodeIx) -> Addend {
    let counts = BudgetUse::new(fleet, node_sync, node);
    let of_pods = OfPods::new(fleet, node);
    let figures = counts.figures(Figures::default());
    if fleet.placement(node) != Placement::Run {
        let figures = figures
            .with(Figure::Misscheduled, of_pods.is_present)
            .with(Figure::LeavesLast, node_sync.leaves_last(node));
        return Addend { figures, cause: unavailable_cause(fleet, node, counts) };
    }
    let is_held = fleet.goals.of(node).is_held();
    // The other controller gives the node a pod, of the new version.
    let is_lost_to_the_other = is_held && !of_pods.is_there && !Authority::of(fleet.snapshot).syncs_nodes();
    let is_candidate = of_pods.is_off_goal && candidate(fleet, node_sync, node).is_some();
    let figures = of_pods
        .figures(figures)
        .with(Figure::ReadyOutdated, of_pods.is_ready_off_goal && !is_held)
        .with(Figure::NotReached, is_held)
        .with(Figure::HeldWithoutPod, is_lost_to_the_other)
        .with(Figure::Candidate, is_candidate)
        .with(Figure::Waits, is_candidate && waits_for_the_limit(fleet, node_sync, node));
    let cause = if of_pods.is_available { None } else { unavailable_cause(fleet, node, counts) };
    Addend { figures, cause }
}

/// Whether a [candidate] waits for the budget or, under OnDelete, for a person, and for nothing else, unless this plan takes it:
/// as long as node sync deletes other pods of the node, their going comes first.
fn waits_for_the_limit(fleet: &Fleet<'_>, node_sync: &NodeSync, node: NodeIx) -> bool {
    let is_held_back = node_sync.held(node).is_some();
    let has_excess = fleet.pods_of(node).any(|(index, _)| node_sync.deletes_pod(index));
    let is_free = match fleet.snapshot.spec.strategy {
        Strategy::OnDelete | Strategy::Replace(_) => true,
        Strategy::Surge { .. } => has_place(fleet, node_sync, node),
    };
    is_free && !has_excess && !is_held_back
}

/// The state of a node, over all of its pods.
struct OfPods {
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

impl OfPods {
    fn new(fleet: &Fleet<'_>, node: NodeIx) -> Self {
        let in_flight = fleet.in_flight(node);
        let mut state = OfPods {
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
            // [finished-is-not-updated]
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
    fn figures(&self, others: Figures) -> Figures {
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
