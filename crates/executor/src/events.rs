//! The events about the creates and deletes of pods, which no plan has: their answers make them.

use crate::executor::{Call, Executor};
use crate::refusals::created_name;
use crate::response::{ApiResponse, Sender, UnknownOutcome, is_namespace_terminating};
use daemonset::kube::ApiCall;
use daemonset::model::DaemonSet;
use daemonset::{Action, EventType};

/// An event about the object whose plan is executed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallEvent {
    /// `Normal` after a success, `Warning` after a failure.
    pub event_type: EventType,
    /// `SuccessfulCreate`, `FailedCreate`, `SuccessfulDelete` or `FailedDelete`, or a reason of the caller's own.
    pub reason: &'static str,
    /// The pod's name, or the error.
    pub message: String,
}

impl CallEvent {
    /// An event of the caller's own, such as one about an object that is invalid, for [`Executor::send_event`].
    pub fn new(event_type: EventType, reason: &'static str, message: impl Into<String>) -> Self {
        CallEvent { event_type, reason, message: message.into() }
    }
}

impl Call<'_> {
    /// The event that Kubernetes' controller records about the create or delete of a pod (v1.36 `controller_utils.go
    /// RealPodControl`); `None` about all other calls, and where there is nothing to tell, as in a namespace that is being deleted.
    /// The executor does not send it: see [`Executor::send_event`].
    pub fn event(&self) -> Option<CallEvent> {
        let error = match self.response? {
            ApiResponse::Done(_) => None,
            ApiResponse::Rejected(status) if status.is_not_found() || is_namespace_terminating(status) => {
                return None;
            }
            ApiResponse::MayNotAct(_) => return None,
            // It may be the DaemonSet's own: the answer is looked at once more.
            ApiResponse::Rejected(status)
                if status.is_already_exists() && created_name(self.action).is_some() =>
            {
                return None;
            }
            ApiResponse::Rejected(status) => Some(status.message.clone()),
            ApiResponse::RetryAfter(_) => Some("too many requests".to_owned()),
            ApiResponse::NotSent(error) | ApiResponse::Unknown(UnknownOutcome { error, .. }) => {
                Some(error.clone())
            }
        };
        let (event_type, reason, message) = match (self.action, error) {
            (Action::CreatePod { .. }, None) => {
                let name = self.object.map(|pod| pod.name.as_str()).unwrap_or_default();
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
            _ => return None,
        };
        Some(CallEvent::new(event_type, reason, message))
    }
}

impl<S: Sender> Executor<S> {
    /// Sends an event about the object, once and without an answer: one that is lost changes nothing. A call that is refused makes the same
    /// event at each retry, and Kubernetes' recorder combines such events; this method sends each as it is.
    pub async fn send_event(&self, ds: &DaemonSet, event: &CallEvent) {
        let caller = self.caller(ds);
        let call = ApiCall::event(&caller, event.event_type, event.reason, &event.message);
        if let Ok(request) = call.to_request() {
            let _ = self.sender.send_once(request).await;
        }
    }
}
