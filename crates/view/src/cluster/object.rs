//! One object of a cluster: its kind, name, times, and the place of an error in it.

use daemonset::model::ResourceList;
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::fmt;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WatchedKind {
    DaemonSet,
    Node,
    Pod,
    ControllerRevision,
    PriorityClass,
    Namespace,
    Event,
    Other,
}

impl WatchedKind {
    /// By group and kind, for other groups have kinds of these names too.
    pub(super) fn of(path: &str, item: &Value) -> Result<WatchedKind, String> {
        let Some(kind) = item.get("kind").and_then(Value::as_str) else {
            return Err(format!("{}: Required value", joined(path, "kind")));
        };
        let version = item.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
        Ok(match (kind, version) {
            ("DaemonSet", "apps/v1" | "apps/v1beta2" | "extensions/v1beta1" | "") => WatchedKind::DaemonSet,
            ("ControllerRevision", "apps/v1" | "apps/v1beta2" | "apps/v1beta1" | "") => {
                WatchedKind::ControllerRevision
            }
            ("Node", "v1" | "") => WatchedKind::Node,
            ("Pod", "v1" | "") => WatchedKind::Pod,
            ("Namespace", "v1" | "") => WatchedKind::Namespace,
            ("Event", "v1" | "events.k8s.io/v1" | "") => WatchedKind::Event,
            ("PriorityClass", _) => WatchedKind::PriorityClass,
            _ => WatchedKind::Other,
        })
    }
}

/// Whether a plan reads more than the times of such an object; whatever has no kind is nobody's to judge.
pub(crate) fn is_read_by_plans(object: &Value) -> bool {
    !matches!(WatchedKind::of("", object), Ok(WatchedKind::Other))
}

/// Reads an object.
pub(super) fn object<T: DeserializeOwned>(place: &str, item: &Value) -> Result<T, String> {
    read(item).map_err(|(path, error)| at(place, &path, item, &error))
}

/// Reads a value; only where that fails, again with the path of the field.
#[cfg(feature = "typed-paths")]
pub(crate) fn read<T: DeserializeOwned>(value: &Value) -> Result<T, (String, String)> {
    T::deserialize(value).or_else(|_| {
        let read: Result<T, _> = serde_path_to_error::deserialize(value);
        read.map_err(|error| (error.path().to_string(), error.inner().to_string()))
    })
}

/// The same where each model is compiled only once.
#[cfg(not(feature = "typed-paths"))]
pub(crate) fn read<T: DeserializeOwned>(value: &Value) -> Result<T, (String, String)> {
    T::deserialize(value)
        .map_err(|error| (unreadable_field(value, &|value| T::deserialize(value).is_ok()), error.to_string()))
}

/// The innermost field without which the object can be read; empty where there is no single one.
#[cfg(any(test, not(feature = "typed-paths")))]
fn unreadable_field(item: &Value, is_readable: &dyn Fn(&Value) -> bool) -> String {
    let (mut path, mut pointer) = (String::new(), String::new());
    loop {
        let steps: Vec<(String, String)> = match item.pointer(&pointer) {
            Some(Value::Object(members)) => {
                let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
                members.keys().map(|name| (joined(&path, name), escaped(name))).collect()
            }
            Some(Value::Array(entries)) => {
                (0..entries.len()).map(|index| (format!("{path}[{index}]"), index.to_string())).collect()
            }
            _ => Vec::new(),
        };
        let found = steps.into_iter().find(|(_, step)| {
            let mut without = item.clone();
            match without.pointer_mut(&pointer) {
                // A null is as a field that is left out, but for an entry of a list.
                Some(Value::Array(entries)) => drop(step.parse().map(|index: usize| entries.remove(index))),
                _ => drop(without.pointer_mut(&format!("{pointer}/{step}")).map(Value::take)),
            }
            is_readable(&without)
        });
        match found {
            Some((longer, step)) => {
                path = longer;
                pointer = format!("{pointer}/{step}");
            }
            None => return path,
        }
    }
}

/// An error in a field of an item.
pub(super) fn at(place: &str, path: &str, item: &Value, error: &dyn fmt::Display) -> String {
    let text = |pointer| item.pointer(pointer).and_then(Value::as_str);
    let kind = text("/kind").unwrap_or_default();
    let name = text("/metadata/name").unwrap_or("without a name");
    let name = text("/metadata/namespace").map_or_else(|| name.to_owned(), |n| format!("{n}/{name}"));
    let path = path.trim_matches('.');
    let path = if path.is_empty() { place.to_owned() } else { joined(place, path) };
    format!("{path} ({}): {error}", format!("{kind} {name}").trim_start())
}

/// Whether the pod has a volume whose data its end deletes.
pub(super) fn has_local_storage(pod: &Value) -> bool {
    let volumes = pod.pointer("/spec/volumes").and_then(Value::as_array);
    volumes.into_iter().flatten().any(|volume| volume.get("emptyDir").is_some_and(|it| !it.is_null()))
}

/// The resources of a node that pods can request.
pub(super) fn allocatable(node: &Value) -> Option<ResourceList> {
    ResourceList::deserialize(node.pointer("/status/allocatable")?).ok()
}

/// When the object was created, and when its conditions changed, each with its path.
pub(super) fn times(item: &Value) -> impl Iterator<Item = (String, &str)> {
    let created = item.pointer("/metadata/creationTimestamp").and_then(Value::as_str);
    let created = created.map(|time| ("metadata.creationTimestamp".to_owned(), time));
    let conditions = item.pointer("/status/conditions").and_then(Value::as_array);
    let changed = conditions.into_iter().flatten().enumerate().filter_map(|(index, condition)| {
        let time = condition.get("lastTransitionTime")?.as_str()?;
        Some((format!("status.conditions[{index}].lastTransitionTime"), time))
    });
    created.into_iter().chain(changed)
}

/// When the kubelet reported, and when containers began and ended: a rollout that is stuck changes no condition, and its dump is
/// newer than the last change.
pub(super) fn signs_of_life(item: &Value) -> impl Iterator<Item = Timestamp> {
    let list = |pointer: &str| item.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
    let heartbeats = list("/status/conditions").filter_map(|condition| condition.get("lastHeartbeatTime"));
    let containers = list("/status/containerStatuses").flat_map(|container| {
        let pointers =
            ["/state/running/startedAt", "/state/terminated/finishedAt", "/lastState/terminated/finishedAt"];
        pointers.into_iter().filter_map(|pointer| container.pointer(pointer))
    });
    heartbeats.chain(containers).filter_map(|time| time.as_str()?.parse().ok())
}

/// Whether the year of a time has a sign or more than four digits: who may write a pod's status can make an API server send
/// such a time. A decision reads it as the first or the last instant.
pub(super) fn is_of_another_era(time: &str) -> bool {
    time.find('-').is_some_and(|year| year == 0 || year > 4)
}

/// A member of a Recording that is no object of Kubernetes.
pub(super) fn member<T: DeserializeOwned>(
    path: &str,
    value: &Value,
    member: &str,
) -> Result<Option<T>, String> {
    let Some(value) = value.get(member).filter(|value| !value.is_null()) else { return Ok(None) };
    read(value)
        .map(Some)
        .map_err(|(field, error)| format!("{}: {error}", joined(path, &format!("{member}.{field}"))))
}

/// The entries of a list with their paths; null is an empty one.
pub(super) fn entries(path: &str, value: Value) -> Result<Vec<(String, Value)>, String> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => {
            Ok(items.into_iter().enumerate().map(|(at, item)| (format!("{path}[{at}]"), item)).collect())
        }
        _ => Err(format!("{path}: must be a list")),
    }
}

pub(super) fn joined(path: &str, member: &str) -> String {
    if path.is_empty() { member.to_owned() } else { format!("{path}.{member}") }
}

pub(super) fn prefix(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{path}: ") }
}

/// `metadata.name`; empty where there is none.
pub fn name(object: &Value) -> &str {
    object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default()
}

pub fn namespace(object: &Value) -> &str {
    object.pointer("/metadata/namespace").and_then(Value::as_str).unwrap_or_default()
}

pub fn uid(object: &Value) -> &str {
    object.pointer("/metadata/uid").and_then(Value::as_str).unwrap_or_default()
}

/// `NAMESPACE/NAME`.
pub fn full_name(object: &Value) -> String {
    match namespace(object) {
        "" => name(object).to_owned(),
        namespace => format!("{namespace}/{}", name(object)),
    }
}

#[cfg(test)]
mod tests {
    use super::{object, unreadable_field};
    use daemonset::model::{DaemonSet, Pod};
    use serde::Deserialize;
    use serde::de::DeserializeOwned;
    use serde_json::{Value, json};

    fn agrees<T: DeserializeOwned>(item: &Value, path: &str) {
        assert_eq!(unreadable_field(item, &|item| T::deserialize(item).is_ok()), path);
        let error = object::<T>("items[0]", item).err().unwrap();
        assert!(error.starts_with(&format!("items[0].{path} (")), "{error}");
    }

    #[test]
    fn a_field_that_can_not_be_read_is_found_without_types() {
        agrees::<Pod>(&json!({"metadata": {"name": 3}}), "metadata.name");
        agrees::<Pod>(&json!({"metadata": {"labels": {"a": "1", "b": []}}, "spec": {}}), "metadata.labels.b");
        agrees::<Pod>(&json!({"status": {"conditions": [{"type": "Ready"}, 3]}}), "status.conditions[1]");
        agrees::<DaemonSet>(&json!({"spec": {"minReadySeconds": "3"}}), "spec.minReadySeconds");
        let two = json!({"metadata": {"name": 3, "uid": 4}});
        assert_eq!(unreadable_field(&two, &|item| Pod::deserialize(item).is_ok()), "metadata");
    }
}
