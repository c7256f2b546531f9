//! Answers of the API server that refuse a call: done all the same, outdated, or final.
//!
//! After a final answer the plan is to be tried again with back-off: to plan again at once would lead to the same call and the
//! same answer.

use crate::error::{ExecuteError, Refusal};
use crate::executor::{CallResult, Executor, rejected, undecided};
use crate::response::{Sender, finds_data_changed, is_namespace_terminating, is_of_another_object};
use daemonset::kube::{ApiCall, Caller};
use daemonset::model::ObjectRef;
use daemonset::{Action, ActionOutcome};
use kube::core::Status;

const SERVICE_UNAVAILABLE: u16 = 503;

impl<S: Sender> Executor<S> {
    /// The result of a call that was rejected.
    pub(crate) async fn handle_rejection(
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
            // An API server that starts or ends answers so, whatever the call is.
            _ if status.code == SERVICE_UNAVAILABLE => undecided(final_answer(status)),
            _ => refuse(status, final_answer(status)),
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
                CallResult { outcome, ..CallResult::done() }
            }
            Ok(None) => {
                let refused = ExecuteError::Refused(Refusal::new(status.message.clone()));
                refuse(status, refused)
            }
            Err(error) => rejected(error),
        }
    }
}

/// A refusal for good, with the answer that says so.
pub(crate) fn refuse(status: &Status, error: ExecuteError) -> CallResult {
    let is_final = matches!(error, ExecuteError::Refused(_) | ExecuteError::Forbidden(_));
    CallResult { refused: is_final.then(|| Box::new(status.clone())), ..rejected(error) }
}

/// The name of a pod to create; `None` where the API server generates it.
pub(crate) fn created_name(action: &Action) -> Option<&str> {
    let Action::CreatePod { pod, .. } = action else { return None };
    pod.name()
}

/// Whether the object is gone, is another one, or has changed since.
pub fn is_outdated(status: &Status) -> bool {
    status.is_conflict() || status.is_not_found() || is_of_another_object(status)
}

/// The meaning of an answer that no rule of an action covers.
pub(crate) fn final_answer(status: &Status) -> ExecuteError {
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
        // The token of the caller, or that of a list, has expired: the next one is another.
        401 | 410 => ExecuteError::Failed(message()),
        400..500 => ExecuteError::Refused(Refusal::new(message())),
        // A webhook that fails, or an API server that starts or ends.
        _ => ExecuteError::Failed(message()),
    }
}
