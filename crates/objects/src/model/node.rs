//! `core/v1` Node, with taints and the tolerations for them.

use crate::model::time::time;
use crate::model::word::word;
use crate::model::{KubeMeta, Labels, NodeName, Uid, is_condition_true, is_default, null_is_default};
use crate::words::well_known::{GATE_INFIX, TURN_PREFIX};
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;

/// A node: its labels and taints decide whether it runs the pod.
///
/// ```
/// use daemonset::model::Node;
/// use serde_json::{from_value, json};
///
/// let node: Node = from_value(json!({
///     "metadata": {"name": "a", "labels": {"disk": "ssd"}},
///     "spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}], "podCIDR": "10.0.0.0/24"},
///     "status": {"conditions": [{"type": "Ready", "status": "Unknown"}]},
/// }))?;
/// assert_eq!(node.metadata.labels.get("disk"), Some("ssd"));
/// assert_eq!(node.spec.taints[0].effect, "NoSchedule");
/// assert_eq!(node.status.conditions[0].status, "Unknown");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Node {
    /// Object metadata.
    #[serde(deserialize_with = "null_is_default")]
    pub metadata: NodeMeta,
    /// Taints and cordon.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub spec: NodeSpec,
    /// Conditions.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub status: NodeStatus,
}

impl Node {
    /// Condition Ready, where there is one.
    #[doc(hidden)]
    #[inline]
    pub fn readiness(&self) -> Option<&NodeCondition> {
        self.status.conditions.iter().find(|condition| condition.kind == "Ready")
    }

    /// The parts that plans read, but for its name and images, and of its conditions these: where they are equal, no plan differs.
    #[doc(hidden)]
    pub fn inputs(&self, is_read: fn(&NodeCondition) -> bool) -> impl PartialEq {
        // Without `..`: a new field is read here, or named as one that never changes, or whose changes no plan reads.
        let Node { metadata, spec, status } = self;
        let NodeMeta { name: _, uid: _, resource_version: _, labels, annotations, kube: _ } = metadata;
        let NodeStatus { conditions, images: _ } = status;
        let conditions = conditions.iter().filter(|condition| is_read(condition));
        (labels, annotations, spec, conditions.collect::<Vec<_>>())
    }
}

impl NodeCondition {
    #[doc(hidden)]
    #[inline]
    pub fn is_true(&self) -> bool {
        is_condition_true(&self.status)
    }
}

/// Metadata of a [`Node`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeMeta {
    /// The node's name.
    #[serde(deserialize_with = "null_is_default")]
    pub name: NodeName,
    /// Object uid.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub uid: Uid,
    /// Object version.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub resource_version: String,
    /// Labels, which node selectors and node affinity match.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub labels: Labels,
    /// Annotations; only those of turns and their gates are kept.
    #[serde(deserialize_with = "annotations_of_turns", skip_serializing_if = "is_default")]
    pub annotations: Labels,
    /// For the feature `kube`.
    #[serde(skip)]
    pub kube: KubeMeta,
}

/// Leaves out the annotations that no decision reads.
fn annotations_of_turns<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Labels, D::Error> {
    let all: Labels = null_is_default(deserializer)?;
    Ok(if all.iter().any(|(key, _)| is_of_turn(key)) {
        all.iter().filter(|(key, _)| is_of_turn(key)).collect()
    } else {
        Labels::default()
    })
}

/// Whether an annotation of a node is about a turn: `turn.daemonset/…` and `<gate>.gate.daemonset/…`.
pub fn is_of_turn(key: &str) -> bool {
    key.starts_with(TURN_PREFIX) || key.contains(GATE_INFIX)
}

/// Spec of a [`Node`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeSpec {
    /// Taints that a pod must tolerate.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub taints: Vec<Taint>,
    /// Cordoned; only reported, since daemon pods tolerate it.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub unschedulable: bool,
}

/// Status of a [`Node`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeStatus {
    /// Conditions; `Ready` is read, and those that [`Lifecycle`](crate::Lifecycle) names.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub conditions: Vec<NodeCondition>,
    /// The images on it, of which only the names are kept. The choice `pull` of a policy reads them.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub images: Vec<ContainerImage>,
}

/// An image that is on a [`Node`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ContainerImage {
    /// Its names, with tags or digests.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub names: Vec<String>,
}

/// A condition of a [`Node`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeCondition {
    /// The type, such as `Ready`.
    #[serde(rename = "type", deserialize_with = "word")]
    pub kind: Cow<'static, str>,
    /// `True`, `False` or `Unknown`.
    #[serde(deserialize_with = "word")]
    pub status: Cow<'static, str>,
    /// Since when it has this status.
    #[serde(deserialize_with = "time", skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Timestamp>,
}

/// A taint of a node.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Taint {
    /// Taint key.
    #[serde(deserialize_with = "null_is_default")]
    pub key: String,
    /// Taint value.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub value: String,
    /// `NoSchedule`, `PreferNoSchedule` or `NoExecute`.
    #[serde(deserialize_with = "null_is_default")]
    pub effect: String,
}

/// A toleration of a pod.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Toleration {
    /// Taint key; empty with `Exists` tolerates every key.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub key: String,
    /// `Equal` (also when empty) or `Exists`; any other operator matches nothing.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub operator: String,
    /// Compared with the taint's value by `Equal`.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub value: String,
    /// Taint effect; empty tolerates every effect.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub effect: String,
}
