//! The two patches of JSON itself: merge patches (RFC 7386), which are applied here, and operations (RFC 6902), which
//! are only described here, for a client to send.

use super::PatchError;
use serde::{Deserialize, Serialize};
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

/// An operation of a JSON patch. A patch is a list of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Operation {
    /// Sets a member, or puts an item into a list.
    Add {
        /// JSON pointer.
        path: String,
        /// What it is set to.
        value: Value,
    },
    /// Removes what is there.
    Remove {
        /// JSON pointer.
        path: String,
    },
    /// Replaces what is there.
    Replace {
        /// JSON pointer.
        path: String,
        /// What it is replaced by.
        value: Value,
    },
    /// Lets the patch fail if something else is there.
    Test {
        /// JSON pointer.
        path: String,
        /// What must be there.
        value: Value,
    },
}

impl Operation {
    /// The JSON pointer to a field: each name escaped (RFC 6901).
    pub fn pointer<'a>(fields: impl IntoIterator<Item = &'a str>) -> String {
        fields.into_iter().map(|field| format!("/{}", field.replace('~', "~0").replace('/', "~1"))).collect()
    }
}
