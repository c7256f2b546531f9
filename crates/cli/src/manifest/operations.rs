//! JSON patches as the API server applies them (RFC 6902, as github.com/evanphx/json-patch v4 reads it: a replaced member
//! need not exist).

use serde::Deserialize;
use serde_json::Value;

/// One operation; a patch is a list of them.
#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub(crate) enum ManifestOperation {
    Add { path: String, value: Value },
    Remove { path: String },
    Replace { path: String, value: Value },
    Move { from: String, path: String },
    Copy { from: String, path: String },
    Test { path: String, value: Value },
}

/// The object after all operations, in their order; `None` where one of them can't be applied.
pub(crate) fn apply(before: &Value, operations: &[ManifestOperation]) -> Option<Value> {
    let mut object = before.clone();
    operations.iter().try_for_each(|operation| one(&mut object, operation))?;
    Some(object)
}

fn one(object: &mut Value, operation: &ManifestOperation) -> Option<()> {
    match operation {
        ManifestOperation::Add { path, value } => add(object, path, value.clone()),
        ManifestOperation::Remove { path } => remove(object, path).map(drop),
        ManifestOperation::Replace { path, value } => replace(object, path, value.clone()),
        ManifestOperation::Move { from, path } => {
            let moved = remove(object, from)?;
            add(object, path, moved)
        }
        ManifestOperation::Copy { from, path } => {
            let copied = found(object, from)?;
            add(object, path, copied)
        }
        ManifestOperation::Test { path, value } => (found(object, path)? == *value).then_some(()),
    }
}

fn add(object: &mut Value, path: &str, value: Value) -> Option<()> {
    match holder(object, path)? {
        (Value::Object(members), key) => _ = members.insert(key, value),
        (Value::Array(items), key) if key == "-" => items.push(value),
        (Value::Array(items), key) => {
            let index = key.parse().ok().filter(|index| *index <= items.len())?;
            items.insert(index, value);
        }
        _ => return None,
    }
    Some(())
}

fn replace(object: &mut Value, path: &str, value: Value) -> Option<()> {
    match holder(object, path)? {
        (Value::Object(members), key) => _ = members.insert(key, value),
        (Value::Array(items), key) => *items.get_mut(key.parse::<usize>().ok()?)? = value,
        _ => return None,
    }
    Some(())
}

fn remove(object: &mut Value, path: &str) -> Option<Value> {
    match holder(object, path)? {
        (Value::Object(members), key) => members.remove(&key),
        (Value::Array(items), key) => {
            let index = key.parse().ok().filter(|index| *index < items.len())?;
            Some(items.remove(index))
        }
        _ => None,
    }
}

/// A member that is not there is null.
fn found(object: &mut Value, path: &str) -> Option<Value> {
    match holder(object, path)? {
        (Value::Object(members), key) => Some(members.get(&key).cloned().unwrap_or_default()),
        (Value::Array(items), key) => items.get(key.parse::<usize>().ok()?).cloned(),
        _ => None,
    }
}

/// The object or list that holds the place of a JSON pointer, and the name of the place in it.
fn holder<'v>(object: &'v mut Value, path: &str) -> Option<(&'v mut Value, String)> {
    let (outer, key) = path.rsplit_once('/')?;
    let key = key.replace("~1", "/").replace("~0", "~");
    Some((object.pointer_mut(outer)?, key))
}
