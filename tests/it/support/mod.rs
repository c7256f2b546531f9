//! A small language to tell a fleet in: `given(rolling(1)).node(node("a").has(old())).plan()`.

mod cluster;
mod rollout;
mod upstream;
mod words;

pub use cluster::{apply, observe};
pub use rollout::{Controller, Rollout};
pub use upstream::{Expectations, upstream};
pub use words::{everything, lines, steps};

use daemonset::{Memory, Plan, Recording, audit, plan, reconcile};
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

pub fn rolling(max_unavailable: impl Into<Value>) -> Value {
    json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": max_unavailable.into()}})
}

pub fn surging(max_surge: impl Into<Value>) -> Value {
    json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": max_surge.into()}})
}

pub fn on_delete() -> Value {
    json!({"type": "OnDelete"})
}

/// A template; `version` is its image.
pub fn template(version: &str) -> Value {
    json!({"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [{"name": "c", "image": version}]}})
}

/// A revision named after its version, which is its hash too.
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

/// The DaemonSet `ns/agent` at version `new`, with the revision of `old` before it, and whatever is added.
#[derive(Debug, Clone)]
pub struct Given {
    pub json: Value,
}

/// Starts a story with a strategy.
pub fn given(strategy: Value) -> Given {
    Given {
        json: json!({
            "name": "story",
            "now": now().to_string(),
            "daemonSet": {
                "metadata": {"name": "agent", "namespace": "ns", "uid": "uid-agent", "generation": 2},
                "spec": {
                    "selector": {"matchLabels": {"app": "agent"}},
                    "template": template("new"),
                    "updateStrategy": strategy,
                },
            },
            "nodes": [],
            "pods": [],
            "revisions": [revision("old", 1), revision("new", 2)],
        }),
    }
}

impl Given {
    pub fn node(mut self, node: NodeStory) -> Self {
        self.list("nodes").push(node.json);
        self.list("pods").extend(node.pods);
        self
    }

    /// A pod whose node is not in the snapshot.
    pub fn stray(mut self, node: &str, pod: PodStory) -> Self {
        self.list("pods").push(pod.on(node, "stray"));
        self
    }

    pub fn revisions(mut self, revisions: impl IntoIterator<Item = Value>) -> Self {
        self.json["revisions"] = revisions.into_iter().collect();
        self
    }

    pub fn min_ready(self, seconds: i64) -> Self {
        self.with("/daemonSet/spec/minReadySeconds", json!(seconds))
    }

    /// The template generation, as the annotation of `apps/v1`.
    pub fn generation(self, generation: i64) -> Self {
        let annotations = json!({"deprecated.daemonset.template.generation": generation.to_string()});
        self.with("/daemonSet/metadata/annotations", annotations)
    }

    pub fn policy(self, policy: Value) -> Self {
        self.with("/policy", policy)
    }

    pub fn memory(self, memory: &Memory) -> Self {
        self.with("/memory", serde_json::to_value(memory).unwrap())
    }

    /// Sets any field; its parent must be there.
    /// The present template tolerates this, and so does its revision.
    pub fn tolerates(self, tolerations: Value) -> Self {
        let mut current = revision("new", 2);
        current["data"]["spec"]["template"]["spec"]["tolerations"] = tolerations.clone();
        self.with("/daemonSet/spec/template/spec/tolerations", tolerations)
            .revisions([revision("old", 1), current])
    }

    pub fn with(mut self, pointer: &str, value: Value) -> Self {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let parent = self.json.pointer_mut(parent).unwrap_or_else(|| panic!("no {parent}"));
        match parent {
            Value::Array(list) => list[key.parse::<usize>().unwrap()] = value,
            other => other[key] = value,
        }
        self
    }

    pub fn recording(&self) -> Recording {
        serde_json::from_value(self.json.clone()).unwrap()
    }

    pub fn plan(&self) -> Plan {
        let recording = self.recording();
        let snapshot = recording.snapshot().unwrap();
        let plan = plan(&snapshot);
        assert_eq!(reconcile(&snapshot), plan.actions, "the report must not change a plan");
        assert_eq!(audit(&snapshot, &plan.actions), [], "a plan breaks no rule");
        plan
    }

    /// What the plan does, one line each, without the status.
    pub fn steps(&self) -> Vec<String> {
        steps(&self.plan())
    }

    /// The problems of an input that is refused.
    pub fn problems(&self) -> Vec<String> {
        let recording = self.recording();
        let Err(invalid) = recording.snapshot() else { panic!("the input is good") };
        invalid.problems.iter().map(ToString::to_string).collect()
    }

    fn list(&mut self, key: &str) -> &mut Vec<Value> {
        self.json[key].as_array_mut().unwrap()
    }
}

/// A node with its pods.
#[derive(Debug, Clone)]
pub struct NodeStory {
    name: String,
    json: Value,
    pods: Vec<Value>,
}

pub fn node(name: &str) -> NodeStory {
    let json = json!({"metadata": {"name": name, "labels": {}}, "spec": {"taints": []}});
    NodeStory { name: name.to_owned(), json, pods: Vec::new() }
}

impl NodeStory {
    pub fn has(mut self, pod: PodStory) -> Self {
        let index = self.pods.len();
        self.pods.push(pod.on(&self.name, &(index + 1).to_string()));
        self
    }

    pub fn label(mut self, key: &str, value: &str) -> Self {
        self.json["metadata"]["labels"][key] = json!(value);
        self
    }

    /// Its condition Ready is False, and it is tainted for it.
    pub fn not_ready(self) -> Self {
        let mut story = self.taint("node.kubernetes.io/not-ready", "NoSchedule");
        story.json["status"] = json!({"conditions": [{"type": "Ready", "status": "False"}]});
        story
    }

    pub fn taint(mut self, key: &str, effect: &str) -> Self {
        let taints = self.json["spec"]["taints"].as_array_mut().unwrap();
        taints.push(json!({"key": key, "effect": effect}));
        self
    }
}

/// A pod; it runs, and has been Ready for an hour.
#[derive(Debug, Clone)]
pub struct PodStory {
    json: Value,
    bound: bool,
    nowhere: bool,
    name: Option<String>,
}

/// A pod of the old template.
pub fn old() -> PodStory {
    pod("old")
}

/// A pod of the current template.
pub fn new() -> PodStory {
    pod("new")
}

/// A pod with this hash label.
pub fn pod(hash: &str) -> PodStory {
    let json = json!({
        "metadata": {
            "namespace": "ns",
            "creationTimestamp": at(-7200).to_string(),
            "labels": {"app": "agent", "controller-revision-hash": hash},
            "ownerReferences": [owner()],
        },
        "spec": {},
        "status": {"phase": "Running"},
    });
    PodStory { json, bound: true, nowhere: false, name: None }.ready_for(3600)
}

impl PodStory {
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    pub fn ready_for(self, seconds: i64) -> Self {
        self.condition("True", Some(at(-seconds)))
    }

    /// Ready, but no one knows since when.
    pub fn ready_without_time(self) -> Self {
        self.condition("True", None)
    }

    pub fn not_ready(self) -> Self {
        self.condition("False", Some(at(-30)))
    }

    pub fn pending(self) -> Self {
        self.not_ready().phase("Pending")
    }

    pub fn failed(self) -> Self {
        self.not_ready().phase("Failed")
    }

    pub fn succeeded(self) -> Self {
        self.not_ready().phase("Succeeded")
    }

    pub fn phase(self, phase: &str) -> Self {
        self.with("/status/phase", json!(phase))
    }

    /// Terminating, overdue in so many seconds.
    pub fn terminating(self, seconds: i64) -> Self {
        self.with("/metadata/deletionTimestamp", json!(at(seconds).to_string()))
    }

    /// Not bound yet: only its affinity says where it goes.
    pub fn unbound(mut self) -> Self {
        self.bound = false;
        self.pending()
    }

    /// Neither a node nor one to go to.
    pub fn nowhere(mut self) -> Self {
        self.nowhere = true;
        self
    }

    pub fn created_ago(self, seconds: i64) -> Self {
        self.with("/metadata/creationTimestamp", json!(at(-seconds).to_string()))
    }

    pub fn label(mut self, key: &str, value: &str) -> Self {
        self.json["metadata"]["labels"][key] = json!(value);
        self
    }

    pub fn without_hash(mut self) -> Self {
        self.json["metadata"]["labels"].as_object_mut().unwrap().remove("controller-revision-hash");
        self
    }

    pub fn generation(self, generation: &str) -> Self {
        self.label("pod-template-generation", generation)
    }

    pub fn orphan(self) -> Self {
        self.with("/metadata/ownerReferences", json!([]))
    }

    pub fn owned_by(self, uid: &str) -> Self {
        self.with(
            "/metadata/ownerReferences",
            json!([{"kind": "ReplicaSet", "uid": uid, "controller": true}]),
        )
    }

    pub fn mirror(self) -> Self {
        self.with("/metadata/annotations", json!({"kubernetes.io/config.mirror": "0123"}))
    }

    pub fn tolerates(self, key: &str) -> Self {
        self.with("/spec/tolerations", json!([{"key": key, "operator": "Exists"}]))
    }

    pub fn with(mut self, pointer: &str, value: Value) -> Self {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        self.json.pointer_mut(parent).unwrap()[key] = value;
        self
    }

    fn condition(self, status: &str, since: Option<Timestamp>) -> Self {
        let since = since.map(|since| since.to_string());
        let ready = json!([{"type": "Ready", "status": status, "lastTransitionTime": since}]);
        self.with("/status/conditions", ready)
    }

    /// The pod on its node; its name is `<node>-<suffix>` unless it has one.
    fn on(mut self, node: &str, suffix: &str) -> Value {
        let name = self.name.take().unwrap_or_else(|| format!("{node}-{suffix}"));
        self.json["metadata"]["uid"] = json!(format!("uid-{name}"));
        self.json["metadata"]["name"] = json!(name);
        if self.nowhere {
            return self.json;
        }
        if self.bound {
            self.json["spec"]["nodeName"] = json!(node);
        } else {
            self.json["spec"]["affinity"] = affinity(node);
        }
        self.json
    }
}

/// The affinity that ties a pod to a node.
pub fn affinity(node: &str) -> Value {
    json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    ]}}})
}
