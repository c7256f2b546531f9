//! Answers of the API server that refuse a call: done all the same, outdated, or final.
//!
//! A final answer is a warning in the log, once for each text, an event about the DaemonSet and a metric, and the plan is
//! tried again with back-off. To plan again at once would lead to the same call and the same answer.

use super::error::subject;
use super::{CallResult, ExecuteError, Executor, Refusal, rejected};
use crate::response::{finds_data_changed, is_namespace_terminating, is_of_another_object, shortened};
use daemonset::kube::{ApiCall, Caller};
use daemonset::model::ObjectRef;
use daemonset::{Action, ActionOutcome, EventType};
use kube::core::Status;

impl Executor {
    /// The result of a call that was rejected.
    pub(super) async fn handle_rejection(
        &self,
        caller: &Caller<'_>,
        (action, call): (&Action, &ApiCall),
        status: &Status,
    ) -> CallResult {
        let ds = caller.daemon_set;
        match action {
            // The object is gone, as the action demands.
            Action::DeletePod { .. } | Action::DeleteRevision { .. } if status.is_not_found() => {
                CallResult::done()
            }
            // Nothing was refused: the node has changed since, or the pod is gone, as an action on the present object may be due.
            Action::PatchNode { .. } | Action::UpdatePodInPlace { .. } if is_outdated(status) => CallResult {
                outcome: ActionOutcome::Conflict,
                ..rejected(ExecuteError::Outdated(status.message.clone()))
            },
            // The object is gone, or another one has its name (v1.36 `ReleasePod`).
            Action::ReleasePod { .. } | Action::ReleaseRevision { .. }
                if status.is_not_found() || is_of_another_object(status) =>
            {
                CallResult::done()
            }
            Action::CreateRevision { .. } if status.is_already_exists() => {
                match self.has_own_revision(ds, action.subject_name().unwrap_or_default()).await {
                    Ok(true) => CallResult::done(),
                    Ok(false) => rejected(ExecuteError::Outdated(status.message.clone())),
                    Err(error) => rejected(error),
                }
            }
            Action::CreatePod { .. } if status.is_already_exists() => {
                self.handle_taken_name(caller, action, status).await
            }
            Action::AdoptRevision { .. }
            | Action::ReleaseRevision { .. }
            | Action::LabelRevision { .. }
            | Action::AnnotateRevision { .. }
            | Action::RenumberRevision { .. }
                if finds_data_changed(status) =>
            {
                self.change_stored_bytes(caller, (action, call), status).await
            }
            // The DaemonSet was changed meanwhile, and perhaps its template: that is no refusal, and the next plan looks again.
            Action::RestoreTemplate { .. } if status.is_conflict() => {
                CallResult { outcome: ActionOutcome::Conflict, ..rejected(final_answer(status)) }
            }
            _ => self.refuse(caller, action, status, final_answer(status)),
        }
    }

    /// A pod with the name of the one to create is in no cache yet. If it is the DaemonSet's, an earlier process has created it.
    /// Else the create is refused until the cache shows that pod, and the next plan takes another name.
    async fn handle_taken_name(&self, caller: &Caller<'_>, action: &Action, status: &Status) -> CallResult {
        // The API server has generated a name that is taken: the next one is another.
        let Some(name) = created_name(action) else {
            return rejected(ExecuteError::Outdated(status.message.clone()));
        };
        match self.own_pod(caller.daemon_set, name).await {
            Ok(Some(pod)) => {
                let outcome = ActionOutcome::Created(ObjectRef::from(&pod.metadata));
                CallResult { outcome, error: None, marked: None }
            }
            Ok(None) => {
                let refused = ExecuteError::Refused(Refusal::new(status.message.clone()));
                self.refuse(caller, action, status, refused)
            }
            Err(error) => rejected(error),
        }
    }

    /// Counts and reports a refusal. Refused creates and deletes of pods have the events of Kubernetes' controller already.
    pub(super) fn refuse(
        &self,
        caller: &Caller<'_>,
        action: &Action,
        status: &Status,
        error: ExecuteError,
    ) -> CallResult {
        if let ExecuteError::Refused(refusal) | ExecuteError::Forbidden(refusal) = &error {
            self.metrics.count_refusal(action, status.code);
            if let Some((reason, prefix)) = refusal_event(action, status) {
                let message = format!("{prefix}: {}: {}", subject(action), shortened(&refusal.text));
                self.events.record(caller.daemon_set, EventType::Warning, reason, &message);
            }
        }
        rejected(error)
    }
}

/// The name of a pod to create; `None` where the API server generates it.
pub(super) fn created_name(action: &Action) -> Option<&str> {
    let Action::CreatePod { pod, .. } = action else { return None };
    pod.name()
}

/// Whether the object is gone, is another one, or has changed since.
pub(super) fn is_outdated(status: &Status) -> bool {
    status.is_conflict() || status.is_not_found() || is_of_another_object(status)
}

/// The meaning of an answer that no rule of an action covers.
pub(super) fn final_answer(status: &Status) -> ExecuteError {
    let message = || status.message.clone();
    if is_namespace_terminating(status) {
        return ExecuteError::NamespaceTerminating;
    }
    if status.is_already_exists() || is_outdated(status) {
        return ExecuteError::Outdated(message());
    }
    if status.is_forbidden() {
        return ExecuteError::Forbidden(Refusal::new(message()));
    }
    match status.code {
        400..500 => ExecuteError::Refused(Refusal::new(message())),
        // A webhook that fails, or an API server that starts or ends.
        _ => ExecuteError::Failed(message()),
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
