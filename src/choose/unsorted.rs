//! The candidates of a decision on all objects, sorted as far as a plan needs it.

use crate::choose::waits::{Passage, Waits};
use crate::choose::{Candidates, First};
use crate::node::candidate::{Urgency, deletes_come_last, eligible, urgency};
use crate::node::figures::{Counts, Figure};
use crate::node::fleet::{Fleet, Readiness};
use crate::node::sync::NodeSync;
use crate::pods::history::History;
use crate::position::{FleetIx, NodeIx};
use std::collections::BTreeMap;

/// The candidates of a snapshot of all nodes, in no order: few plans need the order of a whole fleet.
pub(crate) struct Unsorted<'f> {
    fleet: &'f Fleet<'f>,
    history: &'f History<'f>,
    counts: &'f Counts,
    waits: &'f mut Waits,
    /// In the order of [`Readiness::ALL`].
    groups: [Vec<(NodeIx, FleetIx)>; Readiness::ALL.len()],
}

impl<'f> Unsorted<'f> {
    pub(crate) fn new(
        fleet: &'f Fleet<'f>,
        history: &'f History<'f>,
        node_sync: &'f NodeSync,
        counts: &'f Counts,
        waits: &'f mut Waits,
    ) -> Self {
        let mut groups = <[Vec<_>; Readiness::ALL.len()]>::default();
        // The figure is wider: under OnDelete or a back-off a candidate waits for something else than a limit.
        for node in counts.with(Figure::Candidate) {
            let Some((index, pod)) = eligible(fleet, node_sync, node) else { continue };
            if waits.passage(fleet, node) == Passage::Waits {
                continue;
            }
            if let Some(group) = groups.get_mut(pod.readiness as usize) {
                group.push((node, index));
            }
        }
        Unsorted { fleet, history, counts, waits, groups }
    }
}

impl Unsorted<'_> {
    /// Of candidates in order: all that are in turn, and the first `count` that may begin one. The second answer is how many begin.
    fn in_turns(&mut self, candidates: Vec<NodeIx>, count: usize) -> (Vec<NodeIx>, usize) {
        let mut begun = 0;
        let mut goes = |node: &NodeIx| match self.waits.passage(self.fleet, *node) {
            Passage::InTurn => true,
            Passage::Waits => false,
            Passage::WithinBudget => {
                let begins = begun < count && self.waits.take_place(self.counts.has(*node, Figure::Excused));
                begun += usize::from(begins);
                begins
            }
        };
        let nodes = candidates.into_iter().filter(|node| goes(node)).collect();
        (nodes, begun)
    }
}

impl Candidates for Unsorted<'_> {
    type Node = NodeIx;

    fn len(&self, group: Readiness) -> u32 {
        self.groups.get(group as usize).map_or(0, Vec::len) as u32
    }

    fn first(&mut self, group: Readiness, count: u32) -> First<NodeIx> {
        let Unsorted { fleet, history, counts, .. } = *self;
        let limits_turns = self.waits.limits_turns();
        // Each group is asked for once, so that its list can be taken. Without room nothing is sorted.
        let group = self.groups.get_mut(group as usize).filter(|_| count > 0 || limits_turns);
        let mut candidates = group.map(std::mem::take).unwrap_or_default();
        if limits_turns {
            // In the middle of an update the turns are used up, and the nodes that wait for one need no order.
            let goes = |node: NodeIx| match self.waits.passage(fleet, node) {
                Passage::InTurn => true,
                Passage::Waits => false,
                Passage::WithinBudget => count > 0 && self.waits.may_begin(counts.has(node, Figure::Excused)),
            };
            candidates.retain(|(node, _)| goes(*node));
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
        if count < first.len() && !limits_turns {
            first.select_nth_unstable_by(count, order);
            first.truncate(count);
        }
        first.sort_unstable_by(order);
        let mut nodes: Vec<NodeIx> = first.into_iter().map(|(_, node)| node).collect();
        let mut with_room = nodes.len();
        if limits_turns {
            (nodes, with_room) = self.in_turns(nodes, count);
        }
        let waiting = nodes.iter().filter(|node| counts.has(**node, Figure::Waits)).count();
        First { count: with_room as u32, waiting: waiting as u32, nodes }
    }

    fn leaving(&mut self, count: u32) -> Vec<NodeIx> {
        // Most plans: no node is looked at.
        if count == 0 {
            return Vec::new();
        }
        let mut nodes: Vec<NodeIx> = self.counts.with(Figure::LeavesLast).collect();
        // Few nodes are among them, so that all are sorted.
        nodes.sort_unstable_by_key(|node| {
            (deletes_come_last(self.fleet, *node), self.fleet.node_view(*node).name)
        });
        nodes.truncate(count as usize);
        nodes
    }
}
