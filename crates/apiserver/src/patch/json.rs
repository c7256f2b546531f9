//! JSON merge patches (RFC 7386).

use super::PatchError;
use serde_json::{Map, Value};

/// The object after a JSON merge patch: objects are merged, null removes a member, everything else, lists too, is
/// replaced.
///
/// # Errors
/// [`PatchError::NoObject`] if one of the two is no JSON object.
pub fn json_merge(original: &Value, patch: &Value) -> Result<Value, PatchError> {
    match (original, patch) {
        (Value::Object(original), Value::Object(patch)) => Ok(Value::Object(merge(original.clone(), patch))),
        (_, _) => Err(PatchError::NoObject),
    }
}

fn merge(mut target: Map<String, Value>, patch: &Map<String, Value>) -> Map<String, Value> {
    for (key, value) in patch {
        let held = target.remove(key);
        let merged = match value {
            Value::Null => continue,
            Value::Object(patch) => match held {
                Some(Value::Object(held)) => Value::Object(merge(held, patch)),
                Some(_) | None => Value::Object(merge(Map::new(), patch)),
            },
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => value.clone(),
        };
        target.insert(key.clone(), merged);
    }
    target
}
