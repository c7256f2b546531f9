//! Executes a plan: action by action, the pods of one batch concurrently, until the first failure.
//!
//! Each call is sent once, and its outcome is [recorded](crate::in_flight), also if it is unknown: a pod that may have been created
//! counts until the watch shows it or storage does not.

mod error;
mod reads;
mod refusals;
mod stored_bytes;
pub(crate) mod turns;

pub use error::{ExecuteError, Refusal};

use crate::event_recorder::EventRecorder;
use crate::metrics::Metrics;
use crate::per_daemon_set::PerDaemonSet;
use crate::response::{
    ActingClient, ApiResponse, MayNotAct, UnknownOutcome, is_namespace_terminating, shortened,
};
use daemonset::kube::{ApiCall, Caller};
use daemonset::model::{ControllerRevision, DaemonSet, ObjectRef, PodMeta, Uid};
use daemonset::policy::PodNames;
use daemonset::{Action, ActionOutcome, EventType};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use refusals::{created_name, final_answer};
use serde::Deserialize;
use std::time::Duration;
use tokio::time::Instant;

/// Concurrent calls of one plan. Each has a connection of its own, and the API server is the slower side.
const MAX_CONCURRENT_CALLS: usize = 16;

/// How long calls of a plan begin: then the DaemonSet is planned again, and others come first. A plan that waits for a slow
/// webhook grows old, and its worker is missed.
const LONGEST_PLAN: Duration = Duration::from_secs(30);

/// How much of a plan was executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Executed {
    /// All actions.
    Whole,
    /// As many as could begin in time: the others are to be planned again.
    InPart,
}

/// Sends the calls of plans.
#[derive(Clone)]
pub struct Executor {
    client: ActingClient,
    events: EventRecorder,
    metrics: Metrics,
}

/// The result of one call.
struct CallResult {
    outcome: ActionOutcome,
    /// The error that ends the plan.
    error: Option<ExecuteError>,
    /// The revision with the marks that the call has written.
    marked: Option<ControllerRevision>,
}

impl CallResult {
    fn done() -> Self {
        CallResult { outcome: ActionOutcome::Done, error: None, marked: None }
    }
}

/// The actions of a plan that are due after a failure.
#[derive(Clone, Copy)]
enum Due {
    All,
    /// The update of the status and events; and changes of nodes and pull pods.
    StandingAlone {
        of_turns: bool,
    },
    Nothing,
}

impl Due {
    fn after(self, group: &[Action], executed: &Result<Executed, ExecuteError>) -> Self {
        match (self, executed) {
            (_, Ok(Executed::Whole)) => self,
            (Due::All, Ok(Executed::InPart)) => Due::StandingAlone { of_turns: false },
            (_, Ok(Executed::InPart)) => self,
            // A node that has changed under a turn may change the others: its room, its cordon, the turn of another DaemonSet.
            (_, Err(ExecuteError::Outdated(_))) if group.iter().any(turns::is_of_node) => {
                Due::StandingAlone { of_turns: false }
            }
            // A pull pod that is not as the snapshot shows it concerns nothing else.
            (_, Err(ExecuteError::Outdated(_))) if group.iter().all(turns::is_of_turns) => self,
            (_, Err(error)) if error.allows_status() => Due::StandingAlone { of_turns: true },
            (_, Err(_)) => Due::Nothing,
        }
    }
}

impl Executor {
    /// An executor that sends with this client.
    pub fn new(client: ActingClient, events: EventRecorder, metrics: Metrics) -> Self {
        Executor { client, events, metrics }
    }

    /// Executes the actions of one plan for this DaemonSet.
    ///
    /// # Errors
    /// The first failure. Calls under way are awaited, and no further one is sent except for the status.
    pub async fn execute(
        &self,
        ds: &DaemonSet,
        actions: &[Action],
        state: &mut PerDaemonSet,
    ) -> Result<Executed, ExecuteError> {
        if actions.iter().any(is_adoption) {
            self.check_before_adoption(ds).await?;
        }
        let (mut result, mut due, end) = (Ok(Executed::Whole), Due::All, Instant::now() + LONGEST_PLAN);
        let mut all_turns_ended = true;
        for group in Action::batches(actions) {
            // A turn may begin in the room of one whose end is not done.
            let has_room = all_turns_ended || !group.iter().any(turns::is_begin);
            let end = match due {
                Due::All => end,
                // The time begins anew for what stands alone, which is little. A plan that grows old changes no node.
                Due::StandingAlone { of_turns: false } if group.iter().any(turns::is_of_turns) => continue,
                Due::StandingAlone { .. } if group.iter().all(Action::stands_alone) => {
                    Instant::now() + LONGEST_PLAN
                }
                Due::StandingAlone { .. } | Due::Nothing => continue,
            };
            if !has_room {
                continue;
            }
            let executed = self.execute_group(ds, group, state, end).await;
            all_turns_ended &= executed == Ok(Executed::Whole) || !group.iter().any(turns::is_end);
            due = due.after(group, &executed);
            // The first failure is that of the plan.
            result = match (result, executed) {
                (Ok(Executed::Whole), executed) => executed,
                (Ok(Executed::InPart), Err(error)) => Err(error),
                (first, _) => first,
            };
        }
        result
    }

    /// Refuses to act where the client does.
    ///
    /// # Errors
    /// When the renew deadline is over, or once it is closed.
    pub fn check(&self) -> Result<(), MayNotAct> {
        self.client.check()
    }

    /// Sends nothing more, neither calls nor events; calls under way go on.
    pub fn close(&self) {
        self.client.close();
    }

    /// Records an event about a DaemonSet that can't be reconciled because of these problems.
    pub fn report_invalid(&self, ds: &DaemonSet, problems: &str) {
        self.events.record(ds, EventType::Warning, "InvalidDaemonSet", problems);
    }

    /// Records an event about a DaemonSet, and logs it.
    pub fn report(&self, ds: &DaemonSet, event_type: EventType, reason: &str, message: &str) {
        log_event(ds, reason, message);
        self.events.record(ds, event_type, reason, message);
    }

    /// Drops the state of a DaemonSet that is gone.
    pub fn forget(&self, uid: &Uid) {
        self.events.forget(uid);
    }

    /// Executes actions that may run concurrently; starts none after a failure, and none after `end`.
    async fn execute_group(
        &self,
        ds: &DaemonSet,
        group: &[Action],
        state: &mut PerDaemonSet,
        end: Instant,
    ) -> Result<Executed, ExecuteError> {
        let names = state.in_flight.tracker.policy().pod_names;
        let mut waiting = group.iter().peekable();
        let mut under_way = FuturesUnordered::new();
        let (mut first_error, mut errors) = (None, 0_usize);
        loop {
            while first_error.is_none() && under_way.len() < MAX_CONCURRENT_CALLS {
                let Some(action) = waiting.next_if(|_| Instant::now() < end) else { break };
                under_way.push(async move { (action, self.execute_action(ds, action, names).await) });
            }
            let Some((action, CallResult { outcome, error, marked })) = under_way.next().await else { break };
            state.in_flight.record(action, &outcome, self.events.now());
            state.rollout.written.extend(marked);
            if outcome == ActionOutcome::Done
                && let Some(event) = state.rollout.story.written(action)
            {
                self.report(ds, event.event_type, event.reason, &event.message);
            }
            match &error {
                Some(ExecuteError::Unknown(unknown)) => {
                    state.in_flight.record_unknown(action, unknown.settles_after);
                }
                Some(
                    ExecuteError::Failed(_)
                    | ExecuteError::Forbidden(_)
                    | ExecuteError::Refused(_)
                    | ExecuteError::Unreachable(_),
                ) => state.in_flight.retry_order.rejected(action),
                Some(
                    ExecuteError::Outdated(_)
                    | ExecuteError::RetryAfter(_)
                    | ExecuteError::NamespaceTerminating
                    | ExecuteError::MayNotAct,
                )
                | None => {}
            }
            if is_status_update(action) {
                match &error {
                    Some(ExecuteError::Refused(_) | ExecuteError::Forbidden(_)) => state.status_refused(),
                    Some(_) => {}
                    None => state.status_accepted(),
                }
            }
            self.metrics.count_action(action, &outcome);
            errors += usize::from(error.is_some());
            first_error = first_error.or(error.map(|error| (action, error)));
        }
        match first_error {
            Some((action, error)) => Err(error.in_call(action, errors - 1)),
            None if waiting.peek().is_some() => Ok(Executed::InPart),
            None => Ok(Executed::Whole),
        }
    }

    async fn execute_action(&self, ds: &DaemonSet, action: &Action, names: PodNames) -> CallResult {
        let caller = self.events.caller(ds);
        if let Action::RecordEvent { event_type, reason, message, .. } = action {
            self.report(ds, *event_type, reason.as_str(), message);
            return CallResult::done();
        }
        let Some(call) = ApiCall::new(action, &caller) else { return CallResult::done() };
        let request = match call.to_request() {
            Ok(request) => request,
            Err(error) => return rejected(ExecuteError::Failed(error.to_string())),
        };
        let response = self.client.send(request).await;
        self.metrics.count_call(action, &response);
        let object = match &response {
            ApiResponse::Done(body) => returned_object(action, body),
            _ => None,
        };
        self.record_event(&caller, action, (&response, object.as_ref()));
        match response {
            ApiResponse::Done(body) => {
                let marked = marked(action, &body);
                CallResult { outcome: outcome(action, object.as_ref()), error: None, marked }
            }
            ApiResponse::Rejected(status)
                if status.is_already_exists() && turns::has_one_name(action, names) =>
            {
                CallResult { outcome: ActionOutcome::AlreadyExists, error: None, marked: None }
            }
            ApiResponse::Rejected(status) => self.handle_rejection(&caller, (action, &call), &status).await,
            response => unanswered(response),
        }
    }

    /// Records the events that Kubernetes' controller records (v1.36 `controller_utils.go RealPodControl`), and one for a restored
    /// template.
    fn record_event(
        &self,
        caller: &Caller<'_>,
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
            return self.report(caller.daemon_set, EventType::Normal, reason, &message);
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
            log_event(caller.daemon_set, reason, &message);
        }
        self.events.record(caller.daemon_set, kind, reason, &message);
    }
}

fn log_event(ds: &DaemonSet, reason: &str, message: &str) {
    let name = format!("{}/{}", ds.metadata.namespace, ds.metadata.name);
    tracing::info!(daemonset = %name, reason, "{}", shortened(message));
}

/// The result of a call without an answer that names its effect.
fn unanswered(response: ApiResponse) -> CallResult {
    match response {
        ApiResponse::Done(_) => CallResult::done(),
        ApiResponse::Rejected(status) => rejected(final_answer(&status)),
        ApiResponse::RetryAfter(delay) => rejected(ExecuteError::RetryAfter(delay)),
        ApiResponse::NotSent(error) => rejected(ExecuteError::Unreachable(error)),
        ApiResponse::MayNotAct(reason) => rejected(reason.into()),
        ApiResponse::Unknown(unknown) => CallResult {
            outcome: ActionOutcome::Unknown,
            error: Some(ExecuteError::Unknown(unknown)),
            marked: None,
        },
    }
}

fn rejected(error: ExecuteError) -> CallResult {
    CallResult { outcome: ActionOutcome::Rejected, error: Some(error), marked: None }
}

fn is_adoption(action: &Action) -> bool {
    matches!(action, Action::AdoptPod { .. } | Action::AdoptRevision { .. })
}

fn is_status_update(action: &Action) -> bool {
    matches!(action, Action::UpdateStatus { .. })
}

fn outcome(action: &Action, object: Option<&PodMeta>) -> ActionOutcome {
    match (action, object) {
        (Action::CreatePod { .. }, Some(pod)) => ActionOutcome::Created(ObjectRef::from(pod)),
        // A pod was created, but the response does not name it: the watch will show it.
        (Action::CreatePod { .. }, None) => ActionOutcome::Unknown,
        // A pod that ends later: its version is the one of the delete.
        (Action::DeletePod { .. }, Some(pod)) if pod.deletion_timestamp.is_some() => {
            ActionOutcome::Changed(ObjectRef::from(pod))
        }
        (Action::PatchNode { .. } | Action::UpdatePodInPlace { .. }, Some(object)) => {
            ActionOutcome::Changed(ObjectRef::from(object))
        }
        _ => ActionOutcome::Done,
    }
}

/// The metadata of the pod or node in the response to its create, change or delete. Nothing else of it is read, so that a large object
/// costs little.
fn returned_object(action: &Action, body: &[u8]) -> Option<PodMeta> {
    #[derive(Deserialize)]
    struct Returned {
        metadata: PodMeta,
    }
    match action {
        Action::CreatePod { .. }
        | Action::DeletePod { .. }
        | Action::UpdatePodInPlace { .. }
        | Action::PatchNode { .. } => {
            let Returned { metadata } = serde_json::from_slice(body).ok()?;
            // A `Status` has no name.
            Some(metadata).filter(|metadata| !metadata.name.is_empty())
        }
        _ => None,
    }
}

/// The revision after a write of its marks; `None` after other calls.
fn marked(action: &Action, body: &[u8]) -> Option<ControllerRevision> {
    match action {
        Action::AnnotateRevision { .. } => serde_json::from_slice(body).ok(),
        _ => None,
    }
}
