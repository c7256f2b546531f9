//! An owned snapshot as one JSON object, for replaying a production decision on a laptop.

use crate::input::memory::Memory;
use crate::input::{Observed, ObservedAt, Policy, Snapshot, SnapshotBuilder};
use crate::node::turn::needs_whole_objects;
use daemonset_objects::internal::{null_is_default, whole_node, whole_pod};
use daemonset_objects::model::{
    ControllerRevision, DaemonSet, Node, NodeName, Pod, ResourceList, TemplateFidelity,
};
use daemonset_objects::{InvalidInput, NodeView, Problem};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The whole input of one decision.
///
/// ```
/// use daemonset::{Recording, plan};
///
/// let json = br#"{
///     "now": "2026-01-01T12:00:00Z",
///     "daemonSet": {
///         "metadata": {"name": "agent", "namespace": "ns", "uid": "u1"},
///         "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": {"metadata": {"labels": {"app": "agent"}}}}
///     },
///     "nodes": [{"metadata": {"name": "a"}}]
/// }"#;
/// let recording = Recording::from_json(json).unwrap();
/// let snapshot = recording.snapshot().unwrap();
/// let kept = serde_json::to_vec(&Recording::from(&snapshot))?;
/// let replay = Recording::from_json(&kept).unwrap();
/// assert_eq!(plan(&replay.snapshot().unwrap()), plan(&snapshot));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Recording {
    /// A name to find it by.
    #[serde(default, deserialize_with = "null_is_default")]
    pub name: String,
    /// The instant of the decision.
    pub now: Timestamp,
    /// The version of the list of pods, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pods_version: Option<u64>,
    /// The version of the list of nodes, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes_version: Option<u64>,
    /// The DaemonSet.
    pub daemon_set: DaemonSet,
    /// All nodes.
    #[serde(default, deserialize_with = "null_is_default")]
    pub nodes: Vec<Node>,
    /// All pods of the namespace.
    #[serde(default, deserialize_with = "null_is_default")]
    pub pods: Vec<Pod>,
    /// All revisions of the namespace.
    #[serde(default, deserialize_with = "null_is_default")]
    pub revisions: Vec<ControllerRevision>,
    /// The caller's choices.
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "Policy::is_default")]
    pub policy: Policy,
    /// The inputs of the caller's [`Manifests`](crate::manifests::Manifests); null and absent without them.
    #[serde(rename = "ingredients", default, skip_serializing_if = "Value::is_null")]
    pub inputs: Value,
    /// The caller's memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// The resources of nodes that no pod requests, where they are known: [`NodeView::free`].
    #[serde(default, deserialize_with = "null_is_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub free: BTreeMap<NodeName, ResourceList>,
}

/// The first field that can't be read, such as `daemonSet.spec.updateStrategy.rollingUpdate.maxUnavailable`; `recording` for the whole.
fn unreadable(path: &serde_path_to_error::Path, error: &serde_json::Error) -> Problem {
    // A syntax error has no field: the path ends in a question mark or is empty.
    let path = path.to_string();
    let path = path.trim_end_matches('?').trim_end_matches('.');
    Problem::unreadable(if path.is_empty() { "recording" } else { path }, error)
}

impl Recording {
    /// A recording of a DaemonSet in a cluster without nodes, pods and revisions, which its fields add.
    pub fn new(daemon_set: DaemonSet, now: Timestamp) -> Self {
        Recording {
            name: String::new(),
            now,
            pods_version: None,
            nodes_version: None,
            daemon_set,
            nodes: Vec::new(),
            pods: Vec::new(),
            revisions: Vec::new(),
            policy: Policy::default(),
            inputs: Value::Null,
            memory: None,
            free: BTreeMap::new(),
        }
    }

    /// Reads one from JSON.
    ///
    /// # Errors
    /// The first field that can't be read; `recording` for the whole text.
    ///
    /// ```
    /// use daemonset::Recording;
    ///
    /// let json = br#"{"now": "2026-01-01T12:00:00Z", "daemonSet": {"spec": {"minReadySeconds": "ten"}}}"#;
    /// let problem = Recording::from_json(json).unwrap_err();
    /// assert_eq!(problem.path, "daemonSet.spec.minReadySeconds");
    /// assert!(problem.kind.to_string().starts_with("invalid type: string \"ten\", expected i32"));
    /// ```
    pub fn from_json(json: &[u8]) -> Result<Self, Problem> {
        // The common case first: tracking the path costs time.
        serde_json::from_slice(json).map_err(|first: serde_json::Error| {
            let deserializer = &mut serde_json::Deserializer::from_slice(json);
            let read: Result<Recording, _> = serde_path_to_error::deserialize(deserializer);
            match read {
                Err(error) => unreadable(error.path(), error.inner()),
                // A whole recording with more text after it.
                Ok(_) => Problem::unreadable("recording", first),
            }
        })
    }

    /// The snapshot to decide on. With [`inputs`](field@Self::inputs) it is the decision for the caller's manifests, but its plan shows
    /// the template's pods in their place: to execute it, give the manifests to the [builder](Self::builder).
    ///
    /// # Errors
    /// As [`SnapshotBuilder::check`](crate::SnapshotBuilder::check).
    pub fn snapshot(&self) -> Result<Snapshot<'_>, InvalidInput> {
        self.builder().check()
    }

    /// The snapshot before its check. The inputs of [`manifests`](SnapshotBuilder::manifests) replace the recorded ones.
    pub fn builder(&self) -> SnapshotBuilder<'_> {
        let Recording { daemon_set, pods, revisions, free, .. } = self;
        let nodes = self.nodes.iter().map(|node| {
            let view = NodeView::from(node);
            free.get(view.name).map_or(view, |free| view.free(free))
        });
        let observed = Observed { daemon_set, nodes, pods, revisions };
        let mut at = ObservedAt::new(self.now);
        at.pods_version = self.pods_version;
        at.nodes_version = self.nodes_version;
        let mut builder = Snapshot::builder(observed, at).policy(&self.policy).inputs(self.inputs.clone());
        if let Some(memory) = &self.memory {
            builder = builder.memory(memory);
        }
        builder
    }
}

impl From<&Snapshot<'_>> for Recording {
    /// Keeps everything that a decision reads: the recording gives the same plan.
    fn from(snapshot: &Snapshot<'_>) -> Self {
        // Most policies read little of the objects, and most recordings stay small.
        let is_whole = needs_whole_objects(snapshot);
        let node = |view| if is_whole { whole_node(view) } else { Node::from(view) };
        let pod = |view| if is_whole { whole_pod(view) } else { Pod::from(view) };
        Recording {
            name: format!(
                "{}/{}",
                snapshot.spec.daemon_set.metadata.namespace, snapshot.spec.daemon_set.metadata.name
            ),
            now: snapshot.now,
            pods_version: snapshot.pods_version,
            nodes_version: snapshot.nodes_version,
            daemon_set: daemon_set(snapshot),
            nodes: snapshot.nodes.iter().map(node).collect(),
            pods: snapshot.pods.iter().map(pod).collect(),
            revisions: snapshot.revisions.iter().map(ControllerRevision::from).collect(),
            policy: snapshot.spec.policy.clone(),
            inputs: snapshot.spec.inputs.clone(),
            memory: snapshot.memory.clone(),
            free: snapshot
                .nodes
                .iter()
                .filter_map(|node| Some((node.name.into(), node.free?.clone())))
                .collect(),
        }
    }
}

/// The DaemonSet with the template of the decision, so that a replay needs no template recovery.
fn daemon_set(snapshot: &Snapshot<'_>) -> DaemonSet {
    let mut ds = DaemonSet::clone(&snapshot.spec.daemon_set);
    ds.template_fidelity = TemplateFidelity::Exact;
    if let Some(template) = &snapshot.spec.recovered_template {
        ds.spec.template = Value::clone(template);
    }
    ds
}
