//! Reading a decoded object: what is absent is empty, as in a Go struct.

use serde_json::{Map, Value};

/// A text, empty if it is absent.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A text behind a pointer: there, maybe empty, or not.
pub(crate) fn text_if_set<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

/// A number behind a pointer.
pub(crate) fn number(value: &Value, name: &str) -> Option<i64> {
    value.get(name).and_then(Value::as_i64)
}

/// A truth value, false if it is absent.
pub(crate) fn flag(value: &Value, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool).unwrap_or_default()
}

/// A struct behind a pointer.
pub(crate) fn member<'a>(value: &'a Value, name: &str) -> Option<&'a Value> {
    value.get(name).filter(|member| !member.is_null())
}

/// A list, empty if it is absent.
pub(crate) fn items<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The texts of a list.
pub(crate) fn texts<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a str> {
    items(value, name).iter().map(|item| item.as_str().unwrap_or_default())
}

/// The entries of a map, by key; none if it is absent.
pub(crate) fn entries<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let map = value.get(name).and_then(Value::as_object);
    map.into_iter().flat_map(Map::iter).map(|(key, value)| (key.as_str(), value))
}

/// The entries of a map of texts, by key.
pub(crate) fn labels<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    entries(value, name).map(|(key, value)| (key, value.as_str().unwrap_or_default()))
}
