//! Deletes are allowed for pods that are finished, superfluous or misplaced, and for outdated ones that can be created
//! again.

use crate::facts::memories;
use crate::facts::stage::{PodStage, Rank};
use crate::facts::strategy::Strategy;
use crate::facts::turns::rules;
use crate::fleet::context::{Context, Deletion};
use crate::fleet::leaving::is_withdrawn;
use crate::fleet::{Fleet, NodeCounts};
use crate::kind::ViolationKind;
use crate::rules::creates::leaves;
use crate::rules::opt_in;
use crate::rules::turns;
use crate::violation::Findings;
use daemonset::internal::{NodeIx, Placement};
use daemonset::{Action, NodeView};

/// Checks all deletes, once the fleet has lost the deleted pods.
pub(crate) fn check(context: &Context<'_>, fleet: &Fleet, findings: &mut Findings<'_>) {
    for delete in &context.deletes {
        let target = delete.pod.target.unwrap_or_default();
        if delete.node.as_str() != target {
            let found = delete.node.clone();
            findings.add(delete.action, ViolationKind::WrongNode { found, expected: target.into() });
        }
        if let Some(kind) = wrong_failure(context, delete) {
            findings.add(delete.action, kind);
        }
        if let Some(kind) = must_stay(context, fleet, delete) {
            findings.add(delete.action, kind);
        }
    }
}

/// The node of a deleted pod.
struct Place<'s> {
    node: NodeIx,
    view: &'s NodeView<'s>,
    placement: Placement,
    counts: &'s NodeCounts,
}

fn must_stay(context: &Context<'_>, fleet: &Fleet, delete: &Deletion<'_>) -> Option<ViolationKind> {
    let Some(place) = place(context, fleet, delete) else {
        let waits_for_gone_node = delete.pod.target.is_some() && !delete.pod.bound;
        return (!waits_for_gone_node).then_some(ViolationKind::StrayDeleted);
    };
    match (place.placement, delete.stage) {
        (Placement::Exclude(_), _) | (_, PodStage::Succeeded | PodStage::Terminating | PodStage::Gone) => {
            None
        }
        (Placement::Run | Placement::ContinueOnly(_), PodStage::Failed) => {
            let updated = context.is_of_goal(delete.facts);
            if updated { held_back(context, &place) } else { None }
        }
        (Placement::Run | Placement::ContinueOnly(_), PodStage::Live(rank)) => {
            live_must_stay(context, &place, delete, rank)
        }
    }
}

fn place<'s>(context: &Context<'s>, fleet: &'s Fleet, delete: &Deletion<'_>) -> Option<Place<'s>> {
    let node = delete.facts.node?;
    Some(Place {
        node,
        view: context.snapshot.node(node),
        placement: context.goals.placement(node),
        counts: fleet.nodes.at(node),
    })
}

fn live_must_stay(
    context: &Context<'_>,
    place: &Place<'_>,
    delete: &Deletion<'_>,
    rank: Rank,
) -> Option<ViolationKind> {
    let covered = |same_side: bool| {
        let good = |other: Rank| other <= rank && !(same_side && other.is_outdated() != rank.is_outdated());
        place.counts.staying(good) > 0
    };
    let is_held = context.goals.is_held(place.node);
    let may_be_replaced = || {
        let withdrawn = !is_held && is_withdrawn(context, place.node, delete.pod);
        rank.is_outdated() && (place.placement == Placement::Run || withdrawn)
    };
    // On a node that the rollout has not reached, only such a pod goes.
    let is_kept = is_held && !context.goals.may_come_back_as_stable(place.node, rank.is_ready());
    let surge = matches!(Strategy::in_force(context.snapshot), Strategy::Surge(_));
    let updates = surge || matches!(Strategy::in_force(context.snapshot), Strategy::Replace(_));
    let stays = updates && is_kept && place.placement == Placement::Run;
    if stays && !covered(surge) && !(rank.is_outdated() && has_pod_of_goal(place)) {
        return Some(ViolationKind::NotReleased);
    }
    match Strategy::in_force(context.snapshot) {
        Strategy::OnDelete => (!covered(false)).then_some(ViolationKind::DeletedUnderOnDelete),
        Strategy::Replace(_) if covered(false) => None,
        Strategy::Replace(_) if may_be_replaced() => {
            // A withdrawn toleration has no turn.
            let in_turn =
                (place.placement == Placement::Run).then(|| turns::stays(context, place.node)).flatten();
            let is_awaited = context.lineage.is_awaited(context.snapshot);
            is_awaited
                .then_some(ViolationKind::RevisionAwaited)
                .or_else(|| taken_from_held_node(context, place, rank))
                .or(in_turn)
                .or_else(|| waits(context, place, rank, delete))
        }
        Strategy::Replace(_) => Some(ViolationKind::NeededPodDeleted),
        Strategy::Surge(_) if covered(true) || is_beside_one_that_leaves(context, place, rank) => None,
        Strategy::Surge(_) => surge_must_keep(place, rank, may_be_replaced()),
    }
}

/// A Ready pod stays until the images of its successor are there, and while that does not fit.
fn waits(
    context: &Context<'_>,
    place: &Place<'_>,
    rank: Rank,
    delete: &Deletion<'_>,
) -> Option<ViolationKind> {
    if !rank.is_ready() || place.placement != Placement::Run {
        return None;
    }
    let is_change = matches!(context.actions.get(delete.action), Some(Action::UpdatePodInPlace { .. }));
    // With turns this was asked where the turn began.
    let asks_for_room = !is_change && rules(context.snapshot).is_none();
    opt_in::waits(context, place.node, || asks_for_room)
}

/// Whether an outdated pod is in excess beside a better one that leaves last, and leaves in this list: the node is left by all of them
/// `[surge-leaves-last]`.
fn is_beside_one_that_leaves(context: &Context<'_>, place: &Place<'_>, rank: Rank) -> bool {
    let leaves = |delete: &Deletion<'_>| match delete.stage {
        PodStage::Live(other) => {
            delete.facts.node == Some(place.node)
                && other.is_outdated()
                && other.is_available()
                && other <= rank
                && is_withdrawn(context, place.node, delete.pod)
        }
        PodStage::Failed | PodStage::Succeeded | PodStage::Terminating | PodStage::Gone => false,
    };
    rank.is_outdated() && place.placement != Placement::Run && context.deletes.iter().any(leaves)
}

/// Where a pod of the goal stays, node sync ends the pair.
fn has_pod_of_goal(place: &Place<'_>) -> bool {
    place.counts.staying(|other| !other.is_outdated()) > 0
}

/// Create first: a Ready pod goes only beside an available updated one, a pod that is not Ready only beside an updated
/// one or where another can be created.
fn surge_must_keep(place: &Place<'_>, rank: Rank, may_be_replaced: bool) -> Option<ViolationKind> {
    let successor = place.counts.staying(|other| !other.is_outdated()) > 0;
    let available_successor = place.counts.staying(|other| !other.is_outdated() && other.is_available()) > 0;
    let withdrawn = may_be_replaced && place.placement != Placement::Run;
    let may_go = rank.is_outdated()
        && (available_successor || withdrawn || (!rank.is_ready() && (successor || may_be_replaced)));
    if may_go {
        None
    } else if rank.is_outdated() && rank.is_ready() && (successor || place.placement == Placement::Run) {
        Some(ViolationKind::NoSuccessor)
    } else {
        Some(ViolationKind::NeededPodDeleted)
    }
}

/// A node that leaves, or whose failed pod is held back, gets no new pod, and so keeps its Ready one.
fn taken_from_held_node(context: &Context<'_>, place: &Place<'_>, rank: Rank) -> Option<ViolationKind> {
    let emptied = place.placement == Placement::Run && rank.is_ready() && !place.counts.has_live();
    let leaves = || leaves(context.snapshot, place.view);
    if emptied { held_back(context, place).or_else(leaves) } else { None }
}

fn held_back(context: &Context<'_>, place: &Place<'_>) -> Option<ViolationKind> {
    // Beside another controller the back-off is that one's, and a failure in this memory is of a time before.
    if context.snapshot.spec().policy.external_controller.is_some() {
        return None;
    }
    let held = place.counts.has_failed.then(|| memories::back_off(context.snapshot, place.view.name).0);
    held.flatten().map(|until| ViolationKind::HeldBack { until })
}

/// The back-off grows by the failure in the delete of a failed pod.
fn wrong_failure(context: &Context<'_>, delete: &Deletion<'_>) -> Option<ViolationKind> {
    let placement = delete.facts.node.map(|node| context.goals.placement(node));
    let may_be_there = matches!(placement, Some(Placement::Run | Placement::ContinueOnly(_)));
    let counts = may_be_there && delete.stage == PodStage::Failed && context.is_of_goal(delete.facts);
    let expected =
        counts.then(|| memories::back_off(context.snapshot, delete.pod.target.unwrap_or_default()).1);
    let found = delete.failure;
    (found != expected).then_some(ViolationKind::WrongFailure { expected, found })
}
