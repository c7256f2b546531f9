//! The candidates of a decision on all objects, sorted as far as a plan needs it.

use crate::choose::turns::{InTurn, TurnRooms};
use crate::choose::{Candidates, First};
use crate::node::candidate::{Urgency, deletes_come_last, urgency};
use crate::node::evaluation::Evaluations;
use crate::node::figures::Figure;
use crate::node::fleet::{Fleet, Readiness};
use crate::node::sync::{NodeSync, place_in_turn};
use crate::pods::history::History;
use crate::position::{FleetIx, NodeIx};
use std::collections::{BTreeMap, BTreeSet};

/// The candidates of a snapshot of all nodes, in no order: few plans need the order of a whole fleet.
pub(crate) struct Unsorted<'f> {
    fleet: &'f Fleet<'f>,
    history: &'f History<'f>,
    node_sync: &'f NodeSync,
    evaluations: &'f Evaluations,
    /// In the order of [`Readiness::ALL`].
    groups: [Vec<(NodeIx, FleetIx)>; Readiness::ALL.len()],
    without_room: BTreeSet<NodeIx>,
}

impl<'f> Unsorted<'f> {
    pub(crate) fn new(
        fleet: &'f Fleet<'f>,
        history: &'f History<'f>,
        node_sync: &'f NodeSync,
        evaluations: &'f Evaluations,
    ) -> Self {
        let mut groups = <[Vec<_>; Readiness::ALL.len()]>::default();
        for (node, evaluation) in evaluations.nodes.enumerated() {
            let Some(pod) = evaluation.candidate.filter(|_| evaluation.wait().is_none()) else { continue };
            if let Some(group) = groups.get_mut(fleet.pod(pod).readiness as usize) {
                group.push((node, pod));
            }
        }
        Unsorted { fleet, history, node_sync, evaluations, groups, without_room: BTreeSet::new() }
    }

    fn has(&self, node: NodeIx, figure: Figure) -> bool {
        self.evaluations.has(node, figure)
    }
}

impl Candidates for Unsorted<'_> {
    type Node = NodeIx;

    fn len(&self, group: Readiness) -> u32 {
        self.groups.get(group as usize).map_or(0, Vec::len) as u32
    }

    fn first(&mut self, group: Readiness, count: u32, turns: Option<&mut TurnRooms>) -> First<NodeIx> {
        let Unsorted { fleet, history, .. } = *self;
        // Each group is asked for once, so that its list can be taken. Without room nothing is sorted.
        let group = self.groups.get_mut(group as usize).filter(|_| count > 0 || turns.is_some());
        let mut candidates = group.map(std::mem::take).unwrap_or_default();
        if !self.without_room.is_empty() {
            candidates.retain(|(node, _)| !self.without_room.contains(node));
        }
        if let Some(rooms) = &turns {
            // In the middle of an update the turns are used up, and the nodes that wait for one need no order.
            let mut rooms = **rooms;
            candidates.retain(|(node, _)| {
                let may_begin = count > 0 && *rooms.of(self.has(*node, Figure::Excused)) > 0;
                may_begin || fleet.turn(*node).is_some()
            });
        }
        // Urgency is found once for each node, not in each comparison: it looks the node's name up in the memory.
        // A fleet has as many urgencies as revisions, and one for each refusal: a number for each takes a quarter of the memory.
        let mut numbers: BTreeMap<Urgency, u32> = BTreeMap::new();
        let mut first: Vec<(u32, NodeIx)> = Vec::with_capacity(candidates.len());
        for (node, pod) in candidates {
            let next = numbers.len() as u32;
            let urgency = urgency(fleet, history, node, fleet.pod(pod));
            first.push((*numbers.entry(urgency).or_insert(next), node));
        }
        // The numbers are in the order of their finding so far.
        let mut ranks = vec![0; numbers.len()];
        for (rank, number) in (0..).zip(numbers.into_values()) {
            if let Some(place) = ranks.get_mut(number as usize) {
                *place = rank;
            }
        }
        for (number, _) in &mut first {
            *number = ranks.get(*number as usize).copied().unwrap_or_default();
        }
        // The name decides last, so that no two nodes are equal and the order of the list does not matter.
        let index = &fleet.snapshot.index;
        let order = |(a, one): &(u32, NodeIx), (b, other): &(u32, NodeIx)| {
            a.cmp(b).then_with(|| index.by_name(*one, *other))
        };
        // A whole fleet may be outdated while a few nodes may be updated. Selection puts the first ones in front in linear
        // time, and only they are sorted. With room for all there is nothing to select.
        let count = count as usize;
        if count < first.len() && turns.is_none() {
            first.select_nth_unstable_by(count, order);
            first.truncate(count);
        }
        first.sort_unstable_by(order);
        let mut nodes: Vec<NodeIx> = first.into_iter().map(|(_, node)| node).collect();
        let mut with_room = nodes.len();
        if let Some(rooms) = turns {
            with_room = 0;
            nodes.retain(|node| {
                if fleet.turn(*node).is_some() {
                    return true;
                }
                let room = rooms.of(self.has(*node, Figure::Excused));
                let begins = with_room < count && *room > 0;
                if begins {
                    (with_room, *room) = (with_room + 1, *room - 1);
                }
                begins
            });
        }
        let waiting = nodes.iter().filter(|node| self.has(**node, Figure::Waits)).count();
        First { count: with_room as u32, waiting: waiting as u32, nodes }
    }

    fn in_turn_from(&mut self, place: u32) -> InTurn<NodeIx> {
        let Unsorted { fleet, node_sync, .. } = *self;
        let in_turn = fleet.turns().iter().filter(|turn| self.has(turn.node, Figure::InTurn));
        let mut in_turn: Vec<NodeIx> = in_turn.map(|turn| turn.node).collect();
        in_turn.sort_by_key(|node| (place_in_turn(fleet, node_sync, *node), fleet.node_view(*node).name));
        let beyond = in_turn.split_off(in_turn.len().min(place as usize));
        let is_ready = |node: &NodeIx| {
            let pod = self.evaluations.nodes.at(*node).candidate;
            pod.is_some_and(|pod| self.fleet.pod(pod).readiness.is_ready())
        };
        let nodes: Vec<NodeIx> = beyond.into_iter().filter(is_ready).collect();
        let count = |figure| nodes.iter().filter(|node| self.has(**node, figure)).count() as u32;
        let (places, waiting) = (count(Figure::TurnPlace), count(Figure::Waits));
        self.without_room.extend(&nodes);
        InTurn { nodes, places, waiting }
    }

    fn leaving(&mut self, count: u32) -> Vec<NodeIx> {
        // Most plans: no node is looked at.
        if count == 0 {
            return Vec::new();
        }
        let mut nodes: Vec<NodeIx> = self.evaluations.with(Figure::LeavesLast).collect();
        // Few nodes are among them, so that all are sorted.
        nodes.sort_unstable_by_key(|node| {
            (deletes_come_last(self.fleet, *node), self.fleet.node_view(*node).name)
        });
        nodes.truncate(count as usize);
        nodes
    }
}
