//! The stage and the rank of a pod, as far as harm is concerned: judged apart from the planner.

use crate::facts::in_place;
use crate::facts::memories;
use daemonset::internal::{Phase, Position};
use daemonset::{PodView, Snapshot};
use jiff::Timestamp;

/// The stage of a pod's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PodStage {
    Live(Rank),
    Failed,
    Succeeded,
    /// Terminating, or its deletion is in flight.
    Terminating,
    /// Terminating and finished: it runs nothing any more.
    Gone,
}

/// How good a live pod is: the best is available and updated, the worst neither Ready nor updated
/// `[keep-the-available-one]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    readiness: Readiness,
    outdated: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Readiness {
    Available,
    NotYetAvailable,
    NotReady,
}

impl Rank {
    /// How many ranks there are.
    pub(crate) const COUNT: usize = 6;

    pub(crate) fn is_available(self) -> bool {
        self.readiness == Readiness::Available
    }

    pub(crate) fn is_ready(self) -> bool {
        match self.readiness {
            Readiness::Available | Readiness::NotYetAvailable => true,
            Readiness::NotReady => false,
        }
    }

    pub(crate) fn is_outdated(self) -> bool {
        self.outdated
    }
}

impl Position for Rank {
    fn new(index: usize) -> Self {
        let readiness = match index / 2 {
            0 => Readiness::Available,
            1 => Readiness::NotYetAvailable,
            _ => Readiness::NotReady,
        };
        Rank { readiness, outdated: index % 2 == 1 }
    }

    fn index(self) -> usize {
        2 * self.readiness as usize + usize::from(self.outdated)
    }
}

/// Judges pods at one instant.
pub(crate) struct PodStages<'s> {
    snapshot: &'s Snapshot<'s>,
    /// A pod that is Ready since this instant, or longer, is available. `None` where no pod can have been Ready for so
    /// long.
    ready_by: Option<Timestamp>,
    remembers_deletes: bool,
}

impl<'s> PodStages<'s> {
    pub(crate) fn new(snapshot: &'s Snapshot<'s>) -> Self {
        PodStages {
            snapshot,
            ready_by: snapshot.now().checked_sub(snapshot.spec().min_ready()).ok(),
            remembers_deletes: snapshot.memory().is_some_and(|memory| !memory.deletes().is_empty()),
        }
    }

    /// `is_of_goal` says whether the pod is of the revision that its node should have.
    pub(crate) fn stage(&self, pod: &PodView<'_>, is_of_goal: impl FnOnce() -> bool) -> PodStage {
        match (self.is_terminating(pod), pod.phase) {
            (true, Phase::Failed | Phase::Succeeded) => PodStage::Gone,
            (true, Phase::PendingOrUnknown | Phase::Running) => PodStage::Terminating,
            (false, Phase::Failed) => PodStage::Failed,
            (false, Phase::Succeeded) => PodStage::Succeeded,
            (false, Phase::PendingOrUnknown | Phase::Running) => {
                let settles =
                    in_place::changed(pod, self.snapshot.now()).is_some_and(|changed| changed.settles);
                let readiness = match (pod.ready == Some(true) && !settles, self.is_ready_long_enough(pod)) {
                    (true, true) => Readiness::Available,
                    (true, false) => Readiness::NotYetAvailable,
                    (false, _) => Readiness::NotReady,
                };
                PodStage::Live(Rank { readiness, outdated: !is_of_goal() })
            }
        }
    }

    /// Terminating, or its deletion, or its change in place, was accepted and is not seen yet.
    fn is_terminating(&self, pod: &PodView<'_>) -> bool {
        pod.deleted_at.is_some()
            || (self.remembers_deletes && memories::delete_in_flight(self.snapshot, pod.uid))
            || memories::change_in_flight(self.snapshot, pod)
    }

    fn is_ready_long_enough(&self, pod: &PodView<'_>) -> bool {
        self.snapshot.spec().daemon_set.spec.min_ready_seconds == 0
            || in_place::ready_since(pod, self.snapshot.now())
                .zip(self.ready_by)
                .is_some_and(|(since, by)| since <= by)
    }
}
