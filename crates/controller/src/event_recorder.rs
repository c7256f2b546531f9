//! Events about DaemonSets, sent in the background: a rollout neither waits for them nor fails with them.
//!
//! `event_correlator` combines alike events and limits their number, so that 500 pods do not make 1,000 events.

use crate::clock::Clock;
use crate::event_correlator::{Correlated, EventCorrelator};
use crate::response::ActingClient;
use crate::tasks::Tasks;
use daemonset::EventType;
use daemonset::kube::{ApiCall, Caller};
use daemonset::model::{DaemonSet, Uid};
use daemonset_executor::{ApiResponse, Sender, UnknownOutcome};
use jiff::Timestamp;
use kube::api::{Patch, PatchParams};
use kube::core::Request;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::mpsc;

/// The source of the events; Kubernetes' own controller has the same.
pub const COMPONENT: &str = "daemonset-controller";
/// The source of the events of a driver, which are beside those of the cluster's own controller.
pub const DRIVER: &str = "daemonset-driver";
/// Events that may wait to be sent; further ones are dropped, as in client-go.
const MAX_WAITING: usize = 1000;

/// The longest message, in bytes: the limit of events.k8s.io (v1.36 `validation/events.go NoteLengthLimit`). A policy or a webhook
/// may answer with more.
const LONGEST_MESSAGE: usize = 1024;

/// Records events about DaemonSets.
#[derive(Clone)]
pub struct EventRecorder {
    queue: mpsc::Sender<QueuedEvent>,
    correlator: Arc<Mutex<EventCorrelator>>,
    clock: Clock,
    component: &'static str,
}

/// An event that waits to be sent.
struct QueuedEvent {
    /// The call that creates it.
    create: ApiCall,
    /// The name of the event that exists already, if it only changes.
    update: Option<String>,
}

impl EventRecorder {
    /// A recorder that sends with this client for as long as a clone of it exists.
    pub fn new(client: ActingClient, clock: Clock, tasks: &Tasks) -> Self {
        let (queue, mut events) = mpsc::channel::<QueuedEvent>(MAX_WAITING);
        tasks.spawn("events", async move {
            while let Some(event) = events.recv().await {
                if let Some(error) = event.send(&client).await.and_then(error_of) {
                    tracing::debug!(error, "an event was not recorded");
                }
            }
        });
        EventRecorder { queue, correlator: Arc::default(), clock, component: COMPONENT }
    }

    /// The same with another source of its events.
    #[must_use]
    pub fn from_component(self, component: &'static str) -> Self {
        EventRecorder { component, ..self }
    }

    /// The time that calls and their outcomes are dated with.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The source of the events.
    pub fn component(&self) -> &'static str {
        self.component
    }

    /// The caller of a call that is made now for this DaemonSet.
    pub fn caller<'a>(&self, daemon_set: &'a DaemonSet) -> Caller<'a> {
        Caller { daemon_set, component: self.component, now: self.now() }
    }

    /// Records an event unless the DaemonSet had too many.
    pub fn record(&self, ds: &DaemonSet, kind: EventType, reason: &str, message: &str) {
        let about = (&ds.metadata.uid, ds.metadata.name.as_str());
        let correlated = self.correlator().correlate(about, (reason, message), self.now());
        let Some(correlated) = correlated else { return };
        let create = ApiCall::event(&self.caller(ds), kind, reason, &within_limit(&correlated.message));
        // A full queue drops the event: events are best effort.
        let _ = self.queue.try_send(QueuedEvent::new(create, correlated));
    }

    /// Drops the record of a DaemonSet that is gone.
    pub fn forget(&self, uid: &Uid) {
        self.correlator().forget(uid);
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.correlator().is_empty()
    }

    fn correlator(&self) -> MutexGuard<'_, EventCorrelator> {
        self.correlator.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueuedEvent {
    fn new(mut create: ApiCall, correlated: Correlated) -> Self {
        let Correlated { name, is_update, count, first, .. } = correlated;
        if let Some(metadata) = create.body.pointer_mut("/metadata").and_then(Value::as_object_mut) {
            metadata.remove("generateName");
            metadata.insert("name".to_owned(), json!(name));
        }
        if let Some(event) = create.body.as_object_mut() {
            event.insert("count".to_owned(), json!(count));
            event
                .insert("firstTimestamp".to_owned(), json!(first.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()));
        }
        QueuedEvent { create, update: is_update.then_some(name) }
    }

    /// Changes the event that exists, or creates it; `None` where its name is not valid in a path. Also creates one that was to
    /// be changed but does not exist: it was never stored, or is too old (v1.36 `client-go/tools/record recordEvent`).
    async fn send(&self, client: &ActingClient) -> Option<ApiResponse> {
        if let Some(name) = &self.update {
            let change: Value = ["count", "lastTimestamp", "message"]
                .map(|field| (field.to_owned(), self.create.body.get(field).cloned().unwrap_or_default()))
                .into_iter()
                .collect();
            let request = Request::new(self.create.collection.as_str());
            let patch = request.patch(name, &PatchParams::default(), &Patch::Strategic(&change)).ok()?;
            match client.send_once(patch).await {
                ApiResponse::Rejected(status) if status.is_not_found() => {}
                response => return Some(response),
            }
        }
        Some(client.send_once(self.create.to_request().ok()?).await)
    }
}

/// The begin of a message that is too long.
fn within_limit(message: &str) -> Cow<'_, str> {
    const END: &str = " …";
    match message.len() <= LONGEST_MESSAGE {
        true => Cow::Borrowed(message),
        false => {
            let begin = (0..=LONGEST_MESSAGE - END.len()).rev().find_map(|end| message.get(..end));
            Cow::Owned(begin.unwrap_or_default().to_owned() + END)
        }
    }
}

/// The error of an event that was not recorded.
fn error_of(response: ApiResponse) -> Option<String> {
    match response {
        ApiResponse::Done(_) => None,
        ApiResponse::Rejected(status) => Some(status.message),
        ApiResponse::RetryAfter(delay) => {
            Some(format!("too many requests: retry after {} s", delay.as_secs()))
        }
        ApiResponse::MayNotAct(reason) => Some(reason),
        ApiResponse::NotSent(error) | ApiResponse::Unknown(UnknownOutcome { error, .. }) => Some(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_ends_within_1024_bytes_at_the_boundary_of_a_character() {
        for letter in ["a", "ü", "–", "🦀"] {
            for offset in 0..4 {
                let message = "a".repeat(offset) + &letter.repeat(2000);
                let cut = within_limit(&message);
                let kept = cut.strip_suffix(" …").expect("it was cut");
                assert!(message.starts_with(kept));
                assert!(cut.len() <= 1024 && cut.len() + letter.len() > 1024, "{}", cut.len());
            }
        }
        let longest = "a".repeat(1024);
        assert_eq!(within_limit(&longest), longest);
    }
}
