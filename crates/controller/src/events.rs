//! Events about DaemonSets, in the background: a rollout must not wait for them, nor fail with them.
//!
//! Kubernetes lets an object have 25 events at once and one in five minutes after that (client-go
//! `record.EventSourceObjectSpamFilter`); so that 500 pods do not make 1,000 events.

use crate::answer::{Answer, send};
use crate::clock::Clock;
use daemonset::EventType;
use daemonset::kube::{ApiCall, Caller};
use daemonset::model::{DaemonSet, Uid};
use jiff::Timestamp;
use kube::Client;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// The name that Kubernetes' own controller records its events under.
pub const COMPONENT: &str = "daemonset-controller";
const BURST: u32 = 25;
const REFILL: Duration = Duration::from_secs(300);
/// Events that may wait to be sent; more are dropped, as client-go does.
const WAITING: usize = 1000;

/// Records events.
#[derive(Clone)]
pub struct Events {
    queue: mpsc::Sender<ApiCall>,
    tokens: Arc<Mutex<HashMap<Uid, Tokens>>>,
    clock: Clock,
}

#[derive(Clone, Copy)]
struct Tokens {
    left: u32,
    since: Instant,
}

impl Events {
    /// Sends events with this client, for as long as one of these is there.
    pub fn new(client: Client, clock: Clock) -> Self {
        let (queue, mut calls) = mpsc::channel::<ApiCall>(WAITING);
        tokio::spawn(async move {
            while let Some(call) = calls.recv().await {
                let Ok(request) = call.to_request() else { continue };
                match send(&client, request).await {
                    Answer::Done(_) => {}
                    answer => tracing::debug!(?answer, "an event was not recorded"),
                }
            }
        });
        Events { queue, tokens: Arc::default(), clock }
    }

    /// What time it is for what is told.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Who calls, now.
    pub fn caller<'a>(&self, daemon_set: &'a DaemonSet) -> Caller<'a> {
        Caller { daemon_set, component: COMPONENT, now: self.now() }
    }

    /// Records one, unless the DaemonSet had too many.
    pub fn record(&self, ds: &DaemonSet, kind: EventType, reason: &str, message: &str) {
        tracing::info!(daemonset = %name(ds), reason, "{message}");
        if !self.may_tell(&ds.metadata.uid) {
            return;
        }
        // A full queue drops it: an event is a courtesy.
        let _ = self.queue.try_send(ApiCall::event(&self.caller(ds), kind, reason, message));
    }

    /// Nothing is remembered of a DaemonSet that is gone.
    pub fn forget(&self, uid: &Uid) {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner).remove(uid);
    }

    fn may_tell(&self, uid: &Uid) -> bool {
        let mut tokens = self.tokens.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let own = tokens.entry(uid.clone()).or_insert(Tokens { left: BURST, since: now });
        let refilled = (now.duration_since(own.since).as_secs() / REFILL.as_secs()) as u32;
        if refilled > 0 {
            own.left = BURST.min(own.left.saturating_add(refilled));
            own.since += REFILL * refilled;
        }
        let may = own.left > 0;
        own.left = own.left.saturating_sub(1);
        may
    }
}

fn name(ds: &DaemonSet) -> String {
    format!("{}/{}", ds.metadata.namespace, ds.metadata.name)
}
