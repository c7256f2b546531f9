//! The events about the calls of a plan.

use super::{Executor, log_event, turns};
use daemonset::model::{DaemonSet, PodMeta};
use daemonset::{Action, EventType};
use daemonset_executor::internal::{created_name, is_namespace_terminating, shortened};
use daemonset_executor::{ApiResponse, Call, ExecuteError, UnknownOutcome};
use kube::core::Status;

impl Executor {
    /// Records the events that Kubernetes' controller records (v1.36 `controller_utils.go RealPodControl`), and one for a restored
    /// template.
    pub(super) fn record_event(
        &self,
        ds: &DaemonSet,
        action: &Action,
        (response, pod): (&ApiResponse, Option<&PodMeta>),
    ) {
        let error = match response {
            ApiResponse::Done(_) => None,
            ApiResponse::Rejected(status) if status.is_not_found() || is_namespace_terminating(status) => {
                return;
            }
            ApiResponse::MayNotAct(_) => return,
            // It may be the DaemonSet's own: the answer is looked at once more.
            ApiResponse::Rejected(status) if status.is_already_exists() && created_name(action).is_some() => {
                return;
            }
            ApiResponse::Rejected(status) => Some(status.message.clone()),
            ApiResponse::RetryAfter(_) => Some("too many requests".to_owned()),
            ApiResponse::NotSent(error) | ApiResponse::Unknown(UnknownOutcome { error, .. }) => {
                Some(error.clone())
            }
        };
        if let (Some((reason, message)), None) = (turns::event(action), &error) {
            return self.report(ds, EventType::Normal, reason, &message);
        }
        let (kind, reason, message) = match (action, error) {
            (Action::CreatePod { .. }, None) => {
                let name = pod.map(|pod| pod.name.as_str()).unwrap_or_default();
                (EventType::Normal, "SuccessfulCreate", format!("Created pod: {name}"))
            }
            (Action::CreatePod { .. }, Some(error)) => {
                (EventType::Warning, "FailedCreate", format!("Error creating: {error}"))
            }
            (Action::DeletePod { pod, .. }, None) => {
                (EventType::Normal, "SuccessfulDelete", format!("Deleted pod: {}", pod.name))
            }
            (Action::DeletePod { .. }, Some(error)) => {
                (EventType::Warning, "FailedDelete", format!("Error deleting: {error}"))
            }
            (Action::RestoreTemplate { revision, .. }, None) => {
                let name = &revision.name;
                let message =
                    format!("Restored the template of {name}, since the version after it has failed");
                (EventType::Normal, "RestoredTemplate", message)
            }
            _ => return,
        };
        // A failure is in the log as the failure of the plan.
        if kind == EventType::Normal {
            log_event(ds, reason, &message);
        }
        self.events.record(ds, kind, reason, &message);
    }

    /// Counts and reports a call that was refused for good. Refused creates and deletes of pods have the events of Kubernetes'
    /// controller already.
    pub(super) fn record_refusal(&self, ds: &DaemonSet, call: &Call<'_>) {
        let (Some(status), Some(ExecuteError::Refused(refusal) | ExecuteError::Forbidden(refusal))) =
            (call.refused, call.error)
        else {
            return;
        };
        self.metrics.count_refusal(call.action, status.code);
        if let Some((reason, prefix)) = refusal_event(call.action, status) {
            let message = format!("{prefix}: {}: {}", call.subject(), shortened(&refusal.text));
            self.events.record(ds, EventType::Warning, reason, &message);
        }
    }
}

/// The reason of the event about a refused call, as Kubernetes' controllers name theirs, and the begin of its message.
fn refusal_event(action: &Action, status: &Status) -> Option<(&'static str, &'static str)> {
    match action {
        // The name is taken by another's pod.
        Action::CreatePod { .. } if status.is_already_exists() => Some(("FailedCreate", "Error creating")),
        Action::CreatePod { .. } | Action::DeletePod { .. } => None,
        Action::CreateRevision { .. } => Some(("FailedCreate", "Error creating")),
        Action::DeleteRevision { .. } => Some(("FailedDelete", "Error deleting")),
        Action::AdoptPod { .. }
        | Action::ReleasePod { .. }
        | Action::LabelPod { .. }
        | Action::AdoptRevision { .. }
        | Action::ReleaseRevision { .. }
        | Action::LabelRevision { .. }
        | Action::RenumberRevision { .. }
        | Action::AnnotateRevision { .. }
        | Action::UpdatePodInPlace { .. }
        | Action::PatchNode { .. }
        | Action::UpdateStatus { .. } => Some(("FailedUpdate", "Error updating")),
        Action::RestoreTemplate { .. } if status.is_forbidden() => {
            Some(("FailedUpdate", "An undo needs the right to `patch` daemonsets (deploy/undo)"))
        }
        Action::RestoreTemplate { .. } => Some(("FailedUpdate", "Error restoring the template")),
        Action::RecordEvent { .. } | Action::Requeue { .. } => None,
    }
}
