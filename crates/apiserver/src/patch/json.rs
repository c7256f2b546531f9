//! The two kinds of patches of JSON itself: merge patches (RFC 7386), which are applied here, and operations (RFC
//! 6902), which are only described, for a client to send.

use super::PatchError;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The object after a JSON merge patch: objects are merged, null removes a member, every other value, including a
/// list, replaces the old one. The objects of such a list have no null members, which the RFC would keep (v1.36
/// `gopkg.in/evanphx/json-patch.v4` merge.go pruneNulls).
///
/// # Errors
/// [`PatchError::NoObject`] if `original` or `patch` is no JSON object.
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
                Some(_) | None => without_nulls(value),
            },
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => without_nulls(value),
        };
        target.insert(key.clone(), merged);
    }
    target
}

/// The value of a patch, without the null members of its objects.
fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(patch) => Value::Object(merge(Map::new(), patch)),
        Value::Array(items) => Value::Array(items.iter().map(without_nulls).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// One operation of a JSON patch (RFC 6902). A patch is a list of operations.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Operation {
    /// Sets a member, or inserts an item into a list.
    Add {
        /// The JSON pointer to the value.
        path: String,
        /// The new value.
        value: Value,
    },
    /// Removes a value.
    Remove {
        /// The JSON pointer to the value.
        path: String,
    },
    /// Replaces a value.
    Replace {
        /// The JSON pointer to the value.
        path: String,
        /// The new value.
        value: Value,
    },
    /// Makes the whole patch fail unless the value is this one.
    Test {
        /// The JSON pointer to the value.
        path: String,
        /// The expected value.
        value: Value,
    },
}

impl Operation {
    /// The JSON pointer to a field, with each name escaped (RFC 6901).
    pub fn pointer<'a>(fields: impl IntoIterator<Item = &'a str>) -> String {
        fields.into_iter().map(|field| format!("/{}", field.replace('~', "~0").replace('/', "~1"))).collect()
    }
}
