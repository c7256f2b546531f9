//! Whether the turn of a node is over.

use crate::input::placement::{Placement, kept_out_only_by_being_down};
use crate::node::candidate::is_exception;
use crate::node::fleet::Fleet;
use crate::position::NodeIx;
use crate::rules::turn::{NodeTurn, are_kept, rules};

/// Ends turns before all that the plan does: a node whose turn is over counts as any other.
pub fn end_turns(fleet: &mut Fleet<'_>) {
    if fleet.turns().is_empty() {
        return;
    }
    let (ended, goes_on) = fleet.turns().iter().copied().partition(|turn| ends(fleet, turn));
    if let Some(rare) = &mut fleet.rare {
        (rare.turns, rare.ended_turns) = (goes_on, ended);
    }
}

/// Whether the turn of a node ends in this plan, before its deletes.
fn ends(fleet: &Fleet<'_>, turn: &NodeTurn<'_>) -> bool {
    let snapshot = fleet.snapshot;
    // The patch that is in flight may be its end, or its beginning: the next snapshot tells.
    if turn.written.is_none() || turn.in_flight_until.is_some() || are_kept(snapshot) {
        return false;
    }
    if rules(&snapshot.spec).is_none() {
        return true;
    }
    let node = turn.node;
    is_done(fleet, turn) || is_no_longer_ours(fleet, node) || is_unreachable_untouched(fleet, turn)
}

/// One pod is there, nothing is left to do with it, and it is available or older than the turn, which then has replaced nothing.
fn is_done(fleet: &Fleet<'_>, turn: &NodeTurn<'_>) -> bool {
    let mut unfinished = fleet.pods_of(turn.node).filter(|(_, pod)| pod.is_unfinished());
    let (Some((_, only)), None) = (unfinished.next(), unfinished.next()) else { return false };
    let goal = fleet.goals.of(turn.node);
    // A held node keeps its pod, except one that is neither the stable revision's nor Ready where there is a stable revision.
    let stays = only.of_goal || (goal.is_held() && !is_exception(fleet, turn.node, only));
    let is_older = || fleet.birth(only).is_some_and(|birth| birth < turn.at);
    // A create that the snapshot does not show may be a second pod.
    only.is_live()
        && fleet.in_flight(turn.node).is_none()
        && stays
        && planted::has_ended(only.is_available() || is_older())
}

/// Something else than being down keeps the pod away, or the node leaves.
fn is_no_longer_ours(fleet: &Fleet<'_>, node: NodeIx) -> bool {
    fleet.lifecycle(node).is_some()
        || match fleet.placement(node) {
            Placement::Run => false,
            Placement::ContinueOnly(_) => {
                !kept_out_only_by_being_down(fleet.tolerations(node), fleet.node_view(node))
            }
            Placement::Exclude(_) => true,
        }
}

/// Its kubelet does not report, and nothing was taken: a dead node must not hold a place. Its turn begins anew when it is back.
fn is_unreachable_untouched(fleet: &Fleet<'_>, turn: &NodeTurn<'_>) -> bool {
    let mut unfinished = fleet.pods_of(turn.node).filter(|(_, pod)| pod.is_unfinished()).peekable();
    let is_untouched = unfinished.peek().is_some() && fleet.in_flight(turn.node).is_none();
    fleet.node_view(turn.node).unreachable
        && is_untouched
        && unfinished.all(|(_, pod)| pod.is_live() && fleet.birth(pod).is_some_and(|birth| birth < turn.at))
}

/// The deliberate errors in this file.
mod planted {
    crate::planted::planted! {
        has_ended(right: bool): TurnEndsEarly => true;
    }
}
