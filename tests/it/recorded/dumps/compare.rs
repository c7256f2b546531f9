//! Differences between two JSON values.

use serde_json::{Value, json};

/// The JSON pointers at which two values differ. For two lists of different lengths it is the pointer of the list.
pub(super) fn differences(ours: &Value, real: &Value) -> Vec<String> {
    match (ours, real) {
        (Value::Object(ours), Value::Object(real)) => {
            let only_real = real.keys().filter(|key| !ours.contains_key(*key));
            let keys = ours.keys().chain(only_real);
            keys.flat_map(|key| below(key, ours.get(key), real.get(key))).collect()
        }
        (Value::Array(ours), Value::Array(real)) if ours.len() == real.len() => {
            let pairs = ours.iter().zip(real).enumerate();
            pairs.flat_map(|(i, (ours, real))| below(&i.to_string(), Some(ours), Some(real))).collect()
        }
        _ if ours == real => Vec::new(),
        _ => vec![String::new()],
    }
}

fn below(key: &str, ours: Option<&Value>, real: Option<&Value>) -> Vec<String> {
    let inner = match (ours, real) {
        (Some(ours), Some(real)) => differences(ours, real),
        _ => vec![String::new()],
    };
    inner.into_iter().map(|path| format!("/{}{path}", escaped(key))).collect()
}

/// The JSON pointers of all members and elements of a value.
pub(super) fn pointers(value: &Value) -> Vec<String> {
    let below = |key: &str, value: &Value| {
        let path = format!("/{}", escaped(key));
        let inner: Vec<_> = pointers(value).iter().map(|rest| format!("{path}{rest}")).collect();
        std::iter::once(path).chain(inner)
    };
    match value {
        Value::Object(members) => members.iter().flat_map(|(key, value)| below(key, value)).collect(),
        Value::Array(list) => {
            list.iter().enumerate().flat_map(|(i, value)| below(&i.to_string(), value)).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

pub(super) fn unescaped(key: &str) -> String {
    key.replace("~1", "/").replace("~0", "~")
}

/// Removes the values at a path, and lists that become empty. Returns the number of removed values. `*` means each
/// element of a list, and a final word means the elements of a list whose names begin with it.
pub(super) fn remove(value: &mut Value, path: &[&str]) -> usize {
    match (path, value) {
        ([last], Value::Object(members)) => usize::from(members.remove(*last).is_some()),
        ([prefix], Value::Array(list)) => {
            let before = list.len();
            list.retain(|element| !element["name"].as_str().is_some_and(|name| name.starts_with(prefix)));
            before - list.len()
        }
        (["*", rest @ ..], Value::Array(list)) => list.iter_mut().map(|element| remove(element, rest)).sum(),
        ([first, rest @ ..], Value::Object(members)) => {
            let removed = members.get_mut(*first).map_or(0, |member| remove(member, rest));
            if removed > 0 && members[*first] == json!([]) {
                members.remove(*first);
            }
            removed
        }
        _ => 0,
    }
}
