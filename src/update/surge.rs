//! Create, then delete: updated pods come up beside outdated ones within maxSurge.
//!
//! Create-first proposal (`SurgingRollingUpdate`); v1.36 `update.go rollingUpdate`, with surge. Deleting the outdated
//! one of a pair is node sync's.

use super::Update;
use super::candidates::{Candidate, Ranks, first};
use super::replace::candidate;
use crate::action::DeleteReason;
use crate::budget::Budget;
use crate::fleet::{Fleet, FleetPod, Readiness, Stage};
use crate::history::History;
use crate::node_sync::{Deletion, NodeSync};
use jiff::Timestamp;

/// Candidates by how ready they are.
#[derive(Default)]
struct Candidates {
    /// With their nodes.
    unready: Vec<(usize, Deletion)>,
    young: Vec<Candidate>,
    available: Vec<Candidate>,
}

/// Outdated pods that are not Ready go at once, by node name `[surge-replaces-unready]`; beside the others an updated
/// one is created while there is room.
pub(crate) fn surge(fleet: &Fleet<'_>, history: &History<'_>, sync: &NodeSync, budget: &Budget) -> Update {
    let Candidates { mut unready, young, available } = candidates(fleet, history, sync);
    unready.sort_unstable_by_key(|(node, _)| fleet.node_name(*node));
    let (doubled, place_free_at) = doubled(fleet, sync);
    let deletes = unready.into_iter().map(|(_, deletion)| deletion).collect();
    let mut update = Update { deletes, doubled, ..Update::default() };
    let mut room = budget.room_for_surge(doubled);
    for group in [young, available] {
        if group.len() > room as usize {
            update.place_free_at = place_free_at;
        }
        let chosen = first(group, room, fleet);
        room -= chosen.len() as u32;
        update.creates.extend(chosen.iter().map(|c| c.node));
    }
    update
}

/// Whether a node may get a second pod: no failed pod is held back there, and no other one is unfinished.
pub(crate) fn has_place(fleet: &Fleet<'_>, sync: &NodeSync, node: usize) -> bool {
    let unfinished = fleet.pods_of(node).filter(|(_, pod)| pod.is_unfinished()).count();
    unfinished == 1 && sync.held(node).is_none()
}

fn candidates(fleet: &Fleet<'_>, history: &History<'_>, sync: &NodeSync) -> Candidates {
    let ranks = Ranks::of(history);
    let mut candidates = Candidates::default();
    for node in fleet.targets() {
        let Some((index, pod)) = candidate(fleet, sync, node) else { continue };
        let delete = |reason| (node, Deletion { pod: index, reason, failure: None });
        let candidate = || ranks.candidate(node, index, pod);
        match pod.readiness {
            Readiness::Pending => candidates.unready.push(delete(DeleteReason::OutdatedPending)),
            Readiness::NotReady => candidates.unready.push(delete(DeleteReason::OutdatedNotReady)),
            Readiness::Young if has_place(fleet, sync, node) => candidates.young.push(candidate()),
            Readiness::Available if has_place(fleet, sync, node) => candidates.available.push(candidate()),
            Readiness::Young | Readiness::Available => {}
        }
    }
    candidates
}

/// How many target nodes count against maxSurge `[surge-counts-doubled-nodes]`, and when the first of them stops to
/// because its terminating pods are overdue.
fn doubled(fleet: &Fleet<'_>, sync: &NodeSync) -> (u32, Option<Timestamp>) {
    let mut count = 0;
    let mut free_at: Option<Timestamp> = None;
    let mut creates = sync.creates.iter().copied().peekable();
    for node in fleet.targets() {
        let created = creates.next_if(|create| *create as usize == node).is_some();
        let unseen = usize::from(created) + usize::from(fleet.in_flight(node).is_some());
        let seen = fleet.pods_of(node).filter(|(_, pod)| holds_a_place(fleet, pod));
        let places = unseen + seen.clone().count();
        if places >= 2 {
            count += 1;
            // All but one of its pods must be overdue first.
            let mut overdue: Vec<_> = seen.filter_map(|(_, pod)| overdue_at(fleet, pod)).collect();
            overdue.sort_unstable();
            free_at = [free_at, overdue.get(places - 2).copied()].into_iter().flatten().min();
        }
    }
    (count, free_at)
}

/// A terminating pod does until its deletionTimestamp has passed: an overdue one is stuck, on a dead node perhaps, and
/// must not stop the others.
fn holds_a_place(fleet: &Fleet<'_>, pod: &FleetPod) -> bool {
    match pod.stage {
        Stage::Live | Stage::DeleteInFlight => true,
        Stage::Terminating => overdue_at(fleet, pod).is_some_and(|at| fleet.snapshot.now < at),
        Stage::Failed | Stage::Succeeded => false,
    }
}

fn overdue_at(fleet: &Fleet<'_>, pod: &FleetPod) -> Option<Timestamp> {
    fleet.view(pod).and_then(|view| view.deleted_at)
}
