//! What rollouts ask of raw objects again and again.

use daemonset_apiserver::json;
use serde_json::Value;

/// `metadata.name`.
pub(super) fn name(object: &Value) -> &str {
    object.get("metadata").map_or("", |metadata| json::text(metadata, "name"))
}

/// `spec.template`; null when absent.
pub(super) fn template(daemon_set: &Value) -> &Value {
    json::at(daemon_set, &["spec", "template"])
}

/// The texts of a list, which a describer counts before it prints them.
pub(super) fn texts<'a>(of: &'a Value, key: &str) -> Vec<&'a str> {
    json::texts(of, key).collect()
}

/// The entries of a map, by key.
pub(super) fn entries<'a>(of: &'a Value, key: &str) -> Vec<(&'a str, &'a Value)> {
    json::entries(of, key).collect()
}

/// The entries of a map of texts, by key.
pub(super) fn text_entries<'a>(of: &'a Value, key: &str) -> Vec<(&'a str, &'a str)> {
    json::text_entries(of, key).collect()
}
