//! Selectors of objects by their labels, and of nodes by their labels and names.

use crate::model::{Labels, is_default, null_is_default};
use serde::{Deserialize, Serialize};

/// One expression of a label selector or of a node selector term.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Requirement {
    /// Label key, or `metadata.name` in a match field.
    #[serde(deserialize_with = "null_is_default")]
    pub key: String,
    /// `In`, `NotIn`, `Exists`, `DoesNotExist`, and for nodes `Gt` and `Lt`. Checked where
    /// the selector is compiled, which reports all problems of an input at once.
    #[serde(deserialize_with = "null_is_default")]
    pub operator: String,
    /// Values to compare with; one integer for `Gt` and `Lt`.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub values: Vec<String>,
}

/// Selects objects by their labels: every entry and every expression must hold.
///
/// See the example of [`Selector`](crate::kubernetes::Selector).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LabelSelector {
    /// Labels that an object must have, with their values.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub match_labels: Labels,
    /// Expressions with `In`, `NotIn`, `Exists` or `DoesNotExist`.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub match_expressions: Vec<Requirement>,
}

impl LabelSelector {
    /// Whether it has no requirement, and so would select every object.
    pub fn is_empty(&self) -> bool {
        self.match_labels.is_empty() && self.match_expressions.is_empty()
    }
}

/// Required node affinity: one of the terms must match.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSelector {
    /// The alternatives, ORed.
    #[serde(deserialize_with = "null_is_default")]
    pub node_selector_terms: Vec<NodeSelectorTerm>,
}

/// One alternative of a [`NodeSelector`]; an empty one matches nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSelectorTerm {
    /// Expressions over the node's labels, ANDed.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub match_expressions: Vec<Requirement>,
    /// Expressions over the node's fields, ANDed; only `metadata.name` is a field.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub match_fields: Vec<Requirement>,
}

/// The `affinity` of a pod spec, with its required node affinity alone.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Affinity {
    #[serde(deserialize_with = "null_is_default")]
    node_affinity: NodeAffinity,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct NodeAffinity {
    required_during_scheduling_ignored_during_execution: Option<NodeSelector>,
}

impl Affinity {
    /// Its required node affinity.
    pub fn required(&self) -> Option<&NodeSelector> {
        self.node_affinity.required_during_scheduling_ignored_during_execution.as_ref()
    }
}
