//! Why a plan was not executed to its end, and how the log says so.

use crate::response::{UnknownOutcome, shortened};
use daemonset::Action;
use std::fmt;
use std::time::Duration;

/// Why a plan was not executed to its end, and what it means for a loop. [`InFlight::next_plan`](crate::InFlight::next_plan) has these
/// rules. Each failure in a row doubles the back-off of the object, from 5 ms to 5 minutes; an execution without an error ends it.
///
/// | error | the next plan |
/// |---|---|
/// | [`Outdated`](Self::Outdated) | with back-off. Normal beside a cache that lags: the next event heals it |
/// | [`RetryAfter`](Self::RetryAfter) | after this time, without back-off |
/// | [`Failed`](Self::Failed), [`Forbidden`](Self::Forbidden), [`Refused`](Self::Refused) | with back-off, which a [first rejection](crate::RetryOrder::take_delay) shortens to seconds: the calls of the other nodes come first then |
/// | [`Unknown`](Self::Unknown) | with back-off, and once [storage tells](crate::InFlight::next_settle); until then the memory allows no second call |
/// | [`Unreachable`](Self::Unreachable) | with back-off, to 10 s |
/// | [`NamespaceTerminating`](Self::NamespaceTerminating) | only when an object changes |
/// | [`MayNotAct`](Self::MayNotAct) | with back-off; the process should end |
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "callers decide about each")]
pub enum ExecuteError {
    /// An object is not as the snapshot showed it, as the 409 of a status says: the next plan needs a newer snapshot.
    Outdated(String),
    /// The API server asks the controller to wait for this time.
    RetryAfter(Duration),
    /// The namespace is being deleted: no pod will be created in it.
    NamespaceTerminating,
    /// A call failed, and was not done.
    Failed(String),
    /// A call was rejected for lack of rights, by a quota or by a policy.
    Forbidden(Refusal),
    /// The API server's final answer to a call is no: a newer snapshot leads to the same call, and to the same answer.
    Refused(Refusal),
    /// No connection was established: the call was not sent.
    Unreachable(String),
    /// A call may have been done.
    Unknown(UnknownOutcome),
    /// This process may act no more.
    MayNotAct,
}

/// A call that the API server refused.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// The call and the answer. The same call with the same answer has the same text.
    pub text: String,
    /// The number of calls that failed with it.
    pub others: usize,
}

impl Refusal {
    /// The answer to a call, which [`ExecuteError::in_call`] names.
    pub(crate) fn new(answer: String) -> Self {
        Refusal { text: answer, others: 0 }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        if self.others > 0 { write!(f, " (and {} more calls)", self.others) } else { Ok(()) }
    }
}

impl fmt::Display for ExecuteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExecuteError::Outdated(message) => write!(f, "an object has changed: {message}"),
            ExecuteError::RetryAfter(delay) => {
                write!(f, "too many requests: retry after {} s", delay.as_secs())
            }
            ExecuteError::NamespaceTerminating => f.write_str("the namespace is being deleted"),
            ExecuteError::Failed(error) | ExecuteError::Unreachable(error) => f.write_str(error),
            ExecuteError::Forbidden(refusal) | ExecuteError::Refused(refusal) => refusal.fmt(f),
            ExecuteError::Unknown(unknown) => write!(f, "it may have been done: {}", unknown.error),
            ExecuteError::MayNotAct => f.write_str("this process may act no more"),
        }
    }
}

impl std::error::Error for ExecuteError {}

impl ExecuteError {
    /// Whether the status is still written after this failure: even if creates fail for long, the status must report the other
    /// pods (v1.36 `syncDaemonSet`).
    pub fn allows_status(&self) -> bool {
        match self {
            ExecuteError::Failed(_)
            | ExecuteError::Forbidden(_)
            | ExecuteError::Refused(_)
            | ExecuteError::Unreachable(_)
            | ExecuteError::Unknown(_)
            | ExecuteError::NamespaceTerminating => true,
            ExecuteError::Outdated(_) | ExecuteError::RetryAfter(_) | ExecuteError::MayNotAct => false,
        }
    }

    /// The same error with the call that failed, and the number of calls that failed with it.
    pub(crate) fn in_call(mut self, action: &Action, others: usize) -> Self {
        match &mut self {
            ExecuteError::Failed(error)
            | ExecuteError::Unreachable(error)
            | ExecuteError::Unknown(UnknownOutcome { error, .. }) => {
                let others = if others == 0 { String::new() } else { format!(" (and {others} more calls)") };
                *error = format!("{}: {}{others}", subject(action, None), shortened(error));
            }
            ExecuteError::Forbidden(refusal) | ExecuteError::Refused(refusal) => {
                let text = format!("{}: {}", subject(action, None), shortened(&refusal.text));
                *refusal = Refusal { text, others };
            }
            ExecuteError::Outdated(_)
            | ExecuteError::RetryAfter(_)
            | ExecuteError::NamespaceTerminating
            | ExecuteError::MayNotAct => {}
        }
        self
    }
}

/// The call of an action in words, such as `delete pod edge-x7k2p on node-1`; with the name of the created pod where the answer has it.
pub(crate) fn subject(action: &Action, created: Option<&str>) -> String {
    match (action, action.subject_name().or(created)) {
        (Action::UpdateStatus { .. }, _) => "update the status".to_owned(),
        (Action::RecordEvent { reason, .. }, _) => format!("record the event {}", reason.as_str()),
        (Action::Requeue { at, .. }, _) => format!("plan again at {at}"),
        (Action::CreatePod { node, .. }, None) => format!("create a pod on {node}"),
        (action, name) => {
            let on = action.node().map(|node| format!(" on {node}")).unwrap_or_default();
            format!("{} {} {}{on}", action.verb(), action.noun(), name.unwrap_or_default())
        }
    }
}
