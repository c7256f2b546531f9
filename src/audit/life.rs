//! What a pod is good for, as far as harm is concerned.

use super::lineage::Lineage;
use super::memories;
use crate::snapshot::Snapshot;
use crate::snapshot::index::PodFacts;
use crate::view::{Phase, PodView};
use jiff::Timestamp;

/// Where a pod of the DaemonSet is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Life {
    Live(Grade),
    Failed,
    Succeeded,
    /// It terminates, or its deletion is in flight.
    Leaving,
    /// It is leaving and finished: it runs nothing any more, and nobody has to do anything about it.
    Gone,
}

/// How good a live pod is, from 0 (available and updated) to 5 (neither Ready nor updated)
/// `[keep-the-available-one]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Grade(u8);

impl Grade {
    pub(super) const ALL: usize = 6;

    pub(super) fn is_ready(self) -> bool {
        self.0 < 4
    }

    pub(super) fn is_outdated(self) -> bool {
        self.0 % 2 == 1
    }

    pub(super) fn position(self) -> usize {
        self.0.into()
    }
}

/// Judges pods at one instant.
pub(super) struct Doctor<'s> {
    snapshot: &'s Snapshot<'s>,
    /// Ready since then or before: available. None where no pod can have been Ready for so long.
    ready_by: Option<Timestamp>,
    remembers_deletes: bool,
}

impl<'s> Doctor<'s> {
    pub(super) fn new(snapshot: &'s Snapshot<'s>) -> Self {
        Doctor {
            snapshot,
            ready_by: snapshot.now.checked_sub(snapshot.min_ready()).ok(),
            remembers_deletes: snapshot.memory.as_ref().is_some_and(|memory| !memory.deletes.is_empty()),
        }
    }

    pub(super) fn life(&self, pod: &PodView<'_>, facts: &PodFacts, lineage: &Lineage<'_>) -> Life {
        match (self.is_leaving(pod), pod.phase) {
            (true, Phase::Failed | Phase::Succeeded) => Life::Gone,
            (true, Phase::PendingOrUnknown | Phase::Running) => Life::Leaving,
            (false, Phase::Failed) => Life::Failed,
            (false, Phase::Succeeded) => Life::Succeeded,
            (false, Phase::PendingOrUnknown | Phase::Running) => {
                let readiness = match (pod.ready, self.is_ready_long_enough(pod)) {
                    (true, true) => 0,
                    (true, false) => 2,
                    (false, _) => 4,
                };
                Life::Live(Grade(readiness + u8::from(!lineage.is_updated(facts))))
            }
        }
    }

    /// Terminating, or its deletion was accepted and is not seen yet.
    pub(super) fn is_leaving(&self, pod: &PodView<'_>) -> bool {
        pod.deleted_at.is_some()
            || (self.remembers_deletes && memories::delete_in_flight(self.snapshot, pod.uid))
    }

    fn is_ready_long_enough(&self, pod: &PodView<'_>) -> bool {
        self.snapshot.daemon_set.spec.min_ready_seconds == 0
            || pod.ready_since.zip(self.ready_by).is_some_and(|(since, by)| since <= by)
    }
}
