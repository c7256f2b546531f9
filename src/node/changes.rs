//! When time alone changes the answer on a node.

use crate::action::RequeueReason;
use crate::input::placement::Placement;
use crate::node::fleet::{Fleet, FleetPod};
use crate::node::sync::NodeSync;
use crate::position::{FleetIx, NodeIx};
use jiff::Timestamp;
use std::collections::BTreeSet;

/// The part of the update in the pods that stay on their nodes.
#[derive(Debug, Default)]
pub struct Going<'u> {
    /// Pods that the update takes, sorted.
    pub pods: Vec<FleetIx>,
    /// Pods that it spares, though node sync deletes them; sorted.
    pub spared: &'u [FleetIx],
    /// Nodes that lose the outdated pod of a pair by a withdrawn toleration: they wait for no other one.
    pub leaving: BTreeSet<NodeIx>,
}

/// When the next Ready pod of a node that stays becomes available.
pub fn available_on(
    fleet: &Fleet<'_>,
    node_sync: &NodeSync,
    node: NodeIx,
    going: &Going<'_>,
) -> Option<Timestamp> {
    if fleet.snapshot.spec.min_ready().is_zero() {
        return None;
    }
    let waits = waits_for_availability(fleet, node_sync, node) && !going.leaving.contains(&node);
    let stays = |index: FleetIx| {
        let is_spared = going.spared.binary_search(&index).is_ok();
        let goes = node_sync.deletes_pod(index) || going.pods.binary_search(&index).is_ok();
        is_spared || (waits && !goes)
    };
    let is_waiting = |pod: &FleetPod| pod.is_ready() && !pod.is_available();
    let waiting = fleet.pods_of(node).filter(|(_, pod)| is_waiting(pod));
    waiting.filter(|(index, _)| stays(*index)).filter_map(|(_, pod)| fleet.available_at(pod)).min()
}

/// Status and budget wait for the pods of target nodes. On a node where a pod may only stay, the outdated pod of a pair
/// waits for the updated one, and the end of a turn for the new pod.
fn waits_for_availability(fleet: &Fleet<'_>, node_sync: &NodeSync, node: NodeIx) -> bool {
    match fleet.placement(node) {
        Placement::Run => true,
        Placement::ContinueOnly(_) => node_sync.keeps_a_pair(fleet, node) || fleet.turn(node).is_some(),
        Placement::Exclude(_) => false,
    }
}

/// The instants at which time alone changes the answer about turns, pulls and changes in place, but for what holds a
/// candidate; each with its node, or `None` where that is not in the snapshot.
pub fn changes_of_turns<'f>(
    fleet: &'f Fleet<'_>,
) -> impl Iterator<Item = (Option<NodeIx>, (Timestamp, RequeueReason))> + 'f {
    let (snapshot, memory) = (fleet.snapshot, fleet.snapshot.memory.as_ref());
    fleet.rare.iter().flat_map(move |rare| {
        let settled = rare.in_place.iter().filter_map(move |(pod, in_place)| {
            Some((snapshot.facts(*pod).node, (in_place.settled_at?, RequeueReason::InPlaceSettled)))
        });
        let patched = rare.turns.iter().filter_map(|turn| {
            Some((Some(turn.node), (turn.in_flight_until?, RequeueReason::InFlightExpiry)))
        });
        let created = memory.and_then(|memory| memory.pulls_created_until(snapshot, &rare.unseen_pulls));
        let created = created.map(|until| (None, (until, RequeueReason::InFlightExpiry)));
        let deleted = rare.pull_pods.iter().filter(|pod| !pod.is_terminating).filter_map(move |pod| {
            let until = memory?.pull_deleted_until(pod.view.uid, snapshot)?;
            Some((pod.node, (until, RequeueReason::InFlightExpiry)))
        });
        settled.chain(patched).chain(created).chain(deleted)
    })
}
