//! Create, then delete: updated pods come up beside outdated ones within maxSurge.
//!
//! Create-first proposal (`SurgingRollingUpdate`); v1.36 `update.go rollingUpdate`, with surge. Node sync deletes
//! the outdated pod of a pair.

use super::Update;
use super::candidates::{Candidate, Ranks, first};
use super::replace::candidate;
use crate::action::DeleteReason;
use crate::reconcile::budget::{Budget, place_free_at};
use crate::reconcile::figures::{Counts, Figure};
use crate::reconcile::fleet::{Fleet, FleetPod, Readiness};
use crate::reconcile::history::History;
use crate::reconcile::node_sync::{Deletion, NodeSync};
use crate::snapshot::position::{FleetIx, NodeIx};

/// Candidates by readiness.
#[derive(Default)]
struct Candidates {
    unready: Vec<Deletion>,
    not_yet_available: Vec<Candidate>,
    available: Vec<Candidate>,
}

/// Outdated pods that are not Ready go at once, by node name `[surge-replaces-unready]`. Beside a Ready one an updated pod
/// is created while there is room.
pub(crate) fn surge(
    fleet: &Fleet<'_>,
    history: &History<'_>,
    node_sync: &NodeSync,
    counts: &Counts,
    budget: &Budget,
) -> Update {
    let Candidates { mut unready, not_yet_available, available } =
        candidates(fleet, history, node_sync, counts);
    unready.sort_unstable_by_key(|deletion| fleet.target_name(fleet.pod(deletion.pod)));
    let mut update = Update { deletes: unready, ..Update::default() };
    let mut room = budget.room_for_surge();
    for group in [not_yet_available, available] {
        if group.len() > room as usize {
            update.place_free_at = place_free_at(fleet, node_sync);
        }
        let chosen = first(group, room, fleet);
        room -= chosen.len() as u32;
        update.creates.extend(chosen.iter().map(|c| c.node));
    }
    update
}

/// Whether a node with one live pod may get a second one: no other pod is unfinished, and no failed one is held back.
pub(crate) fn has_place(fleet: &Fleet<'_>, node_sync: &NodeSync, node: NodeIx) -> bool {
    let unfinished = fleet.pods_of(node).filter(|(_, pod)| pod.is_unfinished()).count();
    unfinished == 1 && node_sync.held(node).is_none()
}

fn candidates(fleet: &Fleet<'_>, history: &History<'_>, node_sync: &NodeSync, counts: &Counts) -> Candidates {
    let ranks = Ranks::new(history, fleet);
    let mut candidates = Candidates::default();
    for node in counts.with(Figure::Candidate) {
        let Some((index, pod)) = urgent(fleet, node_sync, node) else { continue };
        let delete = |reason| Deletion::new(index, reason);
        let candidate = || ranks.candidate(fleet, node, index, pod);
        match pod.readiness {
            Readiness::Pending => candidates.unready.push(delete(DeleteReason::OutdatedPending)),
            Readiness::NotReady => candidates.unready.push(delete(DeleteReason::OutdatedNotReady)),
            Readiness::NotYetAvailable => candidates.not_yet_available.push(candidate()),
            Readiness::Available => candidates.available.push(candidate()),
        }
    }
    candidates
}

/// The outdated pod of a target node that goes, or gets an updated one beside it, as soon as there is room.
pub(crate) fn urgent<'f>(
    fleet: &'f Fleet<'_>,
    node_sync: &'f NodeSync,
    node: NodeIx,
) -> Option<(FleetIx, &'f FleetPod)> {
    let has_place = || has_place(fleet, node_sync, node);
    candidate(fleet, node_sync, node).filter(|(_, pod)| !pod.readiness.is_ready() || has_place())
}
