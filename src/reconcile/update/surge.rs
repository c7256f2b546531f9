//! Create, then delete: updated pods come up beside outdated ones within maxSurge.
//!
//! Create-first proposal (`SurgingRollingUpdate`); v1.36 `update.go rollingUpdate`, with surge. Deleting the outdated
//! one of a pair is node sync's.

use super::Update;
use super::candidates::{Candidate, Ranks, first};
use super::replace::candidate;
use crate::action::DeleteReason;
use crate::reconcile::budget::{Budget, place_free_at};
use crate::reconcile::fleet::{Fleet, Readiness};
use crate::reconcile::history::History;
use crate::reconcile::node_sync::{Deletion, NodeSync};
use crate::snapshot::position::NodeIx;

/// Candidates by how ready they are.
#[derive(Default)]
struct Candidates {
    unready: Vec<Deletion>,
    young: Vec<Candidate>,
    available: Vec<Candidate>,
}

/// Outdated pods that are not Ready go at once, by node name `[surge-replaces-unready]`; beside the others an updated
/// one is created while there is room.
pub(crate) fn surge(fleet: &Fleet<'_>, history: &History<'_>, sync: &NodeSync, budget: &Budget) -> Update {
    let Candidates { mut unready, young, available } = candidates(fleet, history, sync);
    unready.sort_unstable_by_key(|deletion| fleet.target_name(fleet.pod(deletion.pod)));
    let mut update = Update { deletes: unready, ..Update::default() };
    let mut room = budget.room_for_surge();
    for group in [young, available] {
        if group.len() > room as usize {
            update.place_free_at = place_free_at(fleet, sync);
        }
        let chosen = first(group, room, fleet);
        room -= chosen.len() as u32;
        update.creates.extend(chosen.iter().map(|c| c.node));
    }
    update
}

/// Whether a node may get a second pod: no failed pod is held back there, and no other one is unfinished.
pub(crate) fn has_place(fleet: &Fleet<'_>, sync: &NodeSync, node: NodeIx) -> bool {
    let unfinished = fleet.pods_of(node).filter(|(_, pod)| pod.is_unfinished()).count();
    unfinished == 1 && sync.held(node).is_none()
}

fn candidates(fleet: &Fleet<'_>, history: &History<'_>, sync: &NodeSync) -> Candidates {
    let ranks = Ranks::of(history, fleet);
    let mut candidates = Candidates::default();
    for node in fleet.targets() {
        let Some((index, pod)) = candidate(fleet, sync, node) else { continue };
        let delete = |reason| Deletion::new(index, reason);
        let candidate = || ranks.candidate(fleet, node, index, pod);
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
