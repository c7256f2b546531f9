//! Candidates for an update, the furthest behind first.

use crate::reconcile::fleet::{Fleet, FleetPod};
use crate::reconcile::history::History;
use crate::snapshot::position::{FleetIx, HistoryIx, IndexVec, NodeIx};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// An outdated pod that is the only live one of its node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) node: NodeIx,
    pub(crate) pod: FleetIx,
    /// Its place among the nodes whose update was refused; 0 where it was not refused.
    refused: u32,
    /// The place of its revision's number among all; 0 for an unknown revision or no hash label.
    rank: u32,
}

/// Ranks of revisions and of refused nodes: a candidate holds two small numbers instead of a revision and a name.
pub(crate) struct Ranks<'s> {
    revisions: IndexVec<HistoryIx, u32>,
    refused: BTreeMap<&'s str, u32>,
}

impl<'s> Ranks<'s> {
    /// Revisions with the same number have the same rank.
    pub(crate) fn new(history: &History<'_>, fleet: &Fleet<'s>) -> Self {
        // The current one's too, after a new number: on the way back to base its pods are the last to go.
        let mut numbers: Vec<i64> = history.revisions.iter().map(|r| r.number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let rank = |number: i64| numbers.partition_point(|n| *n <= number) as u32;
        let revisions = history.revisions.iter().map(|r| rank(r.number)).collect();
        let memory = fleet.snapshot.memory.as_ref();
        let refused = memory.map(|memory| memory.refused(fleet.snapshot.now)).unwrap_or_default();
        Ranks { revisions, refused }
    }

    pub(crate) fn candidate(
        &self,
        fleet: &Fleet<'_>,
        node: NodeIx,
        index: FleetIx,
        pod: &FleetPod,
    ) -> Candidate {
        // Without refusals, the usual case, no name is looked up.
        let refused = if self.refused.is_empty() { None } else { self.refused.get(fleet.target_name(pod)) };
        Candidate {
            node,
            pod: index,
            refused: refused.copied().unwrap_or(0),
            rank: pod.revision.map_or(0, |revision| *self.revisions.at(revision)),
        }
    }
}

/// The first `room` candidates: those furthest behind first, then by node name, so that frequent edits do not starve the
/// last nodes. A node whose update was refused comes last, so that it does not starve the others `[refused-comes-last]`.
pub(crate) fn first(mut candidates: Vec<Candidate>, room: u32, fleet: &Fleet<'_>) -> Vec<Candidate> {
    let room = room as usize;
    let by_urgency = |a: &Candidate, b: &Candidate| -> Ordering {
        let index = &fleet.snapshot.index;
        (a.refused, a.rank).cmp(&(b.refused, b.rank)).then_with(|| index.by_name(a.node, b.node))
    };
    // A whole fleet may be outdated while a few nodes may be updated. Selection puts the first `room` candidates in
    // front in linear time, and only they are sorted. Without room, or with room for all, there is nothing to select.
    if (1..candidates.len()).contains(&room) {
        candidates.select_nth_unstable_by(room, by_urgency);
    }
    candidates.truncate(room);
    candidates.sort_unstable_by(by_urgency);
    candidates
}
