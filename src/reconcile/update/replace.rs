//! Delete, then create: outdated pods go within maxUnavailable.
//!
//! v1.36 `update.go rollingUpdate`, without surge.

use super::Update;
use super::candidates::{Candidate, Ranks, first};
use crate::action::DeleteReason;
use crate::reconcile::budget::Budget;
use crate::reconcile::fleet::{Fleet, FleetPod, Readiness};
use crate::reconcile::history::History;
use crate::reconcile::node_sync::{Deletion, NodeSync};
use crate::snapshot::UnreadyPolicy;
use crate::snapshot::position::{FleetIx, NodeIx};

/// Candidates by how ready they are.
#[derive(Default)]
struct Candidates {
    pending: Vec<Candidate>,
    not_ready: Vec<Candidate>,
    young: Vec<Candidate>,
    available: Vec<Candidate>,
}

/// Each deletion is decided against the same snapshot, so that the limit holds even if all of them happen at once and
/// nothing comes up.
pub(crate) fn replace(fleet: &Fleet<'_>, history: &History<'_>, sync: &NodeSync, budget: &Budget) -> Update {
    let Candidates { pending, not_ready, young, available } = candidates(fleet, history, sync, budget);
    let mut update = Update::default();
    let mut take = |candidates: Vec<Candidate>, room: u32, reason: DeleteReason| -> u32 {
        let chosen = first(candidates, room, fleet);
        let deletion = |c: &Candidate| Deletion::new(c.pod, reason);
        update.deletes.extend(chosen.iter().map(deletion));
        chosen.len() as u32
    };
    let room = match fleet.snapshot.policy.unready {
        UnreadyPolicy::AtOnce => u32::MAX,
        UnreadyPolicy::WithinBudget => budget.room_for_unready(),
    };
    let chosen = take(pending, room, DeleteReason::OutdatedPending);
    take(not_ready, room - chosen, DeleteReason::OutdatedNotReady);
    take(young, budget.room_for_young(), DeleteReason::OutdatedNotYetAvailable);
    take(available, budget.room_for_available(), DeleteReason::OutdatedAvailable);
    update
}

/// The node's pod, if it is the only live one left and outdated.
pub(crate) fn candidate<'f>(
    fleet: &'f Fleet<'_>,
    sync: &'f NodeSync,
    node: NodeIx,
) -> Option<(FleetIx, &'f FleetPod)> {
    let mut survivors = sync.survivors(fleet, node);
    let only = survivors.next().filter(|(_, pod)| !pod.is_updated())?;
    (survivors.next().is_none() && fleet.in_flight(node).is_none()).then_some(only)
}

fn candidates(fleet: &Fleet<'_>, history: &History<'_>, sync: &NodeSync, budget: &Budget) -> Candidates {
    let ranks = Ranks::of(history, fleet);
    let mut candidates = Candidates::default();
    let room_for_young = budget.room_for_young() > 0;
    let room_for_available = budget.room_for_available() > 0;
    for node in fleet.targets() {
        let Some((index, pod)) = candidate(fleet, sync, node) else { continue };
        // A node whose failed pod is held back could get no new pod.
        let may_get_a_pod = sync.held(node).is_none();
        let group = match pod.readiness {
            Readiness::Pending => &mut candidates.pending,
            Readiness::NotReady => &mut candidates.not_ready,
            Readiness::Young if room_for_young && may_get_a_pod => &mut candidates.young,
            Readiness::Available if room_for_available && may_get_a_pod => &mut candidates.available,
            Readiness::Young | Readiness::Available => continue,
        };
        group.push(ranks.candidate(fleet, node, index, pod));
    }
    candidates
}
