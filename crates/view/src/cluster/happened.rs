//! What events tell of objects: calls that the API server refused, pods that failed, and warnings about a pod or a node.

use crate::cluster::notes::Said;
use crate::words;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// An event, which may have happened several times.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Happened {
    /// `FailedCreate`, and the answer of the API server.
    #[serde(flatten)]
    pub said: Said,
    /// The first time.
    pub first: Timestamp,
    /// The last time.
    pub at: Timestamp,
    pub times: u64,
    #[serde(skip)]
    is_warning: bool,
}

/// A node that has been quiet for longer may stay so.
const LATELY: SignedDuration = SignedDuration::from_mins(30);

/// Warnings that the status of a pod has in other words, and those about its node.
const TOLD_BY_STATUS: [&str; 6] =
    ["BackOff", "Evicted", "FailedScheduling", "Killing", "NodeNotReady", "TaintManagerEviction"];

/// The events about each object: by its uid, a node by its name, which is the uid that a kubelet writes.
#[derive(Clone, Default)]
pub struct ClusterEvents(BTreeMap<String, Vec<Happened>>);

impl ClusterEvents {
    /// The last refusal of a DaemonSet since an instant, with the number of all of them: a controller that is refused for many nodes
    /// writes several events, and combines the later ones.
    ///
    /// The instant is asked for only where there are refusals: most DaemonSets have none.
    pub fn refusal(&self, uid: &str, since: impl FnOnce() -> Option<Timestamp>) -> Option<Happened> {
        let is_refusal =
            |event: &&Happened| matches!(event.said.reason.as_str(), "FailedCreate" | "FailedDelete");
        let mut all = self.of(uid).filter(is_refusal).peekable();
        all.peek()?;
        let since = since();
        sum(all.filter(|refusal| since.is_none_or(|since| since <= refusal.at)))
    }

    /// How often a pod of the DaemonSet has failed on this node, as the controller tells it (v1.36 `pkg/controller/daemon/daemon_controller.go
    /// podsShouldBeOnNode`).
    pub fn failed_pods(&self, uid: &str, node: &str) -> Option<Happened> {
        let place = format!(" on node {node},");
        sum(self
            .of(uid)
            .filter(|event| event.said.reason == "FailedDaemonPod" && event.said.message.contains(&place)))
    }

    /// How often a node has become NotReady, if it did so several times, and lately (v1.36 `pkg/controller/nodelifecycle`, the kubelet).
    pub fn flaps(&self, node: &str, now: Timestamp) -> Option<Happened> {
        let lately = |event: &Happened| now.duration_since(event.at) <= LATELY && event.times > 2;
        sum(self.of(node).filter(|event| event.said.reason == "NodeNotReady")).filter(lately)
    }

    /// The last warning about a pod that says more than its own status does.
    pub fn warning(&self, pod: &str) -> Option<&Happened> {
        let tells =
            |event: &&Happened| event.is_warning && !TOLD_BY_STATUS.contains(&event.said.reason.as_str());
        self.of(pod).filter(tells).max_by_key(|event| event.at)
    }

    fn of(&self, key: &str) -> impl Iterator<Item = &Happened> {
        self.0.get(key).into_iter().flatten()
    }

    /// Takes an event of the group `""`, or of `events.k8s.io`, which has other names for the same. Others are left out: an event is no
    /// object that a decision depends on, so that nothing in it is an error.
    pub(super) fn add(&mut self, event: &Value) {
        let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str);
        let about = if event.get("regarding").is_some() { "/regarding" } else { "/involvedObject" };
        let about = |member: &str| text(&format!("{about}/{member}"));
        let key = match about("kind") {
            Some("DaemonSet" | "Pod") => about("uid"),
            Some("Node") => about("name"),
            _ => None,
        };
        let (Some(key), Some(reason)) = (key, text("/reason")) else { return };
        // The newest form first: an event that repeats in a series keeps its first times in the other fields.
        let last = ["/series/lastObservedTime", "/lastTimestamp", "/deprecatedLastTimestamp", "/eventTime"];
        let first = ["/firstTimestamp", "/deprecatedFirstTimestamp", "/eventTime"];
        let instant = |pointers: &[&str]| pointers.iter().find_map(|pointer| text(pointer)?.parse().ok());
        let Some(at) = instant(&last) else { return };
        let count = ["/series/count", "/count", "/deprecatedCount"];
        let times = count.iter().find_map(|pointer| event.pointer(pointer)?.as_u64()).unwrap_or(1);
        let message = text("/note").or_else(|| text("/message")).unwrap_or_default();
        let message = message.trim_start_matches("(combined from similar events): ").trim();
        let said = Said { reason: reason.to_owned(), message: message.to_owned() };
        let is_warning = text("/type") == Some("Warning");
        let first = instant(&first).unwrap_or(at);
        self.0.entry(key.to_owned()).or_default().push(Happened { said, first, at, times, is_warning });
    }

    /// Adds those of another List.
    pub fn append(&mut self, other: ClusterEvents) {
        for (key, mut events) in other.0 {
            self.0.entry(key).or_default().append(&mut events);
        }
    }
}

impl Happened {
    /// `FailedMount (volume busy; 30 times, the last time 60s ago)`.
    pub fn text(&self, now: Timestamp) -> String {
        let message = words::first_sentences(&self.said.message);
        format!("{} ({}; {})", self.said.reason, message.trim_end_matches('.'), self.how_often(now))
    }

    /// `once 5s ago`, `21 times, the last time 18s ago`.
    pub fn how_often(&self, now: Timestamp) -> String {
        let ago = words::duration(now.duration_since(self.at.min(now)));
        match self.times {
            1 => format!("once {ago} ago"),
            several => format!("{several} times, the last time {ago} ago"),
        }
    }
}

/// The last of them, with the times of all.
fn sum<'e>(events: impl Iterator<Item = &'e Happened>) -> Option<Happened> {
    let all: Vec<&Happened> = events.collect();
    // The first one of the last instant.
    let last = all.iter().rev().max_by_key(|event| event.at)?;
    let times = all.iter().fold(0, |times: u64, event| times.saturating_add(event.times));
    let first = all.iter().map(|event| event.first).min()?;
    Some(Happened { times, first, ..(*last).clone() })
}
