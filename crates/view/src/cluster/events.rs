//! A change of one object, as a watch tells it.

use crate::cluster::Objects;
use crate::cluster::object::{WatchedKind, name, namespace};
use crate::cluster::objects::{ListItem, RawItem};
use daemonset::model::{Node, Pod};
use serde::Deserialize;
use serde_json::Value;

/// As `kubectl get --watch --output-watch-events -o json` prints it.
#[derive(Deserialize)]
pub struct KubectlEvent {
    #[serde(rename = "type")]
    kind: String,
    object: Value,
}

/// An object of a list, which a newer one replaces.
trait ListedVersion {
    fn key(&self) -> (&str, &str);
    fn version(&self) -> &str;

    /// Versions are numbers that grow (v1.35 `apimachinery/pkg/util/resourceversion`).
    fn is_older_than(&self, other: &Self) -> bool {
        match (self.version().parse::<u64>(), other.version().parse::<u64>()) {
            (Ok(own), Ok(others)) => own < others,
            _ => false,
        }
    }
}

impl<T> ListedVersion for RawItem<T> {
    fn key(&self) -> (&str, &str) {
        (namespace(&self.raw), name(&self.raw))
    }

    fn version(&self) -> &str {
        self.raw.pointer("/metadata/resourceVersion").and_then(Value::as_str).unwrap_or_default()
    }
}

impl ListedVersion for ListItem<Pod> {
    fn key(&self) -> (&str, &str) {
        (&self.model.metadata.namespace, &self.model.metadata.name)
    }

    fn version(&self) -> &str {
        &self.model.metadata.resource_version
    }
}

impl ListedVersion for ListItem<Node> {
    fn key(&self) -> (&str, &str) {
        ("", self.model.metadata.name.as_str())
    }

    fn version(&self) -> &str {
        &self.model.metadata.resource_version
    }
}

impl Objects {
    /// Makes the change. One that is older than the object here was listed already.
    ///
    /// # Errors
    /// An object that can't be read, or an event that tells of no object: all have to be listed again.
    pub fn apply(&mut self, event: KubectlEvent) -> Result<(), String> {
        let KubectlEvent { kind: change, object } = event;
        let kind = WatchedKind::of("", &object)?;
        let is_gone = match change.as_str() {
            "ADDED" | "MODIFIED" => false,
            "DELETED" => true,
            other => return Err(format!("an event of type {other}")),
        };
        let mut one = Objects::default();
        one.add_of_kind(kind, String::new(), object);
        if let Some(unreadable) = one.unreadable {
            return Err(unreadable);
        }
        for new in one.daemon_sets {
            put(&mut self.daemon_sets, new, is_gone);
        }
        for new in one.revisions {
            put(&mut self.revisions, new, is_gone);
        }
        for new in one.pods {
            let uid = new.model.metadata.uid.clone();
            if put(&mut self.pods, new, is_gone) {
                self.notes.forget_pod(&uid);
            }
        }
        for new in one.nodes {
            let name = new.model.metadata.name.to_string();
            if put(&mut self.nodes, new, is_gone) {
                self.notes.forget_node(&name);
            }
        }
        self.notes.append(one.notes);
        Ok(())
    }
}

/// Puts an object into the place of the one with its name, or takes it out. False for an older one, which changes nothing.
fn put<T: ListedVersion>(list: &mut Vec<T>, new: T, is_gone: bool) -> bool {
    let place = list.iter().position(|old| old.key() == new.key());
    match place.and_then(|place| Some((place, list.get_mut(place)?))) {
        Some((_, old)) if new.is_older_than(old) => return false,
        Some((place, _)) if is_gone => drop(list.swap_remove(place)),
        Some((_, old)) => *old = new,
        None if is_gone => {}
        None => list.push(new),
    }
    true
}
