//! `core/v1` Pod, as lean as a decision allows: fleets have tens of thousands of them.

use crate::model::selector::Affinity;
use crate::model::time::time;
use crate::model::word::word;
use crate::model::{
    KubeMeta, Labels, NodeName, ObjectRef, OwnerReference, Toleration, Uid, is_default, null_is_default,
};
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;

/// A pod.
///
/// ```
/// use daemonset::model::Pod;
/// use serde_json::{from_value, json, to_value};
///
/// let pod: Pod = from_value(json!({
///     "metadata": {"name": "agent-x", "annotations": {"note": "of no interest"}},
///     "spec": {"nodeName": "a", "containers": [{"name": "c", "image": "v1"}]},
///     "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}, {"type": "Initialized"}]},
/// }))?;
/// assert_eq!(pod.spec.node_name.as_str(), "a");
/// // A decision reads neither the annotation, nor the containers, nor the other condition.
/// assert_eq!(to_value(&pod)?, json!({
///     "metadata": {"name": "agent-x"},
///     "spec": {"nodeName": "a"},
///     "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
/// }));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pod {
    /// Object metadata.
    #[serde(deserialize_with = "null_is_default")]
    pub metadata: PodMeta,
    /// The node, and the tolerations.
    #[serde(deserialize_with = "spec", skip_serializing_if = "is_default")]
    pub spec: PodSpec,
    /// Phase, condition Ready, and containers that have restarted or wait.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub status: PodStatus,
}

impl Pod {
    /// `spec.nodeName` is set.
    #[doc(hidden)]
    #[inline]
    pub fn is_bound(&self) -> bool {
        !self.spec.node_name.as_str().is_empty()
    }

    /// `spec.nodeName`, or the node that the required node affinity names (v1.36 `util.GetTargetNodeName`).
    #[doc(hidden)]
    #[inline]
    pub fn target(&self) -> Option<&NodeName> {
        if self.is_bound() { Some(&self.spec.node_name) } else { self.spec.affinity_node.as_ref() }
    }

    /// Condition Ready, with any status.
    #[doc(hidden)]
    #[inline]
    pub fn readiness(&self) -> Option<&PodCondition> {
        self.status.conditions.iter().find(|condition| condition.kind == "Ready")
    }
}

impl PodCondition {
    #[doc(hidden)]
    #[inline]
    pub fn is_true(&self) -> bool {
        is_condition_true(&self.status)
    }
}

/// Whether the status of a condition is True.
#[inline]
pub(crate) fn is_condition_true(status: &str) -> bool {
    status == "True"
}

/// Metadata of a [`Pod`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodMeta {
    /// Object name.
    #[serde(deserialize_with = "null_is_default")]
    pub name: String,
    /// Object namespace.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub namespace: String,
    /// Object uid.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub uid: Uid,
    /// Object version.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub resource_version: String,
    /// Labels: selector, hash and template generation.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub labels: Labels,
    /// Annotations; only the one of a mirror pod is kept.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub annotations: PodAnnotations,
    /// Owners.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub owner_references: Vec<OwnerReference>,
    /// When it was created.
    #[serde(deserialize_with = "time", skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<Timestamp>,
    /// When it must be gone at the latest, unless its node is dead.
    #[serde(deserialize_with = "time", skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<Timestamp>,
    /// The grace period in seconds, which began when the deletion was asked for and ends at `deletion_timestamp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_grace_period_seconds: Option<i64>,
    /// For the feature `kube`.
    #[serde(skip)]
    pub kube: KubeMeta,
}

/// The annotations of a [`Pod`] that a decision reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PodAnnotations {
    /// Set on the API server's copy of a static pod; only the kubelet can end that pod.
    #[serde(rename = "kubernetes.io/config.mirror", skip_serializing_if = "Option::is_none")]
    pub mirror: Option<String>,
}

/// Spec of a [`Pod`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    /// The node that it is bound to; empty before the scheduler has bound it.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub node_name: NodeName,
    /// The node that its required node affinity names (`metadata.name In [node]`).
    #[serde(
        rename = "affinity",
        deserialize_with = "affinity_node",
        serialize_with = "affinity_for_node",
        skip_serializing_if = "Option::is_none"
    )]
    pub affinity_node: Option<NodeName>,
    /// Tolerations; only those are kept that can matter for a NoSchedule taint which an administrator set.
    #[serde(deserialize_with = "scheduling_tolerations", skip_serializing_if = "is_default")]
    pub tolerations: Vec<Toleration>,
}

/// Status of a [`Pod`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodStatus {
    /// `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`.
    #[serde(deserialize_with = "word", skip_serializing_if = "is_default")]
    pub phase: Cow<'static, str>,
    /// Why it is in this phase: `Evicted`, say.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub reason: String,
    /// Conditions; only `Ready` is kept.
    #[serde(deserialize_with = "ready_conditions", skip_serializing_if = "is_default")]
    pub conditions: Vec<PodCondition>,
    /// Containers; only those that have restarted, or wait for a reason, are kept.
    #[serde(deserialize_with = "notable_containers", skip_serializing_if = "is_default")]
    pub container_statuses: Vec<ContainerStatus>,
    /// The same of init containers, sidecars included.
    #[serde(deserialize_with = "notable_containers", skip_serializing_if = "is_default")]
    pub init_container_statuses: Vec<ContainerStatus>,
}

/// The status of a container of a [`Pod`].
///
/// ```
/// use daemonset::model::Pod;
/// use serde_json::{from_value, json, to_value};
///
/// let waits = json!({"name": "b", "restartCount": 4, "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "…"}}});
/// let runs = json!({"name": "a", "restartCount": 0, "state": {"running": {}}});
/// let pod: Pod = from_value(json!({"metadata": {"name": "agent-x"}, "status": {"containerStatuses": [runs, waits]}}))?;
/// let [waits] = pod.status.container_statuses.as_slice() else { panic!("the other one is as it should be") };
/// assert_eq!((waits.restart_count, waits.waiting_reason.as_str()), (4, "CrashLoopBackOff"));
/// assert_eq!(to_value(waits)?, json!({"restartCount": 4, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContainerStatus {
    /// How often it has been restarted.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub restart_count: i32,
    /// `state.waiting.reason`, such as `ImagePullBackOff`; empty if it does not wait.
    #[serde(
        rename = "state",
        deserialize_with = "waiting_reason",
        serialize_with = "state_of_waiting",
        skip_serializing_if = "String::is_empty"
    )]
    pub waiting_reason: String,
}

/// A condition of a [`Pod`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodCondition {
    /// The type: `Ready`.
    #[serde(rename = "type", deserialize_with = "word")]
    pub kind: Cow<'static, str>,
    /// `True`, `False` or `Unknown`.
    #[serde(deserialize_with = "word")]
    pub status: Cow<'static, str>,
    /// Since when it has this status.
    #[serde(deserialize_with = "time", skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Timestamp>,
}

/// The single value of the first `metadata.name In` match field (v1.36 `util.GetTargetNodeName`).
fn affinity_node<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<NodeName>, D::Error> {
    let affinity: Affinity = null_is_default(deserializer)?;
    let terms = affinity.required().into_iter().flat_map(|required| &required.node_selector_terms);
    let fields = terms.flat_map(|term| &term.match_fields);
    let fields = fields.map(|field| (field.key.as_str(), field.operator.as_str(), field.values.as_slice()));
    Ok(named_node(fields).map(NodeName::from))
}

/// The single value of the first `metadata.name In` match field; each field is given by key, operator and values.
pub(crate) fn named_node<'f>(
    mut fields: impl Iterator<Item = (&'f str, &'f str, &'f [String])>,
) -> Option<&'f str> {
    match fields.find(|(key, operator, _)| *key == "metadata.name" && *operator == "In") {
        Some((_, _, [only])) => Some(only),
        _ => None,
    }
}

fn affinity_for_node<S: Serializer>(node: &Option<NodeName>, serializer: S) -> Result<S::Ok, S::Error> {
    node.as_ref().map(|node| required_node_affinity(node.as_str())).serialize(serializer)
}

/// The affinity that binds a pod to `node`.
fn required_node_affinity(node: &str) -> Value {
    json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    ]}}})
}

/// Leaves out tolerations that no decision reads: those of NoExecute, and those for a condition of the node.
fn scheduling_tolerations<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Toleration>, D::Error> {
    notable(deserializer, |own: &Toleration| is_of_scheduling(&own.key, &own.effect))
}

/// Whether a pod's toleration of this key and effect can matter for a NoSchedule taint that an administrator set: its
/// effect is not NoExecute, and its key is not for a condition of the node.
pub(crate) fn is_of_scheduling(key: &str, effect: &str) -> bool {
    (effect.is_empty() || effect == "NoSchedule") && !key.starts_with("node.kubernetes.io/")
}

fn ready_conditions<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PodCondition>, D::Error> {
    notable(deserializer, |condition: &PodCondition| condition.kind == "Ready")
}

/// The path of the reason below a container's `state`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct ContainerState {
    #[serde(deserialize_with = "null_is_default")]
    waiting: Waiting,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Waiting {
    #[serde(deserialize_with = "null_is_default")]
    reason: String,
}

fn waiting_reason<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let state: ContainerState = null_is_default(deserializer)?;
    Ok(state.waiting.reason)
}

fn state_of_waiting<S: Serializer>(reason: &str, serializer: S) -> Result<S::Ok, S::Error> {
    json!({"waiting": {"reason": reason}}).serialize(serializer)
}

/// A pod that its affinity has tied to a node is bound to that node: both fields share the text of one name.
fn spec<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PodSpec, D::Error> {
    let mut spec: PodSpec = null_is_default(deserializer)?;
    if let Some(affinity) = spec.affinity_node.as_mut().filter(|affinity| **affinity == spec.node_name) {
        *affinity = spec.node_name.clone();
    }
    Ok(spec)
}

/// Leaves out containers that neither have restarted nor wait, so that a healthy pod has no list.
fn notable_containers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ContainerStatus>, D::Error> {
    notable(deserializer, |container| !is_default(container))
}

/// The elements that a decision may read; the room of the others is given back.
fn notable<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
    is_notable: impl Fn(&T) -> bool,
) -> Result<Vec<T>, D::Error> {
    let mut list: Vec<T> = null_is_default(deserializer)?;
    list.retain(is_notable);
    list.shrink_to_fit();
    Ok(list)
}

impl From<&PodMeta> for ObjectRef {
    fn from(metadata: &PodMeta) -> Self {
        let PodMeta { namespace, name, uid, resource_version, .. } = metadata;
        ObjectRef::new(namespace, name, uid.clone(), resource_version)
    }
}
