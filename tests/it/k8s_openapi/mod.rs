//! Plans made from k8s-openapi's types equal plans made from the model, byte for byte.

mod agreement;
mod lossy;
mod objects;
mod views;

use daemonset::model::{DaemonSet, ResourceList};
use daemonset::{Memory, NodeView, Observed, ObservedAt, Plan, Policy, Recording, Snapshot, plan};
use daemonset_audit::audit;
use jiff::Timestamp;
use k8s_openapi::api::apps::v1 as apps;
use k8s_openapi::api::core::v1 as core;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The objects of a recording as k8s-openapi's types, as reflectors hold them.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Typed {
    now: Timestamp,
    daemon_set: apps::DaemonSet,
    nodes: Vec<core::Node>,
    pods: Vec<core::Pod>,
    revisions: Vec<apps::ControllerRevision>,
    #[serde(default)]
    policy: Policy,
    memory: Option<Memory>,
    #[serde(default)]
    free: BTreeMap<String, ResourceList>,
    pods_version: Option<u64>,
    nodes_version: Option<u64>,
}

impl Typed {
    fn read(recording: &Value) -> Result<Typed, serde_json::Error> {
        Typed::deserialize(recording)
    }

    fn lossy(&self) -> DaemonSet {
        DaemonSet::lossy_from(&self.daemon_set)
    }

    /// The plan for this DaemonSet.
    fn planned(&self, ds: &DaemonSet) -> Planned {
        let nodes: Vec<_> = self.nodes.iter().cloned().map(Arc::new).collect();
        let views = nodes.iter().map(|node| {
            let view = NodeView::from(node);
            self.free.get(view.name).map_or(view, |free| view.free(free))
        });
        let observed =
            Observed { daemon_set: ds, nodes: views, pods: &self.pods, revisions: self.revisions.iter() };
        let mut at = ObservedAt::new(self.now);
        (at.pods_version, at.nodes_version) = (self.pods_version, self.nodes_version);
        let mut builder = Snapshot::builder(observed, at).policy(&self.policy);
        if let Some(memory) = &self.memory {
            builder = builder.memory(memory);
        }
        Planned::of(&builder.check().unwrap())
    }
}

/// A plan, and the recording that replays it.
#[derive(Debug, PartialEq)]
struct Planned {
    plan: Plan,
    recording: Recording,
}

impl Planned {
    fn of(snapshot: &Snapshot<'_>) -> Planned {
        let plan = plan(snapshot);
        assert_eq!(audit(snapshot, &plan.actions), [], "a plan breaks no rule");
        Planned { plan, recording: Recording::from(snapshot) }
    }

    fn bytes(&self) -> String {
        let mut recording = self.recording.clone();
        recording.name.clear();
        format!("{}\n{}", self.plan_bytes(), serde_json::to_string(&recording).unwrap())
    }

    fn plan_bytes(&self) -> String {
        serde_json::to_string(&self.plan).unwrap()
    }

    /// The plan of the recording after it has been written and read.
    fn replayed(&self) -> Planned {
        let line = serde_json::to_vec(&self.recording).unwrap();
        let read = Recording::from_json(&line).unwrap();
        assert_eq!(read, self.recording);
        Planned::of(&read.snapshot().unwrap())
    }
}
