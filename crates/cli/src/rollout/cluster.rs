//! The objects of a dump, by kind, and one DaemonSet out of them.

use crate::rollout::documents;
use crate::shell::source::Source;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A cluster in the middle of an update, as `kubectl get … -o json` printed it.
pub(crate) use crate::input::BUILT_IN;

/// An object, and where in its file it was.
#[derive(Debug, Clone)]
pub(crate) struct Object {
    /// `items[3]`; empty where it is the whole file.
    path: String,
    pub(crate) value: Value,
}

/// What a file tells of a cluster.
#[derive(Debug, Default)]
pub(crate) struct Cluster {
    daemon_sets: Vec<Object>,
    revisions: Vec<Object>,
    nodes: Vec<Object>,
    pods: Vec<Object>,
    priority_classes: Vec<Object>,
    /// A Recording's own.
    now: Option<Timestamp>,
}

/// One DaemonSet, and what is beside it.
pub(crate) struct Chosen {
    pub(crate) daemon_set: Object,
    /// Of its namespace.
    pub(crate) revisions: Vec<Value>,
}

impl Cluster {
    /// Reads Lists, single objects, or a Recording.
    pub(crate) fn read(source: &Source) -> Result<Self, String> {
        let mut cluster = Cluster::default();
        let documents = documents::read(&source.bytes()?)?;
        let one = documents.len() == 1;
        for (number, document) in documents.into_iter().enumerate() {
            cluster.add(&if one { String::new() } else { format!("documents[{number}]") }, document)?;
        }
        Ok(cluster)
    }

    fn add(&mut self, path: &str, mut value: Value) -> Result<(), String> {
        if !value.is_object() {
            return Err(format!("{}must be an object", prefix(path)));
        }
        if value.get("daemonSet").is_some() {
            return self.add_recording(path, value);
        }
        let Some(items) = value.get_mut("items").map(Value::take) else {
            return self.add_object(path.to_owned(), value);
        };
        for (place, item) in list(&joined(path, "items"), items)? {
            self.add_object(place, item)?;
        }
        Ok(())
    }

    fn add_recording(&mut self, path: &str, mut value: Value) -> Result<(), String> {
        if let Some(now) = value.get("now").and_then(Value::as_str) {
            let told = |error| format!("{}: {error}", joined(path, "now"));
            self.now = Some(now.parse().map_err(told)?);
        }
        let mut take = |member: &str| value.get_mut(member).map_or(Value::Null, Value::take);
        let daemon_set = take("daemonSet");
        self.daemon_sets.push(Object { path: joined(path, "daemonSet"), value: daemon_set });
        for member in ["revisions", "nodes", "pods"] {
            let all = list(&joined(path, member), take(member))?;
            let all = all.into_iter().map(|(path, value)| Object { path, value });
            match member {
                "revisions" => self.revisions.extend(all),
                "nodes" => self.nodes.extend(all),
                _ => self.pods.extend(all),
            }
        }
        Ok(())
    }

    /// Objects of other kinds are left out.
    fn add_object(&mut self, path: String, value: Value) -> Result<(), String> {
        let Some(kind) = value.get("kind").and_then(Value::as_str) else {
            return Err(format!("{}: Required value", joined(&path, "kind")));
        };
        let of_kind = match kind {
            "DaemonSet" => &mut self.daemon_sets,
            "ControllerRevision" => &mut self.revisions,
            "Node" => &mut self.nodes,
            "Pod" => &mut self.pods,
            "PriorityClass" => &mut self.priority_classes,
            _ => return Ok(()),
        };
        of_kind.push(Object { path, value });
        Ok(())
    }

    /// The DaemonSet of this name (`NAMESPACE/NAME`, or `NAME` alone); without one, the only one.
    pub(crate) fn choose(&self, wanted: Option<&str>) -> Result<Chosen, String> {
        let matching = |object: &&Object| {
            wanted.is_none_or(|wanted| full_name(&object.value) == wanted || name(&object.value) == wanted)
        };
        let found = self.daemon_sets.iter().filter(matching).collect::<Vec<_>>();
        let there = self.daemon_sets.iter().map(|object| full_name(&object.value)).collect::<Vec<_>>();
        match (found.as_slice(), wanted) {
            ([only], _) => Ok(self.with((*only).clone())),
            ([], _) if there.is_empty() => Err("no DaemonSet in it".to_owned()),
            ([], wanted) => {
                let wanted = wanted.unwrap_or_default();
                Err(format!("no DaemonSet {wanted} in it: there is {}", there.join(", ")))
            }
            (several, _) => {
                let count = several.len();
                Err(format!("{count} DaemonSets: choose one with --daemonset: {}", there.join(", ")))
            }
        }
    }

    fn with(&self, daemon_set: Object) -> Chosen {
        let beside = self.revisions.iter().map(|revision| &revision.value);
        let beside = beside.filter(|revision| namespace(revision) == namespace(&daemon_set.value));
        Chosen { revisions: beside.cloned().collect(), daemon_set }
    }

    /// When to look at it: a Recording's own time, or the newest creation or condition change.
    pub(crate) fn now(&self) -> Option<Timestamp> {
        let all = [&self.daemon_sets, &self.revisions, &self.nodes, &self.pods];
        self.now.or_else(|| all.into_iter().flatten().flat_map(times).max())
    }

    /// Nodes as the core reads them.
    pub(crate) fn nodes<T: DeserializeOwned>(&self) -> Result<Vec<T>, String> {
        self.nodes.iter().map(Object::model).collect()
    }

    /// Pods of the DaemonSet's namespace, as the core reads them.
    pub(crate) fn pods_beside<T: DeserializeOwned>(&self, beside: &Value) -> Result<Vec<T>, String> {
        let of_namespace = self.pods.iter().filter(|pod| namespace(&pod.value) == namespace(beside));
        of_namespace.map(Object::model).collect()
    }

    /// Revisions of the DaemonSet's namespace, as the core reads them.
    pub(crate) fn revisions_beside<T: DeserializeOwned>(&self, beside: &Value) -> Result<Vec<T>, String> {
        let of_namespace = self.revisions.iter().filter(|it| namespace(&it.value) == namespace(beside));
        of_namespace.map(Object::model).collect()
    }

    /// Every DaemonSet but this one.
    pub(crate) fn others<T: DeserializeOwned>(&self, daemon_set: &Value) -> Result<Vec<T>, String> {
        let others = self.daemon_sets.iter().filter(|it| full_name(&it.value) != full_name(daemon_set));
        others.map(Object::model).collect()
    }

    /// Names of the priority classes; none where the file has no such objects.
    pub(crate) fn priority_classes(&self) -> Option<Vec<&str>> {
        let names = self.priority_classes.iter().map(|class| name(&class.value)).collect::<Vec<_>>();
        Some(names).filter(|names| !names.is_empty())
    }
}

impl Object {
    /// Reads it as the core does; an error tells the path.
    pub(crate) fn model<T: DeserializeOwned>(&self) -> Result<T, String> {
        serde_path_to_error::deserialize(&self.value).map_err(|error| {
            let path = error.path().to_string();
            let path = if path == "." { self.path.clone() } else { joined(&self.path, &path) };
            format!("{}{} ({})", prefix(&path), error.inner(), full_name(&self.value))
        })
    }
}

/// The items of a list with their paths; null is an empty one.
fn list(path: &str, value: Value) -> Result<Vec<(String, Value)>, String> {
    match value {
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => {
            Ok(items.into_iter().enumerate().map(|(at, item)| (format!("{path}[{at}]"), item)).collect())
        }
        _ => Err(format!("{path}: must be a list")),
    }
}

fn joined(path: &str, member: &str) -> String {
    if path.is_empty() { member.to_owned() } else { format!("{path}.{member}") }
}

fn prefix(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("{path}: ") }
}

/// `metadata.name`; empty where there is none.
pub(crate) fn name(object: &Value) -> &str {
    object.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn namespace(object: &Value) -> &str {
    object.pointer("/metadata/namespace").and_then(Value::as_str).unwrap_or_default()
}

fn full_name(object: &Value) -> String {
    match namespace(object) {
        "" => name(object).to_owned(),
        namespace => format!("{namespace}/{}", name(object)),
    }
}

fn times(object: &Object) -> impl Iterator<Item = Timestamp> + '_ {
    let created = object.value.pointer("/metadata/creationTimestamp");
    let conditions = object.value.pointer("/status/conditions").and_then(Value::as_array);
    let changed = conditions.into_iter().flatten().filter_map(|it| it.get("lastTransitionTime"));
    created.into_iter().chain(changed).filter_map(|time| time.as_str()?.parse().ok())
}
