//! The pod deletes and creates of one plan: their order, the cap, and when to look again.

use crate::action::{CreateReason, DeleteReason, RequeueReason};
use crate::reconcile::fleet::{Fleet, FleetPod};
use crate::reconcile::node_sync::{Deletion, NodeSync};
use crate::reconcile::update::Update;
use crate::snapshot::placement::Placement;
use crate::snapshot::position::{FleetIx, NodeIx};
use jiff::Timestamp;

/// The pod deletes and creates of this plan, in order and within the cap.
#[derive(Debug)]
pub(crate) struct Agenda {
    pub(crate) deletes: Vec<Deletion>,
    pub(crate) creates: Vec<Creation>,
    /// When time alone changes the answer.
    pub(crate) requeue: Option<(Timestamp, RequeueReason)>,
}

/// A pod to create.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Creation {
    pub(crate) node: NodeIx,
    pub(crate) reason: CreateReason,
}

impl Creation {
    /// Batches of 1, 2, 4 … creates: the position in the plan says which (v1.36 `slowStartBatch`).
    pub(crate) fn batch(position: usize) -> u32 {
        (position + 1).ilog2()
    }
}

impl Agenda {
    /// Orders and caps, node sync's deletes before the update's; what is left out is asked for again at once
    /// `[one-burst]`.
    pub(crate) fn of(fleet: &Fleet<'_>, sync: &NodeSync, update: &Update) -> Self {
        let burst = fleet.snapshot.policy.burst as usize;
        let mut creates = ordered_creates(fleet, sync, update);
        let wanted = update.all_deletes(sync).count();
        let capped = wanted > burst || creates.len() > burst;
        let mut deletes = node_sync_deletes(fleet, sync, update);
        deletes.truncate(cut(fleet, &deletes, burst));
        if deletes.len() == update.standing_deletes(sync).count() {
            deletes.extend(update.deletes.iter().take(burst - deletes.len()));
        }
        creates.truncate(burst);
        let requeue = if capped {
            Some((fleet.snapshot.now, RequeueReason::Burst))
        } else {
            next_change(fleet, sync, update)
        };
        Agenda { deletes, creates, requeue }
    }
}

/// By node name then pod name, then those of pods on unknown nodes by pod name.
fn node_sync_deletes(fleet: &Fleet<'_>, sync: &NodeSync, update: &Update) -> Vec<Deletion> {
    let mut deletes: Vec<Deletion> = update.standing_deletes(sync).copied().collect();
    deletes.sort_unstable_by_key(|deletion| {
        let lost = deletion.reason == DeleteReason::NodeGone;
        let view = fleet.view(fleet.pod(deletion.pod));
        (lost, view.target.filter(|_| !lost), view.name)
    });
    deletes
}

/// Where the cap cuts node sync's deletes: not between the failed pods of a node, which count as one failure
/// `[failed-pods-together]`, unless that node has more of them than a plan may hold.
fn cut(fleet: &Fleet<'_>, deletes: &[Deletion], burst: usize) -> usize {
    let Some(first_dropped) = deletes.get(burst) else { return deletes.len() };
    let node_of = |deletion: &Deletion| fleet.target_name(fleet.pod(deletion.pod));
    let node = node_of(first_dropped);
    let same_node = |deletion: &Deletion| node_of(deletion) == node;
    let dropped = deletes.get(burst..).unwrap_or_default();
    if !dropped.iter().take_while(|deletion| same_node(deletion)).any(Deletion::is_failure) {
        return burst;
    }
    let kept = deletes.get(..burst).unwrap_or_default();
    match kept.iter().rposition(|deletion| !same_node(deletion)) {
        Some(last_of_others) => last_of_others + 1,
        None => burst,
    }
}

fn ordered_creates(fleet: &Fleet<'_>, sync: &NodeSync, update: &Update) -> Vec<Creation> {
    let missing = sync.creates.iter().map(|node| (*node, CreateReason::MissingPod));
    let surge = update.creates.iter().map(|node| (*node, CreateReason::Surge));
    let mut creates: Vec<_> = missing.chain(surge).map(|(node, reason)| Creation { node, reason }).collect();
    let index = &fleet.snapshot.index;
    creates.sort_unstable_by(|a, b| index.by_name(a.node, b.node));
    creates
}

/// The earliest instant at which time alone changes the answer.
fn next_change(fleet: &Fleet<'_>, sync: &NodeSync, update: &Update) -> Option<(Timestamp, RequeueReason)> {
    let held = sync.held.iter().map(|held| held.until).min();
    [
        (next_available(fleet, sync, update), RequeueReason::MinReadySeconds),
        (held, RequeueReason::BackOff),
        (fleet.belief_ends, RequeueReason::InFlightExpiry),
        (update.place_free_at, RequeueReason::TerminationOverdue),
    ]
    .into_iter()
    .filter_map(|(at, reason)| at.map(|at| (at, reason)))
    .min()
}

/// When the next Ready pod that stays becomes available.
fn next_available(fleet: &Fleet<'_>, sync: &NodeSync, update: &Update) -> Option<Timestamp> {
    if fleet.snapshot.min_ready().is_zero() {
        return None;
    }
    let mut going: Vec<FleetIx> = update.deletes.iter().map(|deletion| deletion.pod).collect();
    going.sort_unstable();
    let nodes = fleet.nodes.positions().filter(|node| waits_for_availability(fleet, sync, *node));
    let kept = nodes.flat_map(|node| sync.survivors(fleet, node));
    let kept = kept.filter(|(index, _)| going.binary_search(index).is_err()).map(|(_, pod)| pod);
    let spared = update.spared.iter().map(|pod| fleet.pod(*pod));
    let young = kept.chain(spared).filter(|pod: &&FleetPod| pod.is_ready() && !pod.is_available());
    young.filter_map(|pod| fleet.available_at(pod)).min()
}

/// Status and budget wait for target nodes; where a pod may only stay, the outdated one of a pair waits for its successor.
fn waits_for_availability(fleet: &Fleet<'_>, sync: &NodeSync, node: NodeIx) -> bool {
    match fleet.placement(node) {
        Placement::Run => true,
        Placement::ContinueOnly(_) => sync.keeps_a_pair(fleet, node),
        Placement::Exclude(_) => false,
    }
}
