//! `metav1.LabelSelector`.

use super::{Labels, Requirement, is_default, null_is_default};
use serde::{Deserialize, Serialize};

/// Chooses objects by their labels: every entry and every expression must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LabelSelector {
    /// Labels that must be there with this value.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub match_labels: Labels,
    /// Expressions with `In`, `NotIn`, `Exists` or `DoesNotExist`.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub match_expressions: Vec<Requirement>,
}

impl LabelSelector {
    /// Whether it asks for nothing, and so would choose every object.
    pub fn is_empty(&self) -> bool {
        self.match_labels.is_empty() && self.match_expressions.is_empty()
    }
}
