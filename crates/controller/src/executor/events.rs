//! The events about the calls of a plan.

use super::{ActionExecutor, log_event, turns};
use daemonset::model::DaemonSet;
use daemonset::{Action, EventType};
use daemonset_executor::internal::shortened;
use daemonset_executor::{ApiResponse, Call, CallEvent, ExecuteError};
use kube::core::Status;

impl ActionExecutor {
    /// Records the events that Kubernetes' controller records, those of turns, and one for a restored template.
    pub(super) fn record_event(&self, ds: &DaemonSet, call: &Call<'_>) {
        if let Some(ApiResponse::Done(_)) = call.response {
            let restored = match call.action {
                Action::RestoreTemplate { revision, .. } => Some((
                    "RestoredTemplate",
                    format!(
                        "Restored the template of {}, since the version after it has failed",
                        revision.name
                    ),
                )),
                _ => None,
            };
            if let Some((reason, message)) = turns::event(call.action).or(restored) {
                return self.report(ds, EventType::Normal, reason, &message);
            }
        }
        let Some(CallEvent { event_type, reason, message, .. }) = call.event() else { return };
        // A failure is in the log as the failure of the plan.
        if event_type == EventType::Normal {
            log_event(ds, reason, &message);
        }
        self.events.record(ds, event_type, reason, &message);
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
