//! The calls around a turn that are no actions of a plan, and the events of those that are.

use super::ActionExecutor;
use daemonset::kube::ApiCall;
use daemonset::model::{DaemonSet, Node};
use daemonset::{Action, CreateReason, TurnReason};
use daemonset_drain::{EvictPod, EvictionOutcome, Status, StatusCause, StatusDetails};
use daemonset_executor::internal::is_outdated;
use daemonset_executor::{ApiResponse, Sender};
use kube::Resource;
use kube::api::{Patch, PatchParams};
use kube::core::{Request, Status as ApiStatus};
use serde_json::json;

/// The event of an action around a turn that is done, its reason and its message; `None` for each other action.
pub(super) fn event(action: &Action) -> Option<(&'static str, String)> {
    Some(match action {
        Action::PatchNode { node, unschedulable, reason, .. } => {
            let node = &node.name;
            match (reason, unschedulable) {
                (TurnReason::TurnBegins, Some(true)) => {
                    ("TurnBegan", format!("The turn of node {node} has begun: it is cordoned"))
                }
                (TurnReason::TurnBegins, _) => ("TurnBegan", format!("The turn of node {node} has begun")),
                (TurnReason::TurnEnds, Some(false)) => {
                    ("TurnEnded", format!("The turn of node {node} is over: it is schedulable again"))
                }
                (TurnReason::TurnLosesCordon, _) => (
                    "TurnLostCordon",
                    format!("Node {node} was uncordoned in its turn, which takes no cordon back any more"),
                ),
                _ => ("TurnEnded", format!("The turn of node {node} is over")),
            }
        }
        Action::CreatePod { node, pod, reason: CreateReason::PullImages, .. } => {
            let pod = pod.name().unwrap_or_default();
            ("PullingImages", format!("Pod {pod} pulls the images of the new version on node {node}"))
        }
        Action::UpdatePodInPlace { node, pod, .. } => {
            ("ChangedInPlace", format!("Pod {} on node {node} is changed in its place", pod.name))
        }
        _ => return None,
    })
}

/// The answer to an eviction.
pub(crate) enum EvictionAnswer {
    /// With the API server's message.
    Known(EvictionOutcome, String),
    /// This process may act no more.
    MayNotAct,
}

/// The answer to the opening of a gate.
pub(crate) enum GateAnswer {
    Open,
    /// The node has changed since.
    Outdated,
    /// With the reason; it may be asked for again.
    Failed(String),
    /// This process may act no more.
    MayNotAct,
}

impl ActionExecutor {
    /// Asks for the eviction of a pod, once.
    pub(crate) async fn evict(&self, evict: &EvictPod) -> EvictionAnswer {
        let request = match evict.api_call().to_request() {
            Ok(request) => request,
            Err(error) => return EvictionAnswer::Known(EvictionOutcome::Refused, error.to_string()),
        };
        let (outcome, message) = match self.calls.sender().send_once(request).await {
            ApiResponse::Done(_) => (EvictionOutcome::Accepted, String::new()),
            ApiResponse::Rejected(status) => (answer(&status).outcome(), status.message),
            ApiResponse::RetryAfter(_) => {
                let message = "a PodDisruptionBudget forbids it for now, or the API server is busy";
                (EvictionOutcome::Rejected, message.to_owned())
            }
            // It may have been done: the next look at the pod tells.
            ApiResponse::NotSent(error) => (EvictionOutcome::Rejected, error),
            ApiResponse::Unknown(unknown) => (EvictionOutcome::Rejected, unknown.error),
            ApiResponse::MayNotAct(_) => return EvictionAnswer::MayNotAct,
        };
        self.metrics.count_eviction(outcome);
        EvictionAnswer::Known(outcome, message)
    }

    /// Writes the request of a turn as the answer of a gate, if the node is exactly this one.
    pub(crate) async fn open_gate(&self, node: &Node, gate: &str, request: &str) -> GateAnswer {
        let metadata = &node.metadata;
        let body = json!({"metadata": {
            "uid": metadata.uid, "resourceVersion": metadata.resource_version, "annotations": {gate: request},
        }});
        let patch = Request::new(Node::url_path(&(), None)).patch(
            metadata.name.as_str(),
            &PatchParams::default(),
            &Patch::Merge(&body),
        );
        let patch = match patch {
            Ok(patch) => patch,
            Err(error) => return GateAnswer::Failed(error.to_string()),
        };
        match self.calls.sender().send_once(patch).await {
            ApiResponse::Done(_) => GateAnswer::Open,
            ApiResponse::Rejected(status) if is_outdated(&status) => GateAnswer::Outdated,
            ApiResponse::Rejected(status) => GateAnswer::Failed(status.message),
            ApiResponse::RetryAfter(_) => GateAnswer::Failed("too many requests".to_owned()),
            ApiResponse::NotSent(error) => GateAnswer::Failed(error),
            // The next look at the node tells whether it was done.
            ApiResponse::Unknown(unknown) => GateAnswer::Failed(unknown.error),
            ApiResponse::MayNotAct(_) => GateAnswer::MayNotAct,
        }
    }

    /// Ends the turns on a node that are nobody's.
    ///
    /// # Errors
    /// The API server's message, or the reason why it was not asked.
    pub(crate) async fn end_turns(&self, action: &Action) -> Result<(), String> {
        // A node is no DaemonSet's.
        let Some(call) = ApiCall::new(action, &self.events.caller(&DaemonSet::default())) else {
            return Ok(());
        };
        match self.calls.sender().send_once(call.to_request().map_err(|error| error.to_string())?).await {
            ApiResponse::Done(_) => Ok(()),
            ApiResponse::Rejected(status) => Err(status.message),
            ApiResponse::RetryAfter(_) => Err("too many requests".to_owned()),
            ApiResponse::NotSent(error) => Err(error),
            ApiResponse::Unknown(unknown) => Err(unknown.error),
            ApiResponse::MayNotAct(reason) => Err(reason),
        }
    }
}

/// The answer to an eviction in the form in which the drain reads it.
fn answer(status: &ApiStatus) -> Status {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let causes = causes.map(|cause| StatusCause { reason: cause.reason.clone() });
    Status {
        code: status.code,
        reason: status.reason.clone(),
        message: status.message.clone(),
        details: StatusDetails { causes: causes.collect() },
    }
}
