//! Target nodes without a Ready pod that count against no limit: no update is the cause, and the policy excuses them.

use crate::input::DownNodesPolicy;
use crate::node::figures::{Figure, NodeFigures};
use crate::node::fleet::{Fleet, PodStage};
use crate::position::NodeIx;
use jiff::Timestamp;

/// The excuse of a target node that has no Ready pod: the figures `DownBefore` and `Excused`.
pub(crate) fn excuse(fleet: &Fleet<'_>, node: NodeIx) -> NodeFigures {
    let view = fleet.node_view(node);
    let is_down = view.ready == Some(false);
    // Unknown instants excuse nobody.
    let down_before =
        is_down && view.ready_since.is_some_and(|since| is_before_the_update(fleet, node, since));
    let excuses = match fleet.snapshot.spec.policy.down_nodes {
        // A node that leaves and is down is on its way out: nothing of it is waited for.
        DownNodesPolicy::Count => fleet.lifecycle(node).is_some(),
        DownNodesPolicy::ExcuseIfDownBefore => true,
    };
    NodeFigures::default().with(Figure::DownBefore, down_before).with(Figure::Excused, down_before && excuses)
}

/// Whether the node went down, at `since`, before anything of this update reached it.
///
/// An updated pod that is older may have caused it, and so may an earlier delete. A node that has updated pods only, or no pods,
/// has been reached at some time: at the earliest when the revision was created, or when the memory says.
fn is_before_the_update(fleet: &Fleet<'_>, node: NodeIx, since: Timestamp) -> bool {
    // In turn it may be drained, or its pod may be gone: the turn is the cause, perhaps.
    if fleet.turn(node).is_some_and(|turn| turn.at < since) {
        return false;
    }
    // It went down because its pod was deleted, perhaps, by this update or by one before it.
    if fleet.deleted_by_update_at(node).is_some_and(|at| at < since) {
        return false;
    }
    let mut has_outdated = false;
    for (_, pod) in fleet.pods_of(node) {
        let reached_at = match pod.stage {
            // An updated pod reached the node when it was created, a deletion when it was asked for. Other pods tell nothing.
            PodStage::Live if pod.of_goal => fleet.birth(pod),
            PodStage::Terminating => fleet.deletion_asked_at(pod),
            PodStage::Live | PodStage::Failed | PodStage::Succeeded | PodStage::Gone => None,
        };
        if reached_at.is_some_and(|at| at < since) {
            return false;
        }
        has_outdated |= !pod.of_goal;
    }
    if let Some(create) = fleet.in_flight(node) {
        if create.of_goal && create.at < since {
            return false;
        }
        has_outdated |= !create.of_goal;
    }
    // An outdated pod is the proof that no update had reached the node before it went down.
    has_outdated
        || fleet.revision_created_at.is_none_or(|at| since <= at)
        || fleet.deleted_by_update_at(node).is_some_and(|at| since <= at)
}
