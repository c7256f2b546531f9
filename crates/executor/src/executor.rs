//! Executes a plan: batch by batch, the calls of one batch concurrently, until the first failure.
//!
//! Each call is sent once, and its outcome is [recorded](crate::InFlight), also if it is unknown: a pod that may have been created
//! counts until the watch shows it or storage does not.

use crate::error::{ExecuteError, subject};
use crate::in_flight::{Driver, InFlight};
use crate::refusals::final_answer;
use crate::response::{ApiResponse, Sender, UnknownOutcome, shortened};
use crate::turns;
use daemonset::kube::{ApiCall, Caller};
use daemonset::model::{ControllerRevision, DaemonSet, ObjectRef, PodMeta};
use daemonset::policy::PodNames;
use daemonset::{Action, ActionOutcome};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use jiff::Timestamp;
use kube::core::Status;
use serde::Deserialize;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Concurrent calls of one plan. Each has a connection of its own, and the API server is the slower side.
const MAX_CONCURRENT_CALLS: usize = 16;

/// How long calls of a plan begin: then the DaemonSet is planned again, and others come first. A plan that waits for a slow
/// webhook grows old, and its worker is missed.
const LONGEST_PLAN: Duration = Duration::from_secs(30);

/// How much of a plan was executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third one")]
pub enum Executed {
    /// All actions.
    Whole,
    /// As many as could begin in time: the others are to be planned again.
    InPart,
}

/// Sends the calls of plans, and reads what decides about them.
#[derive(Clone)]
pub struct Executor<S> {
    pub(crate) sender: S,
    component: Arc<str>,
    pub(crate) now: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    events: Events,
}

/// Who sends the events of a plan.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Events {
    Executor,
    Caller,
}

/// One action of a plan that was executed, for events, metrics and logs.
#[derive(Debug)]
#[non_exhaustive]
pub struct Call<'a> {
    /// The action.
    pub action: &'a Action,
    /// The first answer; `None` where nothing was sent.
    pub response: Option<&'a ApiResponse>,
    /// The pod or node that the answer returned.
    pub object: Option<&'a PodMeta>,
    /// The outcome, which is recorded already.
    pub outcome: &'a ActionOutcome,
    /// The error that ends the plan.
    pub error: Option<&'a ExecuteError>,
    /// The answer that refuses the call for good: a newer snapshot leads to the same call, and to the same answer.
    pub refused: Option<&'a Status>,
    /// The revision with the marks that the call has written.
    pub marked: Option<&'a ControllerRevision>,
}

impl Call<'_> {
    /// The call in words, such as `create a pod on node-1`, `delete pod edge-x7k2p on node-1` or `create revision edge-6b4c7c96bb`.
    pub fn subject(&self) -> String {
        subject(self.action, self.object.map(|pod| pod.name.as_str()))
    }
}

/// The result of one call.
pub(crate) struct CallResult {
    pub(crate) outcome: ActionOutcome,
    pub(crate) error: Option<ExecuteError>,
    pub(crate) marked: Option<ControllerRevision>,
    pub(crate) refused: Option<Box<Status>>,
    pub(crate) response: Option<ApiResponse>,
    pub(crate) object: Option<PodMeta>,
}

impl CallResult {
    pub(crate) fn done() -> Self {
        CallResult {
            outcome: ActionOutcome::Done,
            error: None,
            marked: None,
            refused: None,
            response: None,
            object: None,
        }
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

impl<S: Sender> Executor<S> {
    /// An executor that sends by this, whose events have this source, such as `my-operator`.
    pub fn new(sender: S, component: impl Into<Arc<str>>) -> Self {
        Executor {
            sender,
            component: component.into(),
            now: Arc::new(Timestamp::now),
            events: Events::Executor,
        }
    }

    /// Another clock, for tests.
    #[must_use]
    pub fn with_clock(mut self, now: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        self.now = Arc::new(now);
        self
    }

    /// Sends no [`RecordEvent`](Action::RecordEvent): the caller combines and limits events. [`Call::event`] has those that no plan has.
    #[must_use]
    pub fn without_events(mut self) -> Self {
        self.events = Events::Caller;
        self
    }

    /// The sender, for calls that are no action of a plan.
    pub fn sender(&self) -> &S {
        &self.sender
    }

    /// Executes the actions of the driver's last plan for this DaemonSet, which [`RetryOrder::apply`](crate::RetryOrder::apply) may
    /// have reordered, and tells each of them once its outcome is recorded.
    ///
    /// # Errors
    /// The first failure. Calls under way are awaited, and no further one is sent except for [those that stand
    /// alone](Action::stands_alone), such as the status.
    pub async fn execute<D: Driver>(
        &self,
        ds: &DaemonSet,
        actions: &[Action],
        in_flight: &mut InFlight<D>,
        mut on_call: impl FnMut(&Call<'_>),
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
            let executed = self.execute_group(ds, group, (in_flight, &mut on_call), end).await;
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

    /// Executes actions that may run concurrently; starts none after a failure, and none after `end`.
    async fn execute_group<D: Driver>(
        &self,
        ds: &DaemonSet,
        group: &[Action],
        (in_flight, on_call): (&mut InFlight<D>, &mut impl FnMut(&Call<'_>)),
        end: Instant,
    ) -> Result<Executed, ExecuteError> {
        let names = in_flight.driver.policy().pod_names;
        let mut waiting = group.iter().peekable();
        let mut under_way = FuturesUnordered::new();
        let (mut first_error, mut errors) = (None, 0_usize);
        loop {
            while first_error.is_none() && under_way.len() < MAX_CONCURRENT_CALLS {
                let Some(action) = waiting.next_if(|_| Instant::now() < end) else { break };
                under_way.push(async move { (action, self.execute_action(ds, action, names).await) });
            }
            let Some((action, result)) = under_way.next().await else { break };
            in_flight.record(action, &result.outcome, (self.now)());
            match &result.error {
                Some(ExecuteError::Unknown(unknown)) => {
                    in_flight.record_unknown(action, unknown.settles_after);
                }
                Some(
                    ExecuteError::Failed(_)
                    | ExecuteError::Forbidden(_)
                    | ExecuteError::Refused(_)
                    | ExecuteError::Unreachable(_),
                ) => in_flight.retry_order.rejected(action),
                Some(
                    ExecuteError::Outdated(_)
                    | ExecuteError::RetryAfter(_)
                    | ExecuteError::NamespaceTerminating
                    | ExecuteError::MayNotAct,
                )
                | None => {}
            }
            on_call(&Call {
                action,
                response: result.response.as_ref(),
                object: result.object.as_ref(),
                outcome: &result.outcome,
                error: result.error.as_ref(),
                refused: result.refused.as_deref(),
                marked: result.marked.as_ref(),
            });
            errors += usize::from(result.error.is_some());
            first_error = first_error.or(result.error.map(|error| (action, error)));
        }
        match first_error {
            Some((action, error)) => Err(error.in_call(action, errors - 1)),
            None if waiting.peek().is_some() => Ok(Executed::InPart),
            None => Ok(Executed::Whole),
        }
    }

    pub(crate) fn caller<'a>(&'a self, ds: &'a DaemonSet) -> Caller<'a> {
        Caller { daemon_set: ds, component: &self.component, now: (self.now)() }
    }

    async fn execute_action(&self, ds: &DaemonSet, action: &Action, names: PodNames) -> CallResult {
        let is_event = matches!(action, Action::RecordEvent { .. });
        if is_event && self.events == Events::Caller {
            return CallResult::done();
        }
        let caller = self.caller(ds);
        let Some(call) = ApiCall::new(action, &caller) else { return CallResult::done() };
        let request = match call.to_request() {
            Ok(request) => request,
            Err(error) => return rejected(ExecuteError::Failed(error.to_string())),
        };
        let mut response = self.sender.send_once(request).await;
        let object = match &response {
            ApiResponse::Done(body) => returned_object(action, body),
            _ => None,
        };
        // An API server answers with the pod. This answer is another's, such as the page of a proxy where people log in.
        if let (Action::CreatePod { .. }, ApiResponse::Done(body), None) = (action, &response, &object) {
            let error = format!("the answer has no pod: {}", shortened(&String::from_utf8_lossy(body)));
            response = ApiResponse::Unknown(UnknownOutcome::given_up(error));
        }
        let result = match &response {
            // Events are best effort.
            _ if is_event => CallResult::done(),
            ApiResponse::Done(body) => CallResult {
                outcome: outcome(action, object.as_ref()),
                marked: marked(action, body),
                ..CallResult::done()
            },
            ApiResponse::Rejected(status)
                if status.is_already_exists() && turns::has_one_name(action, names) =>
            {
                CallResult { outcome: ActionOutcome::AlreadyExists, ..CallResult::done() }
            }
            ApiResponse::Rejected(status) => self.handle_rejection(&caller, (action, &call), status).await,
            response => unanswered(response),
        };
        CallResult { response: Some(response), object, ..result }
    }
}

/// The result of a call without an answer that names its effect.
pub(crate) fn unanswered(response: &ApiResponse) -> CallResult {
    match response {
        ApiResponse::Done(_) => CallResult::done(),
        ApiResponse::Rejected(status) => rejected(final_answer(status)),
        ApiResponse::RetryAfter(delay) => undecided(ExecuteError::RetryAfter(*delay)),
        ApiResponse::NotSent(error) => undecided(ExecuteError::Unreachable(error.clone())),
        ApiResponse::MayNotAct(_) => undecided(ExecuteError::MayNotAct),
        ApiResponse::Unknown(unknown) => CallResult {
            outcome: ActionOutcome::Unknown,
            error: Some(ExecuteError::Unknown(unknown.clone())),
            ..CallResult::done()
        },
    }
}

/// Nothing was done, and nobody has rejected the call: the memory keeps nothing of it. A rejected change of a pod in its place would be
/// tried as a delete.
pub(crate) fn undecided(error: ExecuteError) -> CallResult {
    CallResult { outcome: ActionOutcome::Conflict, ..rejected(error) }
}

pub(crate) fn rejected(error: ExecuteError) -> CallResult {
    CallResult { outcome: ActionOutcome::Rejected, error: Some(error), ..CallResult::done() }
}

fn is_adoption(action: &Action) -> bool {
    matches!(action, Action::AdoptPod { .. } | Action::AdoptRevision { .. })
}

fn outcome(action: &Action, object: Option<&PodMeta>) -> ActionOutcome {
    match (action, object) {
        (Action::CreatePod { .. }, Some(pod)) => ActionOutcome::Created(ObjectRef::from(pod)),
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
pub(crate) fn marked(action: &Action, body: &[u8]) -> Option<ControllerRevision> {
    match action {
        Action::AnnotateRevision { .. } => serde_json::from_slice(body).ok(),
        _ => None,
    }
}
