//! Whether a pod may go: finished, superfluous, misplaced, or outdated where it can be created again.

use super::docket::{Deletion, Docket};
use super::fleet::{Fleet, Station};
use super::kind::ViolationKind;
use super::life::{Grade, Life};
use super::memories;
use super::violation::Findings;
use crate::kubernetes::tolerations::tolerated;
use crate::snapshot::placement::Placement;
use crate::snapshot::strategy::Strategy;
use crate::view::{NodeView, TaintView};

/// All deletes, once the fleet has lost what they delete.
pub(super) fn check(docket: &Docket<'_>, fleet: &Fleet, findings: &mut Findings<'_>) {
    for delete in &docket.deletes {
        let target = delete.pod.target.unwrap_or_default();
        if delete.node.as_str() != target {
            let found = delete.node.clone();
            findings.add(delete.action, ViolationKind::WrongNode { found, expected: target.into() });
        }
        if let Some(kind) = wrong_failure(docket, delete) {
            findings.add(delete.action, kind);
        }
        if let Some(kind) = must_stay(docket, fleet, delete) {
            findings.add(delete.action, kind);
        }
    }
}

/// A node as the rules see it.
struct Place<'s> {
    view: &'s NodeView<'s>,
    placement: Placement,
    station: &'s Station,
}

fn must_stay(docket: &Docket<'_>, fleet: &Fleet, delete: &Deletion<'_>) -> Option<ViolationKind> {
    let Some(place) = place(docket, fleet, delete) else {
        let waits_for_gone_node = delete.pod.target.is_some() && !delete.pod.bound;
        return (!waits_for_gone_node).then_some(ViolationKind::StrayDeleted);
    };
    match (place.placement, delete.life) {
        (Placement::Exclude(_), _) | (_, Life::Succeeded | Life::Leaving | Life::Gone) => None,
        (Placement::Run | Placement::ContinueOnly(_), Life::Failed) => {
            let updated = docket.lineage.is_updated(delete.facts);
            if updated { held_back(docket, &place) } else { None }
        }
        (Placement::Run | Placement::ContinueOnly(_), Life::Live(grade)) => {
            live_must_stay(docket, &place, delete, grade)
        }
    }
}

fn place<'s>(docket: &Docket<'s>, fleet: &'s Fleet, delete: &Deletion<'_>) -> Option<Place<'s>> {
    let node = delete.facts.node?;
    Some(Place {
        view: docket.snapshot.node(node),
        placement: docket.snapshot.placement(node),
        station: fleet.stations.at(node),
    })
}

fn live_must_stay(
    docket: &Docket<'_>,
    place: &Place<'_>,
    delete: &Deletion<'_>,
    grade: Grade,
) -> Option<ViolationKind> {
    let covered = |same_side: bool| {
        let good =
            |other: usize| other <= grade.position() && !(same_side && other % 2 != grade.position() % 2);
        place.station.staying(good) > 0
    };
    let may_be_replaced = || {
        let withdrawn = is_withdrawn(docket, place.view, delete);
        grade.is_outdated() && (place.placement == Placement::Run || withdrawn)
    };
    match docket.snapshot.strategy {
        Strategy::OnDelete => (!covered(false)).then_some(ViolationKind::DeletedUnderOnDelete),
        Strategy::Replace(_) if covered(false) => None,
        Strategy::Replace(_) if may_be_replaced() => taken_from_held_node(docket, place, grade),
        Strategy::Replace(_) => Some(ViolationKind::NeededPodDeleted),
        Strategy::Surge { .. } if covered(true) => None,
        Strategy::Surge { .. } => surge_must_keep(place, grade, may_be_replaced()),
    }
}

/// Create first: what is Ready goes only beside an available updated pod, what is not Ready only beside an updated one
/// or where another can be created.
fn surge_must_keep(place: &Place<'_>, grade: Grade, may_be_replaced: bool) -> Option<ViolationKind> {
    let successor = place.station.staying(|other| other % 2 == 0) > 0;
    let available_successor = place.station.staying(|other| other == 0) > 0;
    let withdrawn = may_be_replaced && place.placement != Placement::Run;
    let may_go = grade.is_outdated()
        && (available_successor || withdrawn || (!grade.is_ready() && (successor || may_be_replaced)));
    if may_go {
        None
    } else if grade.is_outdated() && grade.is_ready() && (successor || place.placement == Placement::Run) {
        Some(ViolationKind::NoSuccessor)
    } else {
        Some(ViolationKind::NeededPodDeleted)
    }
}

/// A node whose failed pod is held back could get no new pod: it keeps the Ready one that it has.
fn taken_from_held_node(docket: &Docket<'_>, place: &Place<'_>, grade: Grade) -> Option<ViolationKind> {
    let emptied = place.placement == Placement::Run && grade.is_ready() && !place.station.has_live();
    if emptied { held_back(docket, place) } else { None }
}

fn held_back(docket: &Docket<'_>, place: &Place<'_>) -> Option<ViolationKind> {
    let held = place.station.has_failed.then(|| memories::back_off(docket.snapshot, place.view.name).0);
    held.flatten().map(|until| ViolationKind::HeldBack { until })
}

/// It tolerates each NoSchedule taint that keeps the node from Run, none of them the node's own condition: the template
/// has withdrawn what it runs by (kubernetes#118823).
fn is_withdrawn(docket: &Docket<'_>, node: &NodeView<'_>, delete: &Deletion<'_>) -> bool {
    let template = &docket.snapshot.tolerations;
    let blocks = |taint: &TaintView<'_>| taint.effect == "NoSchedule" && !tolerated(*taint, template);
    let mut blocking = node.taints.iter().filter(blocks).peekable();
    blocking.peek().is_some()
        && blocking
            .all(|taint| delete.pod.tolerations.cover(taint) && !taint.key.starts_with("node.kubernetes.io/"))
}

/// The back-off grows by what the delete of a failed pod carries.
fn wrong_failure(docket: &Docket<'_>, delete: &Deletion<'_>) -> Option<ViolationKind> {
    let placement = delete.facts.node.map(|node| docket.snapshot.placement(node));
    let may_be_there = matches!(placement, Some(Placement::Run | Placement::ContinueOnly(_)));
    let counts = may_be_there && delete.life == Life::Failed && docket.lineage.is_updated(delete.facts);
    let expected =
        counts.then(|| memories::back_off(docket.snapshot, delete.pod.target.unwrap_or_default()).1);
    let found = delete.failure;
    (found != expected).then_some(ViolationKind::WrongFailure { expected, found })
}
