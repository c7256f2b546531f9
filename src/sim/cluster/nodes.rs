//! What happens to nodes.

use super::Cluster;
use crate::model::{Labels, Node, NodeName, Taint};
use crate::sim::event::Actor;
use crate::sim::needs::Resources;
use crate::sim::world::World;

impl Cluster {
    /// A node joins that is Ready, with room for everybody.
    pub fn add_node(&mut self, name: &str, labels: Labels) {
        let mut node = Node::default();
        node.metadata.name = name.into();
        node.metadata.labels = labels;
        self.add_node_with(node, Resources::UNLIMITED);
    }

    /// A node joins as it is, with so much room.
    pub fn add_node_with(&mut self, node: Node, capacity: Resources) {
        self.world.add_node(Actor::World, node, capacity);
        self.send();
    }

    /// A node leaves.
    pub fn remove_node(&mut self, node: &str) {
        self.on_node(node, |world, name| world.remove_node(Actor::User, name));
    }

    /// A node's kubelet is not heard of any more.
    pub fn take_down(&mut self, node: &str) {
        self.on_node(node, |world, name| world.take_down(Actor::World, name));
    }

    /// A node's kubelet is back.
    pub fn bring_up(&mut self, node: &str) {
        self.on_node(node, |world, name| world.bring_up(Actor::World, name));
    }

    /// Sets a taint.
    pub fn taint(&mut self, node: &str, key: &str, effect: &str) {
        let taint = Taint { key: key.to_owned(), value: String::new(), effect: effect.to_owned() };
        self.on_node(node, |world, name| world.add_taint(Actor::User, name, taint));
    }

    /// Takes all taints of a key away.
    pub fn untaint(&mut self, node: &str, key: &str) {
        self.on_node(node, |world, name| world.remove_taint(Actor::User, name, key));
    }

    /// `kubectl cordon`.
    pub fn cordon(&mut self, node: &str) {
        self.on_node(node, |world, name| world.cordon(Actor::User, name));
    }

    /// `kubectl uncordon`.
    pub fn uncordon(&mut self, node: &str) {
        self.on_node(node, |world, name| world.uncordon(Actor::User, name));
    }

    /// `kubectl drain --ignore-daemonsets`: cordons, and deletes the pods that are not the DaemonSet's.
    pub fn drain(&mut self, node: &str) {
        self.on_node(node, |world, name| {
            world.cordon(Actor::User, name);
            let pods = world.machines.get(name).map(|machine| machine.pods.clone()).unwrap_or_default();
            for uid in pods
                .iter()
                .filter(|uid| world.lives.get(*uid).is_some_and(|life| !life.told))
                .cloned()
                .collect::<Vec<_>>()
            {
                world.delete_pod(Actor::User, &uid, None);
            }
        });
    }

    /// Sets a label.
    pub fn label_node(&mut self, node: &str, key: &str, value: &str) {
        self.on_node(node, |world, name| world.label_node(Actor::User, name, key, value));
    }

    fn on_node(&mut self, node: &str, happens: impl FnOnce(&mut World, &NodeName)) {
        happens(&mut self.world, &NodeName::from(node));
        self.send();
    }
}
