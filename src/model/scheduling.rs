//! What a pod asks of a node: node selector terms and tolerations.

use super::{is_default, null_is_default};
use serde::{Deserialize, Serialize};

/// One expression of a label selector or of a node selector term.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Requirement {
    /// Label key, or `metadata.name` in a match field.
    #[serde(deserialize_with = "null_is_default")]
    pub key: String,
    /// `In`, `NotIn`, `Exists`, `DoesNotExist`, and for nodes `Gt` and `Lt`. Checked by
    /// [`Snapshot`](crate::Snapshot), so that all problems of an input are told at once.
    #[serde(deserialize_with = "null_is_default")]
    pub operator: String,
    /// Values to compare with; one integer for `Gt` and `Lt`.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub values: Vec<String>,
}

/// Required node affinity: one of the terms must match.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct NodeSelector {
    /// ORed.
    #[serde(deserialize_with = "null_is_default")]
    pub node_selector_terms: Vec<NodeSelectorTerm>,
}

/// One alternative of a [`NodeSelector`]; with nothing in it, it matches nothing.
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
