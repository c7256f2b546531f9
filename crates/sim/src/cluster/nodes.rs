//! Operations on nodes.

use super::Cluster;
use crate::environment::Environment;
use crate::event::Actor;
use crate::requirements::Resources;
use daemonset::model::{DaemonSet, Labels, Node, NodeName, Taint, Uid};
use daemonset::{Action, ActionOutcome};

impl Cluster {
    /// Adds a Ready node with unlimited resources.
    pub fn add_node(&mut self, name: &str, labels: Labels) {
        let mut node = Node::default();
        node.metadata.name = name.into();
        node.metadata.labels = labels;
        self.add_node_with(node, Resources::UNLIMITED);
    }

    /// Adds this node, with these allocatable resources.
    pub fn add_node_with(&mut self, node: Node, capacity: Resources) {
        self.environment.add_node(Actor::Environment, node, capacity);
        self.send();
    }

    /// Deletes a node.
    pub fn remove_node(&mut self, node: &str) {
        self.on_node(node, |environment, name| environment.remove_node(Actor::User, name));
    }

    /// Stops a node's kubelet: the node becomes not Ready and unreachable.
    pub fn take_down(&mut self, node: &str) {
        self.on_node(node, |environment, name| environment.take_down(Actor::Environment, name));
    }

    /// Starts a node's kubelet again.
    pub fn bring_up(&mut self, node: &str) {
        self.on_node(node, |environment, name| environment.bring_up(Actor::Environment, name));
    }

    /// Shuts a node down gracefully: its condition `GracefulNodeShutdownInProgress` is True, its pods fail, and its kubelet
    /// rejects new ones until the node is [brought up](Cluster::bring_up).
    pub fn shut_down(&mut self, node: &str) {
        self.on_node(node, |environment, name| environment.shut_down(Actor::User, name));
    }

    /// Sets a condition of a node, such as `DrainInProgress` or `MaintenanceInProgress`, to True or False.
    pub fn set_node_condition(&mut self, node: &str, kind: &str, is_true: bool) {
        self.on_node(node, |environment, name| environment.set_node_condition(name, kind, is_true));
    }

    /// Sets the taint of nodes that lose their Ready pod of the DaemonSet from now on; `None` also removes it from all
    /// nodes.
    pub fn set_absence_taint(&mut self, taint: Option<Taint>) {
        if let (Some(old), None) = (self.environment.settings.absence_taint.take(), &taint) {
            let names: Vec<NodeName> = self.environment.objects.nodes.keys().cloned().collect();
            for name in names {
                self.environment.remove_taint(Actor::Environment, &name, &old.key);
            }
        }
        self.environment.settings.absence_taint = taint;
        self.send();
    }

    /// Adds a taint, or replaces the one of the same key and effect.
    pub fn taint(&mut self, node: &str, key: &str, effect: &str) {
        let taint = Taint { key: key.to_owned(), value: String::new(), effect: effect.to_owned() };
        self.on_node(node, |environment, name| environment.add_taint(Actor::User, name, taint));
    }

    /// Removes all taints with this key.
    pub fn untaint(&mut self, node: &str, key: &str) {
        self.on_node(node, |environment, name| environment.remove_taint(Actor::User, name, key));
    }

    /// `kubectl cordon`.
    pub fn cordon(&mut self, node: &str) {
        self.on_node(node, |environment, name| environment.cordon(Actor::User, name));
    }

    /// `kubectl uncordon`.
    pub fn uncordon(&mut self, node: &str) {
        self.on_node(node, |environment, name| environment.uncordon(Actor::User, name));
    }

    /// `kubectl drain --ignore-daemonsets`: cordons the node, and deletes the pods that do not belong to the DaemonSet.
    pub fn drain(&mut self, node: &str) {
        self.on_node(node, |environment, name| {
            environment.cordon(Actor::User, name);
            let pods = environment.kubelets.get(name).map(|kubelet| kubelet.pods.clone()).unwrap_or_default();
            for uid in pods
                .iter()
                .filter(|uid| {
                    environment.runtimes.get(*uid).is_some_and(|runtime| runtime.identity.is_none())
                })
                .cloned()
                .collect::<Vec<_>>()
            {
                environment.delete_pod(Actor::User, &uid, None);
            }
        });
    }

    /// Sets a label.
    pub fn label_node(&mut self, node: &str, key: &str, value: &str) {
        self.on_node(node, |environment, name| environment.label_node(Actor::User, name, key, value));
    }

    /// Adds a DaemonSet that another controller reconciles: its pods are daemons for a drain, and its turns are no leftovers.
    pub fn add_other_daemon_set(&mut self, daemon_set: DaemonSet) {
        self.environment.other_daemon_sets.push(daemon_set);
    }

    /// Deletes a DaemonSet of another controller. Its turns are left over.
    pub fn remove_other_daemon_set(&mut self, uid: &Uid) {
        self.environment.other_daemon_sets.retain(|ds| ds.metadata.uid != *uid);
        self.controller.look_for_leftovers(self.environment.now);
    }

    /// Sets or removes an annotation of a node, such as the answer of a gate.
    pub fn annotate_node(&mut self, node: &str, key: &str, value: Option<&str>) {
        self.on_node(node, |environment, name| {
            environment.has_turns = true;
            environment.change_node(name, |node| {
                let others = node.metadata.annotations.iter().filter(|(other, _)| *other != key);
                node.metadata.annotations = others.chain(value.map(|value| (key, value))).collect();
            });
        });
    }

    /// Lets another controller execute an action, without any fault. `None`: the API server refuses it.
    pub fn execute(&mut self, action: &Action) -> Option<ActionOutcome> {
        let outcome = self.environment.execute(action, Actor::User).ok();
        self.send();
        outcome
    }

    pub(crate) fn on_environment(&mut self, operation: impl FnOnce(&mut Environment)) {
        operation(&mut self.environment);
        self.send();
    }

    fn on_node(&mut self, node: &str, operation: impl FnOnce(&mut Environment, &NodeName)) {
        operation(&mut self.environment, &NodeName::from(node));
        self.send();
    }
}
