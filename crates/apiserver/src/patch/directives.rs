//! Directives of a strategic merge patch, the keys that control merging: `$patch`, `$retainKeys`,
//! `$deleteFromPrimitiveList/…`, `$setElementOrder/…` (v1.36 `strategicpatch` patch.go).

use super::PatchError;
use crate::go::go_value;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

pub(super) const PATCH: &str = "$patch";
pub(super) const RETAIN_KEYS: &str = "$retainKeys";
pub(super) const DELETE_FROM_LIST: &str = "$deleteFromPrimitiveList";
pub(super) const ELEMENT_ORDER: &str = "$setElementOrder";

/// The value of `$patch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Directive {
    Replace,
    Delete,
    Merge,
}

/// The directive of this object; `None` without `$patch`.
pub(super) fn directive(item: &Map<String, Value>) -> Result<Option<Directive>, PatchError> {
    match item.get(PATCH) {
        None => Ok(None),
        Some(Value::String(text)) if text == "replace" => Ok(Some(Directive::Replace)),
        Some(Value::String(text)) if text == "delete" => Ok(Some(Directive::Delete)),
        Some(Value::String(text)) if text == "merge" => Ok(Some(Directive::Merge)),
        Some(other) => Err(unknown(other, item)),
    }
}

pub(super) fn unknown(directive: &Value, item: &Map<String, Value>) -> PatchError {
    PatchError::UnknownDirective {
        directive: go_value(directive),
        item: go_value(&Value::Object(item.clone())),
    }
}

/// Removes the fields of the object that `$retainKeys` does not list. Every field that the patch sets must be listed.
pub(super) fn retain_keys(
    original: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
) -> Result<(), PatchError> {
    let Some(keys) = patch.remove(RETAIN_KEYS) else { return Ok(()) };
    let keys = keys.as_array().ok_or(PatchError::RetainKeysForm)?;
    let keys: BTreeSet<&str> = keys.iter().filter_map(Value::as_str).collect();
    let sets_another = patch.iter().any(|(key, value)| {
        !value.is_null()
            && !key.starts_with(DELETE_FROM_LIST)
            && !key.starts_with(ELEMENT_ORDER)
            && !keys.contains(key.as_str())
    });
    if sets_another {
        return Err(PatchError::RetainKeysForm);
    }
    original.retain(|key, _| keys.contains(key.as_str()));
    Ok(())
}

/// The effect of an entry of a patch: it sets a field, or deletes items from a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Use {
    Set,
    DeleteItems,
}

/// The field that an entry of a patch changes.
pub(super) fn target(key: &str) -> Result<(&str, Use), PatchError> {
    if !key.starts_with(DELETE_FROM_LIST) {
        return Ok((key, Use::Set));
    }
    match key.split_once('/') {
        Some((DELETE_FROM_LIST, "")) => Ok((key, Use::DeleteItems)),
        Some((DELETE_FROM_LIST, field)) => Ok((field, Use::DeleteItems)),
        Some(_) | None => Err(PatchError::DeleteFromListForm),
    }
}

/// The list that a `$setElementOrder/…` orders.
pub(super) fn ordered_list(key: &str) -> Result<&str, PatchError> {
    match key.split_once('/') {
        Some((ELEMENT_ORDER, field)) => Ok(field),
        Some(_) | None => Err(PatchError::ElementOrderForm),
    }
}

/// The value without nulls in objects.
pub(super) fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => Value::Object(
            members
                .into_iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (key, without_nulls(value)))
                .collect(),
        ),
        Value::Array(items) => Value::Array(items.into_iter().map(without_nulls).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value,
    }
}

/// The value without objects that have a `$patch`; `None` if the value itself has one.
pub(super) fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(members) if members.contains_key(PATCH) => None,
        Value::Object(members) => Some(Value::Object(
            members
                .into_iter()
                .filter_map(|(key, value)| without_directives(value).map(|value| (key, value)))
                .collect(),
        )),
        Value::Array(items) => Some(Value::Array(items.into_iter().filter_map(without_directives).collect())),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Some(value),
    }
}
