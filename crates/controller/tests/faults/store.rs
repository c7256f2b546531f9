//! The store: objects, and the log of their changes.

use crate::invariants::Invariants;
use daemonset_controller::clock::Clock;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tokio::sync::watch;
use tokio::time::Instant;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    DaemonSet,
    Pod,
    Node,
    Namespace,
    Revision,
    Event,
}

/// Kind and name of an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id {
    pub kind: Kind,
    pub name: String,
}

pub fn id(kind: Kind, name: &str) -> Id {
    Id { kind, name: name.to_owned() }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Actor {
    /// The controller under test.
    Controller,
    /// Kubelets, users and all other clients.
    Others,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    Added,
    Modified,
    Deleted,
}

/// One change, as a watch sends it.
#[derive(Debug, Clone)]
pub struct Change {
    pub version: u64,
    pub at: Instant,
    pub change_kind: ChangeKind,
    pub id: Id,
    pub object: Value,
}

pub struct Store {
    pub objects: BTreeMap<Id, Value>,
    pub log: Vec<Change>,
    pub invariants: Invariants,
    pub clock: Clock,
    /// Receives the version of each change.
    pub changed: watch::Sender<u64>,
    version: u64,
    uids: u64,
}

impl Store {
    pub fn new(clock: Clock) -> Self {
        Store {
            objects: BTreeMap::new(),
            log: Vec::new(),
            invariants: Invariants::default(),
            clock,
            changed: watch::Sender::new(0),
            version: 0,
            uids: 0,
        }
    }

    pub fn version(&self) -> u64 {
        self.version
    }

    pub fn get(&self, id: &Id) -> Option<&Value> {
        self.objects.get(id)
    }

    pub fn list(&self, kind: Kind) -> impl Iterator<Item = &Value> {
        self.objects.iter().filter(move |(id, _)| id.kind == kind).map(|(_, object)| object)
    }

    /// Creates an object with the metadata that the API server adds, and with a generated name if it has none.
    pub fn create(&mut self, actor: Actor, kind: Kind, mut object: Value) -> Value {
        self.uids += 1;
        let now = self.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let uid = format!("uid-{}", self.uids);
        let meta = &mut object["metadata"];
        if meta["name"].is_null() {
            meta["name"] = json!(format!("{}{:05}", text(&meta["generateName"]), self.uids));
        }
        meta["uid"] = json!(uid);
        meta["creationTimestamp"] = json!(now);
        let id = id(kind, text(&meta["name"]));
        if kind == Kind::Pod && object["status"].is_null() {
            object["status"] = json!({"phase": "Pending"});
        }
        self.write(actor, ChangeKind::Added, id, object)
    }

    /// Replaces the object.
    pub fn put(&mut self, actor: Actor, id: Id, object: Value) -> Value {
        if self.objects.get(&id) == Some(&object) {
            return object; // As in the API server, an equal object gets no new version.
        }
        self.write(actor, ChangeKind::Modified, id, object)
    }

    pub fn change(&mut self, actor: Actor, id: &Id, change: impl FnOnce(&mut Value)) {
        let mut object = self.objects[id].clone();
        change(&mut object);
        self.put(actor, id.clone(), object);
    }

    pub fn remove(&mut self, actor: Actor, id: &Id) -> Value {
        let object = self.objects[id].clone();
        self.write(actor, ChangeKind::Deleted, id.clone(), object)
    }

    /// The objects as they were after this version, for a reader that lags behind.
    pub fn as_of(&self, version: u64, kind: Kind) -> Vec<Value> {
        let mut objects = BTreeMap::new();
        for change in self.log.iter().filter(|change| change.version <= version && change.id.kind == kind) {
            match change.change_kind {
                ChangeKind::Deleted => objects.remove(&change.id),
                ChangeKind::Added | ChangeKind::Modified => {
                    objects.insert(change.id.clone(), change.object.clone())
                }
            };
        }
        objects.into_values().collect()
    }

    /// The last version at this instant.
    pub fn version_at(&self, at: Instant) -> u64 {
        self.log.iter().rev().find(|change| change.at <= at).map_or(0, |change| change.version)
    }

    fn write(&mut self, actor: Actor, change_kind: ChangeKind, id: Id, mut object: Value) -> Value {
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        match change_kind {
            ChangeKind::Deleted => self.objects.remove(&id),
            ChangeKind::Added | ChangeKind::Modified => self.objects.insert(id.clone(), object.clone()),
        };
        let change = Change {
            version: self.version,
            at: Instant::now(),
            change_kind,
            id: id.clone(),
            object: object.clone(),
        };
        self.log.push(change);
        self.invariants.check(&self.objects, actor, &id, change_kind);
        self.changed.send_replace(self.version);
        object
    }
}

pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
