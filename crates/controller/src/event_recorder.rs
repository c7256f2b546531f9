//! Events about DaemonSets, sent in the background: a rollout neither waits for them nor fails with them.
//!
//! A DaemonSet may have 25 events at once and one in five minutes after that, as in client-go
//! (`record.EventSourceObjectSpamFilter`), so that 500 pods do not make 1,000 events.

use crate::clock::Clock;
use crate::renew_deadline::DeadlineOver;
use crate::response::{ActingClient, ApiResponse, UnknownOutcome};
use daemonset::EventType;
use daemonset::kube::{ApiCall, Caller};
use daemonset::model::{DaemonSet, Uid};
use jiff::Timestamp;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// The source of the events; Kubernetes' own controller has the same.
pub const COMPONENT: &str = "daemonset-controller";
const BURST: u32 = 25;
const REFILL: Duration = Duration::from_secs(300);
/// Events that may wait to be sent; further ones are dropped, as in client-go.
const MAX_WAITING: usize = 1000;

/// Records events about DaemonSets.
#[derive(Clone)]
pub struct EventRecorder {
    queue: mpsc::Sender<ApiCall>,
    buckets: Arc<Mutex<HashMap<Uid, TokenBucket>>>,
    clock: Clock,
}

/// The events that one DaemonSet may still have.
#[derive(Clone, Copy)]
struct TokenBucket {
    tokens: u32,
    refilled_at: Instant,
}

impl EventRecorder {
    /// A recorder that sends with this client for as long as a clone of it exists.
    pub fn new(client: ActingClient, clock: Clock) -> Self {
        let (queue, mut calls) = mpsc::channel::<ApiCall>(MAX_WAITING);
        tokio::spawn(async move {
            while let Some(call) = calls.recv().await {
                let Ok(request) = call.to_request() else { continue };
                if let Some(error) = error_of(client.send(request).await) {
                    tracing::debug!(error, "an event was not recorded");
                }
            }
        });
        EventRecorder { queue, buckets: Arc::default(), clock }
    }

    /// The time that calls and their outcomes are dated with.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The caller of a call that is made now for this DaemonSet.
    pub fn caller<'a>(&self, daemon_set: &'a DaemonSet) -> Caller<'a> {
        Caller { daemon_set, component: COMPONENT, now: self.now() }
    }

    /// Logs an event, and records it unless the DaemonSet had too many.
    pub fn record(&self, ds: &DaemonSet, kind: EventType, reason: &str, message: &str) {
        let name = format!("{}/{}", ds.metadata.namespace, ds.metadata.name);
        tracing::info!(daemonset = %name, reason, "{message}");
        if !self.take_token(&ds.metadata.uid) {
            return;
        }
        // A full queue drops the event: events are best effort.
        let _ = self.queue.try_send(ApiCall::event(&self.caller(ds), kind, reason, message));
    }

    /// Drops the record of a DaemonSet that is gone.
    pub fn forget(&self, uid: &Uid) {
        self.buckets.lock().unwrap_or_else(PoisonError::into_inner).remove(uid);
    }

    fn take_token(&self, uid: &Uid) -> bool {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let bucket = buckets.entry(uid.clone()).or_insert(TokenBucket { tokens: BURST, refilled_at: now });
        let refills = (now.duration_since(bucket.refilled_at).as_secs() / REFILL.as_secs()) as u32;
        if refills > 0 {
            bucket.tokens = BURST.min(bucket.tokens.saturating_add(refills));
            bucket.refilled_at += REFILL * refills;
        }
        let has_token = bucket.tokens > 0;
        bucket.tokens = bucket.tokens.saturating_sub(1);
        has_token
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
        ApiResponse::DeadlineOver => Some(DeadlineOver.to_string()),
        ApiResponse::NotSent(error) | ApiResponse::Unknown(UnknownOutcome { error, .. }) => Some(error),
    }
}
