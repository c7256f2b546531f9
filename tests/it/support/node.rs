//! A node in the language of the stories.

use super::at;
use super::pod::PodStory;
use jiff::Timestamp;
use serde_json::{Value, json};

/// The name of `ns/agent` in annotations of nodes.
pub const TURN_KEY: &str = "agent.7437b664";

/// The request of a turn that began so many seconds ago, for revision 2.
pub fn request(seconds: i64) -> String {
    format!("2 {}", at(-seconds))
}

/// A node with its pods.
#[derive(Debug, Clone)]
pub struct NodeStory {
    name: String,
    pub(super) json: Value,
    pub(super) pods: Vec<Value>,
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

    pub fn has_all(self, pods: impl IntoIterator<Item = PodStory>) -> Self {
        pods.into_iter().fold(self, NodeStory::has)
    }

    pub fn cordoned(self) -> Self {
        self.with("/spec/unschedulable", json!(true))
    }

    /// In turn since so many seconds, for revision 2.
    pub fn in_turn(self, seconds: i64) -> Self {
        self.turn(&request(seconds))
    }

    /// In turn, with the annotation as it is.
    pub fn turn(self, value: &str) -> Self {
        self.annotation(&format!("turn.daemonset/{TURN_KEY}"), value)
    }

    /// A gate that is open for the turn which began so many seconds ago.
    pub fn open(self, gate: &str, seconds: i64) -> Self {
        self.annotation(&format!("{gate}.gate.daemonset/{TURN_KEY}"), &request(seconds))
    }

    pub fn annotation(mut self, key: &str, value: &str) -> Self {
        let annotations = &mut self.json["metadata"]["annotations"];
        if annotations.is_null() {
            *annotations = json!({});
        }
        annotations[key] = json!(value);
        self
    }

    /// Sets any field; its parent must exist.
    pub fn with(mut self, pointer: &str, value: Value) -> Self {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        self.json.pointer_mut(parent).unwrap()[key] = value;
        self
    }

    pub fn label(mut self, key: &str, value: &str) -> Self {
        self.json["metadata"]["labels"][key] = json!(value);
        self
    }

    /// Makes its condition Ready False, and adds the taint for it.
    pub fn not_ready(self) -> Self {
        let mut story = self.taint("node.kubernetes.io/not-ready", "NoSchedule");
        story.json["status"] = json!({"conditions": [{"type": "Ready", "status": "False"}]});
        story
    }

    /// Its condition Ready, alone.
    pub fn ready(self, status: &str, since: Option<Timestamp>) -> Self {
        self.condition("Ready", status, since)
    }

    pub fn condition(mut self, kind: &str, status: &str, since: Option<Timestamp>) -> Self {
        let since = since.map(|since| since.to_string());
        let condition = json!({"type": kind, "status": status, "lastTransitionTime": since});
        let conditions = &mut self.json["status"]["conditions"];
        match conditions.as_array_mut() {
            Some(conditions) => conditions.push(condition),
            None => *conditions = json!([condition]),
        }
        self
    }

    pub fn taint(mut self, key: &str, effect: &str) -> Self {
        let taints = self.json["spec"]["taints"].as_array_mut().unwrap();
        taints.push(json!({"key": key, "effect": effect}));
        self
    }
}
