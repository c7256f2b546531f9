//! The objects of a List, a Recording, or YAML documents, by kind; and one DaemonSet out of them.

use crate::cluster::documents;
use crate::cluster::places::Places;
use crate::cluster::{Choice, Wanted};
use daemonset::model::{ControllerRevision, DaemonSet, Node, Pod, Uid};
use daemonset::{Memory, Policy, Recording};
use jiff::Timestamp;
use serde::de::{DeserializeOwned, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// An object as a decision reads it, and where it was: `items[3]`; an empty path where it is the whole file.
struct Item<T> {
    path: String,
    model: T,
}

/// An object that kubectl and the API server read too. It has no model where it could not be read.
struct RawItem<T> {
    path: String,
    raw: Value,
    model: Option<T>,
}

impl<T> RawItem<T> {
    fn is(&self, wanted: Option<&Wanted>) -> bool {
        wanted.is_none_or(|wanted| wanted.matches(namespace(&self.raw), name(&self.raw)))
    }
}

/// The objects of a cluster.
pub(crate) struct Objects {
    daemon_sets: Vec<RawItem<DaemonSet>>,
    revisions: Vec<RawItem<ControllerRevision>>,
    nodes: Vec<Item<Node>>,
    pods: Vec<Item<Pod>>,
    /// Reasons why pods are not Ready, by uid: no decision reads them.
    troubles: BTreeMap<Uid, String>,
    priority_classes: Vec<String>,
    /// The first object, or time in it, that can't be read: some questions do not need it.
    unreadable: Option<String>,
    /// The newest creation or condition change of any object.
    newest: Option<Timestamp>,
    /// A Recording's own time, policy and memory.
    now: Option<Timestamp>,
    policy: Option<Policy>,
    memory: Option<Memory>,
    /// As messages call it: `the List`.
    holder: String,
    /// Where else to look.
    hint: &'static str,
}

impl Default for Objects {
    fn default() -> Self {
        Objects {
            daemon_sets: Vec::new(),
            revisions: Vec::new(),
            nodes: Vec::new(),
            pods: Vec::new(),
            troubles: BTreeMap::new(),
            priority_classes: Vec::new(),
            unreadable: None,
            newest: None,
            now: None,
            policy: None,
            memory: None,
            holder: "the List".to_owned(),
            hint: "",
        }
    }
}

/// One DaemonSet and its namespace, as kubectl and the API server read them.
pub(crate) struct Chosen {
    pub(crate) daemon_set: Value,
    /// Of its namespace.
    pub(crate) revisions: Vec<Value>,
}

/// Everything that a decision about any DaemonSet reads.
pub(crate) struct Models {
    pub(crate) daemon_sets: Vec<DaemonSet>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) pods: Vec<Pod>,
    /// Reasons why pods are not Ready, by uid.
    pub(crate) troubles: BTreeMap<Uid, String>,
    pub(crate) revisions: Vec<ControllerRevision>,
    pub(crate) policy: Policy,
    pub(crate) memory: Option<Memory>,
}

impl Objects {
    /// Reads Lists, single objects or a Recording, in JSON or YAML.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, String> {
        match json_with_items(bytes) {
            Some(list) => list,
            None => Objects::of_documents(documents::read(bytes)?),
        }
    }

    /// Reads the items of a JSON List one at a time: they are large.
    pub(crate) fn of_json_list(json: &[u8]) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Members {
            items: Items,
        }
        let deserializer = &mut serde_json::Deserializer::from_slice(json);
        let read: Result<Members, _> = serde_path_to_error::deserialize(deserializer);
        read.map_err(|error| error.to_string())?.items.0
    }

    pub(crate) fn of_documents(documents: Vec<Value>) -> Result<Self, String> {
        let mut objects = Objects::default();
        let one = documents.len() == 1;
        for (number, document) in documents.into_iter().enumerate() {
            objects.add(if one { String::new() } else { format!("documents[{number}]") }, document)?;
        }
        Ok(objects)
    }

    fn add(&mut self, path: String, mut value: Value) -> Result<(), String> {
        if !value.is_object() {
            return Err(format!("{}must be an object", prefix(&path)));
        }
        if value.get("daemonSet").is_some() {
            return self.add_recording(&path, value);
        }
        let Some(items) = value.get_mut("items").map(Value::take) else {
            return self.add_object(path, value);
        };
        for (path, item) in entries(&joined(&path, "items"), items)? {
            self.add_object(path, item)?;
        }
        Ok(())
    }

    fn add_recording(&mut self, path: &str, mut value: Value) -> Result<(), String> {
        if let Some(now) = value.get("now").and_then(Value::as_str) {
            let invalid = |error| format!("{}: {error}", joined(path, "now"));
            self.now = Some(now.parse().map_err(invalid)?);
        }
        self.policy = member(path, &value, "policy")?;
        self.memory = member(path, &value, "memory")?;
        let mut take = |member: &str| value.get_mut(member).map_or(Value::Null, Value::take);
        self.add_of_kind(Kind::DaemonSet, joined(path, "daemonSet"), take("daemonSet"));
        for (member, kind) in
            [("revisions", Kind::ControllerRevision), ("nodes", Kind::Node), ("pods", Kind::Pod)]
        {
            for (path, entry) in entries(&joined(path, member), take(member))? {
                self.add_of_kind(kind, path, entry);
            }
        }
        "the Recording".clone_into(&mut self.holder);
        Ok(())
    }

    /// An object without a kind is an error to everybody.
    fn add_object(&mut self, path: String, value: Value) -> Result<(), String> {
        let kind = Kind::of(&path, &value)?;
        self.add_of_kind(kind, path, value);
        Ok(())
    }

    fn add_of_kind(&mut self, kind: Kind, path: String, raw: Value) {
        if let Err(error) = self.note_times(kind, &path, &raw) {
            self.unreadable.get_or_insert(error);
        }
        match kind {
            Kind::DaemonSet => {
                let model = self.model(&path, &raw);
                self.daemon_sets.push(RawItem { path, raw, model });
            }
            Kind::ControllerRevision => {
                let model = self.model(&path, &raw);
                self.revisions.push(RawItem { path, raw, model });
            }
            Kind::Node => {
                if let Some(model) = self.model(&path, &raw) {
                    self.nodes.push(Item { path, model });
                }
            }
            Kind::Pod => {
                if let Some(model) = self.model::<Pod>(&path, &raw) {
                    if let Some(trouble) = trouble(&raw) {
                        self.troubles.insert(model.metadata.uid.clone(), trouble);
                    }
                    self.pods.push(Item { path, model });
                }
            }
            Kind::PriorityClass => self.priority_classes.push(name(&raw).to_owned()),
            Kind::Other => {}
        }
    }

    fn model<T: DeserializeOwned>(&mut self, path: &str, raw: &Value) -> Option<T> {
        match object(path, raw) {
            Ok(model) => Some(model),
            Err(error) => {
                self.unreadable.get_or_insert(error);
                None
            }
        }
    }

    fn note_times(&mut self, kind: Kind, place: &str, item: &Value) -> Result<(), String> {
        for (path, time) in times(item) {
            match time.parse() {
                Ok(time) => self.newest = self.newest.max(Some(time)),
                Err(_) if kind == Kind::Other => {}
                Err(error) => return Err(at(place, &path, item, &error)),
            }
        }
        Ok(())
    }

    /// Adds the objects of another List.
    pub(crate) fn append(&mut self, mut other: Objects) {
        self.daemon_sets.append(&mut other.daemon_sets);
        self.revisions.append(&mut other.revisions);
        self.nodes.append(&mut other.nodes);
        self.pods.append(&mut other.pods);
        self.troubles.append(&mut other.troubles);
        self.priority_classes.append(&mut other.priority_classes);
        self.unreadable = self.unreadable.take().or(other.unreadable);
        self.newest = self.newest.max(other.newest);
        self.now = self.now.or(other.now);
    }

    /// Takes the priority classes of another List, and nothing else.
    pub(crate) fn learn_priority_classes(&mut self, other: Option<Objects>) {
        self.priority_classes.extend(other.into_iter().flat_map(|other| other.priority_classes));
    }

    /// How messages call where the objects were found.
    pub(crate) fn found_in(&mut self, holder: String, hint: &'static str) {
        self.holder = holder;
        self.hint = hint;
    }

    /// When to look at the cluster: a Recording's own time, or the newest creation or condition change.
    pub(crate) fn now(&self) -> Option<Timestamp> {
        self.now.or(self.newest)
    }

    /// Every DaemonSet, as `NAMESPACE/NAME`.
    pub(crate) fn daemon_set_names(&self) -> Vec<String> {
        self.daemon_sets.iter().map(|item| full_name(&item.raw)).collect()
    }

    /// The DaemonSet that is wanted, as a position; without one, the only one.
    fn select(&self, wanted: Option<&Wanted>) -> Result<usize, String> {
        let found: Vec<(usize, &RawItem<DaemonSet>)> =
            self.daemon_sets.iter().enumerate().filter(|(_, item)| item.is(wanted)).collect();
        let names = |found: &[(usize, &RawItem<DaemonSet>)]| {
            found.iter().map(|(_, item)| full_name(&item.raw)).collect::<Vec<_>>().join(", ")
        };
        match (found.as_slice(), wanted) {
            ([(only, _)], _) => Ok(*only),
            ([], _) if self.daemon_sets.is_empty() => Err(self.no_daemon_set()),
            ([], wanted) => {
                let wanted = wanted.map(Wanted::to_string).unwrap_or_default();
                let there = self.daemon_set_names().join(", ");
                Err(format!("no DaemonSet {wanted} in {}: there is {there}", self.holder))
            }
            ([(_, first), .., (_, last)], Some(_)) if full_name(&first.raw) == full_name(&last.raw) => {
                Err(format!("{} and {} are both DaemonSet {}", first.path, last.path, full_name(&last.raw)))
            }
            (several, _) => {
                let count = several.len();
                Err(format!("{count} DaemonSets: choose one with --daemonset: {}", names(several)))
            }
        }
    }

    fn no_daemon_set(&self) -> String {
        format!("no DaemonSet in {}{}", self.holder, self.hint)
    }

    /// Whether there is such a DaemonSet.
    pub(crate) fn has(&self, wanted: Option<&Wanted>) -> bool {
        self.daemon_sets.iter().any(|item| item.is(wanted))
    }

    /// One DaemonSet as kubectl and the API server read it; other objects may be unreadable.
    pub(crate) fn choose(&self, wanted: Option<&Wanted>) -> Result<Chosen, String> {
        let position = self.select(wanted)?;
        let daemon_set = self.daemon_sets.get(position).map(|item| item.raw.clone()).unwrap_or_default();
        let beside = self.revisions.iter().map(|item| &item.raw);
        let beside = beside.filter(|revision| namespace(revision) == namespace(&daemon_set));
        Ok(Chosen { revisions: beside.cloned().collect(), daemon_set })
    }

    /// Everything as a decision reads it.
    ///
    /// # Errors
    /// The first object that can't be read, wherever it is.
    pub(crate) fn models(self) -> Result<Models, String> {
        if let Some(error) = self.unreadable {
            return Err(error);
        }
        Ok(Models {
            daemon_sets: self.daemon_sets.into_iter().filter_map(|item| item.model).collect(),
            nodes: self.nodes.into_iter().map(|item| item.model).collect(),
            pods: self.pods.into_iter().map(|item| item.model).collect(),
            troubles: self.troubles,
            revisions: self.revisions.into_iter().filter_map(|item| item.model).collect(),
            policy: self.policy.unwrap_or_default(),
            memory: self.memory,
        })
    }

    /// Takes one DaemonSet, the nodes, and what is in its namespace.
    pub(crate) fn recording(self, choice: &Choice) -> Result<(Recording, Places), String> {
        if let Some(error) = self.unreadable {
            return Err(error);
        }
        let position = self.select(choice.daemon_set.as_ref())?;
        let Some(now) = choice.now.or(self.now).or(self.newest) else {
            return Err(format!("nothing in {} tells the time: pass --now", self.holder));
        };
        let Some(RawItem { path, model: Some(daemon_set), .. }) = self.daemon_sets.into_iter().nth(position)
        else {
            return Err("the DaemonSet can't be read".to_owned());
        };
        let namespace = &daemon_set.metadata.namespace;
        let of_namespace = self.pods.into_iter().filter(|pod| pod.model.metadata.namespace == *namespace);
        let (pod_places, pods) = of_namespace.map(|item| (item.path, item.model)).unzip();
        let revisions = self.revisions.into_iter().filter_map(|item| Some((item.path, item.model?)));
        let of_namespace = revisions.filter(|(_, revision)| revision.metadata.namespace == *namespace);
        let (revision_places, revisions) = of_namespace.unzip();
        let (node_places, nodes) = self.nodes.into_iter().map(|item| (item.path, item.model)).unzip();
        let places =
            Places { daemon_set: path, nodes: node_places, pods: pod_places, revisions: revision_places };
        let name = format!("{namespace}/{}", daemon_set.metadata.name);
        let policy = choice.policy.clone().or(self.policy).unwrap_or_default();
        let memory = self.memory;
        Ok((Recording { name, now, daemon_set, nodes, pods, revisions, policy, memory }, places))
    }

    /// Names of the priority classes; `None` where there are no such objects.
    pub(crate) fn priority_classes(&self) -> Option<&[String]> {
        Some(self.priority_classes.as_slice()).filter(|names| !names.is_empty())
    }

    /// One DaemonSet as a decision reads it.
    pub(crate) fn model_of(&self, wanted: Option<&Wanted>) -> Result<DaemonSet, String> {
        let position = self.select(wanted)?;
        match self.daemon_sets.get(position) {
            Some(RawItem { model: Some(model), .. }) => Ok(model.clone()),
            Some(RawItem { path, raw, model: None }) => object(path, raw),
            None => Err(self.no_daemon_set()),
        }
    }
}

/// The common case, without a copy of the whole: a JSON object with `items`.
fn json_with_items(bytes: &[u8]) -> Option<Result<Objects, String>> {
    let begins = bytes.trim_ascii_start().first() == Some(&b'{');
    let list = begins && matches!(super::input::Form::of_json(bytes), Ok(super::input::Form::List));
    list.then(|| Objects::of_json_list(bytes))
}

/// A List, or the first thing that is wrong with its items. Holds one raw item at a time.
struct Items(Result<Objects, String>);

impl<'de> Deserialize<'de> for Items {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Items;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            /// `null` is an empty list.
            fn visit_unit<E>(self) -> Result<Items, E> {
                Ok(Items(Ok(Objects::default())))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Items, A::Error> {
                let mut objects = Objects::default();
                let mut read = Ok(());
                let mut place = 0;
                while let Some(item) = items.next_element::<Value>()? {
                    read = read.and_then(|()| objects.add_object(format!("items[{place}]"), item));
                    place += 1;
                }
                // An object that can't be read comes before one that has no kind.
                Ok(Items(match (read, &objects.unreadable) {
                    (Err(_), Some(first)) => Err(first.clone()),
                    (read, _) => read.map(|()| objects),
                }))
            }
        }

        deserializer.deserialize_any(Reader)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    DaemonSet,
    Node,
    Pod,
    ControllerRevision,
    PriorityClass,
    Other,
}

impl Kind {
    /// By group and kind, for other groups have kinds of these names too.
    fn of(path: &str, item: &Value) -> Result<Kind, String> {
        let Some(kind) = item.get("kind").and_then(Value::as_str) else {
            return Err(format!("{}: Required value", joined(path, "kind")));
        };
        let version = item.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
        Ok(match (kind, version) {
            ("DaemonSet", "apps/v1" | "apps/v1beta2" | "extensions/v1beta1" | "") => Kind::DaemonSet,
            ("ControllerRevision", "apps/v1" | "apps/v1beta2" | "apps/v1beta1" | "") => {
                Kind::ControllerRevision
            }
            ("Node", "v1" | "") => Kind::Node,
            ("Pod", "v1" | "") => Kind::Pod,
            ("PriorityClass", _) => Kind::PriorityClass,
            _ => Kind::Other,
        })
    }
}

/// Reads an object; only where that fails, again with its path.
fn object<T: DeserializeOwned>(place: &str, item: &Value) -> Result<T, String> {
    T::deserialize(item).or_else(|_| {
        let read: Result<T, _> = serde_path_to_error::deserialize(item);
        read.map_err(|error| at(place, &error.path().to_string(), item, error.inner()))
    })
}

/// An error in a field of an item.
fn at(place: &str, path: &str, item: &Value, error: &dyn fmt::Display) -> String {
    let text = |pointer| item.pointer(pointer).and_then(Value::as_str);
    let kind = text("/kind").unwrap_or_default();
    let name = text("/metadata/name").unwrap_or("without a name");
    let name = text("/metadata/namespace").map_or_else(|| name.to_owned(), |n| format!("{n}/{name}"));
    let path = path.trim_matches('.');
    let path = if path.is_empty() { place.to_owned() } else { joined(place, path) };
    format!("{path} ({}): {error}", format!("{kind} {name}").trim_start())
}

/// What the scheduler or the kubelet says of a pod that does not start.
fn trouble(pod: &Value) -> Option<String> {
    let list = |pointer: &str| pod.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
    let text = |value: &Value, pointer: &str| {
        value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().trim().to_owned()
    };
    let with_message = |reason: String, message: String| match message.as_str() {
        "" => reason,
        message => format!("{reason} ({message})"),
    };
    let unscheduled = list("/status/conditions").find(|condition| {
        text(condition, "/type") == "PodScheduled" && text(condition, "/status") == "False"
    });
    if let Some(condition) = unscheduled {
        let (reason, message) = (text(condition, "/reason"), text(condition, "/message"));
        return Some(format!("The scheduler says {}", with_message(reason, message)));
    }
    let containers = list("/status/initContainerStatuses").chain(list("/status/containerStatuses"));
    containers.into_iter().find_map(|container| {
        let state =
            ["/state/waiting", "/state/terminated"].into_iter().find_map(|it| container.pointer(it))?;
        let (reason, message) = (text(state, "/reason"), text(state, "/message"));
        let done = reason == "Completed" || reason.is_empty();
        let name = text(container, "/name");
        let says = || format!("The kubelet says of container {name}: {}", with_message(reason, message));
        (!done).then(says)
    })
}

/// When the object was created, and when its conditions changed, each with its path.
fn times(item: &Value) -> impl Iterator<Item = (String, &str)> {
    let created = item.pointer("/metadata/creationTimestamp").and_then(Value::as_str);
    let created = created.map(|time| ("metadata.creationTimestamp".to_owned(), time));
    let conditions = item.pointer("/status/conditions").and_then(Value::as_array);
    let changed = conditions.into_iter().flatten().enumerate().filter_map(|(index, condition)| {
        let time = condition.get("lastTransitionTime")?.as_str()?;
        Some((format!("status.conditions[{index}].lastTransitionTime"), time))
    });
    created.into_iter().chain(changed)
}

/// A member of a Recording that is no object of Kubernetes.
fn member<T: DeserializeOwned>(path: &str, value: &Value, member: &str) -> Result<Option<T>, String> {
    let Some(value) = value.get(member).filter(|value| !value.is_null()) else { return Ok(None) };
    let read = serde_path_to_error::deserialize(value);
    read.map(Some).map_err(|error| {
        format!("{}: {}", joined(path, &format!("{member}.{}", error.path())), error.inner())
    })
}

/// The entries of a list with their paths; null is an empty one.
fn entries(path: &str, value: Value) -> Result<Vec<(String, Value)>, String> {
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

/// `NAMESPACE/NAME`.
pub(crate) fn full_name(object: &Value) -> String {
    match namespace(object) {
        "" => name(object).to_owned(),
        namespace => format!("{namespace}/{}", name(object)),
    }
}
