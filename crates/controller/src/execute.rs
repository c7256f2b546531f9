//! Executes a plan: in order, pods of one batch at the same time, to the first failure.
//!
//! Each call is sent once. What came of it is [kept](Sent), also where nobody knows: a pod that may have been created is
//! counted until the watch shows it, or storage does not.

use crate::answer::{Answer, Lost, is_namespace_terminating, send};
use crate::events::Events;
use crate::metrics::Metrics;
use crate::sent::Sent;
use daemonset::kube::{ApiCall, Caller, is_own_revision};
use daemonset::model::{ControllerRevision, DaemonSet, ObjectRef, Pod, Uid};
use daemonset::{Action, ActionOutcome, EventType};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use kube::api::{GetParams, ListParams, ObjectList};
use kube::core::Status;
use kube::core::request::{Error as RequestError, Request};
use kube::{Client, Resource};
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;

type Asked = http::Request<Vec<u8>>;

/// Requests under way at the same time. Each has a connection of its own, and the API server is the slower side.
const AT_ONCE: usize = 16;

/// Sends the calls of plans.
#[derive(Clone)]
pub struct Executor {
    client: Client,
    events: Events,
    metrics: Metrics,
}

/// Why a plan was not executed to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// An object is not what the snapshot showed: look again.
    Outdated(String),
    /// The API server asks to wait.
    Later(Duration),
    /// The namespace is being deleted: no pod will be created in it.
    NamespaceTerminating,
    /// A call failed.
    Failed(String),
    /// A call failed, or was done.
    Lost(Lost),
}

impl Executor {
    /// An executor that sends with this client.
    pub fn new(client: Client, events: Events, metrics: Metrics) -> Self {
        Executor { client, events, metrics }
    }

    /// Executes the actions, which are those of one plan for this DaemonSet.
    ///
    /// # Errors
    /// The first failure; what was under way then is waited for, and nothing is begun but the status: where creates fail for
    /// long, how the other pods are must be told nevertheless (v1.36 `syncDaemonSet`).
    pub async fn execute(&self, ds: &DaemonSet, actions: &[Action], sent: &mut Sent) -> Result<(), Stop> {
        if actions.iter().any(is_adoption) {
            self.may_adopt(ds).await?;
        }
        let mut ended = Ok(());
        for step in actions.chunk_by(together) {
            match &ended {
                Ok(()) => ended = self.step(ds, step, sent).await,
                Err(Stop::Failed(_) | Stop::Lost(_) | Stop::NamespaceTerminating)
                    if step.iter().all(is_status) =>
                {
                    // What comes of it changes nothing: it failed already.
                    let _ = self.step(ds, step, sent).await;
                }
                Err(_) => {}
            }
        }
        ended
    }

    /// Tells of a DaemonSet that nothing is done for: it can't be used as it is.
    pub fn refuse(&self, ds: &DaemonSet, problems: &str) {
        self.events.record(ds, EventType::Warning, "InvalidDaemonSet", problems);
    }

    /// Nothing is remembered of a DaemonSet that is gone.
    pub fn forget(&self, uid: &Uid) {
        self.events.forget(uid);
    }

    /// Actions that may be under way at the same time; none is begun after a failure.
    async fn step(&self, ds: &DaemonSet, step: &[Action], sent: &mut Sent) -> Result<(), Stop> {
        let mut waiting = step.iter();
        let mut under_way = FuturesUnordered::new();
        let mut stop = None;
        loop {
            while stop.is_none() && under_way.len() < AT_ONCE {
                let Some(action) = waiting.next() else { break };
                under_way.push(self.call(ds, action));
            }
            let Some((action, outcome, stopped)) = under_way.next().await else { break };
            sent.record(action, &outcome, self.events.now());
            match &stopped {
                Some(Stop::Lost(lost)) => sent.lose(action, lost.settles),
                Some(Stop::Failed(_)) => sent.turns.refused(action),
                Some(Stop::Outdated(_) | Stop::Later(_) | Stop::NamespaceTerminating) | None => {}
            }
            self.metrics.acted(action, &outcome);
            stop = stop.or(stopped);
        }
        stop.map_or(Ok(()), Err)
    }

    /// One action: what came of it, and whether the plan ends with it.
    async fn call<'a>(
        &self,
        ds: &DaemonSet,
        action: &'a Action,
    ) -> (&'a Action, ActionOutcome, Option<Stop>) {
        let (outcome, stop) = self.done(ds, action).await;
        (action, outcome, stop)
    }

    async fn done(&self, ds: &DaemonSet, action: &Action) -> (ActionOutcome, Option<Stop>) {
        let caller = self.events.caller(ds);
        if let Action::RecordEvent { event_type, reason, message, .. } = action {
            self.events.record(ds, *event_type, reason.as_str(), message);
            return (ActionOutcome::Done, None);
        }
        let Some(call) = ApiCall::new(action, &caller) else { return (ActionOutcome::Done, None) };
        let request = match call.to_request() {
            Ok(request) => request,
            Err(error) => return (ActionOutcome::Rejected, Some(Stop::Failed(error.to_string()))),
        };
        let answer = send(&self.client, request).await;
        self.tell(&caller, action, &answer);
        match answer {
            Answer::Done(body) => (outcome(action, &body), None),
            Answer::Refused(status) => self.refused(ds, action, &status).await,
            Answer::Later(wait) => (ActionOutcome::Rejected, Some(Stop::Later(wait))),
            Answer::NotSent(error) => (ActionOutcome::Rejected, Some(Stop::Failed(error))),
            Answer::Lost(lost) => (ActionOutcome::Unknown, Some(Stop::Lost(lost))),
        }
    }

    async fn refused(
        &self,
        ds: &DaemonSet,
        action: &Action,
        status: &Status,
    ) -> (ActionOutcome, Option<Stop>) {
        match action {
            // It is gone, which is all that was asked for.
            Action::DeletePod { .. } | Action::DeleteRevision { .. } if status.is_not_found() => {
                (ActionOutcome::Done, None)
            }
            // v1.36 `ReleasePod`: gone, or no longer ours.
            Action::ReleasePod { .. } | Action::ReleaseRevision { .. }
                if status.is_not_found() || status.is_invalid() =>
            {
                (ActionOutcome::Done, None)
            }
            Action::CreateRevision { revision, .. } if status.is_already_exists() => {
                let name =
                    revision.pointer("/metadata/name").and_then(|name| name.as_str()).unwrap_or_default();
                match self.exists_as_ours(ds, name).await {
                    Ok(true) => (ActionOutcome::Done, None),
                    Ok(false) => (ActionOutcome::Rejected, Some(Stop::Outdated(status.message.clone()))),
                    Err(stop) => (ActionOutcome::Rejected, Some(stop)),
                }
            }
            // What has the name now is another object: its uid can't be changed, says the API server.
            Action::AdoptPod { .. }
            | Action::AdoptRevision { .. }
            | Action::LabelPod { .. }
            | Action::LabelRevision { .. }
            | Action::RenumberRevision { .. }
                if status.is_invalid() =>
            {
                (ActionOutcome::Rejected, Some(Stop::Outdated(status.message.clone())))
            }
            _ if is_namespace_terminating(status) => {
                (ActionOutcome::Rejected, Some(Stop::NamespaceTerminating))
            }
            _ if status.is_conflict() || status.is_already_exists() || status.is_not_found() => {
                (ActionOutcome::Rejected, Some(Stop::Outdated(status.message.clone())))
            }
            _ => (ActionOutcome::Rejected, Some(Stop::Failed(status.message.clone()))),
        }
    }

    /// Whether the revision that is in the way is the one that was to be created: the watch has not shown it yet.
    async fn exists_as_ours(&self, ds: &DaemonSet, name: &str) -> Result<bool, Stop> {
        let existing: Option<ControllerRevision> = self.read(&ds.metadata.namespace, name).await?;
        Ok(existing.is_some_and(|existing| is_own_revision(&existing, ds)))
    }

    /// Nothing is adopted for a DaemonSet that is gone by now, or another one (v1.36 `RecheckDeletionTimestamp`).
    async fn may_adopt(&self, ds: &DaemonSet) -> Result<(), Stop> {
        let now: Option<DaemonSet> = self.read(&ds.metadata.namespace, &ds.metadata.name).await?;
        let is_this = |now: &DaemonSet| {
            now.metadata.uid == ds.metadata.uid && now.metadata.deletion_timestamp.is_none()
        };
        match now.is_some_and(|now| is_this(&now)) {
            true => Ok(()),
            false => Err(Stop::Outdated("the DaemonSet is gone, or going, or another one".to_owned())),
        }
    }

    /// The objects of a kind in a namespace as they are stored now, whatever a watch has shown of them so far.
    ///
    /// # Errors
    /// When they can't be read.
    pub async fn stored<K>(&self, namespace: &str, chosen: &ListParams) -> Result<Vec<Arc<K>>, Stop>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned + Clone,
    {
        let path = K::url_path(&(), Some(namespace));
        let list: Option<ObjectList<K>> = self.ask(Request::new(path).list(chosen)).await?;
        Ok(list.into_iter().flatten().map(Arc::new).collect())
    }

    /// One object as it is now, if it is there.
    async fn read<K>(&self, namespace: &str, name: &str) -> Result<Option<K>, Stop>
    where
        K: Resource<DynamicType = ()> + DeserializeOwned,
    {
        self.ask(Request::new(K::url_path(&(), Some(namespace))).get(name, &GetParams::default())).await
    }

    /// As patient as with everything that is sent, and no more.
    async fn ask<T: DeserializeOwned>(
        &self,
        request: Result<Asked, RequestError>,
    ) -> Result<Option<T>, Stop> {
        let failed = |error: &dyn std::error::Error| Stop::Failed(error.to_string());
        match send(&self.client, request.map_err(|error| failed(&error))?).await {
            Answer::Done(body) => serde_json::from_slice(&body).map(Some).map_err(|error| failed(&error)),
            Answer::Refused(status) if status.is_not_found() => Ok(None),
            Answer::Refused(status) => Err(Stop::Failed(status.message)),
            Answer::Later(wait) => Err(Stop::Later(wait)),
            Answer::NotSent(error) | Answer::Lost(Lost { error, .. }) => Err(Stop::Failed(error)),
        }
    }

    /// The events that Kubernetes' controller records (v1.36 `controller_utils.go RealPodControl`).
    fn tell(&self, caller: &Caller<'_>, action: &Action, answer: &Answer) {
        let error = match answer {
            Answer::Done(_) => None,
            Answer::Refused(status) if status.is_not_found() || is_namespace_terminating(status) => return,
            Answer::Refused(status) => Some(status.message.clone()),
            Answer::Later(_) => Some("too many requests".to_owned()),
            Answer::NotSent(error) | Answer::Lost(Lost { error, .. }) => Some(error.clone()),
        };
        let (kind, reason, message) = match (action, error, answer) {
            (Action::CreatePod { .. }, None, Answer::Done(body)) => {
                let name = created(body).map(|pod| pod.name).unwrap_or_default();
                (EventType::Normal, "SuccessfulCreate", format!("Created pod: {name}"))
            }
            (Action::CreatePod { .. }, Some(error), _) => {
                (EventType::Warning, "FailedCreate", format!("Error creating: {error}"))
            }
            (Action::DeletePod { pod, .. }, None, _) => {
                (EventType::Normal, "SuccessfulDelete", format!("Deleted pod: {}", pod.name))
            }
            (Action::DeletePod { .. }, Some(error), _) => {
                (EventType::Warning, "FailedDelete", format!("Error deleting: {error}"))
            }
            _ => return,
        };
        self.events.record(caller.daemon_set, kind, reason, &message);
    }
}

fn is_adoption(action: &Action) -> bool {
    matches!(action, Action::AdoptPod { .. } | Action::AdoptRevision { .. })
}

fn is_status(action: &Action) -> bool {
    matches!(action, Action::UpdateStatus { .. })
}

/// Whether two consecutive actions may be under way at the same time.
fn together(a: &Action, b: &Action) -> bool {
    match (a, b) {
        (Action::DeletePod { .. }, Action::DeletePod { .. }) => true,
        (Action::CreatePod { batch: a, .. }, Action::CreatePod { batch: b, .. }) => a == b,
        _ => false,
    }
}

fn outcome(action: &Action, body: &[u8]) -> ActionOutcome {
    match (action, created(body)) {
        (Action::CreatePod { .. }, Some(pod)) => ActionOutcome::Created(pod),
        // It was created; which one it is the watch will tell.
        (Action::CreatePod { .. }, None) => ActionOutcome::Unknown,
        _ => ActionOutcome::Done,
    }
}

fn created(body: &[u8]) -> Option<ObjectRef> {
    let pod: Pod = serde_json::from_slice(body).ok()?;
    let Pod { metadata, .. } = pod;
    Some(ObjectRef {
        namespace: metadata.namespace,
        name: metadata.name,
        uid: metadata.uid,
        resource_version: metadata.resource_version,
    })
}
