//! `core/v1` Pod: the fields that a decision reads, and a form that is lean, since fleets have tens of thousands of them.

use crate::model::selector::Affinity;
use crate::model::time::time;
use crate::model::word::word;
use crate::model::{
    KubeMeta, Labels, NodeName, ObjectRef, OwnerReference, Toleration, Uid, is_default, null_is_default,
};
use crate::words::well_known::{IN_PLACE_ANNOTATION, MIRROR_ANNOTATION, PULL_OWNER_LABEL};
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A pod.
///
/// ```
/// use daemonset::model::Pod;
/// use serde_json::{from_value, json, to_value};
///
/// let mut pod: Pod = from_value(json!({
///     "metadata": {"name": "agent-x", "annotations": {"note": "of no interest"}},
///     "spec": {"nodeName": "a", "containers": [{"name": "c", "image": "v1"}]},
///     "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}, {"type": "Initialized"}]},
/// }))?;
/// assert_eq!(pod.spec.node_name.as_str(), "a");
/// assert_eq!(pod.spec.containers[0].image, "v1");
/// // A policy without updates in place, pulls and fit reads neither the annotation nor the containers.
/// pod.make_lean();
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
    /// Drops the fields that only the choices `inPlace`, `pull` and `fit` of a policy read: for callers that keep many pods. A pod that was changed in place, and a pull pod, keep them.
    pub fn make_lean(&mut self) {
        let annotations = &self.metadata.annotations;
        if annotations.contains_key(IN_PLACE_ANNOTATION)
            || self.metadata.labels.contains_key(PULL_OWNER_LABEL)
        {
            return;
        }
        let mirror = annotations.get(MIRROR_ANNOTATION).map(|value| (MIRROR_ANNOTATION, value));
        self.metadata.annotations = mirror.into_iter().collect();
        let PodSpec { node_name, affinity_node, tolerations, .. } = std::mem::take(&mut self.spec);
        self.spec = PodSpec { node_name, affinity_node, tolerations, ..PodSpec::default() };
        self.status.container_statuses = notable_containers(&self.status.container_statuses);
        self.status.init_container_statuses = notable_containers(&self.status.init_container_statuses);
    }

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
    /// Annotations: that of a mirror pod, and that of an update in place. Other ones are read only for
    /// the choice `inPlace` of a policy.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub annotations: Labels,
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
    /// Containers, as far as the choices `inPlace`, `pull` and `fit` of a policy read them.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub containers: Vec<Container>,
    /// Init containers, sidecars included.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub init_containers: Vec<Container>,
    /// Resources of the whole pod.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub resources: Resources,
    /// Resources that the runtime needs beside the containers.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub overhead: ResourceList,
}

/// Quantities, by the names of resources: `{"cpu": "100m"}`. A number counts as its text.
pub type ResourceList = BTreeMap<String, Quantity>;

/// A quantity as it is written, such as `1500m` or `2Gi`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Quantity(pub String);

impl<'de> Deserialize<'de> for Quantity {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Quantity(match Value::deserialize(deserializer)? {
            Value::String(text) => text,
            Value::Null => String::new(),
            other => other.to_string(),
        }))
    }
}

/// A container of a [`Pod`] or of a template.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Container {
    /// Its name.
    #[serde(deserialize_with = "null_is_default")]
    pub name: String,
    /// The reference of its image.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub image: String,
    /// `Always`, `IfNotPresent` or `Never`; empty for the default.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub image_pull_policy: String,
    /// `Always` makes an init container a sidecar.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub restart_policy: String,
    /// Its resources.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub resources: Resources,
}

/// Requests and limits.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Resources {
    /// What the scheduler reserves.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub requests: ResourceList,
    /// The most that may be used; it counts as a request where there is none.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub limits: ResourceList,
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
    /// Containers.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub container_statuses: Vec<ContainerStatus>,
    /// The same of init containers, sidecars included.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub init_container_statuses: Vec<ContainerStatus>,
}

/// The status of a container of a [`Pod`].
///
/// ```
/// use daemonset::model::Pod;
/// use serde_json::{from_value, json, to_value};
///
/// let waits = json!({"name": "b", "restartCount": 4, "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "…"}}});
/// let pod: Pod = from_value(json!({"metadata": {"name": "agent-x"}, "status": {"containerStatuses": [waits]}}))?;
/// let waits = &pod.status.container_statuses[0];
/// assert_eq!((waits.restart_count, waits.waiting_reason.as_str()), (4, "CrashLoopBackOff"));
/// let kept = json!({"name": "b", "restartCount": 4, "state": {"waiting": {"reason": "CrashLoopBackOff"}}});
/// assert_eq!(to_value(waits)?, kept);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WrittenStatus", into = "WrittenStatus")]
pub struct ContainerStatus {
    /// Its name; empty in a [lean](Pod::make_lean) pod.
    pub name: String,
    /// How often it has been restarted.
    pub restart_count: i32,
    /// `state.waiting.reason`, such as `ImagePullBackOff`; empty if it does not wait.
    pub waiting_reason: String,
    /// `state.running.startedAt`.
    pub started_at: Option<Timestamp>,
    /// `state.terminated.reason`; `None` if it is not terminated.
    pub terminated_reason: Option<String>,
    /// The container that runs, or has run last; empty before the first one.
    pub container_id: String,
    /// The image that it runs; empty before the image is there.
    pub image_id: String,
}

/// The JSON form of a [`ContainerStatus`].
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct WrittenStatus {
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    name: String,
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    restart_count: i32,
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    state: WrittenState,
    #[serde(
        rename = "containerID",
        deserialize_with = "null_is_default",
        skip_serializing_if = "is_default"
    )]
    container_id: String,
    #[serde(rename = "imageID", deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    image_id: String,
}

#[derive(Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct WrittenState {
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<WithReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    running: Option<Running>,
    #[serde(skip_serializing_if = "Option::is_none")]
    terminated: Option<WithReason>,
}

#[derive(Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct WithReason {
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    reason: String,
}

#[derive(Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Running {
    #[serde(deserialize_with = "time", skip_serializing_if = "Option::is_none")]
    started_at: Option<Timestamp>,
}

impl From<WrittenStatus> for ContainerStatus {
    fn from(written: WrittenStatus) -> Self {
        let WrittenStatus { name, restart_count, state, container_id, image_id } = written;
        ContainerStatus {
            name,
            restart_count,
            waiting_reason: state.waiting.unwrap_or_default().reason,
            started_at: state.running.and_then(|running| running.started_at),
            terminated_reason: state.terminated.map(|terminated| terminated.reason),
            container_id,
            image_id,
        }
    }
}

impl From<ContainerStatus> for WrittenStatus {
    fn from(status: ContainerStatus) -> Self {
        let ContainerStatus {
            name,
            restart_count,
            waiting_reason,
            started_at,
            terminated_reason,
            container_id,
            image_id,
        } = status;
        let waiting = (!waiting_reason.is_empty()).then_some(WithReason { reason: waiting_reason });
        let running = started_at.map(|at| Running { started_at: Some(at) });
        let terminated = terminated_reason.map(|reason| WithReason { reason });
        let state = WrittenState { waiting, running, terminated };
        WrittenStatus { name, restart_count, state, container_id, image_id }
    }
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

/// A pod that its affinity has tied to a node is bound to that node: both fields share the text of one name.
fn spec<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PodSpec, D::Error> {
    let mut spec: PodSpec = null_is_default(deserializer)?;
    if let Some(affinity) = spec.affinity_node.as_mut().filter(|affinity| **affinity == spec.node_name) {
        *affinity = spec.node_name.clone();
    }
    Ok(spec)
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

/// The containers that have restarted or wait, with nothing else: a healthy pod has no list.
pub(crate) fn notable_containers(containers: &[ContainerStatus]) -> Vec<ContainerStatus> {
    let is_notable =
        |container: &&ContainerStatus| container.restart_count != 0 || !container.waiting_reason.is_empty();
    let lean = containers.iter().filter(is_notable).map(|container| ContainerStatus {
        restart_count: container.restart_count,
        waiting_reason: container.waiting_reason.clone(),
        ..ContainerStatus::default()
    });
    lean.collect()
}

impl From<&PodMeta> for ObjectRef {
    fn from(metadata: &PodMeta) -> Self {
        let PodMeta { namespace, name, uid, resource_version, .. } = metadata;
        ObjectRef::new(namespace, name, uid.clone(), resource_version)
    }
}
