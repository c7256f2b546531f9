//! Terms of a node selector.

use super::labels::{self, SelectorValues, label_values, no_values, one_value_at_least};
use super::values;
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::go::GoValue;
use crate::json::{list, text, texts};
use serde_json::Value;

/// v1.36 core/validation `ValidateNodeSelector`.
pub(super) fn selector(
    selector: &Value,
    values: SelectorValues,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let (terms, path) = (list(selector, "nodeSelectorTerms"), path.child("nodeSelectorTerms"));
    if terms.is_empty() {
        errors.required(&path, "must have at least one node selector term");
    }
    for (position, term) in terms.iter().enumerate() {
        self::term(term, values, &path.index(position), errors);
    }
}

/// v1.36 core/validation `ValidateNodeSelectorTerm`.
pub(super) fn term(term: &Value, values: SelectorValues, path: &FieldPath<'_>, errors: &mut ErrorList) {
    for (position, requirement) in list(term, "matchExpressions").iter().enumerate() {
        expression(requirement, values, &path.child("matchExpressions").index(position), errors);
    }
    for (position, requirement) in list(term, "matchFields").iter().enumerate() {
        field(requirement, &path.child("matchFields").index(position), errors);
    }
}

/// v1.36 core/validation `ValidateNodeSelectorRequirement`.
fn expression(requirement: &Value, values: SelectorValues, path: &FieldPath<'_>, errors: &mut ErrorList) {
    match text(requirement, "operator") {
        "In" | "NotIn" => one_value_at_least(requirement, path, errors),
        "Exists" | "DoesNotExist" => no_values(requirement, path, errors),
        "Gt" | "Lt" => {
            if list(requirement, "values").len() != 1 {
                let detail = "must be specified single value when `operator` is 'Lt' or 'Gt'";
                errors.required(&path.child("values"), detail);
            }
        }
        other => unknown_operator(other, path, errors),
    }
    labels::label_name(text(requirement, "key"), &path.child("key"), errors);
    if values == SelectorValues::OfLabels {
        label_values(requirement, path, errors);
    }
}

/// Nodes can be selected by one field only (v1.36 core/validation `ValidateNodeFieldSelectorRequirement`).
fn field(requirement: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    match text(requirement, "operator") {
        "In" | "NotIn" => {
            if list(requirement, "values").len() != 1 {
                let detail =
                    "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
                errors.required(&path.child("values"), detail);
            }
        }
        other => unknown_operator(other, path, errors),
    }
    let key = text(requirement, "key");
    if key != "metadata.name" {
        return errors.invalid(&path.child("key"), key, "not a valid field selector key");
    }
    for (position, name) in texts(requirement, "values").enumerate() {
        values::dns_subdomain(name, &path.child("values").index(position), errors);
    }
}

fn unknown_operator(operator: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    errors.invalid(&path.child("operator"), GoValue::named(operator), "not a valid selector operator");
}
