//! Tolerations of a pod.

use super::labels;
use super::options::ValidationOptions;
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::go::{GoValue, quoted};
use crate::json::{member, text};
use crate::syntax::label_value_errors;
use serde_json::{Map, Value};
use std::num::IntErrorKind;

const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
const OPERATORS: [&str; 4] = ["Equal", "Exists", "Lt", "Gt"];

/// v1.36 core/validation `ValidateTolerations`.
pub(super) fn tolerations(
    tolerations: &[Value],
    options: ValidationOptions,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    for (position, toleration) in tolerations.iter().enumerate() {
        let path = path.index(position);
        key(toleration, &path, errors);
        seconds(toleration, &path.child("effect"), errors);
        operator_and_value(toleration, options, &path, errors);
        effect(toleration, &path.child("effect"), errors);
    }
}

/// A toleration without a key matches all keys, and so all values.
fn key(toleration: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let (key, operator) = (text(toleration, "key"), text(toleration, "operator"));
    if !key.is_empty() {
        labels::label_name(key, &path.child("key"), errors);
    } else if operator != "Exists" {
        let detail =
            "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
        errors.invalid(&path.child("operator"), GoValue::named(operator), detail);
    }
}

/// Only NoExecute evicts, so only it can have a delay.
fn seconds(toleration: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let effect = text(toleration, "effect");
    if member(toleration, "tolerationSeconds").is_some() && effect != "NoExecute" {
        let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
        errors.invalid(path, GoValue::named(effect), detail);
    }
}

/// Upstream reports an invalid value at the operator.
fn operator_and_value(
    toleration: &Value,
    options: ValidationOptions,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let (operator, value) = (text(toleration, "operator"), text(toleration, "value"));
    let at = path.child("operator");
    match operator {
        "" | "Equal" => {
            let messages = label_value_errors(value);
            if !messages.is_empty() {
                errors.invalid(&at, value, messages.join(";"));
            }
        }
        "Exists" if value.is_empty() => {}
        "Exists" => errors.invalid(&at, value, "value must be empty when `operator` is 'Exists'"),
        "Lt" | "Gt" if options.allow_comparing_tolerations => integer(value, &path.child("value"), errors),
        "Lt" | "Gt" => errors.not_supported(&at, GoValue::named(operator), &OPERATORS),
        _ => errors.not_supported(&at, GoValue::named(operator), &["Equal", "Exists"]),
    }
}

/// v1.36 content `IsDecimalInteger`, and Go's error for a number that it can't parse.
fn integer(value: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let digits = value.strip_prefix('-').unwrap_or(value);
    let canonical = digits.starts_with(|c: char| ('1'..='9').contains(&c)) || value == "0";
    if value.is_empty() {
        errors.invalid(path, value, "must be non-empty");
    } else if !canonical || !digits.bytes().all(|b| b.is_ascii_digit()) {
        errors.invalid(path, value, "must be a valid decimal integer in canonical form");
    }
    if let Err(error) = value.parse::<i64>() {
        let message = match error.kind() {
            IntErrorKind::PosOverflow | IntErrorKind::NegOverflow => "value out of range",
            _ => "invalid syntax",
        };
        errors.invalid(path, value, format!("strconv.ParseInt: parsing {}: {message}", quoted(value)));
    }
}

/// v1.36 core/validation `validateTaintEffect`; an empty effect matches all effects.
fn effect(toleration: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let effect = text(toleration, "effect");
    if !effect.is_empty() && !EFFECTS.contains(&effect) {
        errors.not_supported(path, GoValue::named(effect), &EFFECTS);
    }
}

/// A toleration from an annotation: Go's decoder ignores the case of field names there.
pub(super) fn from_any_case(toleration: &Value) -> Value {
    let fields = ["key", "operator", "value", "effect", "tolerationSeconds"];
    let known = |name: &str| fields.into_iter().find(|field| field.eq_ignore_ascii_case(name));
    let given = toleration.as_object().into_iter().flatten();
    let known: Map<String, Value> =
        given.filter_map(|(name, value)| Some((known(name)?.to_owned(), value.clone()))).collect();
    Value::Object(known)
}
