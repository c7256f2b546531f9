//! From a changed object to the DaemonSets that must be reconciled for it.

use crate::caches::{Caches, Key};
use crate::queue::Queue;
use daemonset::model::{ControllerRevision, DaemonSet, Labels, Node, OwnerReference, Pod};
use std::sync::Arc;

/// Puts the DaemonSets that a change concerns into the queue.
#[derive(Clone)]
pub struct EventMapper {
    caches: Caches,
    queue: Arc<Queue<Key>>,
}

/// A watched kind of object.
pub(crate) trait WatchedObject {
    /// Whether the change from `before` can change a plan.
    fn affects_plans(&self, before: &Self) -> bool;

    /// Enqueues the DaemonSets that this object concerns.
    fn enqueue_daemon_sets(&self, mapper: &EventMapper);
}

impl EventMapper {
    /// A mapper that looks owners up in these caches.
    pub fn new(caches: Caches, queue: Arc<Queue<Key>>) -> Self {
        EventMapper { caches, queue }
    }

    /// The caches that owners are looked up in.
    pub(crate) fn caches(&self) -> &Caches {
        &self.caches
    }

    /// Maps an object that was added, or changed from `before`.
    pub(crate) fn applied<K: WatchedObject>(&self, before: Option<&K>, object: &K) {
        match before {
            Some(before) if !object.affects_plans(before) => {}
            Some(before) => {
                // The change may have taken the object from its owner.
                before.enqueue_daemon_sets(self);
                object.enqueue_daemon_sets(self);
            }
            None => object.enqueue_daemon_sets(self),
        }
    }

    /// Enqueues every DaemonSet.
    pub(crate) fn enqueue_all(&self) {
        for ds in self.caches.daemon_sets.state() {
            self.queue.add(Key::from(&*ds));
        }
    }

    /// Enqueues the controller of an object; for an orphan every DaemonSet of its namespace, each of which may adopt it.
    fn enqueue_owner(&self, namespace: &str, owners: &[OwnerReference]) {
        match owners.iter().find(|owner| owner.controller == Some(true)) {
            Some(owner) if owner.kind == "DaemonSet" => {
                let key = Key { namespace: namespace.to_owned(), name: owner.name.clone() };
                if self.caches.daemon_set(&key).is_some_and(|ds| ds.metadata.uid == owner.uid) {
                    self.queue.add(key);
                }
            }
            Some(_) => {}
            None => {
                let all = self.caches.daemon_sets.state();
                for ds in all.iter().filter(|ds| ds.metadata.namespace == namespace) {
                    self.queue.add(Key::from(&**ds));
                }
            }
        }
    }
}

impl WatchedObject for DaemonSet {
    fn affects_plans(&self, _: &Self) -> bool {
        true
    }

    fn enqueue_daemon_sets(&self, mapper: &EventMapper) {
        mapper.queue.add(Key::from(self));
    }
}

impl WatchedObject for Pod {
    /// The model holds only the fields that a plan reads, and the resource version, which changes with every write.
    fn affects_plans(&self, before: &Self) -> bool {
        let (new, old) = (&self.metadata, &before.metadata);
        self.spec != before.spec
            || self.status != before.status
            || new.uid != old.uid
            || new.labels != old.labels
            || new.owner_references != old.owner_references
            || new.deletion_timestamp != old.deletion_timestamp
    }

    fn enqueue_daemon_sets(&self, mapper: &EventMapper) {
        mapper.enqueue_owner(&self.metadata.namespace, &self.metadata.owner_references);
    }
}

impl WatchedObject for ControllerRevision {
    fn affects_plans(&self, _: &Self) -> bool {
        true
    }

    fn enqueue_daemon_sets(&self, mapper: &EventMapper) {
        mapper.enqueue_owner(&self.metadata.namespace, &self.metadata.owner_references);
    }
}

impl WatchedObject for Node {
    /// Heartbeats and images change nodes all the time (v1.36 `shouldIgnoreNodeUpdate`).
    fn affects_plans(&self, before: &Self) -> bool {
        let labels = |node: &Self| -> Labels { node.metadata.labels.clone() };
        let ready =
            |node: &Self| node.status.conditions.iter().find(|c| c.kind == "Ready").map(|c| c.status.clone());
        labels(self) != labels(before) || self.spec != before.spec || ready(self) != ready(before)
    }

    fn enqueue_daemon_sets(&self, mapper: &EventMapper) {
        mapper.enqueue_all();
    }
}
