//! Objects out of Lists, Recordings and YAML documents, by kind.

use crate::cluster::documents;
use crate::cluster::input::InputForm;
use crate::cluster::object::{
    WatchedKind, allocatable, at, entries, has_local_storage, is_of_another_era, joined, member, name,
    object, prefix, signs_of_life, times,
};
use crate::cluster::objects::{ListItem, Objects, RawItem};
use crate::hostile;
use daemonset::model::{Labels, Node, Pod, PodMeta};
use daemonset::policy::Permissions;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

impl Objects {
    /// Reads Lists, single objects or a Recording, in JSON or YAML.
    pub fn read(bytes: &[u8]) -> Result<Self, String> {
        // A JSON List is the common case: it is read item by item, without a copy of the whole.
        match InputForm::first_byte(bytes)? {
            b'{' if matches!(InputForm::of_json(bytes), Ok(InputForm::List)) => {
                Objects::from_json_list(bytes)
            }
            _ => Objects::of_documents(documents::read(bytes)?),
        }
    }

    pub fn of_documents(documents: Vec<Value>) -> Result<Self, String> {
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
        // A recorded decision is made again with its own policy: annotations change nothing.
        self.policy = Some(member(path, &value, "policy")?.unwrap_or_default());
        self.memory = member(path, &value, "memory")?;
        self.free = member(path, &value, "free")?.unwrap_or_default();
        self.pods_version = member(path, &value, "podsVersion")?;
        self.nodes_version = member(path, &value, "nodesVersion")?;
        let mut take = |member: &str| value.get_mut(member).map_or(Value::Null, Value::take);
        self.inputs = take("ingredients");
        self.add_of_kind(WatchedKind::DaemonSet, joined(path, "daemonSet"), take("daemonSet"));
        for (member, kind) in [
            ("revisions", WatchedKind::ControllerRevision),
            ("nodes", WatchedKind::Node),
            ("pods", WatchedKind::Pod),
        ] {
            for (path, entry) in entries(&joined(path, member), take(member))? {
                self.add_of_kind(kind, path, entry);
            }
        }
        "the Recording".clone_into(&mut self.holder);
        Ok(())
    }

    /// An object without a kind is an error to everybody.
    pub(super) fn add_object(&mut self, path: String, value: Value) -> Result<(), String> {
        let kind = WatchedKind::of(&path, &value)?;
        self.add_of_kind(kind, path, value);
        Ok(())
    }

    pub(super) fn add_of_kind(&mut self, kind: WatchedKind, path: String, mut raw: Value) {
        hostile::put_stand_ins(&mut raw);
        if let Err(error) = self.note_times(kind, &path, &raw) {
            self.unreadable.get_or_insert(error);
        }
        match kind {
            WatchedKind::DaemonSet => {
                let model = self.model(&path, &raw);
                self.daemon_sets.push(RawItem { path, raw, model });
            }
            WatchedKind::ControllerRevision => {
                let model = self.model(&path, &raw);
                self.revisions.push(RawItem { path, raw, model });
            }
            WatchedKind::Node => {
                if let Some(model) = self.model::<Node>(&path, &raw) {
                    self.notes.add_node(&raw);
                    let allocatable = allocatable(&raw);
                    self.allocatable.extend(allocatable.map(|list| (model.metadata.name.to_string(), list)));
                    self.nodes.push(ListItem { path, model });
                }
            }
            WatchedKind::Pod => {
                if let Some(model) = self.model::<Pod>(&path, &raw) {
                    self.notes.add_pod(&model.metadata.uid, &raw);
                    if has_local_storage(&raw) {
                        let PodMeta { namespace, name, .. } = &model.metadata;
                        self.local_storage.insert((namespace.clone(), name.clone()));
                    }
                    self.pods.push(ListItem { path, model });
                }
            }
            WatchedKind::Namespace => {
                let annotations = raw.pointer("/metadata/annotations");
                let annotations = annotations.and_then(|value| Labels::deserialize(value).ok());
                let powers = annotations.as_ref().map(Permissions::of_namespace).unwrap_or_default();
                self.powers.0.insert(name(&raw).to_owned(), powers);
                if raw.pointer("/metadata/deletionTimestamp").is_some_and(Value::is_string) {
                    self.ending_namespaces.insert(name(&raw).to_owned());
                }
            }
            WatchedKind::PriorityClass => self.priority_classes.push(name(&raw).to_owned()),
            WatchedKind::Event => self.events.add(&raw),
            WatchedKind::Other => {}
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

    fn note_times(&mut self, kind: WatchedKind, place: &str, item: &Value) -> Result<(), String> {
        for (path, time) in times(item) {
            match time.parse() {
                Ok(time) => self.newest = self.newest.max(Some(time)),
                Err(_)
                    if matches!(kind, WatchedKind::Event | WatchedKind::Other) || is_of_another_era(time) => {
                }
                Err(error) => return Err(at(place, &path, item, &error)),
            }
        }
        self.newest = self.newest.max(signs_of_life(item).max());
        Ok(())
    }

    /// Adds the objects of another List.
    pub fn append(&mut self, mut other: Objects) {
        self.daemon_sets.append(&mut other.daemon_sets);
        self.revisions.append(&mut other.revisions);
        self.nodes.append(&mut other.nodes);
        self.pods.append(&mut other.pods);
        self.notes.append(other.notes);
        self.events.append(other.events);
        self.local_storage.append(&mut other.local_storage);
        self.priority_classes.append(&mut other.priority_classes);
        self.allocatable.append(&mut other.allocatable);
        self.powers.0.append(&mut other.powers.0);
        self.ending_namespaces.append(&mut other.ending_namespaces);
        self.unreadable = self.unreadable.take().or(other.unreadable);
        self.newest = self.newest.max(other.newest);
        self.now = self.now.or(other.now);
    }
}
