//! A label selector that a person writes, without members that a selector does not have.

use daemonset_objects::internal::{Object, null_is_default};
use daemonset_objects::model::{LabelSelector, Labels, Requirement};
use serde::Deserialize;

/// A type of its own: the model's selector skips unknown members, which stored objects may have. A misspelt `matchLabels` would select
/// everything.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct StrictSelector {
    #[serde(default, deserialize_with = "null_is_default")]
    match_labels: Labels,
    #[serde(default, deserialize_with = "null_is_default")]
    match_expressions: Vec<Object<StrictRequirement>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StrictRequirement {
    #[serde(default, deserialize_with = "null_is_default")]
    key: String,
    #[serde(default, deserialize_with = "null_is_default")]
    operator: String,
    #[serde(default, deserialize_with = "null_is_default")]
    values: Vec<String>,
}

impl From<StrictSelector> for LabelSelector {
    fn from(StrictSelector { match_labels, match_expressions }: StrictSelector) -> Self {
        let requirement =
            |Object(StrictRequirement { key, operator, values })| Requirement { key, operator, values };
        LabelSelector {
            match_labels,
            match_expressions: match_expressions.into_iter().map(requirement).collect(),
        }
    }
}
