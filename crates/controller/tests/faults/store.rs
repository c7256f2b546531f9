//! What is stored: objects, each change of them in order, and who made it.

use crate::guard::Guard;
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
    Revision,
    Event,
}

/// Names an object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id {
    pub kind: Kind,
    pub name: String,
}

pub fn id(kind: Kind, name: &str) -> Id {
    Id { kind, name: name.to_owned() }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The controller under test.
    Controller,
    /// Kubelets, users and all others.
    Others,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    Added,
    Modified,
    Deleted,
}

/// One change, as a watch tells it.
#[derive(Debug, Clone)]
pub struct Change {
    pub version: u64,
    pub at: Instant,
    pub what: What,
    pub id: Id,
    pub object: Value,
}

pub struct Store {
    pub objects: BTreeMap<Id, Value>,
    pub log: Vec<Change>,
    pub guard: Guard,
    pub clock: Clock,
    /// Told of each change.
    pub changed: watch::Sender<u64>,
    version: u64,
    uids: u64,
}

impl Store {
    pub fn new(clock: Clock) -> Self {
        Store {
            objects: BTreeMap::new(),
            log: Vec::new(),
            guard: Guard::default(),
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

    pub fn of(&self, kind: Kind) -> impl Iterator<Item = &Value> {
        self.objects.iter().filter(move |(id, _)| id.kind == kind).map(|(_, object)| object)
    }

    /// A new object with what the API server adds to it; its name may be made here.
    pub fn create(&mut self, by: By, kind: Kind, mut object: Value) -> Value {
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
        self.write(by, What::Added, id, object)
    }

    /// The object as it is from now on.
    pub fn put(&mut self, by: By, id: Id, object: Value) -> Value {
        if self.objects.get(&id) == Some(&object) {
            return object; // As the API server: no change, no new version.
        }
        self.write(by, What::Modified, id, object)
    }

    pub fn change(&mut self, by: By, id: &Id, change: impl FnOnce(&mut Value)) {
        let mut object = self.objects[id].clone();
        change(&mut object);
        self.put(by, id.clone(), object);
    }

    pub fn remove(&mut self, by: By, id: &Id) -> Value {
        let object = self.objects[id].clone();
        self.write(by, What::Deleted, id.clone(), object)
    }

    /// What a reader that lags behind finds: the objects as they were after this version.
    pub fn as_of(&self, version: u64, kind: Kind) -> Vec<Value> {
        let mut objects = BTreeMap::new();
        for change in self.log.iter().filter(|change| change.version <= version && change.id.kind == kind) {
            match change.what {
                What::Deleted => objects.remove(&change.id),
                What::Added | What::Modified => objects.insert(change.id.clone(), change.object.clone()),
            };
        }
        objects.into_values().collect()
    }

    /// The last version that was there at this time.
    pub fn version_at(&self, at: Instant) -> u64 {
        self.log.iter().rev().find(|change| change.at <= at).map_or(0, |change| change.version)
    }

    fn write(&mut self, by: By, what: What, id: Id, mut object: Value) -> Value {
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        match what {
            What::Deleted => self.objects.remove(&id),
            What::Added | What::Modified => self.objects.insert(id.clone(), object.clone()),
        };
        let change = Change {
            version: self.version,
            at: Instant::now(),
            what,
            id: id.clone(),
            object: object.clone(),
        };
        self.log.push(change);
        self.guard.check(&self.objects, by, &id, what);
        self.changed.send_replace(self.version);
        object
    }
}

pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
