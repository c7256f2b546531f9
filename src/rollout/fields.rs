//! Fields of raw objects, read as Go reads them into its types: what is absent or null is the type's zero.

use serde_json::{Map, Value};

/// A member that is there and not null.
pub(super) fn member<'a>(of: &'a Value, key: &str) -> Option<&'a Value> {
    of.get(key).filter(|value| !value.is_null())
}

/// A text; empty when absent.
pub(super) fn text<'a>(of: &'a Value, key: &str) -> &'a str {
    of.get(key).and_then(Value::as_str).unwrap_or("")
}

/// An integer; 0 when absent.
pub(super) fn number(of: &Value, key: &str) -> i64 {
    of.get(key).and_then(Value::as_i64).unwrap_or(0)
}

/// A flag; false when absent.
pub(super) fn flag(of: &Value, key: &str) -> bool {
    of.get(key).and_then(Value::as_bool).unwrap_or(false)
}

/// A list; empty when absent.
pub(super) fn list<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Texts of a list.
pub(super) fn texts<'a>(of: &'a Value, key: &str) -> Vec<&'a str> {
    list(of, key).iter().map(|value| value.as_str().unwrap_or("")).collect()
}

/// Members of a map, by key.
pub(super) fn map<'a>(of: &'a Value, key: &str) -> Vec<(&'a str, &'a Value)> {
    let mut members: Vec<_> =
        of.get(key).and_then(Value::as_object).into_iter().flat_map(Map::iter).map(by_text).collect();
    members.sort_unstable_by_key(|(key, _)| *key);
    members
}

/// Texts of a map, by key.
pub(super) fn text_map<'a>(of: &'a Value, key: &str) -> Vec<(&'a str, &'a str)> {
    map(of, key).into_iter().map(|(key, value)| (key, value.as_str().unwrap_or(""))).collect()
}

fn by_text<'a>((key, value): (&'a String, &'a Value)) -> (&'a str, &'a Value) {
    (key, value)
}

/// `metadata.name`.
pub(super) fn name(object: &Value) -> &str {
    object.get("metadata").map_or("", |metadata| text(metadata, "name"))
}

/// `spec.template`; null when absent.
pub(super) fn template(daemon_set: &Value) -> &Value {
    daemon_set.pointer("/spec/template").unwrap_or(&Value::Null)
}
