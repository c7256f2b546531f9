//! A small language for fleets: `given(rolling(1)).node(node("a").has(old())).plan()`.

mod cluster;
mod given;
mod node;
mod pod;
mod reach;
mod rollout;
mod round_trip;
mod rules;
mod upstream;
mod words;

pub use cluster::{apply, execute, observe};
pub use given::{Given, given};
pub use node::{NodeStory, TURN_KEY, node, request};
pub use pod::{PodStory, affinity, new, old, pod};
pub use reach::{Reach, with_waits};
pub use rollout::{Controller, Rollout};
pub use round_trip::round_trip;
pub use rules::{add_rules, on, whole};
pub use upstream::{Expectations, upstream};
pub use words::{everything, lines, steps};

use daemonset::{Objects, ObservedAt, Plan, PlanError};
use daemonset_incremental::Tracker;
use jiff::{SignedDuration, Timestamp};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

/// The plan of a tracker: from the applied changes or, where these do not suffice, of the listed objects.
pub fn tracked<'a, O: Into<Objects<'a>>>(
    tracker: &mut Tracker,
    list: impl FnOnce() -> O,
    at: impl Into<ObservedAt>,
) -> Result<Plan, PlanError> {
    let at = at.into();
    tracker.plan(at).or_else(|_| tracker.list(list(), at))
}

/// The number of random cases of a property: `PROPTEST_CASES`, or this number, which a debug build runs in some seconds.
pub fn cases(otherwise: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(otherwise)
}

/// Random draws with this number: the same ones each time.
pub fn draws(number: u64) -> TestRunner {
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&number.to_le_bytes());
    let config = Config { failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed))
}

/// The instant of all stories.
pub fn now() -> Timestamp {
    "2026-01-01T12:00:00Z".parse().unwrap()
}

/// The instant this many seconds after [`now`]; negative for the past.
pub fn at(seconds: i64) -> Timestamp {
    now() + SignedDuration::from_secs(seconds)
}

pub fn rolling(max_unavailable: impl Into<Value>) -> Value {
    json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": max_unavailable.into()}})
}

pub fn surging(max_surge: impl Into<Value>) -> Value {
    json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": max_surge.into()}})
}

pub fn on_delete() -> Value {
    json!({"type": "OnDelete"})
}

/// The DaemonSet `ns/agent` as a user writes it.
pub fn agent(strategy: Value, template: Value) -> Value {
    json!({
        "metadata": {"name": "agent", "namespace": "ns"},
        "spec": {
            "selector": {"matchLabels": {"app": "agent"}},
            "template": template,
            "updateStrategy": strategy,
        },
    })
}

/// A template; `version` is its image.
pub fn template(version: &str) -> Value {
    json!({"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [{"name": "c", "image": version}]}})
}

/// A revision named after its version, which is its hash, too.
pub fn revision(version: &str, number: i64) -> Value {
    let mut stored = template(version);
    stored["$patch"] = json!("replace");
    json!({
        "metadata": {
            "name": format!("agent-{version}"), "namespace": "ns", "uid": format!("uid-agent-{version}"),
            "labels": {"app": "agent", "controller-revision-hash": version},
            "ownerReferences": [owner()],
        },
        "data": {"spec": {"template": stored}},
        "revision": number,
    })
}

pub fn owner() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "uid-agent",
        "controller": true, "blockOwnerDeletion": true,
    })
}
