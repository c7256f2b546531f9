//! A snapshot in the language of the stories, and its plan.

use super::node::{NodeStory, node};
use super::pod::PodStory;
use super::{agent, now, revision, round_trip, steps, template};
use daemonset::{Memory, Plan, Recording, plan, reconcile};
use daemonset_audit::audit;
use serde_json::{Value, json};

/// The DaemonSet `ns/agent` at version `new`, with the revision of `old` before it, and the added objects.
#[derive(Debug, Clone)]
pub struct Given {
    pub json: Value,
}

/// Starts a story with a strategy.
pub fn given(strategy: Value) -> Given {
    let json = json!({
        "name": "story",
        "now": now().to_string(),
        "daemonSet": agent(strategy, template("new")),
        "nodes": [],
        "pods": [],
        "revisions": [revision("old", 1), revision("new", 2)],
    });
    Given { json }
        .with("/daemonSet/metadata/uid", json!("uid-agent"))
        .with("/daemonSet/metadata/generation", json!(2))
}

impl Given {
    pub fn node(mut self, node: NodeStory) -> Self {
        self.list("nodes").push(node.json);
        self.list("pods").extend(node.pods);
        self
    }

    /// A node of each name, with this pod.
    pub fn nodes(self, names: impl IntoIterator<Item: AsRef<str>>, pod: PodStory) -> Self {
        names.into_iter().fold(self, |given, name| given.node(node(name.as_ref()).has(pod.clone())))
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

    /// Sets the template generation, as the annotation of `apps/v1`.
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

    /// The current template and its revision get these tolerations.
    pub fn tolerates(self, tolerations: Value) -> Self {
        let mut current = revision("new", 2);
        current["data"]["spec"]["template"]["spec"]["tolerations"] = tolerations.clone();
        self.with("/daemonSet/spec/template/spec/tolerations", tolerations)
            .revisions([revision("old", 1), current])
    }

    /// Sets any field; its parent must exist.
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
        round_trip(&plan, &recording);
        plan
    }

    /// The actions of the plan, one line each, without the status.
    pub fn steps(&self) -> Vec<String> {
        steps(&self.plan())
    }

    /// The problems of an invalid input.
    pub fn problems(&self) -> Vec<String> {
        let recording = self.recording();
        let Err(invalid) = recording.snapshot() else { panic!("the input is good") };
        invalid.problems.iter().map(ToString::to_string).collect()
    }

    fn list(&mut self, key: &str) -> &mut Vec<Value> {
        self.json[key].as_array_mut().unwrap()
    }
}
