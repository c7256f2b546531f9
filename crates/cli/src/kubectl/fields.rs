//! Fields of raw objects that several commands read.

use daemonset_apiserver::json;
use serde_json::Value;

/// `metadata.name`.
pub(super) fn name(object: &Value) -> &str {
    object.get("metadata").map_or("", |metadata| json::text(metadata, "name"))
}

/// `spec.template`; null if it is absent.
pub(super) fn template(daemon_set: &Value) -> &Value {
    json::at(daemon_set, &["spec", "template"])
}

/// The strings of a list.
pub(super) fn texts<'a>(of: &'a Value, key: &str) -> Vec<&'a str> {
    json::texts(of, key).collect()
}

/// The entries of a map, sorted by key.
pub(super) fn entries<'a>(of: &'a Value, key: &str) -> Vec<(&'a str, &'a Value)> {
    json::entries(of, key).collect()
}

/// The entries of a map of strings, sorted by key.
pub(super) fn text_entries<'a>(of: &'a Value, key: &str) -> Vec<(&'a str, &'a str)> {
    json::text_entries(of, key).collect()
}
