//! Lists with an item twice, or with an item without a name.

use crate::admission::path::FieldPath;
use crate::go::quoted;
use crate::json::{list, text};
use serde_json::Value;
use std::collections::BTreeSet;

/// Host aliases and image pull secrets (kubernetes#91670, #91629, #58477).
pub(super) fn duplicates(pod: &Value, path: &FieldPath<'_>, found: &mut Vec<String>) {
    for (field, key) in [("hostAliases", "ip"), ("imagePullSecrets", "name")] {
        let (mut seen, path) = (BTreeSet::new(), path.child(field));
        for (position, item) in list(pod, field).iter().enumerate() {
            let value = text(item, key);
            if !seen.insert(value) {
                found.push(format!("{}: duplicate {key} {}", path.index(position).child(key), quoted(value)));
            }
        }
    }
    let path = path.child("imagePullSecrets");
    for (position, secret) in list(pod, "imagePullSecrets").iter().enumerate() {
        if text(secret, "name").is_empty() {
            found.push(format!("{}: invalid empty name \"\"", path.index(position).child("name")));
        }
    }
}
