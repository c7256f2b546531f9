//! Why a plan was not executed to its end, and how the log says so.

use crate::renew_deadline::DeadlineOver;
use crate::response::{UnknownOutcome, shortened};
use daemonset::Action;
use std::time::Duration;

/// Why a plan was not executed to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExecuteError {
    /// An object is not as the snapshot showed it: the next plan needs a newer snapshot.
    Outdated(String),
    /// The API server asks the controller to wait for this time.
    RetryAfter(Duration),
    /// The namespace is being deleted: no pod will be created in it.
    NamespaceTerminating,
    /// A call failed, and was not done.
    Failed(String),
    /// A call was rejected for lack of rights, by a quota or by a policy.
    Forbidden(String),
    /// No connection was established: the call was not sent.
    Unreachable(String),
    /// A call may have been done.
    Unknown(UnknownOutcome),
    /// The renew deadline is over: another process may act.
    DeadlineOver,
}

impl ExecuteError {
    /// Whether the status is still written after this failure: even if creates fail for long, the status must report the other
    /// pods (v1.36 `syncDaemonSet`).
    pub fn allows_status(&self) -> bool {
        match self {
            ExecuteError::Failed(_)
            | ExecuteError::Forbidden(_)
            | ExecuteError::Unreachable(_)
            | ExecuteError::Unknown(_)
            | ExecuteError::NamespaceTerminating => true,
            ExecuteError::Outdated(_) | ExecuteError::RetryAfter(_) | ExecuteError::DeadlineOver => false,
        }
    }

    /// The same error with the call that failed, and the number of calls that failed with it.
    pub(super) fn in_call(mut self, action: &Action, others: usize) -> Self {
        if let ExecuteError::Failed(error)
        | ExecuteError::Forbidden(error)
        | ExecuteError::Unreachable(error)
        | ExecuteError::Unknown(UnknownOutcome { error, .. }) = &mut self
        {
            let others = if others == 0 { String::new() } else { format!(" (and {others} more calls)") };
            *error = format!("{}: {}{others}", subject(action), shortened(error));
        }
        self
    }
}

/// The call of an action, in words.
fn subject(action: &Action) -> String {
    match action {
        Action::CreatePod { node, .. } => format!("create a pod on {node}"),
        Action::DeletePod { node, pod, .. } => format!("delete pod {} on {node}", pod.name),
        Action::UpdateStatus { .. } => "update the status".to_owned(),
        action => action.to_string(),
    }
}

impl From<DeadlineOver> for ExecuteError {
    fn from(_: DeadlineOver) -> Self {
        ExecuteError::DeadlineOver
    }
}
