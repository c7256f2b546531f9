//! The pod deletes and creates of one plan: their order, the cap, and when to look again.

use crate::action::{CreateReason, DeleteReason, RequeueReason};
use crate::input::placement::Placement;
use crate::node::candidate::is_leaving;
use crate::node::fleet::{Fleet, FleetPod};
use crate::node::sync::{Deletion, NodeSync};
use crate::objects::position::{FleetIx, NodeIx};
use crate::plan::outside::Outside;
use crate::plan::update::Update;
use jiff::Timestamp;

/// The pod deletes and creates of this plan, in order and within the cap.
#[derive(Debug)]
#[doc(alias = "BurstReplicas")]
pub struct Burst {
    pub deletes: Vec<Deletion>,
    pub creates: Vec<Creation>,
    /// The earliest instant at which time alone changes the answer.
    pub requeue: Option<(Timestamp, RequeueReason)>,
}

/// A pod to create.
#[derive(Debug, Clone, Copy)]
pub struct Creation {
    pub node: NodeIx,
    pub reason: CreateReason,
}

impl Creation {
    /// The batch of the create that has `before` creates before it: batches hold 1, 2, 4 … creates
    /// (v1.36 `slowStartBatch`).
    #[doc(alias = "slowStartBatch")]
    pub fn batch(before: usize) -> u32 {
        (before + 1).ilog2()
    }
}

impl Burst {
    /// Orders and caps, node sync's deletes before the update's. Creates and deletes beyond the cap wait for the next
    /// plan, which is requested at once `[one-burst]`.
    pub fn new(fleet: &Fleet<'_>, node_sync: &NodeSync, update: &Update, outside: &Outside<'_>) -> Self {
        let limit = fleet.snapshot.spec.policy.burst as usize;
        let mut creates = ordered_creates(fleet, node_sync, update);
        let wanted = update.all_deletes(node_sync).count();
        let capped = wanted > limit || creates.len() > limit;
        let mut deletes = node_sync_deletes(fleet, node_sync, update);
        deletes.truncate(cut(fleet, &deletes, limit));
        if deletes.len() == update.node_sync_deletes(node_sync).count() {
            deletes.extend(update.deletes.iter().take(limit - deletes.len()));
        }
        creates.truncate(limit);
        let requeue = if capped {
            Some((fleet.snapshot.now, RequeueReason::Burst))
        } else {
            next_change(fleet, node_sync, update).into_iter().chain(outside.next_change).min()
        };
        Burst { deletes, creates, requeue }
    }
}

/// By node name then pod name, nodes that leave last; then the pods of unknown nodes by pod name.
fn node_sync_deletes(fleet: &Fleet<'_>, node_sync: &NodeSync, update: &Update) -> Vec<Deletion> {
    let mut deletes: Vec<Deletion> = update.node_sync_deletes(node_sync).copied().collect();
    deletes.sort_unstable_by_key(|deletion| {
        let lost = deletion.reason == DeleteReason::NodeGone;
        let pod = fleet.pod(deletion.pod);
        let view = fleet.view(pod);
        let leaves = fleet.node_of(deletion.pod).is_some_and(|node| is_leaving(fleet, node));
        (lost, leaves, view.target.filter(|_| !lost), view.name)
    });
    deletes
}

/// How many of node sync's deletes fit under the cap `[failed-pods-together]`.
///
/// The failed pods of a node count as one failure, and its back-off begins with the first of their deletes. If the cap
/// fell between them, the rest would wait for that back-off. So the cut moves back to the node's first delete, unless
/// this one node has more deletes than a plan may hold.
fn cut(fleet: &Fleet<'_>, deletes: &[Deletion], limit: usize) -> usize {
    let Some((kept, dropped)) = deletes.split_at_checked(limit) else { return deletes.len() };
    let Some(first_dropped) = dropped.first() else { return limit };
    let node_of = |deletion: &Deletion| fleet.target_name(fleet.pod(deletion.pod));
    let node = node_of(first_dropped);
    let mut dropped_of_node = dropped.iter().take_while(|deletion| node_of(deletion) == node);
    if !dropped_of_node.any(Deletion::is_failure) {
        return limit;
    }
    let last_of_others = kept.iter().rposition(|deletion| node_of(deletion) != node);
    last_of_others.map_or(limit, |last| last + 1)
}

/// By node name.
fn ordered_creates(fleet: &Fleet<'_>, node_sync: &NodeSync, update: &Update) -> Vec<Creation> {
    let missing = node_sync.creates.iter().map(|node| (*node, CreateReason::MissingPod));
    let surge = update.choice.creates.iter().map(|node| (*node, CreateReason::Surge));
    let mut creates: Vec<_> = missing.chain(surge).map(|(node, reason)| Creation { node, reason }).collect();
    creates.sort_unstable_by(|a, b| fleet.snapshot.index.by_name(a.node, b.node));
    creates
}

/// The earliest instant at which time alone changes the answer on the nodes of the fleet.
fn next_change(
    fleet: &Fleet<'_>,
    node_sync: &NodeSync,
    update: &Update,
) -> Option<(Timestamp, RequeueReason)> {
    let held = node_sync.held.iter().map(|held| held.until).min();
    let here = RequeueReason::first([
        (next_available(fleet, node_sync, update), RequeueReason::MinReadySeconds),
        (held, RequeueReason::BackOff),
        (fleet.expects_until, RequeueReason::InFlightExpiry),
        (update.place_free_at, RequeueReason::TerminationOverdue),
    ]);
    let of_rollout = fleet.goals.rollout().and_then(|rollout| rollout.known.decision.due);
    [here, of_rollout].into_iter().flatten().min()
}

/// When the next Ready pod that stays becomes available.
fn next_available(fleet: &Fleet<'_>, node_sync: &NodeSync, update: &Update) -> Option<Timestamp> {
    if fleet.snapshot.spec.min_ready().is_zero() {
        return None;
    }
    let mut going: Vec<FleetIx> = update.deletes.iter().map(|deletion| deletion.pod).collect();
    going.sort_unstable();
    let kept = fleet.nodes.positions().flat_map(|node| waiting_for_availability(fleet, node_sync, node));
    let kept = kept.filter(|(index, _)| going.binary_search(index).is_err()).map(|(_, pod)| pod);
    let spared = update.spared.iter().map(|pod| fleet.pod(*pod)).filter(|pod| is_not_yet_available(pod));
    kept.chain(spared).filter_map(|pod| fleet.available_at(pod)).min()
}

/// When the next Ready pod of a node that stays becomes available, if the update takes none of its pods.
pub fn next_available_on(fleet: &Fleet<'_>, node_sync: &NodeSync, node: NodeIx) -> Option<Timestamp> {
    if fleet.snapshot.spec.min_ready().is_zero() {
        return None;
    }
    let waiting = waiting_for_availability(fleet, node_sync, node);
    waiting.filter_map(|(_, pod)| fleet.available_at(pod)).min()
}

fn is_not_yet_available(pod: &FleetPod) -> bool {
    pod.is_ready() && !pod.is_available()
}

/// The Ready pods of a node that stay and are waited for.
fn waiting_for_availability<'f>(
    fleet: &'f Fleet<'_>,
    node_sync: &'f NodeSync,
    node: NodeIx,
) -> impl Iterator<Item = (FleetIx, &'f FleetPod)> {
    let waits = waits_for_availability(fleet, node_sync, node);
    let survivors = waits.then(|| node_sync.survivors(fleet, node));
    survivors.into_iter().flatten().filter(|(_, pod)| is_not_yet_available(pod))
}

/// Status and budget wait for the pods of target nodes. On a node where a pod may only stay, the outdated pod of a pair
/// waits for the updated one.
fn waits_for_availability(fleet: &Fleet<'_>, node_sync: &NodeSync, node: NodeIx) -> bool {
    match fleet.placement(node) {
        Placement::Run => true,
        Placement::ContinueOnly(_) => node_sync.keeps_a_pair(fleet, node),
        Placement::Exclude(_) => false,
    }
}
