//! Patches that change a DaemonSet, in the two formats that every client supports.

use daemonset_apiserver::patch::Operation;
use serde::Serialize;
use serde_json::{Value, json};

/// One change as two equivalent patches.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[must_use]
#[non_exhaustive]
pub struct Patches {
    /// `application/strategic-merge-patch+json`, as kubectl sends it.
    pub strategic_merge: Value,
    /// `application/json-patch+json` (RFC 6902).
    pub json: Value,
}

/// One operation that sets a member to this value, and creates the objects around it that are missing.
pub(super) fn set(object: &Value, path: &[&str], value: Value) -> Operation {
    let mut at = object;
    for (depth, key) in path.iter().enumerate() {
        match at.get(key).filter(|found| found.is_object()) {
            Some(inner) => at = inner,
            None => {
                let (there, missing) = path.split_at((depth + 1).min(path.len()));
                let path = Operation::pointer(there.iter().copied());
                return Operation::Add { path, value: nested(missing, value) };
            }
        }
    }
    Operation::Replace { path: Operation::pointer(path.iter().copied()), value }
}

/// The value nested in objects with these keys.
pub(super) fn nested(keys: &[&str], value: Value) -> Value {
    keys.iter().rev().fold(value, |inner, key| json!({*key: inner}))
}
