//! Which DaemonSets an object's change concerns, and which changes are none.

use crate::compare::watched::Compared;
use crate::world::{Key, Told};
use daemonset::model::{ControllerRevision, DaemonSet, Labels, Node, OwnerReference, Pod};

/// What an object's change concerns.
pub(crate) trait Concerns: Compared {
    /// Whether a decision could be another one for it.
    fn differs(&self, before: &Self) -> bool;

    /// Puts the DaemonSets that it concerns into the queue.
    fn tell(&self, told: &Told);
}

impl Told {
    /// The controller; without one, every DaemonSet of the namespace, which may adopt it.
    fn of(&self, namespace: &str, owners: &[OwnerReference]) {
        match owners.iter().find(|owner| owner.controller == Some(true)) {
            Some(owner) if owner.kind == "DaemonSet" => {
                let key = Key { namespace: namespace.to_owned(), name: owner.name.clone() };
                if self.world.daemon_set(&key).is_some_and(|ds| ds.metadata.uid == owner.uid) {
                    self.queue.add(key);
                }
            }
            Some(_) => {}
            None => {
                let all = self.world.daemon_sets.state();
                for ds in all.iter().filter(|ds| ds.metadata.namespace == namespace) {
                    self.queue.add(Key::from(&**ds));
                }
            }
        }
    }
}

impl Concerns for DaemonSet {
    fn differs(&self, _: &Self) -> bool {
        true
    }

    fn tell(&self, told: &Told) {
        told.queue.add(Key::from(self));
    }
}

impl Concerns for Pod {
    /// The model keeps what a decision reads, and the version.
    fn differs(&self, before: &Self) -> bool {
        let (new, old) = (&self.metadata, &before.metadata);
        self.spec != before.spec
            || self.status != before.status
            || new.uid != old.uid
            || new.labels != old.labels
            || new.owner_references != old.owner_references
            || new.deletion_timestamp != old.deletion_timestamp
    }

    fn tell(&self, told: &Told) {
        told.of(&self.metadata.namespace, &self.metadata.owner_references);
    }
}

impl Concerns for ControllerRevision {
    fn differs(&self, _: &Self) -> bool {
        true
    }

    fn tell(&self, told: &Told) {
        told.of(&self.metadata.namespace, &self.metadata.owner_references);
    }
}

impl Concerns for Node {
    /// Heartbeats and images change a node all the time (v1.36 `shouldIgnoreNodeUpdate`).
    fn differs(&self, before: &Self) -> bool {
        let labels = |node: &Self| -> Labels { node.metadata.labels.clone() };
        let ready =
            |node: &Self| node.status.conditions.iter().find(|c| c.kind == "Ready").map(|c| c.status.clone());
        labels(self) != labels(before) || self.spec != before.spec || ready(self) != ready(before)
    }

    fn tell(&self, told: &Told) {
        told.all();
    }
}
