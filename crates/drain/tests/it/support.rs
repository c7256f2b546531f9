//! A small language for the pods of node `a`.

use daemonset::model::Node;
use daemonset_drain::{BlockReason, DaemonOwner, Drain, DrainPolicy, Pod, PodVerdict, drain, verdicts};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// The instant of all stories.
pub fn now() -> Timestamp {
    "2026-01-01T12:00:00Z".parse().unwrap()
}

/// Seconds from now; negative for the past.
pub fn at(seconds: i64) -> Timestamp {
    now() + SignedDuration::from_secs(seconds)
}

pub fn node() -> Node {
    serde_json::from_value(json!({"metadata": {"name": "a"}})).unwrap()
}

/// A running pod on node `a`, of a ReplicaSet of its namespace: a drain evicts it.
pub struct Given(Value);

/// By `namespace/name`.
pub fn pod(full_name: &str) -> Given {
    let (namespace, name) = full_name.split_once('/').unwrap();
    let uid = format!("uid-of-{full_name}");
    Given(json!({
        "metadata": {"name": name, "namespace": namespace, "uid": uid},
        "spec": {"nodeName": "a", "volumes": [{"name": "config", "configMap": {"name": "c"}}]},
        "status": {"phase": "Running"},
    }))
    .owned_by("ReplicaSet", "web")
}

impl Given {
    fn with(mut self, member: &str, field: &str, value: Value) -> Self {
        self.0[member][field] = value;
        self
    }

    pub fn on(self, node: &str) -> Self {
        self.with("spec", "nodeName", node.into())
    }

    pub fn phase(self, phase: &str) -> Self {
        self.with("status", "phase", phase.into())
    }

    pub fn label(self, key: &str, value: &str) -> Self {
        self.with("metadata", "labels", json!({key: value}))
    }

    pub fn annotation(self, key: &str, value: &str) -> Self {
        self.with("metadata", "annotations", json!({key: value}))
    }

    pub fn local_storage(self) -> Self {
        let volumes = json!([{"name": "config", "configMap": {"name": "c"}}, {"name": "cache", "emptyDir": {"medium": "Memory"}}]);
        self.with("spec", "volumes", volumes)
    }

    pub fn owned_by(self, kind: &str, name: &str) -> Self {
        let owner =
            json!({"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": "o", "controller": true});
        self.owners(json!([owner]))
    }

    pub fn owners(self, owners: Value) -> Self {
        self.with("metadata", "ownerReferences", owners)
    }

    pub fn without_controller(self) -> Self {
        self.owners(Value::Null)
    }

    /// Its deletionTimestamp, in seconds from now.
    pub fn terminating(self, seconds: i64) -> Self {
        self.with("metadata", "deletionTimestamp", at(seconds).to_string().into())
    }

    pub fn read(self) -> Pod {
        serde_json::from_value(self.0).unwrap()
    }
}

/// The DaemonSets of the stories.
pub fn daemons() -> Vec<DaemonOwner> {
    vec![DaemonOwner::daemon_set("ns", "agent"), DaemonOwner::new("AgentSet", "ns", "fleet")]
}

pub fn decide(pods: impl IntoIterator<Item = Given>, policy: &DrainPolicy) -> Drain {
    let pods: Vec<Pod> = pods.into_iter().map(Given::read).collect();
    drain(&node(), &pods, &daemons(), policy, now())
}

/// The verdict on one pod, in words.
pub fn verdict(pod: Given, policy: &DrainPolicy) -> PodVerdict {
    verdicts(&node(), &[pod.read()], &daemons(), policy, now())[0]
}

/// The names of the pods to evict.
pub fn evicted(drain: &Drain) -> Vec<String> {
    drain.evict.iter().map(|evict| format!("{}/{}", evict.pod.namespace, evict.pod.name)).collect()
}

/// The names of the pods that block, with the reasons.
pub fn blocked(drain: &Drain) -> Vec<(String, BlockReason)> {
    let pods = drain.state.blocked_by().iter();
    pods.map(|pod| (format!("{}/{}", pod.pod.namespace, pod.pod.name), pod.reason)).collect()
}
