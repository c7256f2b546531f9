//! Marks, read apart from the planner.

use daemonset::internal::{LabelsView, rfc3339};
use jiff::Timestamp;

/// The value `<number> <instant>[ <rest>]` of an annotation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) number: i64,
    pub(crate) at: Timestamp,
    pub(crate) rest: Option<String>,
}

impl Mark {
    /// Anything that does not parse is no mark.
    pub(crate) fn read(value: &str) -> Option<Self> {
        let (number, rest) = value.split_once(' ')?;
        let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = if is_digits(number.trim_start_matches('-')) {
            number.parse::<i64>().ok()?
        } else {
            return None;
        };
        let (at, rest) = match rest.split_once(' ') {
            Some((_, "")) => return None,
            Some((at, rest)) => (at, Some(rest.to_owned())),
            None => (rest, None),
        };
        Some(Mark { number, at: rfc3339(at)?, rest })
    }

    /// The index of a wave; one beyond every number is beyond every wave.
    pub(crate) fn index(&self) -> Option<usize> {
        let rest = self.rest.as_deref().filter(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
        rest.map(|rest| rest.parse().unwrap_or(usize::MAX))
    }
}

/// The valid marks of a revision.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    pub(crate) started: Option<Mark>,
    pub(crate) wave: Option<Mark>,
    pub(crate) failed: Option<Mark>,
    pub(crate) completed: Option<Mark>,
}

impl Marks {
    /// The marks with the number that the revision will have.
    pub(crate) fn new(annotations: LabelsView<'_>, prefix: &str, number: i64) -> Self {
        let valid = |name| get(annotations, prefix, name).filter(|mark| mark.number == number);
        Marks {
            started: valid("started"),
            wave: valid("wave").filter(|mark| mark.index().is_some()),
            failed: valid("failed"),
            completed: valid("completed"),
        }
    }

    pub(crate) fn wave_index(&self) -> Option<usize> {
        self.wave.as_ref().and_then(Mark::index)
    }
}

/// The mark of a revision, under whatever number.
pub(crate) fn get(annotations: LabelsView<'_>, prefix: &str, name: &str) -> Option<Mark> {
    Mark::read(annotations.get(&format!("{prefix}/{name}"))?)
}
