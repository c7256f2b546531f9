//! The pod deletes and creates of one plan: their order, the cap, and when to look again.

use crate::action::{CreateReason, DeleteReason, RequeueReason};
use crate::node::candidate::deletes_come_last;
use crate::node::changes::{Going, available_on, changes_of_turns};
use crate::node::evaluation::Evaluations;
use crate::node::fleet::Fleet;
use crate::node::sync::{Deletion, Means, NodeSync};
use crate::plan::parts::Parts;
use crate::plan::pulls::Pulls;
use crate::plan::update::Update;
use crate::position::NodeIx;
use jiff::Timestamp;

/// The pod deletes and creates of this plan, in order and within the cap.
#[derive(Debug)]
#[doc(alias = "BurstReplicas")]
pub struct Burst<'s> {
    pub deletes: Vec<Deletion>,
    pub creates: Vec<Creation>,
    /// `None` where no image is pulled.
    pub pulls: Option<Box<Pulls<'s>>>,
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

impl<'s> Burst<'s> {
    /// Orders and caps, node sync's deletes before the update's. Creates and deletes beyond the cap wait for the next
    /// plan, which is requested at once `[one-burst]`.
    pub(crate) fn new(parts: &Parts<'_, 's>, update: &Update) -> Self {
        let Parts { fleet, node_sync, evaluations, rest, .. } = *parts;
        let limit = fleet.snapshot.spec.policy.burst as usize;
        let mut creates = ordered_creates(fleet, node_sync, update);
        // Deletes and creates each have the whole cap, as upstream's two loops have.
        let wanted = update.all_deletes(node_sync).count();
        let capped = wanted > limit || creates.len() > limit;
        let mut deletes = node_sync_deletes(fleet, node_sync, update);
        deletes.truncate(cut(fleet, &deletes, limit));
        // Only where all of node sync's fit: after a cut there may be room, and it is not the update's.
        let has_room = deletes.len() == update.node_sync_deletes(node_sync).count();
        // A candidate beyond the cap is not taken in this plan.
        let room = if has_room { limit - deletes.len() } else { 0 };
        deletes.extend(update.deletes.iter().take(room));
        creates.truncate(limit);
        let pulls = fleet.rare.as_ref().and_then(|_| {
            let taken = update.deletes.iter().take(room).filter(|deletion| deletion.means != Means::Turn);
            let taken = taken.filter_map(|deletion| fleet.node_of(deletion.pod));
            Pulls::new(parts, taken, (limit - creates.len(), limit.saturating_sub(deletes.len())))
        });
        // No instant comes before now: nothing else is asked for.
        let requeue = if capped || pulls.as_ref().is_some_and(|pulls| pulls.is_capped) {
            Some((fleet.snapshot.now, RequeueReason::Burst))
        } else {
            let place_free_at = pulls.as_ref().and_then(|pulls| pulls.place_free_at);
            let pull = place_free_at.map(|at| (at, RequeueReason::PullTimeout));
            [next_change((fleet, node_sync), evaluations, update), rest.next_change, pull]
                .into_iter()
                .flatten()
                .min()
        };
        Burst { deletes, creates, pulls, requeue }
    }
}

/// By node name then pod name, nodes that leave last; then the pods of unknown nodes by pod name.
fn node_sync_deletes(fleet: &Fleet<'_>, node_sync: &NodeSync, update: &Update) -> Vec<Deletion> {
    let mut deletes: Vec<Deletion> = update.node_sync_deletes(node_sync).copied().collect();
    deletes.sort_unstable_by_key(|deletion| {
        let is_stray = deletion.reason == DeleteReason::NodeGone;
        let pod = fleet.pod(deletion.pod);
        let view = fleet.view(pod);
        let comes_last = fleet.node_of(deletion.pod).is_some_and(|node| deletes_come_last(fleet, node));
        // Strays come last, by the names of the pods alone: nothing else is known of their nodes.
        (is_stray, comes_last, view.target.filter(|_| !is_stray), view.name)
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
    // The order by node name puts all deletes of a node side by side. A stray never counts as a failure.
    let mut dropped_of_node = dropped.iter().take_while(|deletion| node_of(deletion) == node);
    if !dropped_of_node.any(Deletion::is_failure) {
        return limit;
    }
    let last_of_others = kept.iter().rposition(|deletion| node_of(deletion) != node);
    // Without another node before it, a smaller cut would be none at all, in this plan and in each later one.
    last_of_others.map_or(limit, |last| last + 1)
}

/// By node name.
fn ordered_creates(fleet: &Fleet<'_>, node_sync: &NodeSync, update: &Update) -> Vec<Creation> {
    let missing = node_sync.creates.iter().map(|node| (*node, CreateReason::MissingPod));
    let surge = update.choice.creates.iter().map(|node| (*node, CreateReason::Surge));
    let mut creates: Vec<_> = missing.chain(surge).map(|(node, reason)| Creation { node, reason }).collect();
    // One order for both kinds, so that the cap and the batches favour neither.
    creates.sort_unstable_by(|a, b| fleet.snapshot.index.by_name(a.node, b.node));
    creates
}

/// The earliest instant at which time alone changes the answer on the nodes of the fleet.
fn next_change(
    (fleet, node_sync): (&Fleet<'_>, &NodeSync),
    evaluations: &Evaluations,
    update: &Update,
) -> Option<(Timestamp, RequeueReason)> {
    let back_off_ends = node_sync.backed_off.iter().map(|backed_off| backed_off.until).min();
    let here = RequeueReason::first([
        (next_available(fleet, node_sync, update), RequeueReason::MinReadySeconds),
        (back_off_ends, RequeueReason::BackOff),
        (fleet.expects_until(), RequeueReason::InFlightExpiry),
        (update.place_free_at, RequeueReason::TerminationOverdue),
    ]);
    let of_rollout = fleet.goals.rollout().and_then(|rollout| rollout.known.decision.due);
    let of_holds = evaluations.nodes.iter().filter_map(|node| node.hold.as_ref()?.next).min();
    let of_turns = changes_of_turns(fleet).map(|(_, change)| change).min();
    [here, of_rollout, of_holds, of_turns].into_iter().flatten().min()
}

/// When the next Ready pod that stays becomes available.
fn next_available(fleet: &Fleet<'_>, node_sync: &NodeSync, update: &Update) -> Option<Timestamp> {
    if fleet.snapshot.spec.min_ready().is_zero() {
        return None;
    }
    // The update deletes some of the pods that survive node sync, and spares some that do not.
    let going = update.deletes.iter().filter(|deletion| deletion.means != Means::Turn);
    let mut going = Going {
        pods: going.map(|deletion| deletion.pod).collect(),
        spared: &update.spared,
        leaving: update.leaving.iter().filter_map(|deletion| fleet.node_of(deletion.pod)).collect(),
    };
    going.pods.sort_unstable();
    // The pods first, since few of a fleet wait.
    let waiting = fleet.pods.enumerated().filter(|(_, pod)| pod.is_ready() && !pod.is_available());
    let nodes = waiting.filter_map(|(pod, _)| fleet.node_of(pod));
    nodes.filter_map(|node| available_on(fleet, node_sync, node, &going)).min()
}
