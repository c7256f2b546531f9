//! Marks: the annotations of a revision that hold the state of its rollout.
//!
//! A crash, another leader and a person with kubectl see the same state and change it in the same way.

use crate::action::RolloutReason;
use daemonset_objects::internal::{LabelsView, rfc3339};
use jiff::{SignedDuration, Timestamp};

/// A mark: the value `<number> <instant>[ <rest>]` of an annotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mark<'a> {
    /// The number that the revision had.
    number: i64,
    pub(crate) at: Timestamp,
    rest: &'a str,
}

impl<'a> Mark<'a> {
    /// Anything that does not parse is no mark.
    fn parse(value: &'a str) -> Option<Self> {
        // At most three parts: the reason of a failure, which a person may write, has spaces.
        let mut parts = value.splitn(3, ' ');
        let (number, at, rest) = (parts.next()?, parts.next()?, parts.next());
        // Rust's own parser would take a `+`, too.
        let digits = number.strip_prefix('-').unwrap_or(number);
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        // A space announces a rest: the form has one spelling for a mark without it.
        if !is_number || rest == Some("") {
            return None;
        }
        Some(Mark { number: number.parse().ok()?, at: rfc3339(at)?, rest: rest.unwrap_or("") })
    }

    fn of(self, number: i64) -> Option<Self> {
        (self.number == number).then_some(self)
    }

    /// The reason of a failure.
    pub(crate) fn reason(self) -> &'a str {
        self.rest
    }
}

/// The mark of the last open wave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WaveMark {
    pub(crate) index: usize,
    pub(crate) at: Timestamp,
}

impl WaveMark {
    fn parse(mark: Mark<'_>) -> Option<Self> {
        let digits = mark.rest.as_bytes();
        let is_number = !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
        // An index beyond every number is beyond every wave.
        is_number.then(|| WaveMark { index: mark.rest.parse().unwrap_or(usize::MAX), at: mark.at })
    }
}

/// The mark of a revision whose version is undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UndoneMark {
    pub(crate) number: i64,
    pub(crate) at: Timestamp,
    /// The generation of the DaemonSet that had its template.
    pub(crate) generation: i64,
}

/// For how long after its beginning an undo may be carried out, and for how long it counts against the limit.
const UNDONE_COUNTS_FOR: SignedDuration = SignedDuration::from_hours(1);

impl UndoneMark {
    /// The mark, under whatever number.
    pub(crate) fn read(annotations: LabelsView<'_>, keys: &MarkKeys) -> Option<Self> {
        let Mark { number, at, rest } = read(annotations, &keys.undone)?;
        let is_number = !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit());
        let generation = is_number.then(|| rest.parse().ok()).flatten()?;
        Some(UndoneMark { number, at, generation })
    }

    /// Until when the undo may be carried out and counts; `None` if it does no longer, or beyond the calendar.
    pub(crate) fn counts_until(self, now: Timestamp) -> Option<Timestamp> {
        self.at.checked_add(UNDONE_COUNTS_FOR).ok().filter(|until| now < *until)
    }
}

/// The marks of a revision that are valid: their number is the revision's. A revision that becomes current again has
/// another number, and starts afresh.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Marks<'a> {
    pub(crate) started: Option<Mark<'a>>,
    pub(crate) wave: Option<WaveMark>,
    pub(crate) failed: Option<Mark<'a>>,
    pub(crate) completed: Option<Mark<'a>>,
}

impl<'a> Marks<'a> {
    /// The valid marks of a revision that will have this number.
    pub(crate) fn valid(annotations: LabelsView<'a>, keys: &MarkKeys, number: i64) -> Self {
        let valid = |key| read(annotations, key)?.of(number);
        Marks {
            started: valid(&keys.started),
            // Without an index the mark is none, so that at worst a wave waits again.
            wave: valid(&keys.wave).and_then(WaveMark::parse),
            failed: valid(&keys.failed),
            completed: valid(&keys.completed),
        }
    }
}

/// The keys of the annotations, with the prefix of the policy.
#[derive(Debug, Clone)]
pub(crate) struct MarkKeys {
    started: String,
    wave: String,
    failed: String,
    completed: String,
    restored: String,
    undone: String,
}

impl MarkKeys {
    pub(crate) fn new(prefix: &str) -> Self {
        let key = |name: &str| format!("{prefix}/{name}");
        let [started, wave, failed, completed] = ["started", "wave", "failed", "completed"].map(key);
        let [restored, undone] = ["restored", "undone"].map(key);
        MarkKeys { started, wave, failed, completed, restored, undone }
    }

    /// The key of the mark that a plan sets or removes.
    pub(crate) fn of(&self, mark: MarkChange) -> &str {
        match mark {
            // A pause has no mark of its own: the policy says that the rollout is paused, and the start is forgotten.
            MarkChange::Started | MarkChange::Paused => &self.started,
            MarkChange::Wave(_) => &self.wave,
            MarkChange::Failed(_) => &self.failed,
            MarkChange::Completed => &self.completed,
            MarkChange::Restored => &self.restored,
            MarkChange::Undone { .. } => &self.undone,
        }
    }
}

/// When a revision was rolled out completely, under whatever number.
pub(crate) fn completed_at(annotations: LabelsView<'_>, keys: &MarkKeys) -> Option<Timestamp> {
    // Not limited to a number: a version that was complete once stays a version to go back to.
    read(annotations, &keys.completed).map(|mark| mark.at)
}

/// Whether a revision with this number has failed.
pub(crate) fn has_failed(annotations: LabelsView<'_>, keys: &MarkKeys, number: i64) -> bool {
    read(annotations, &keys.failed).and_then(|mark| mark.of(number)).is_some()
}

/// When a revision was chosen to come back in the place of the failed one with this number.
pub(crate) fn restored_at(annotations: LabelsView<'_>, keys: &MarkKeys, failed: i64) -> Option<Timestamp> {
    read(annotations, &keys.restored)?.of(failed).map(|mark| mark.at)
}

/// The number of the failed revision in whose place a revision was chosen last to come back.
pub(crate) fn restored_for(annotations: LabelsView<'_>, keys: &MarkKeys) -> Option<i64> {
    read(annotations, &keys.restored).map(|mark| mark.number)
}

fn read<'a>(annotations: LabelsView<'a>, key: &str) -> Option<Mark<'a>> {
    Mark::parse(annotations.get(key)?)
}

/// Why a rollout has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureReason {
    TooManyFailures,
    ProgressDeadlineExceeded,
}

impl FailureReason {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            FailureReason::TooManyFailures => "TooManyFailures",
            FailureReason::ProgressDeadlineExceeded => "ProgressDeadlineExceeded",
        }
    }
}

/// A mark that this plan sets or removes: on the current revision, but for [`Restored`](Self::Restored).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkChange {
    Started,
    /// The mark `started` is removed.
    Paused,
    Wave(usize),
    Failed(FailureReason),
    Completed,
    /// On the stable revision: it comes back in the place of the current revision.
    Restored,
    /// The template of this generation of the DaemonSet is undone.
    Undone {
        generation: i64,
    },
}

impl MarkChange {
    pub(crate) fn reason(self) -> RolloutReason {
        match self {
            MarkChange::Started => RolloutReason::RolloutStarted,
            MarkChange::Paused => RolloutReason::RolloutPaused,
            MarkChange::Wave(_) => RolloutReason::WaveOpened,
            MarkChange::Failed(_) => RolloutReason::RolloutFailed,
            MarkChange::Completed => RolloutReason::RolloutCompleted,
            MarkChange::Restored | MarkChange::Undone { .. } => RolloutReason::RolloutUndone,
        }
    }

    /// The value to write, where the current revision has this number; `None` removes the annotation.
    pub(crate) fn value(self, number: i64, now: Timestamp) -> Option<String> {
        match self {
            MarkChange::Paused => None,
            // The number of this plan, also where it renumbers the revision: its action stands before the marks.
            MarkChange::Started | MarkChange::Completed | MarkChange::Restored => {
                Some(format!("{number} {now}"))
            }
            MarkChange::Undone { generation } => Some(format!("{number} {now} {generation}")),
            MarkChange::Wave(index) => Some(format!("{number} {now} {index}")),
            MarkChange::Failed(reason) => Some(format!("{number} {now} {}", reason.as_str())),
        }
    }
}
