//! The full manifest of a pod to create.

use daemonset_objects::model::{NodeName, Pod, PodSpec};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::fmt;
use std::sync::Arc;

/// The full manifest of a pod to create.
///
/// All creates of a plan share one body, except where a caller has its own [`Manifests`](crate::manifests::Manifests).
/// [`to_value`](PodManifest::to_value) and the JSON form give the whole manifest. Two manifests are equal if they give the same
/// object for the same node.
///
/// A manifest is read from that form, too: the node from the pod spec, wherever the object holds it, and the hash of the revision
/// from the label `controller-revision-hash` or, without it, `daemonset-controller-hash`. A [`Plan`](crate::Plan) tells the hashes
/// itself, so that its manifests have theirs under each [key](field@crate::Policy::unique_label_key). An object without a node is an
/// error.
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
#[derive(Clone)]
pub struct PodManifest {
    #[doc(hidden)]
    pub shared: Arc<Shared>,
    pub(crate) node: NodeName,
    /// A deterministic name; `None` where the API server generates one from `generateName`.
    #[doc(hidden)]
    pub name: Option<String>,
    /// The object that the caller has made in place of the template's.
    #[doc(hidden)]
    pub body: Option<Arc<CustomBody>>,
}

/// An object of the caller, whose labels, owner and node are checked.
#[derive(PartialEq)]
#[allow(clippy::exhaustive_structs, reason = "for crates of the same version")]
pub struct CustomBody {
    /// The whole object.
    pub value: Value,
    /// The place of the pod spec, as a JSON pointer.
    pub pod_spec: &'static str,
}

/// The parts of the manifest that do not depend on the node.
#[derive(Debug, PartialEq)]
#[non_exhaustive]
pub struct Shared {
    /// Without a name.
    pub metadata: Map<String, Value>,
    /// Without the parts that tie the pod to its node.
    pub spec: Map<String, Value>,
    /// How the pods are tied to their nodes.
    pub tie: Tie,
    /// The hash of the revision that the pods are made from.
    pub revision_hash: String,
    /// It is made from the stable revision of a rollout, which may share its hash with the current revision.
    pub is_stable: bool,
}

/// How the pods of a plan are tied to their nodes.
#[derive(Debug, PartialEq)]
#[allow(clippy::exhaustive_enums, reason = "for crates of the same version")]
pub enum Tie {
    /// By required node affinity.
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
    pub(crate) fn apply(&self, spec: &mut Map<String, Value>, node: &NodeName) {
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

    /// The object's name; `None` where the API server generates it.
    pub fn name(&self) -> Option<&str> {
        match &self.body {
            Some(body) => body.value.pointer("/metadata/name").and_then(Value::as_str),
            None => self.name.as_deref(),
        }
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

impl PartialEq for PodManifest {
    fn eq(&self, other: &Self) -> bool {
        let is_same_body = || self.body == other.body && self.name == other.name;
        let is_shared = || Arc::ptr_eq(&self.shared, &other.shared) || self.shared == other.shared;
        // Manifests of one planner have the same parts. One that was read may have others, and give the same object.
        self.node == other.node && ((is_same_body() && is_shared()) || self.to_value() == other.to_value())
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

/// The labels that hold a revision's hash: Kubernetes', and the proposal's.
const HASH_LABELS: [&str; 2] = ["controller-revision-hash", "daemonset-controller-hash"];

/// The places of a pod spec in the objects that have one: a Pod, a Job, a CronJob.
const POD_SPECS: [&str; 3] = ["/spec", "/spec/template/spec", "/spec/jobTemplate/spec/template/spec"];

impl<'de> Deserialize<'de> for PodManifest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        PodManifest::read(Value::deserialize(deserializer)?)
            .ok_or_else(|| D::Error::custom("no pod spec of this object names its node"))
    }
}

impl PodManifest {
    /// The inverse of [`to_value`](Self::to_value); `None` if the object names no node.
    fn read(mut value: Value) -> Option<Self> {
        value.sort_all_objects();
        let revision_hash =
            HASH_LABELS.iter().find_map(|key| label(&value, key)).unwrap_or_default().to_owned();
        if let Some((shared, node, name)) = Shared::read(&value, &revision_hash) {
            let pod = PodManifest { shared: Arc::new(shared), node, name, body: None };
            if pod.to_value() == value {
                return Some(pod);
            }
        }
        let known = POD_SPECS.iter().find_map(|place| Some((*place, named_node(value.pointer(place)?)?)));
        let (pod_spec, node) = known.or_else(|| Some(("/spec", any_named_node(&value)?)))?;
        let shared = Shared {
            metadata: Map::new(),
            spec: Map::new(),
            tie: Tie::NodeName,
            revision_hash,
            is_stable: false,
        };
        let body = Some(Arc::new(CustomBody { value, pod_spec }));
        Some(PodManifest { shared: Arc::new(shared), node, name: None, body })
    }

    /// Takes the first of these hashes that a label of a manifest which was just read has, under whatever key.
    pub(crate) fn recognize(&mut self, hashes: &[&str]) {
        let labels = match &self.body {
            Some(body) => body.value.pointer("/metadata/labels"),
            None => self.shared.metadata.get("labels"),
        };
        let labels = labels.and_then(Value::as_object);
        let is_label = |hash: &str| {
            labels.is_some_and(|labels| labels.values().any(|value| value.as_str() == Some(hash)))
        };
        let found = hashes.iter().find(|hash| is_label(hash));
        if let (Some(hash), Some(shared)) = (found, Arc::get_mut(&mut self.shared)) {
            shared.revision_hash = (*hash).to_owned();
        }
    }

    /// Shares the body of another manifest, if it has the same.
    pub(crate) fn share(&mut self, other: &PodManifest) {
        if self.shared == other.shared {
            self.shared = Arc::clone(&other.shared);
        }
    }
}

impl Shared {
    /// The parts of a pod that is tied to its node as [`Tie`] does it, with its node and its name.
    fn read(pod: &Value, revision_hash: &str) -> Option<(Shared, NodeName, Option<String>)> {
        let mut metadata = pod.get("metadata")?.as_object()?.clone();
        let mut spec = pod.get("spec")?.as_object()?.clone();
        let (tie, node) = Tie::take(&mut spec)?;
        let name = match metadata.remove("name") {
            None => None,
            Some(Value::String(name)) => Some(name),
            Some(_) => return None,
        };
        let shared =
            Shared { metadata, spec, tie, revision_hash: revision_hash.to_owned(), is_stable: false };
        Some((shared, node, name))
    }
}

impl Tie {
    /// The inverse of [`apply`](Self::apply).
    fn take(spec: &mut Map<String, Value>) -> Option<(Self, NodeName)> {
        const TERM: &str = "/nodeSelectorTerms/0/matchFields/0/values/0";
        let mut affinity = spec.get("affinity").and_then(Value::as_object).cloned().unwrap_or_default();
        if let Some(Value::Object(mut node_affinity)) = affinity.remove("nodeAffinity") {
            let required = node_affinity.remove("requiredDuringSchedulingIgnoredDuringExecution");
            if let Some(node) = required.as_ref().and_then(|required| node_name(required.pointer(TERM)?)) {
                spec.remove("affinity");
                return Some((Tie::NodeAffinity { affinity, node_affinity }, node));
            }
        }
        let node = node_name(&spec.remove("nodeName")?)?;
        Some((Tie::NodeName, node))
    }
}

fn node_name(value: &Value) -> Option<NodeName> {
    value.as_str().filter(|name| !name.is_empty()).map(NodeName::from)
}

fn label<'v>(object: &'v Value, key: &str) -> Option<&'v str> {
    object.get("metadata")?.get("labels")?.get(key)?.as_str()
}

/// The node that a pod spec names, as the next snapshot reads it.
fn named_node(spec: &Value) -> Option<NodeName> {
    if spec.get("nodeName").is_none() && spec.get("affinity").is_none() {
        return None;
    }
    let pod = PodSpec::deserialize(spec).map(|spec| Pod { spec, ..Pod::default() }).ok()?;
    pod.target().cloned()
}

/// The first node that any part of an object names: a custom kind may have its pod spec anywhere. Its depth is that of the JSON,
/// which the parser limits.
fn any_named_node(part: &Value) -> Option<NodeName> {
    let parts: Vec<&Value> = match part {
        Value::Object(members) => members.values().collect(),
        Value::Array(items) => items.iter().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    named_node(part).or_else(|| parts.into_iter().find_map(any_named_node))
}
