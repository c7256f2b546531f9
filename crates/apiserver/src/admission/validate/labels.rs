//! Labels, annotations and label selectors.

use super::values;
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::go::GoValue;
use crate::json::{entries, list, member, text, text_entries, texts};
use crate::syntax::{label_key_errors, label_value_errors};
use serde_json::Value;

pub(super) const MAX_ANNOTATION_BYTES: usize = 256 * 1024;

/// Which values the expressions of a selector may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SelectorValues {
    /// Only valid label values.
    OfLabels,
    /// Any value, since the stored object has invalid ones already.
    AsStored,
}

impl SelectorValues {
    pub(super) fn unless(stored: bool) -> Self {
        if stored { SelectorValues::AsStored } else { SelectorValues::OfLabels }
    }
}

/// v1.36 meta/v1/validation `ValidateLabels`: `path` is the map's.
pub(super) fn labels(object: &Value, name: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    for (key, value) in text_entries(object, name) {
        label_name(key, path, errors);
        values::each(label_value_errors(value), value, path, errors);
    }
}

/// v1.36 meta/v1/validation `ValidateLabelName`.
pub(super) fn label_name(name: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    values::each(label_key_errors(name), name, path, errors);
}

/// Keys may have capital letters in the prefix, and all annotations together are limited in size (v1.36
/// api/validation `ValidateAnnotations`).
pub(super) fn annotations<'a>(
    annotations: impl IntoIterator<Item = (&'a str, &'a str)>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let mut size = 0;
    for (key, value) in annotations {
        values::each(label_key_errors(&key.to_lowercase()), key, path, errors);
        size += key.len() + value.len();
    }
    if size > MAX_ANNOTATION_BYTES {
        errors.too_long(path, MAX_ANNOTATION_BYTES);
    }
}

/// An absent selector is valid (v1.36 meta/v1/validation `ValidateLabelSelector`).
pub(super) fn selector(
    selector: Option<&Value>,
    values: SelectorValues,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let Some(selector) = selector else { return };
    labels(selector, "matchLabels", &path.child("matchLabels"), errors);
    for (position, requirement) in list(selector, "matchExpressions").iter().enumerate() {
        self::requirement(requirement, values, &path.child("matchExpressions").index(position), errors);
    }
}

/// v1.36 meta/v1/validation `ValidateLabelSelectorRequirement`.
fn requirement(requirement: &Value, values: SelectorValues, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let operator = text(requirement, "operator");
    match operator {
        "In" | "NotIn" => one_value_at_least(requirement, path, errors),
        "Exists" | "DoesNotExist" => no_values(requirement, path, errors),
        _ => {
            let path = path.child("operator");
            errors.invalid(&path, GoValue::named(operator), "not a valid selector operator");
        }
    }
    label_name(text(requirement, "key"), &path.child("key"), errors);
    if values == SelectorValues::OfLabels {
        label_values(requirement, path, errors);
    }
}

/// `In` and `NotIn` need values.
pub(super) fn one_value_at_least(requirement: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if list(requirement, "values").is_empty() {
        errors.required(&path.child("values"), "must be specified when `operator` is 'In' or 'NotIn'");
    }
}

/// `Exists` and `DoesNotExist` have no values.
pub(super) fn no_values(requirement: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if !list(requirement, "values").is_empty() {
        let detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
        errors.forbidden(&path.child("values"), detail);
    }
}

/// The values of a requirement must be valid label values.
pub(super) fn label_values(requirement: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    for (position, value) in texts(requirement, "values").enumerate() {
        values::each(label_value_errors(value), value, &path.child("values").index(position), errors);
    }
}

/// Whether a valid selector does not match these labels. An absent selector matches nothing (v1.36 meta/v1 helpers.go
/// `LabelSelectorAsSelector`).
pub(super) fn does_not_match(selector: Option<&Value>, labels: &Value) -> bool {
    let Some(selector) = selector else { return true };
    let mut errors = ErrorList::default();
    self::selector(Some(selector), SelectorValues::OfLabels, &FieldPath::new("selector"), &mut errors);
    errors.is_empty() && !matches(selector, labels)
}

fn matches(selector: &Value, labels: &Value) -> bool {
    let label = |key: &str| labels.get(key).and_then(Value::as_str);
    let all = text_entries(selector, "matchLabels").all(|(key, value)| label(key) == Some(value));
    all && list(selector, "matchExpressions").iter().all(|requirement| {
        let found = label(text(requirement, "key"));
        let listed = found.is_some_and(|found| texts(requirement, "values").any(|value| value == found));
        match text(requirement, "operator") {
            "In" => listed,
            "NotIn" => !listed,
            "Exists" => found.is_some(),
            _ => found.is_none(),
        }
    })
}

/// A selector as Go prints it, without empty fields.
pub(super) fn printed(selector: &Value) -> GoValue {
    let labels = entries(selector, "matchLabels").next().and(member(selector, "matchLabels"));
    let labels = labels.map(|labels| ("matchLabels", GoValue::json(labels)));
    let expressions = list(selector, "matchExpressions").iter().map(printed_requirement);
    let expressions = expressions.collect::<Vec<_>>();
    let expressions = Some(expressions).filter(|expressions| !expressions.is_empty());
    let expressions = expressions.map(|expressions| ("matchExpressions", GoValue::list(expressions)));
    GoValue::record(labels.into_iter().chain(expressions))
}

fn printed_requirement(requirement: &Value) -> GoValue {
    let key = ["key", "operator"].map(|name| (name, GoValue::named(text(requirement, name))));
    let values = Some(list(requirement, "values")).filter(|values| !values.is_empty());
    let values = values.map(|values| ("values", GoValue::list(values.iter().map(GoValue::json))));
    GoValue::record(key.into_iter().chain(values))
}
