//! Combines events about one DaemonSet, so that a large rollout makes few of them and no reason hides another.
//!
//! As v1.36 client-go `tools/record/events_cache.go` `EventCorrelator`: an event that happened before is counted, events that
//! differ only by their message are combined after the ninth, and a DaemonSet has a limited number of writes.
//!
//! One rule differs. In client-go, all events of a DaemonSet share the 25 writes, and a rollout spends them on
//! `SuccessfulCreate` and `SuccessfulDelete`: the `FailedCreate` that says why it no longer moves is not stored, nor would be its
//! `RolloutCompleted`. Here each other reason has 25 writes of its own.

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
    logged: HashMap<(String, Option<String>), LoggedEvent>,
}

/// The events that share tokens.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Bucket {
    /// A pod was created or deleted, as happens on every node.
    Pods,
    Reason(String),
}

struct TokenBucket {
    tokens: u32,
    refilled_at: Instant,
}

struct Similar {
    messages: BTreeSet<String>,
    last: Instant,
}

struct LoggedEvent {
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
        (reason, message): (&str, &str),
        now: Timestamp,
    ) -> Option<Correlated> {
        // A name that no earlier event has: its time, in hexadecimal digits, as in client-go.
        self.last_name = now.as_nanosecond().max(self.last_name + 1);
        let new_name = event_name(name, self.last_name);
        let events = self.objects.entry(uid.clone()).or_default();
        let correlated = events.count(reason, message, (new_name, now));
        events.take_token(reason).then_some(correlated)
    }

    /// Drops the events of an object that is gone.
    pub(crate) fn forget(&mut self, uid: &Uid) {
        self.objects.remove(uid);
    }

    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }
}

/// The name of an event about the object with this name. That of a long name is cut: the API server would refuse the event. (A name
/// from client-go is random then, kubernetes#127594.)
fn event_name(name: &str, nanoseconds: i128) -> String {
    const LONGEST: usize = 253;
    let time = format!(".{nanoseconds:x}");
    let cut: String = name.chars().take(LONGEST.saturating_sub(time.len())).collect();
    format!("{}{time}", cut.trim_end_matches(['-', '.']))
}

impl ObjectEvents {
    /// Counts an event, also one that is not written: the next write has the whole count.
    fn count(&mut self, reason: &str, message: &str, (name, now): (String, Timestamp)) -> Correlated {
        self.logged.retain(|_, logged| logged.last.elapsed() < EVENT_TTL);
        let is_combined = self.is_combined(reason, message);
        let key = (reason.to_owned(), (!is_combined).then(|| message.to_owned()));
        let logged = self.logged.entry(key).or_insert(LoggedEvent {
            name,
            count: 0,
            first: now,
            last: Instant::now(),
        });
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

    fn take_token(&mut self, reason: &str) -> bool {
        let bucket = match reason {
            "SuccessfulCreate" | "SuccessfulDelete" => Bucket::Pods,
            _ => Bucket::Reason(reason.to_owned()),
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

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    const MINUTE: u64 = 60;

    async fn pass(seconds: u64) {
        advance(Duration::from_secs(seconds)).await;
    }

    fn at(nanoseconds: i128) -> Timestamp {
        Timestamp::from_nanosecond(nanoseconds).unwrap()
    }

    fn event(correlator: &mut EventCorrelator, reason: &str, message: &str) -> Option<Correlated> {
        correlator.correlate((&"uid".into(), "agent"), (reason, message), at(255))
    }

    /// An event of the normal reason, which has writes left.
    fn normal(correlator: &mut EventCorrelator, message: &str) -> Correlated {
        event(correlator, "SuccessfulCreate", message).unwrap()
    }

    /// How many of these equal events are written.
    fn written(correlator: &mut EventCorrelator, reason: &str, many: usize) -> usize {
        (0..many).filter(|_| event(correlator, reason, "message").is_some()).count()
    }

    #[tokio::test(start_paused = true)]
    async fn an_object_has_25_writes_at_once_and_one_more_in_five_minutes() {
        let mut correlator = EventCorrelator::default();
        let mut writes = |many| written(&mut correlator, "SuccessfulCreate", many);
        assert_eq!(writes(30), 25);
        pass(5 * MINUTE - 1).await;
        assert_eq!(writes(1), 0);
        pass(1).await;
        assert_eq!(writes(3), 1);
        pass(7 * MINUTE).await;
        assert_eq!(writes(3), 1);
        pass(3 * MINUTE).await;
        assert_eq!(writes(3), 1, "the two minutes before count");
        pass(15 * MINUTE).await;
        assert_eq!(writes(5), 3);
        pass(5 * 60 * MINUTE).await;
        assert_eq!(writes(60), 25, "never more than 25 at once");
    }

    #[tokio::test(start_paused = true)]
    async fn creates_and_deletes_of_pods_share_their_writes_and_each_other_reason_has_its_own() {
        let mut correlator = EventCorrelator::default();
        let mut writes = |reason| written(&mut correlator, reason, 30);
        assert_eq!(writes("SuccessfulCreate"), 25);
        assert_eq!(writes("SuccessfulDelete"), 0);
        assert_eq!(writes("FailedCreate"), 25);
        assert_eq!(writes("FailedDelete"), 25);
        assert_eq!(writes("RolloutCompleted"), 25);
        correlator.forget(&"another".into());
        assert_eq!(written(&mut correlator, "SuccessfulCreate", 1), 0);
        correlator.forget(&"uid".into());
        let first = normal(&mut correlator, "message");
        assert_eq!((first.count, first.is_update), (1, false), "the object is gone, and another one began");
    }

    #[tokio::test(start_paused = true)]
    async fn an_event_that_happens_again_is_counted_under_its_first_name() {
        let mut correlator = EventCorrelator::default();
        let first = normal(&mut correlator, "a");
        assert_eq!((first.name.as_str(), first.is_update, first.count), ("agent.ff", false, 1));
        assert_eq!((first.message.as_str(), first.first), ("a", at(255)));
        assert_eq!(normal(&mut correlator, "b").name, "agent.100", "two events never have one name");
        let again = normal(&mut correlator, "a");
        assert_eq!((again.name.as_str(), again.is_update, again.count), ("agent.ff", true, 2));
        written(&mut correlator, "SuccessfulCreate", 30);
        pass(5 * MINUTE).await;
        let last = event(&mut correlator, "SuccessfulCreate", "message").unwrap();
        assert_eq!(last.count, 31, "events that were not written count, too");
    }

    #[test]
    fn the_name_of_an_event_about_a_long_name_is_valid() {
        assert_eq!(event_name("agent", 255), "agent.ff");
        let fits = "a".repeat(250);
        assert_eq!(event_name(&fits, 255), format!("{fits}.ff"));
        let long = format!("{}-.{}", "a".repeat(248), "b".repeat(3));
        assert_eq!(event_name(&long, 255), format!("{}.ff", "a".repeat(248)));
    }

    /// Otherwise the update of an event that the API server has deleted would fail.
    #[tokio::test(start_paused = true)]
    async fn an_event_that_did_not_happen_for_an_hour_is_a_new_one() {
        let mut correlator = EventCorrelator::default();
        normal(&mut correlator, "a");
        pass(60 * MINUTE - 1).await;
        assert_eq!(normal(&mut correlator, "a").count, 2);
        pass(60 * MINUTE).await;
        let new = normal(&mut correlator, "a");
        assert_eq!((new.count, new.is_update), (1, false));
    }

    #[tokio::test(start_paused = true)]
    async fn the_tenth_message_of_a_reason_and_each_further_one_share_an_event() {
        let mut correlator = EventCorrelator::default();
        let messages: Vec<String> = (0..12).map(|n| format!("message {n}")).collect();
        let all: Vec<Correlated> = messages.iter().map(|message| normal(&mut correlator, message)).collect();
        assert!(all[..9].iter().all(|event| event.count == 1 && event.message.starts_with("message")));
        let combined = |n: usize| format!("(combined from similar events): message {n}");
        assert_eq!((all[9].message.clone(), all[9].count, all[9].is_update), (combined(9), 1, false));
        assert_eq!((all[11].message.clone(), all[11].count, all[11].is_update), (combined(11), 3, true));
        let known = normal(&mut correlator, "message 3");
        assert_eq!((known.message.as_str(), known.count), ("message 3", 2));
        pass(10 * MINUTE).await;
        assert_eq!(normal(&mut correlator, "message 12").message, combined(12));
        pass(10 * MINUTE + 1).await;
        assert_eq!(normal(&mut correlator, "message 13").message, "message 13", "after a pause");
        assert_eq!(normal(&mut correlator, "message 14").message, "message 14");
    }
}
