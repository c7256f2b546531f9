//! A node that need not exist yet, as far as it is known.

use daemonset::internal::{Known, NodeFacts, TaintView, null_is_default};
use daemonset::model::{Labels, Node, NodeName, Taint};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A node that need not exist yet, as far as it is known: the input of [`daemons_on`](crate::daemons_on).
///
/// Nothing is known of the default shape. A shape made from a [`Node`] is complete, and setters make parts of it unknown.
///
/// ```
/// use daemonset::model::Labels;
/// use daemonset_placement::{LabelKnowledge, NodeShape, OtherLabels};
///
/// // A node group: its labels are complete but for the zone and the machine's name.
/// let shape = NodeShape::default()
///     .labels([("kubernetes.io/os", "linux"), ("pool", "gpu")].into_iter().collect::<Labels>())
///     .label("topology.kubernetes.io/zone", LabelKnowledge::OneOf(vec!["a".into(), "b".into()]))
///     .label("kubernetes.io/hostname", LabelKnowledge::Present)
///     .other_labels(OtherLabels::Absent);
/// assert_eq!(shape.name, None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct NodeShape {
    /// Its name; `None` while it is not known.
    pub name: Option<NodeName>,
    /// Labels that it has, with their values.
    #[serde(deserialize_with = "null_is_default")]
    pub labels: Labels,
    /// Labels of which the value is not known, or only in part. An entry here goes before one in `labels`.
    #[serde(deserialize_with = "null_is_default")]
    pub uncertain_labels: BTreeMap<String, LabelKnowledge>,
    /// The labels that neither list has.
    #[serde(deserialize_with = "null_is_default")]
    pub other_labels: OtherLabels,
    /// Taints that it keeps.
    #[serde(deserialize_with = "null_is_default")]
    pub taints: Vec<Taint>,
    /// Taints that it has at first and that go away, such as a Karpenter NodePool's `startupTaints`. They exclude no
    /// DaemonSet; a pod that does not tolerate one starts later.
    #[serde(deserialize_with = "null_is_default")]
    pub startup_taints: Vec<Taint>,
    /// Taints that it may have beside the others.
    #[serde(deserialize_with = "null_is_default")]
    pub possible_taints: Vec<Taint>,
}

/// The knowledge about a label whose value is not known for sure.
///
/// See the example of [`NodeShape`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum LabelKnowledge {
    /// Whether the node has it is not known.
    Unknown,
    /// The node has it, with a value that is not known; such as `kubernetes.io/hostname`.
    Present,
    /// The node has it with one of these values; such as the zones of a node group. An empty list is as `Present`.
    OneOf(Vec<String>),
    /// The node does not have it.
    Absent,
}

/// The knowledge about all labels that a [`NodeShape`] does not list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum OtherLabels {
    /// The node may have more labels.
    #[default]
    Unknown,
    /// The node has no other label.
    Absent,
}

daemonset::internal::setters! {
    NodeShape {
        name: Option<NodeName>,
        labels: Labels,
        uncertain_labels: BTreeMap<String, LabelKnowledge>,
        other_labels: OtherLabels,
        taints: Vec<Taint>,
        startup_taints: Vec<Taint>,
        possible_taints: Vec<Taint>,
    }
}

/// The label with the name that the kubelet has for its machine (v1.36 `core/v1 LabelHostname`).
const HOSTNAME: &str = "kubernetes.io/hostname";

/// Taints of one node's life, beside those for its condition: cluster-autoscaler's and Karpenter's, before they remove it.
const ON_THE_WAY_OUT: [&str; 3] =
    ["ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler", "karpenter.sh/disrupted"];

impl NodeShape {
    /// Sets the knowledge about one label, whose value in `labels` no longer counts.
    #[must_use]
    pub fn label(mut self, key: &str, knowledge: LabelKnowledge) -> Self {
        self.uncertain_labels.insert(key.to_owned(), knowledge);
        self
    }

    /// A new node like this one: its name and its label `kubernetes.io/hostname` are not known, and it has neither the
    /// taints for conditions (`node.kubernetes.io/…`) nor those of a node on its way out.
    ///
    /// ```
    /// use daemonset::model::Node;
    /// use daemonset_placement::NodeShape;
    ///
    /// let node: Node = serde_json::from_value(serde_json::json!({
    ///     "metadata": {"name": "a", "labels": {"kubernetes.io/hostname": "a", "pool": "gpu"}},
    ///     "spec": {"taints": [
    ///         {"key": "gpu", "effect": "NoSchedule"},
    ///         {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"},
    ///     ]},
    /// }))?;
    /// let shape = NodeShape::like(&node);
    /// assert_eq!((shape.name, shape.taints.len()), (None, 1));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn like(node: &Node) -> Self {
        let comes_and_goes = |taint: &Taint| {
            taint.key.starts_with("node.kubernetes.io/") || ON_THE_WAY_OUT.contains(&taint.key.as_str())
        };
        let mut shape = NodeShape::from(node).name(None);
        shape.taints.retain(|taint| !comes_and_goes(taint));
        if shape.labels.get(HOSTNAME).is_some() {
            shape = shape.label(HOSTNAME, LabelKnowledge::Present);
        }
        shape
    }
}

/// Everything about it is known: a label that the node does not have is absent.
impl From<&Node> for NodeShape {
    fn from(node: &Node) -> Self {
        NodeShape {
            name: Some(node.metadata.name.clone()),
            labels: node.metadata.labels.clone(),
            other_labels: OtherLabels::Absent,
            taints: node.spec.taints.clone(),
            ..NodeShape::default()
        }
    }
}

/// The same for a node of k8s-openapi's types.
#[cfg(feature = "k8s-openapi")]
impl From<&k8s_openapi::api::core::v1::Node> for NodeShape {
    fn from(node: &k8s_openapi::api::core::v1::Node) -> Self {
        let view = daemonset::NodeView::from(node);
        NodeShape {
            name: Some(view.name().into()),
            labels: view.labels.to_labels(),
            other_labels: OtherLabels::Absent,
            taints: view.taints.iter().map(Taint::from).collect(),
            ..NodeShape::default()
        }
    }
}

impl NodeFacts for NodeShape {
    fn name(&self) -> Known<'_> {
        self.name.as_ref().map_or(Known::Present, |name| Known::Value(name.as_str()))
    }

    fn label(&self, key: &str) -> Known<'_> {
        match self.uncertain_labels.get(key) {
            Some(LabelKnowledge::Unknown) => return Known::Unknown,
            Some(LabelKnowledge::Present) => return Known::Present,
            Some(LabelKnowledge::OneOf(values)) => return Known::OneOf(values),
            Some(LabelKnowledge::Absent) => return Known::Absent,
            None => {}
        }
        match (self.labels.get(key), self.other_labels) {
            (Some(value), _) => Known::Value(value),
            (None, OtherLabels::Absent) => Known::Absent,
            (None, OtherLabels::Unknown) => Known::Unknown,
        }
    }

    fn taints(&self) -> impl Iterator<Item = TaintView<'_>> {
        self.taints.iter().map(TaintView::from)
    }

    fn possible_taints(&self) -> impl Iterator<Item = TaintView<'_>> {
        self.possible_taints.iter().map(TaintView::from)
    }
}

#[cfg(all(test, feature = "k8s-openapi"))]
mod tests {
    use super::*;
    use serde_json::{from_value, json};

    #[test]
    fn a_shape_of_a_typed_node_is_that_of_the_model() {
        let taints = json!([{"key": "gpu", "effect": "NoSchedule"}, {"key": "x", "value": "y", "effect": "NoExecute"}]);
        for json in [
            json!({"metadata": {"name": "a"}}),
            json!({"metadata": {"name": "a", "labels": {"disk": "ssd", "pool": ""}}, "spec": {"taints": taints}}),
        ] {
            let typed: k8s_openapi::api::core::v1::Node = from_value(json.clone()).unwrap();
            let model: Node = from_value(json).unwrap();
            assert_eq!(NodeShape::from(&typed), NodeShape::from(&model));
        }
    }
}
