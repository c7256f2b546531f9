//! Comparing two values, member by member.

use super::FieldDifference;
use daemonset::kubernetes::canonical_json::equal;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// Fields that identify the items of a list: merge keys of core/v1's lists.
const KEYS: [&str; 4] = ["name", "mountPath", "devicePath", "containerPort"];

/// The differences, sorted by path.
pub(super) fn differences(path: &str, old: &Value, new: &Value) -> Vec<FieldDifference> {
    let mut found = Vec::new();
    compare(path, Some(old), Some(new), &mut found);
    found
}

fn compare(path: &str, old: Option<&Value>, new: Option<&Value>, found: &mut Vec<FieldDifference>) {
    let present = |value: &&Value| !value.is_null();
    match (old.filter(present), new.filter(present)) {
        (None, None) => {}
        (Some(old), Some(new)) if equal(old, new) => {}
        (Some(Value::Object(old)), Some(Value::Object(new))) => objects(path, old, new, found),
        (Some(Value::Array(old)), Some(Value::Array(new))) => lists(path, old, new, found),
        (old, new) => {
            found.push(FieldDifference { path: path.to_owned(), old: old.cloned(), new: new.cloned() });
        }
    }
}

fn objects(path: &str, old: &Map<String, Value>, new: &Map<String, Value>, found: &mut Vec<FieldDifference>) {
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for key in keys {
        compare(&member(path, key), old.get(key), new.get(key), found);
    }
}

fn member(path: &str, key: &str) -> String {
    let is_field = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if is_field { format!("{path}.{key}") } else { format!("{path}[{key}]") }
}

fn lists(path: &str, old: &[Value], new: &[Value], found: &mut Vec<FieldDifference>) {
    let named = KEYS.iter().find_map(|key| Some((names(old, key)?, names(new, key)?)));
    let Some((old_names, new_names)) = named else {
        for index in 0..old.len().max(new.len()) {
            compare(&format!("{path}[{index}]"), old.get(index), new.get(index), found);
        }
        return;
    };
    let all: BTreeSet<&String> = old_names.iter().chain(&new_names).collect();
    for name in all {
        let (old, new) = (item(&old_names, old, name), item(&new_names, new, name));
        compare(&format!("{path}[{name}]"), old, new, found);
    }
    moved(path, &old_names, &new_names, found);
}

fn item<'a>(names: &[String], items: &'a [Value], name: &String) -> Option<&'a Value> {
    names.iter().position(|other| other == name).and_then(|index| items.get(index))
}

/// Reports items that changed places. Order matters: init containers run in theirs, and a variable may use those
/// before it.
fn moved(path: &str, old: &[String], new: &[String], found: &mut Vec<FieldDifference>) {
    let common = |names: &[String], others: &[String]| -> Vec<Value> {
        names.iter().filter(|name| others.contains(name)).map(|name| Value::from(name.as_str())).collect()
    };
    let (old, new) = (common(old, new), common(new, old));
    if old != new {
        let (old, new) = (Some(Value::Array(old)), Some(Value::Array(new)));
        found.push(FieldDifference { path: path.to_owned(), old, new });
    }
}

/// The name of each item; `None` unless all names are present and distinct.
fn names(items: &[Value], key: &str) -> Option<Vec<String>> {
    let name = |item: &Value| match item.get(key)? {
        Value::String(name) => Some(name.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    let names = items.iter().map(name).collect::<Option<Vec<_>>>()?;
    let distinct: BTreeSet<&String> = names.iter().collect();
    (distinct.len() == names.len()).then_some(names)
}
