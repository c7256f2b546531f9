//! Calls that the API server refused a controller, as the events of its DaemonSet tell them.

use crate::cluster::notes::Said;
use jiff::Timestamp;
use serde_json::Value;
use std::collections::BTreeMap;

/// A call that was refused, and perhaps repeated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedCall {
    /// `FailedCreate`, and the answer of the API server.
    pub said: Said,
    /// The last time.
    pub at: Timestamp,
    pub times: u64,
}

/// The refusals of each DaemonSet, by its uid.
#[derive(Clone, Default)]
pub struct Refusals(BTreeMap<String, Vec<RefusedCall>>);

impl Refusals {
    /// The last refusal of a DaemonSet since an instant, with the number of all of them: a controller that is refused for many nodes
    /// writes several events, and combines the later ones.
    ///
    /// The instant is asked for only where there are refusals: most DaemonSets have none.
    pub fn since(&self, uid: &str, since: impl FnOnce() -> Option<Timestamp>) -> Option<RefusedCall> {
        let all = self.0.get(uid)?.iter();
        let since = since();
        let all = all.filter(|refusal| since.is_none_or(|since| since <= refusal.at));
        let times = all.clone().fold(0, |times: u64, refusal| times.saturating_add(refusal.times));
        // The first one of the last instant.
        let last = all.rev().max_by_key(|refusal| refusal.at)?;
        Some(RefusedCall { times, ..last.clone() })
    }

    /// Takes an event of the group `""`, or of `events.k8s.io`, which has other names for the same. Others are left out: an event is no
    /// object that a decision depends on, so that nothing in it is an error.
    pub(super) fn add(&mut self, event: &Value) {
        let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str);
        let about = if event.get("regarding").is_some() { "/regarding" } else { "/involvedObject" };
        let is_of_daemon_set = text(&format!("{about}/kind")) == Some("DaemonSet");
        let reason = text("/reason").filter(|reason| matches!(*reason, "FailedCreate" | "FailedDelete"));
        let (Some(uid), Some(reason), true) = (text(&format!("{about}/uid")), reason, is_of_daemon_set)
        else {
            return;
        };
        // The newest form first: an event that repeats in a series keeps its first times in the other fields.
        let times = ["/series/lastObservedTime", "/lastTimestamp", "/deprecatedLastTimestamp", "/eventTime"];
        let Some(at) = times.iter().find_map(|pointer| text(pointer)?.parse().ok()) else { return };
        let count = ["/series/count", "/count", "/deprecatedCount"];
        let times = count.iter().find_map(|pointer| event.pointer(pointer)?.as_u64()).unwrap_or(1);
        let message = text("/note").or_else(|| text("/message")).unwrap_or_default();
        let message = message.trim_start_matches("(combined from similar events): ").trim();
        let said = Said { reason: reason.to_owned(), message: message.to_owned() };
        self.0.entry(uid.to_owned()).or_default().push(RefusedCall { said, at, times });
    }

    /// Adds those of another List.
    pub fn append(&mut self, other: Refusals) {
        for (uid, mut refusals) in other.0 {
            self.0.entry(uid).or_default().append(&mut refusals);
        }
    }
}
