//! The undo of a failed version: the DaemonSet gets the template of the stable revision back, once (section 13 of the contract).
//!
//! A first plan sets the two marks, and a later one, which sees them, restores the template. So a crash between them leaves nothing that
//! another controller could not go on with.

use crate::action::RequeueReason;
use crate::input::Snapshot;
use crate::input::rollout::marks::{
    MarkChange, UndoneMark, completed_at, has_failed, restored_at, restored_for,
};
use crate::pods::history::{History, Revision, beyond_limit};
use crate::rollout::report::NotUndoneReason;
use crate::rollout::stable::KnownStable;
use jiff::Timestamp;

/// How many revisions may be undone within an hour.
const MOST_UNDONE: usize = 3;

/// How far the undo of a failed version is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UndoProgress {
    /// This plan sets its marks.
    Begins { generation: i64 },
    /// The marks are set, and the template is restored as soon as nothing else is in the way.
    Due,
    /// The API server has refused the template, or may be asked only by a later plan.
    Waits { until: Option<Timestamp> },
    /// The template was restored, and the DaemonSet does not show it. Nobody waits for longer.
    Awaited { until: Timestamp },
    /// It is not done: a person must act, or, where there is an instant, time must pass.
    Not { because: NotUndoneReason, until: Option<Timestamp> },
}

impl UndoProgress {
    /// The undo of the current revision, which has failed, be it that this plan or that an earlier one has found it out.
    pub(crate) fn of_failed(
        snapshot: &Snapshot<'_>,
        history: &History<'_>,
        stable: Option<&KnownStable>,
        verdict: FailureVerdict,
    ) -> Self {
        let keys = &snapshot.spec.mark_keys;
        let current = history.current();
        let not = |because| UndoProgress::Not { because, until: None };
        let Some(stable) = stable.and_then(|stable| stable.view_in(history)) else {
            return not(NotUndoneReason::NoStableRevision);
        };
        let undone = current.view.and_then(|view| UndoneMark::read(view.annotations, keys));
        let undone = planted::undone(undone, current.number);
        let generation = snapshot.spec.daemon_set.metadata.generation;
        let Some(undone) = undone else {
            if snapshot.drives() && stable.controller.is_none() {
                // The other controller adopts the stable revision first: only an adopted revision is marked.
                return UndoProgress::Waits { until: None };
            }
            return match free_at(snapshot, history) {
                Some(at) => UndoProgress::Not { because: NotUndoneReason::TooMany, until: Some(at) },
                None => UndoProgress::Begins { generation },
            };
        };
        // Each of these says that the undo has been tried: a person, or a tool that put the template back, wants it otherwise.
        if undone.number != current.number {
            not(NotUndoneReason::UndoneBefore)
        } else if planted::is_of_another_generation(undone.generation != generation) {
            not(NotUndoneReason::DaemonSetChanged)
        } else if undone.counts_until(snapshot.now).is_none() {
            not(NotUndoneReason::TooLate)
        } else if verdict == FailureVerdict::New {
            // Somebody has removed the mark of the failure, and the version has failed again: no plan rests on its own marks.
            UndoProgress::Waits { until: None }
        } else if restored_at(stable.annotations, keys, current.number).is_none() {
            not(NotUndoneReason::NoStableRevision)
        } else {
            let again_at = snapshot.memory.as_ref().and_then(|memory| memory.restore_again_at(snapshot.now));
            again_at.map_or(UndoProgress::Due, |at| UndoProgress::Waits { until: Some(at) })
        }
    }

    /// Its marks, in the order of their actions: the stable revision is chosen before the current revision is given up.
    pub(crate) fn marks(self) -> Vec<MarkChange> {
        match self {
            UndoProgress::Begins { generation } => {
                vec![MarkChange::Restored, MarkChange::Undone { generation }]
            }
            UndoProgress::Due
            | UndoProgress::Waits { .. }
            | UndoProgress::Awaited { .. }
            | UndoProgress::Not { .. } => Vec::new(),
        }
    }

    /// Whether the template comes back, or is back and not yet shown.
    pub(crate) fn is_on_its_way(self) -> bool {
        match self {
            UndoProgress::Begins { .. }
            | UndoProgress::Due
            | UndoProgress::Waits { .. }
            | UndoProgress::Awaited { .. } => true,
            UndoProgress::Not { .. } => false,
        }
    }

    /// When time alone changes it.
    pub(crate) fn due(self) -> Option<(Timestamp, RequeueReason)> {
        match self {
            UndoProgress::Begins { .. } | UndoProgress::Due => None,
            UndoProgress::Awaited { until } => Some((until, RequeueReason::InFlightExpiry)),
            UndoProgress::Waits { until } | UndoProgress::Not { until, .. } => {
                until.map(|until| (until, RequeueReason::UndoDue))
            }
        }
    }
}

/// Whether the snapshot shows the mark of the verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureVerdict {
    Marked,
    /// This plan reaches it.
    New,
}

/// Whether the current revision has come back in the place of a failed one, and no newer revision has come since: the rollout of a
/// version that was complete once is no new one. Beside an external controller also where a person has put it back: no `RollBack` can, and in waves anew the
/// nodes with the failed version would wait for those that have never lost the good one.
pub(crate) fn is_way_back(snapshot: &Snapshot<'_>, history: &History<'_>) -> bool {
    let current = history.current();
    let keys = &snapshot.spec.mark_keys;
    let restored = current.view.and_then(|view| restored_for(view.annotations, keys));
    // By its own number alone the revision would stay on its way back whatever comes after it.
    let others = || history.revisions.iter().filter(|other| !std::ptr::eq(*other, current));
    let largest = others().map(|other| other.number).max();
    let is_restored = restored.is_some_and(|failed| largest.is_none_or(|largest| largest <= failed));
    let was_complete = current.view.is_some_and(|view| completed_at(view.annotations, keys).is_some());
    let has_failed = |other: &Revision<'_>| {
        let annotations = other.view.map(|view| view.annotations);
        Some(other.number) == largest
            && annotations.is_some_and(|marks| has_failed(marks, keys, other.number))
    };
    is_restored || (snapshot.drives() && was_complete && others().any(has_failed))
}

/// Until when a revision counts as undone; `None` if it does not. Till then it is kept, whatever the limit of the history: with it its mark
/// would go, and a tool that puts its template back would have it undone again and again.
pub(crate) fn undone_until(snapshot: &Snapshot<'_>, revision: &Revision<'_>) -> Option<Timestamp> {
    // Without a rollout no mark counts.
    snapshot.spec.policy.rollout.as_ref()?;
    let undone = UndoneMark::read(revision.view?.annotations, &snapshot.spec.mark_keys)?;
    undone.counts_until(snapshot.now)
}

/// When the first of the old revisions that are kept beyond the limit of the history counts as undone no longer.
pub(crate) fn kept_until(snapshot: &Snapshot<'_>, history: &History<'_>) -> Option<Timestamp> {
    let limit = snapshot.spec.daemon_set.spec.revision_history_limit;
    let is_beyond = beyond_limit(history.old().count(), limit) > 0;
    let kept = history.old().filter(|_| is_beyond);
    kept.filter_map(|(_, revision)| undone_until(snapshot, revision)).min()
}

/// When another undo may begin: as soon as fewer than three count. `None` if it may now.
fn free_at(snapshot: &Snapshot<'_>, history: &History<'_>) -> Option<Timestamp> {
    let counting = history.revisions.iter().filter_map(|revision| undone_until(snapshot, revision));
    let mut ends: Vec<Timestamp> = counting.collect();
    // The last three of them must have become two.
    ends.sort_unstable_by(|a, b| b.cmp(a));
    ends.get(MOST_UNDONE - 1).copied()
}

/// The deliberate errors in this file.
mod planted {
    use crate::input::rollout::marks::UndoneMark;

    crate::planted::planted! {
        undone(right: Option<UndoneMark>, number: i64): UndoneAgain => right.filter(|undone| undone.number == number);
        is_of_another_generation(right: bool): ChangeUndone => false;
    }
}
