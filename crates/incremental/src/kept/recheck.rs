//! The entries of a memory that must be compared with the objects again.
//!
//! [`Memory::observe`] compares every entry with every pod. A kept state compares an entry when something about it has
//! changed: its node or pod, its time, or the version of the list of pods.

use super::objects::Objects;
use daemonset::model::{NodeName, Uid};
use daemonset::{Action, Memory};
use std::collections::{BTreeMap, BTreeSet};

/// The entries to compare in the next plan, and the ways to find those of later ones.
#[derive(Debug, Default)]
pub(super) struct Recheck {
    /// Nodes whose entries must be compared in the next plan, be they known or not.
    pub(super) nodes: BTreeSet<NodeName>,
    /// Pods whose deletes must be compared in the next plan; they may be gone.
    pub(super) pods: BTreeSet<Uid>,
    /// Nodes that have entries and are not among the nodes: time alone ends them.
    pub(super) unknown: BTreeSet<NodeName>,
    /// Nodes of creates and deletes, by the version at which a list of pods shows them.
    versions: BTreeSet<(u64, NodeName)>,
    /// The node of each create in flight, by the uid of its pod.
    creates: BTreeMap<Uid, NodeName>,
    /// The node of each delete in flight, by the uid of its pod.
    deletes: BTreeMap<Uid, NodeName>,
}

impl Recheck {
    /// For a memory that has observed the objects: each of its deletes has its pod.
    pub(super) fn new(memory: &Memory, objects: &Objects) -> Self {
        let mut recheck = Recheck::default();
        for node in memory.creates().keys() {
            recheck.create(node, memory);
        }
        if !memory.deletes().is_empty() {
            let pods = objects.pods.iter().filter(|(_, pod)| memory.deletes().contains_key(pod.uid()));
            for (_, pod) in pods {
                let node = objects.node(pod.node).map(|node| node.facts.name.clone());
                let node = node.or_else(|| pod.missing_target().map(NodeName::from)).unwrap_or_default();
                recheck.delete(&pod.uid().into(), &node, memory);
            }
        }
        let unknown = memory.nodes_with_entries().filter(|node| objects.node_slot(node.as_str()).is_none());
        recheck.unknown.extend(unknown.cloned());
        recheck
    }

    fn create(&mut self, node: &NodeName, memory: &Memory) {
        let Some(create) = memory.creates().get(node) else { return };
        self.versions.extend(create.version.map(|version| (version, node.clone())));
        self.creates.extend(create.expected.uid.clone().map(|uid| (uid, node.clone())));
    }

    fn delete(&mut self, uid: &Uid, node: &NodeName, memory: &Memory) {
        let Some(delete) = memory.deletes().get(uid) else { return };
        self.versions.extend(delete.version.map(|version| (version, node.clone())));
        self.deletes.insert(uid.clone(), node.clone());
    }

    /// The outcome of an action has changed the memory, whose entries about it were `before`.
    pub(super) fn recorded(&mut self, action: &Action, before: &Memory, memory: &Memory, objects: &Objects) {
        let (Action::CreatePod { node, .. } | Action::DeletePod { node, .. }) = action else { return };
        self.forget(before, &Memory::default());
        self.create(node, memory);
        if let Action::DeletePod { pod, .. } = action {
            self.delete(&pod.uid, node, memory);
            self.pods.insert(pod.uid.clone());
        }
        self.nodes.insert(node.clone());
        if objects.node_slot(node.as_str()).is_none() {
            self.unknown(node.as_str(), memory);
        }
    }

    /// A pod with this uid came, changed or went.
    pub(super) fn pod(&mut self, uid: &str) {
        if let Some((uid, node)) = self.deletes.get_key_value(uid) {
            self.pods.insert(uid.clone());
            self.nodes.insert(node.clone());
        }
        self.nodes.extend(self.creates.get(uid).cloned());
    }

    /// The nodes of deletes in flight.
    pub(super) fn nodes_of_deletes(&self) -> impl Iterator<Item = &NodeName> {
        self.deletes.values()
    }

    /// The node is there.
    pub(super) fn known(&mut self, name: &str) {
        self.unknown.remove(name);
    }

    /// The node is not there, or no longer.
    pub(super) fn unknown(&mut self, name: &str, memory: &Memory) {
        if memory.has_entries_of(name) {
            self.unknown.insert(name.into());
        }
    }

    /// Adds the nodes whose creates and deletes a list of pods at this version shows.
    pub(super) fn advance(&mut self, version: Option<u64>) {
        let Some(version) = version else { return };
        while let Some((_, node)) = self.versions.first().filter(|(at, _)| *at <= version).cloned() {
            self.versions.pop_first();
            self.nodes.insert(node);
        }
    }

    /// The memory has forgotten the entries that `before` has and `after` lacks. Returns the nodes that it no longer waits
    /// for.
    pub(super) fn forget(&mut self, before: &Memory, after: &Memory) -> Vec<NodeName> {
        for (node, create) in before.creates().iter().filter(|(node, _)| !after.creates().contains_key(*node))
        {
            create.version.map(|version| self.versions.remove(&(version, node.clone())));
            create.expected.uid.as_ref().map(|uid| self.creates.remove(uid));
        }
        for (uid, delete) in before.deletes().iter().filter(|(uid, _)| !after.deletes().contains_key(*uid)) {
            let Some(node) = self.deletes.remove(uid) else { continue };
            delete.version.map(|version| self.versions.remove(&(version, node)));
        }
        before.taken().keys().filter(|node| !after.taken().contains_key(*node)).cloned().collect()
    }
}
