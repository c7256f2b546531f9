//! The full manifest of a pod to create.

use crate::model::NodeName;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::fmt;
use std::sync::Arc;

/// The full manifest of a pod to create.
///
/// All creates of a plan share one body, except where a caller has its own [`Manifests`](crate::Manifests).
/// [`to_value`](PodManifest::to_value) and the JSON form give the whole manifest.
///
/// ```
/// use daemonset::{Action, Recording, reconcile};
/// use serde_json::{from_value, json};
///
/// # let daemon_set = json!({
/// #     "metadata": {"name": "agent", "namespace": "ns", "uid": "u1"},
/// #     "spec": {
/// #         "selector": {"matchLabels": {"app": "agent"}},
/// #         "template": {"metadata": {"labels": {"app": "agent"}}},
/// #         "updateStrategy": {"type": "RollingUpdate"},
/// #     },
/// # });
/// let recording: Recording =
///     from_value(json!({"now": "2026-01-01T12:00:00Z", "daemonSet": daemon_set, "nodes": [{"metadata": {"name": "a"}}]}))?;
/// let actions = reconcile(&recording.snapshot().unwrap());
/// let Action::CreatePod { pod, .. } = &actions[1] else { panic!("the node lacks a pod") };
/// let manifest = pod.to_value();
/// assert_eq!(manifest["metadata"]["generateName"], "agent-");
/// assert_eq!(manifest["metadata"]["labels"]["controller-revision-hash"], pod.revision_hash());
/// // The scheduler may bind the pod to its node only.
/// let required = &manifest["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
/// assert_eq!(required["nodeSelectorTerms"][0]["matchFields"][0]["values"], json!([pod.node()]));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq)]
pub struct PodManifest {
    pub(crate) shared: Arc<Shared>,
    pub(crate) node: NodeName,
    /// A deterministic name; `None` where the API server generates one from `generateName`.
    pub(crate) name: Option<String>,
    /// The object that the caller has made in place of the template's.
    pub(crate) body: Option<Arc<CustomBody>>,
}

/// An object of the caller, whose labels, owner and node are checked.
#[derive(PartialEq)]
pub(crate) struct CustomBody {
    pub(crate) value: Value,
    /// The place of the pod spec, as a JSON pointer.
    pub(crate) pod_spec: &'static str,
}

/// The parts of the manifest that do not depend on the node.
#[derive(Debug, PartialEq)]
pub(crate) struct Shared {
    pub(crate) metadata: Map<String, Value>,
    /// Without the parts that tie the pod to its node.
    pub(crate) spec: Map<String, Value>,
    pub(crate) tie: Tie,
    pub(crate) revision_hash: String,
    /// It is made from the base of a rollout, which may share its hash with the current revision.
    pub(crate) is_base: bool,
}

/// How the pods of a plan are tied to their nodes.
#[derive(Debug, PartialEq)]
pub(crate) enum Tie {
    NodeAffinity {
        /// Without node affinity.
        affinity: Map<String, Value>,
        /// Without the required terms.
        node_affinity: Map<String, Value>,
    },
    /// By `spec.nodeName`.
    NodeName,
}

impl Tie {
    /// Ties a spec to the node.
    fn apply(&self, spec: &mut Map<String, Value>, node: &NodeName) {
        match self {
            Tie::NodeAffinity { affinity, node_affinity } => {
                let required = json!({"nodeSelectorTerms": [
                    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node.as_str()]}]}
                ]});
                let (mut affinity, mut node_affinity) = (affinity.clone(), node_affinity.clone());
                node_affinity.insert("requiredDuringSchedulingIgnoredDuringExecution".to_owned(), required);
                affinity.insert("nodeAffinity".to_owned(), Value::Object(node_affinity));
                spec.insert("affinity".to_owned(), Value::Object(affinity));
            }
            Tie::NodeName => {
                spec.insert("nodeName".to_owned(), Value::from(node.as_str()));
            }
        }
    }
}

impl PodManifest {
    /// The node of the pod.
    pub fn node(&self) -> &NodeName {
        &self.node
    }

    /// The hash of the pod's revision.
    pub fn revision_hash(&self) -> &str {
        &self.shared.revision_hash
    }

    /// The whole manifest.
    pub fn to_value(&self) -> Value {
        if let Some(body) = &self.body {
            return body.value.clone();
        }
        let mut metadata = self.shared.metadata.clone();
        if let Some(name) = &self.name {
            metadata.remove("generateName");
            metadata.insert("name".to_owned(), Value::from(name.as_str()));
        }
        let mut spec = self.shared.spec.clone();
        self.shared.tie.apply(&mut spec, &self.node);
        let mut pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec});
        pod.sort_all_objects();
        pod
    }
}

impl Serialize for PodManifest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_value().serialize(serializer)
    }
}

impl fmt::Debug for PodManifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PodManifest({} of {})", self.node, self.shared.revision_hash)
    }
}
