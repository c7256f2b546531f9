//! Fields of raw objects, read as Go reads them into its types: what is absent, null or of another type is the type's zero.

use daemonset::kubernetes::canonical_json;
use serde_json::{Map, Value};

/// The annotation in which `kubectl apply` keeps what it was given last.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

static NULL: Value = Value::Null;

/// The field, null if it is not there.
pub fn field<'a>(of: &'a Value, key: &str) -> &'a Value {
    of.get(key).unwrap_or(&NULL)
}

/// What is at the end of these fields, null if it is not there.
pub fn at<'a>(of: &'a Value, path: &[&str]) -> &'a Value {
    path.iter().fold(of, |of, key| field(of, key))
}

/// A struct behind a pointer: there and not null.
pub fn member<'a>(of: &'a Value, key: &str) -> Option<&'a Value> {
    of.get(key).filter(|value| !value.is_null())
}

/// A text; empty when absent.
pub fn text<'a>(of: &'a Value, key: &str) -> &'a str {
    text_if_set(of, key).unwrap_or_default()
}

/// A text behind a pointer: there, maybe empty, or not.
pub fn text_if_set<'a>(of: &'a Value, key: &str) -> Option<&'a str> {
    of.get(key).and_then(Value::as_str)
}

/// An integer; 0 when absent.
pub fn number(of: &Value, key: &str) -> i64 {
    number_if_set(of, key).unwrap_or_default()
}

/// An integer behind a pointer: there, maybe 0, or not.
pub fn number_if_set(of: &Value, key: &str) -> Option<i64> {
    of.get(key).and_then(Value::as_i64)
}

/// A flag; false when absent.
pub fn flag(of: &Value, key: &str) -> bool {
    of.get(key).and_then(Value::as_bool).unwrap_or_default()
}

/// A list; empty when absent.
pub fn list<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// A list, to change its items; empty when absent.
pub fn list_mut<'a>(of: &'a mut Value, key: &str) -> &'a mut [Value] {
    of.get_mut(key).and_then(Value::as_array_mut).map(Vec::as_mut_slice).unwrap_or_default()
}

/// The texts of a list.
pub fn texts<'a>(of: &'a Value, key: &str) -> impl Iterator<Item = &'a str> {
    list(of, key).iter().map(|value| value.as_str().unwrap_or_default())
}

/// The entries of a map, by key; none when absent.
pub fn entries<'a>(of: &'a Value, key: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let map = of.get(key).and_then(Value::as_object);
    map.into_iter().flat_map(canonical_json::sorted).map(|(key, value)| (key.as_str(), value))
}

/// The entries of a map of texts, by key.
pub fn text_entries<'a>(of: &'a Value, key: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    entries(of, key).map(|(key, value)| (key, value.as_str().unwrap_or_default()))
}

/// The fields of an object, to change them; what is none becomes an empty one.
pub fn fields_mut<'a>(of: &'a mut Value, key: &str) -> Option<&'a mut Map<String, Value>> {
    let fields = of.as_object_mut()?;
    let inner = fields.entry(key.to_owned()).or_insert_with(|| Value::Object(Map::new()));
    if !inner.is_object() {
        *inner = Value::Object(Map::new());
    }
    inner.as_object_mut()
}
