//! Candidates for an update, the furthest behind first.

use crate::reconcile::fleet::{Fleet, FleetPod};
use crate::reconcile::history::{History, Role};
use crate::snapshot::position::{FleetIx, HistoryIx, IndexVec, NodeIx};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// An outdated pod that is alone on its node.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) node: NodeIx,
    pub(crate) pod: FleetIx,
    /// Its place among those whose update was refused; 0 where it was not.
    refused: u32,
    /// How far its revision has come: 0 for an unknown one or none.
    rank: u32,
}

/// Turns revisions and refusals into ranks, so that a candidate stays small.
pub(crate) struct Ranks<'s> {
    revisions: IndexVec<HistoryIx, u32>,
    refused: BTreeMap<&'s str, u32>,
}

impl<'s> Ranks<'s> {
    /// Revisions of equal number have equal rank.
    pub(crate) fn of(history: &History<'_>, fleet: &Fleet<'s>) -> Self {
        let old = history.revisions.iter().filter(|r| r.role == Role::Old);
        let mut numbers: Vec<i64> = old.map(|r| r.number).collect();
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
        let refused = if self.refused.is_empty() { None } else { self.refused.get(fleet.target_name(pod)) };
        Candidate {
            node,
            pod: index,
            refused: refused.copied().unwrap_or(0),
            rank: pod.revision.map_or(0, |revision| *self.revisions.at(revision)),
        }
    }
}

/// The first `room` candidates, in order: furthest behind, then by node name. Frequent edits must not starve the last
/// nodes, nor one whose update is refused the others: it comes last `[refused-comes-last]`.
pub(crate) fn first(mut candidates: Vec<Candidate>, room: u32, fleet: &Fleet<'_>) -> Vec<Candidate> {
    let room = room as usize;
    let by_age = |a: &Candidate, b: &Candidate| -> Ordering {
        let index = &fleet.snapshot.index;
        (a.refused, a.rank).cmp(&(b.refused, b.rank)).then_with(|| index.by_name(a.node, b.node))
    };
    if (1..candidates.len()).contains(&room) {
        candidates.select_nth_unstable_by(room, by_age);
    }
    candidates.truncate(room);
    candidates.sort_unstable_by(by_age);
    candidates
}
