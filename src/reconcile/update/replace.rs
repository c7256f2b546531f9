//! Delete, then create: outdated pods go within maxUnavailable.
//!
//! v1.36 `update.go rollingUpdate`, without surge.

use super::Update;
use super::candidates::{Candidate, Ranks, first};
use crate::action::DeleteReason;
use crate::kubernetes::ownership::Ownership;
use crate::reconcile::budget::Budget;
use crate::reconcile::figures::{Counts, Figure};
use crate::reconcile::fleet::{Fleet, FleetPod, Readiness};
use crate::reconcile::goal::NodeGoal;
use crate::reconcile::history::History;
use crate::reconcile::node_sync::{Deletion, NodeSync};
use crate::snapshot::UnreadyPolicy;
use crate::snapshot::position::{FleetIx, NodeIx};

/// Candidates by readiness.
#[derive(Default)]
struct Candidates {
    pending: Vec<Candidate>,
    not_ready: Vec<Candidate>,
    not_yet_available: Vec<Candidate>,
    available: Vec<Candidate>,
}

/// Every deletion is decided against the same snapshot: the limit holds even when all of them happen at once and no new
/// pod becomes available.
pub(crate) fn replace(
    fleet: &Fleet<'_>,
    history: &History<'_>,
    node_sync: &NodeSync,
    counts: &Counts,
    budget: &Budget,
) -> Update {
    let Candidates { pending, not_ready, not_yet_available, available } =
        candidates(fleet, history, node_sync, counts, budget);
    let mut update = Update::default();
    let reached = &fleet.outside.reached;
    // The update may reach candidates that come before some of these, but that no decision needs to look at.
    let mut take = |candidates: Vec<Candidate>, room: u32, outside: u32, reason: DeleteReason| -> u32 {
        let chosen = first(candidates, room.saturating_sub(outside), fleet);
        let deletion = |c: &Candidate| Deletion::new(c.pod, reason);
        update.deletes.extend(chosen.iter().map(deletion));
        chosen.len() as u32 + outside
    };
    let room = match fleet.snapshot.spec.policy.unready {
        UnreadyPolicy::AtOnce => u32::MAX,
        UnreadyPolicy::WithinBudget => budget.room_for_unready(),
    };
    let chosen = take(pending, room, reached.pending, DeleteReason::OutdatedPending);
    let left = room.saturating_sub(chosen);
    take(not_ready, left, reached.not_ready, DeleteReason::OutdatedNotReady);
    let room = budget.room_for_not_yet_available();
    take(not_yet_available, room, reached.not_yet_available, DeleteReason::OutdatedNotYetAvailable);
    take(available, budget.room_for_available(), reached.available, DeleteReason::OutdatedAvailable);
    update
}

/// The outdated pod of a node, if it is the only live one left, the rollout has reached the node, and the node does not
/// leave: no other pod could come there.
pub(crate) fn candidate<'f>(
    fleet: &'f Fleet<'_>,
    node_sync: &'f NodeSync,
    node: NodeIx,
) -> Option<(FleetIx, &'f FleetPod)> {
    if fleet.lifecycle(node).is_some() {
        return None;
    }
    let mut survivors = node_sync.survivors(fleet, node);
    let only = survivors.next().filter(|(_, pod)| !pod.of_goal)?;
    if is_held(fleet, node, only.1) {
        return None;
    }
    let is_free = !fleet.snapshot.drives() || is_owned(fleet, only.1);
    (is_free && survivors.next().is_none() && fleet.in_flight(node).is_none()).then_some(only)
}

/// Whether the DaemonSet owns the pod already. Under drive the other controller adopts it, and only then may it go.
fn is_owned(fleet: &Fleet<'_>, pod: &FleetPod) -> bool {
    fleet.snapshot.facts(pod.view).ownership == Ownership::Controlled
}

/// Whether the rollout has not reached the node, so that its pod stays.
///
/// One exception: where there is a base, a pod that is neither base's nor Ready goes, and comes back as base. Broken pods of an
/// abandoned version would otherwise spend the budget for ever, and the canary of its fix could not begin. A driven update
/// has no such exception, since the other controller would create the new version.
fn is_held(fleet: &Fleet<'_>, node: NodeIx, pod: &FleetPod) -> bool {
    match fleet.goal.of(node) {
        NodeGoal::Current | NodeGoal::Base => false,
        NodeGoal::HeldOnBase => pod.is_ready() || fleet.snapshot.drives(),
        NodeGoal::HeldOnCurrent => true,
    }
}

fn candidates(
    fleet: &Fleet<'_>,
    history: &History<'_>,
    node_sync: &NodeSync,
    counts: &Counts,
    budget: &Budget,
) -> Candidates {
    let ranks = Ranks::new(history, fleet);
    let mut candidates = Candidates::default();
    let room_for_not_yet_available = budget.room_for_not_yet_available() > 0;
    let room_for_available = budget.room_for_available() > 0;
    for node in counts.with(Figure::Candidate) {
        let Some((index, pod)) = urgent(fleet, node_sync, node) else { continue };
        let group = match pod.readiness {
            Readiness::Pending => &mut candidates.pending,
            Readiness::NotReady => &mut candidates.not_ready,
            Readiness::NotYetAvailable if room_for_not_yet_available => &mut candidates.not_yet_available,
            Readiness::Available if room_for_available => &mut candidates.available,
            Readiness::NotYetAvailable | Readiness::Available => continue,
        };
        group.push(ranks.candidate(fleet, node, index, pod));
    }
    candidates
}

/// The outdated pod of a target node that goes as soon as there is room.
pub(crate) fn urgent<'f>(
    fleet: &'f Fleet<'_>,
    node_sync: &'f NodeSync,
    node: NodeIx,
) -> Option<(FleetIx, &'f FleetPod)> {
    // A node whose failed pod is held back gets no new pod.
    let may_get_a_pod = || node_sync.held(node).is_none();
    candidate(fleet, node_sync, node).filter(|(_, pod)| !pod.readiness.is_ready() || may_get_a_pod())
}
