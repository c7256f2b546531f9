//! What is sent to the API server to change a DaemonSet, in both forms that every client speaks.

use daemonset_apiserver::patch::Operation;
use serde::Serialize;
use serde_json::{Value, json};

/// One change as two patches of the same effect.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[must_use]
#[non_exhaustive]
pub struct Patches {
    /// `application/strategic-merge-patch+json`: what kubectl sends.
    pub strategic_merge: Value,
    /// `application/json-patch+json` (RFC 6902).
    pub json: Value,
}

/// One operation that gives a member this value, and makes the objects around it that are not there.
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

/// The value within objects of these keys.
pub(super) fn nested(keys: &[&str], value: Value) -> Value {
    keys.iter().rev().fold(value, |inner, key| json!({*key: inner}))
}
