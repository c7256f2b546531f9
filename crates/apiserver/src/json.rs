//! Reading fields of a `serde_json::Value` as Go reads them into its types.
//!
//! Go's decoder gives a field that is absent, `null` or, here, of another type the zero of its type: `""`, `0`, `false`,
//! an empty list or map. The functions for values return that zero; [`member`] distinguishes a Go pointer that is set from one
//! that is `nil`. None of them fails.
//!
//! ```
//! use daemonset_apiserver::json::{at, entries, flag, list, member, number, text};
//! use serde_json::json;
//!
//! let pod = json!({"spec": {"hostNetwork": true, "containers": [{"name": "web"}], "os": null}});
//! let spec = at(&pod, &["spec"]);
//! assert_eq!(text(&list(spec, "containers")[0], "name"), "web");
//! assert!(flag(spec, "hostNetwork"));
//! assert_eq!(number(spec, "activeDeadlineSeconds"), 0);
//! assert_eq!(member(spec, "os"), None);
//! assert_eq!(entries(spec, "nodeSelector").count(), 0);
//! ```

use daemonset_objects::kubernetes::canonical_json;
use serde_json::{Map, Value};

/// The annotation in which `kubectl apply` stores the manifest that it applied last
/// (v1.36 core/v1 annotation_key_constants.go `LastAppliedConfigAnnotation`).
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

static NULL: Value = Value::Null;

/// The value at the end of a path of field names; [`Value::Null`] if a step is missing.
pub fn at<'a>(object: &'a Value, path: &[&str]) -> &'a Value {
    path.iter().fold(object, |object, key| field(object, key))
}

/// The field of a Go pointer; `None` if it is absent or `null`.
pub fn member<'a>(object: &'a Value, key: &str) -> Option<&'a Value> {
    object.get(key).filter(|value| !value.is_null())
}

/// The field of a Go string; empty if it is absent.
pub fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    text_if_set(object, key).unwrap_or_default()
}

/// The field of a Go integer; 0 if it is absent, or no integer of 64 bits.
pub fn number(object: &Value, key: &str) -> i64 {
    number_if_set(object, key).unwrap_or_default()
}

/// The field of a Go bool; false if it is absent.
pub fn flag(object: &Value, key: &str) -> bool {
    object.get(key).and_then(Value::as_bool).unwrap_or_default()
}

/// The field of a Go slice; empty if it is absent.
pub fn list<'a>(object: &'a Value, key: &str) -> &'a [Value] {
    object.get(key).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The field of a Go slice of strings; an item of another type is an empty string.
pub fn texts<'a>(object: &'a Value, key: &str) -> impl Iterator<Item = &'a str> {
    list(object, key).iter().map(|value| value.as_str().unwrap_or_default())
}

/// The entries of a Go map, sorted by key; empty if it is absent.
pub fn entries<'a>(object: &'a Value, key: &str) -> impl Iterator<Item = (&'a str, &'a Value)> {
    let map = object.get(key).and_then(Value::as_object);
    map.into_iter().flat_map(canonical_json::sorted).map(|(key, value)| (key.as_str(), value))
}

/// The entries of a Go map of strings, sorted by key; a value of another type is an empty string.
pub fn text_entries<'a>(object: &'a Value, key: &str) -> impl Iterator<Item = (&'a str, &'a str)> {
    entries(object, key).map(|(key, value)| (key, value.as_str().unwrap_or_default()))
}

/// The field; [`Value::Null`] if it is absent.
pub(crate) fn field<'a>(object: &'a Value, key: &str) -> &'a Value {
    object.get(key).unwrap_or(&NULL)
}

/// The field of a Go pointer to a string, which may be set to the empty string.
pub(crate) fn text_if_set<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.get(key).and_then(Value::as_str)
}

/// The field of a Go pointer to an integer, which may be set to 0.
pub(crate) fn number_if_set(object: &Value, key: &str) -> Option<i64> {
    object.get(key).and_then(Value::as_i64)
}

/// The items of a list, to change them in place; empty if the field is absent.
pub(crate) fn list_mut<'a>(object: &'a mut Value, key: &str) -> &'a mut [Value] {
    object.get_mut(key).and_then(Value::as_array_mut).map(Vec::as_mut_slice).unwrap_or_default()
}

/// The members of a field, to change them in place. A field that is absent or no object becomes an empty object;
/// `None` only if `object` itself is no object.
pub(crate) fn fields_mut<'a>(object: &'a mut Value, key: &str) -> Option<&'a mut Map<String, Value>> {
    let fields = object.as_object_mut()?;
    let inner = fields.entry(key.to_owned()).or_insert_with(|| Value::Object(Map::new()));
    if !inner.is_object() {
        *inner = Value::Object(Map::new());
    }
    inner.as_object_mut()
}
