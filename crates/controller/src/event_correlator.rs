//! Combines events about one DaemonSet, so that a large rollout makes few of them and no reason hides another.
//!
//! As v1.36 client-go `tools/record/events_cache.go` `EventCorrelator`: an event that happened before is counted, events that
//! differ only by their message are combined after the ninth, and a DaemonSet has a limited number of writes.
//!
//! One rule differs. In client-go, all events of a DaemonSet share the 25 writes, and a rollout spends them on
//! `SuccessfulCreate` and `SuccessfulDelete`: the `FailedCreate` that says why it no longer moves is not stored. Here each
//! reason of a warning has 25 writes of its own.

use daemonset::EventType;
use daemonset::model::Uid;
use jiff::Timestamp;
use std::collections::{BTreeSet, HashMap};
use std::time::Duration;
use tokio::time::Instant;

/// Writes that may happen at once (`defaultSpamBurst`), and the time for one more (`defaultSpamQPS`).
const BURST: u32 = 25;
const REFILL: Duration = Duration::from_secs(300);
/// Different messages of one reason from which on events are combined (`defaultAggregateMaxEvents`), and the pause after which
/// they no longer are (`defaultAggregateIntervalInSeconds`).
const MAX_SIMILAR: usize = 10;
const SIMILAR_WITHIN: Duration = Duration::from_secs(600);
/// The API server deletes an event that has not changed for this time (`--event-ttl`).
const EVENT_TTL: Duration = Duration::from_secs(3600);

/// The events of all DaemonSets.
#[derive(Default)]
pub(crate) struct EventCorrelator {
    objects: HashMap<Uid, ObjectEvents>,
    last_name: i128,
}

/// An event to write.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Correlated {
    /// The name of the object.
    pub(crate) name: String,
    /// Whether the object exists, and only its count, message and last time change.
    pub(crate) is_update: bool,
    pub(crate) message: String,
    pub(crate) count: u32,
    /// When it happened first.
    pub(crate) first: Timestamp,
}

#[derive(Default)]
struct ObjectEvents {
    buckets: HashMap<Bucket, TokenBucket>,
    /// By reason.
    similar: HashMap<String, Similar>,
    /// By reason and message; no message for the combined event.
    logged: HashMap<(String, Option<String>), Logged>,
}

/// The events that share tokens.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Bucket {
    Normal,
    Warning(String),
}

struct TokenBucket {
    tokens: u32,
    refilled_at: Instant,
}

struct Similar {
    messages: BTreeSet<String>,
    last: Instant,
}

struct Logged {
    name: String,
    count: u32,
    first: Timestamp,
    last: Instant,
}

impl EventCorrelator {
    /// The write for an event about the object with this uid and name; `None` if the object had too many.
    pub(crate) fn correlate(
        &mut self,
        (uid, name): (&Uid, &str),
        kind: EventType,
        (reason, message): (&str, &str),
        now: Timestamp,
    ) -> Option<Correlated> {
        // A name that no earlier event has: its time, in hexadecimal digits, as in client-go.
        self.last_name = now.as_nanosecond().max(self.last_name + 1);
        let new_name = format!("{name}.{:x}", self.last_name);
        let events = self.objects.entry(uid.clone()).or_default();
        let correlated = events.count(reason, message, (new_name, now));
        events.take_token(kind, reason).then_some(correlated)
    }

    /// Drops the events of an object that is gone.
    pub(crate) fn forget(&mut self, uid: &Uid) {
        self.objects.remove(uid);
    }
}

impl ObjectEvents {
    /// Counts an event, also one that is not written: the next write has the whole count.
    fn count(&mut self, reason: &str, message: &str, (name, now): (String, Timestamp)) -> Correlated {
        self.logged.retain(|_, logged| logged.last.elapsed() < EVENT_TTL);
        let is_combined = self.is_combined(reason, message);
        let key = (reason.to_owned(), (!is_combined).then(|| message.to_owned()));
        let logged =
            self.logged.entry(key).or_insert(Logged { name, count: 0, first: now, last: Instant::now() });
        logged.count = logged.count.saturating_add(1);
        logged.last = Instant::now();
        let prefix = if is_combined { "(combined from similar events): " } else { "" };
        Correlated {
            name: logged.name.clone(),
            is_update: logged.count > 1,
            message: format!("{prefix}{message}"),
            count: logged.count,
            first: logged.first,
        }
    }

    /// Whether the reason has had too many different messages.
    fn is_combined(&mut self, reason: &str, message: &str) -> bool {
        let now = Instant::now();
        let similar = self
            .similar
            .entry(reason.to_owned())
            .or_insert_with(|| Similar { messages: BTreeSet::new(), last: now });
        if now.duration_since(similar.last) > SIMILAR_WITHIN {
            similar.messages.clear();
        }
        similar.last = now;
        if similar.messages.contains(message) {
            return false;
        }
        let is_full = similar.messages.len() + 1 >= MAX_SIMILAR;
        if !is_full {
            similar.messages.insert(message.to_owned());
        }
        is_full
    }

    fn take_token(&mut self, kind: EventType, reason: &str) -> bool {
        let bucket = match kind == EventType::Normal {
            true => Bucket::Normal,
            false => Bucket::Warning(reason.to_owned()),
        };
        let now = Instant::now();
        let bucket = self.buckets.entry(bucket).or_insert(TokenBucket { tokens: BURST, refilled_at: now });
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
