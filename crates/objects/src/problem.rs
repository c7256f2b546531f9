//! Problems of an input, by field path, all at once.

use std::borrow::Cow;
use std::fmt;
use thiserror::Error;

/// All problems of an input, such as a snapshot or a policy; never empty. Its text has the first ten of them, each cut where it is long, and the number of
/// the others.
///
/// See the example of [`Problem`], and that of `SnapshotBuilder::check` in the crate `daemonset`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}", list(.problems))]
#[non_exhaustive]
pub struct InvalidInput {
    /// In the order of the input. Those of a snapshot: DaemonSet, policy, nodes, pods, revisions.
    pub problems: Vec<Problem>,
}

/// For the crates that check input.
#[doc(hidden)]
impl InvalidInput {
    /// # Errors
    /// These problems, if there are any.
    pub fn if_any(problems: Vec<Problem>) -> Result<(), Self> {
        if problems.is_empty() { Ok(()) } else { Err(InvalidInput { problems }) }
    }
}

impl From<Problem> for InvalidInput {
    fn from(problem: Problem) -> Self {
        InvalidInput { problems: vec![problem] }
    }
}

/// The problems for a person.
fn list(problems: &[Problem]) -> String {
    const SHOWN: usize = 10;
    const LENGTH: usize = 300;
    let shown = problems.iter().take(SHOWN).map(|problem| cut(&problem.to_string(), LENGTH).into_owned());
    let shown = shown.collect::<Vec<_>>().join("; ");
    match problems.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}

/// The first characters of a text, with `…` for the rest.
pub fn cut(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        None => Cow::Borrowed(text),
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
    }
}

/// A problem of one field.
///
/// ```
/// use daemonset::{ProblemKind, kubernetes::Selector, model::LabelSelector};
/// use serde_json::{from_value, json};
///
/// let selector: LabelSelector =
///     from_value(json!({"matchExpressions": [{"operator": "Exists"}, {"key": "app", "operator": "Near"}]}))?;
/// let invalid = Selector::new(&selector, "spec.selector").unwrap_err();
/// assert_eq!(invalid.problems[0].path, "spec.selector.matchExpressions[0].key");
/// assert_eq!(invalid.problems[0].kind, ProblemKind::Required);
/// assert_eq!(
///     invalid.problems[1].to_string(),
///     "spec.selector.matchExpressions[1].operator: Invalid value: \"Near\": must be In, NotIn, Exists or DoesNotExist"
/// );
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{path}{}{kind}", if path.is_empty() { "" } else { ": " })]
#[non_exhaustive]
pub struct Problem {
    /// The field, as Kubernetes writes it: `spec.updateStrategy.rollingUpdate.maxUnavailable` for the DaemonSet's,
    /// `pods[3].metadata.uid` for the lists'. Empty for the whole input.
    pub path: String,
    /// The problem.
    pub kind: ProblemKind,
}

/// The kind of a problem (v1.36 `apimachinery/pkg/util/validation/field`).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The field is required and absent.
    Required,
    /// Its value can't be used.
    #[non_exhaustive]
    Invalid {
        /// The value found.
        found: String,
        /// The valid values.
        must: String,
    },
    /// The value has another type than the field, or no field has this name.
    #[non_exhaustive]
    Unreadable {
        /// The decoder's message.
        message: String,
    },
    /// The field is not permitted here.
    #[non_exhaustive]
    Forbidden {
        /// Why.
        why: String,
    },
    /// A list or a map has more entries than it may have.
    #[non_exhaustive]
    TooMany {
        /// How many it has.
        found: usize,
        /// How many it may have.
        most: usize,
    },
    /// A text is longer than it may be.
    #[non_exhaustive]
    TooLong {
        /// How many bytes it may have.
        most: usize,
    },
    /// Another object has the same value where it must be unique.
    #[non_exhaustive]
    Duplicate {
        /// The value that both have.
        value: String,
        /// The path of the first object with it.
        first: String,
    },
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProblemKind::Required => f.write_str("Required value"),
            ProblemKind::Invalid { found, must } => write!(f, "Invalid value: {found}: {must}"),
            ProblemKind::Unreadable { message } => f.write_str(message),
            ProblemKind::Forbidden { why } => write!(f, "Forbidden: {why}"),
            ProblemKind::TooMany { found, most } => {
                write!(f, "Too many: {found}: must have at most {most} items")
            }
            ProblemKind::TooLong { most } => write!(f, "Too long: may not be more than {most} bytes"),
            ProblemKind::Duplicate { value, first } => {
                write!(f, "Duplicate value: {value:?}: {first} has it too")
            }
        }
    }
}

impl ProblemKind {
    /// Whether it is about the number of entries, and not about a value.
    #[doc(hidden)]
    pub fn is_of_count(&self) -> bool {
        match self {
            ProblemKind::TooMany { .. } => true,
            ProblemKind::Required
            | ProblemKind::Invalid { .. }
            | ProblemKind::Unreadable { .. }
            | ProblemKind::Forbidden { .. }
            | ProblemKind::TooLong { .. }
            | ProblemKind::Duplicate { .. } => false,
        }
    }
}

/// For the crates that check objects.
#[doc(hidden)]
impl Problem {
    pub fn required(path: impl Into<String>) -> Self {
        Problem { path: path.into(), kind: ProblemKind::Required }
    }

    pub fn invalid(path: impl Into<String>, found: impl fmt::Debug, must: &str) -> Self {
        let kind = ProblemKind::Invalid { found: format!("{found:?}"), must: must.to_owned() };
        Problem { path: path.into(), kind }
    }

    pub fn too_many(path: impl Into<String>, found: usize, most: usize) -> Self {
        Problem { path: path.into(), kind: ProblemKind::TooMany { found, most } }
    }

    pub fn too_long(path: impl Into<String>, most: usize) -> Self {
        Problem { path: path.into(), kind: ProblemKind::TooLong { most } }
    }

    pub fn duplicate(path: impl Into<String>, value: &str, first: String) -> Self {
        Problem { path: path.into(), kind: ProblemKind::Duplicate { value: value.to_owned(), first } }
    }

    pub fn unreadable(path: impl Into<String>, message: impl fmt::Display) -> Self {
        Problem { path: path.into(), kind: ProblemKind::Unreadable { message: message.to_string() } }
    }

    pub fn forbidden(path: impl Into<String>, why: String) -> Self {
        Problem { path: path.into(), kind: ProblemKind::Forbidden { why } }
    }
}

/// Collects problems.
#[derive(Debug, Default)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Adds one.
    pub fn add(&mut self, problem: Problem) {
        self.0.push(problem);
    }

    /// How many there are so far.
    #[allow(clippy::len_without_is_empty, reason = "nobody asks")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds one if a required text is empty.
    pub fn require(&mut self, text: &str, path: impl Into<String>) {
        if text.is_empty() {
            self.add(Problem::required(path));
        }
    }

    /// All of them at once.
    ///
    /// # Errors
    /// Everything collected, if anything was.
    pub fn into_result(self) -> Result<(), InvalidInput> {
        InvalidInput::if_any(self.0)
    }
}
