//! The entries of a memory that must be compared with the objects again.
//!
//! [`Memory::observe`] compares every entry with every pod. A kept state compares an entry when something about it has
//! changed: its node or pod, its time, or the version of the list of pods.

use super::objects::Objects;
use daemonset::model::{NodeName, Uid};
use daemonset::{Action, CreateReason, Memory, ObservedAt};
use jiff::{SignedDuration, Timestamp};
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
    /// Nodes of patches, by the version at which a list of nodes shows them.
    node_versions: BTreeSet<(u64, NodeName)>,
    /// The node of each create in flight, by the uid of its pod.
    creates: BTreeMap<Uid, NodeName>,
    /// The node of each delete or change in flight, by the uid of its pod.
    deletes: BTreeMap<Uid, NodeName>,
    /// The node of each create of a pull pod in flight, by its name; the empty name where it is not known.
    pulls: BTreeMap<String, NodeName>,
    /// The same, by node.
    pulls_by_node: BTreeSet<(NodeName, String)>,
    /// The same, by the instant at which the outcome was known.
    pulls_by_time: BTreeSet<(Timestamp, String)>,
    /// When the first of the refused pulls and changes is forgotten.
    pub(super) refused_until: Option<Timestamp>,
}

impl Recheck {
    /// For a memory that has observed the objects: each of its deletes and changes has its pod. `pull_name` gives the name of the pull
    /// pod of a node.
    pub(super) fn new(memory: &Memory, objects: &Objects, pull_name: impl Fn(&NodeName) -> String) -> Self {
        // The first plan finds the instant.
        let mut recheck = Recheck { refused_until: Some(Timestamp::MIN), ..Recheck::default() };
        for node in memory.creates().keys() {
            recheck.create(node, memory);
        }
        let turns = memory.turns();
        turns.patches.keys().for_each(|node| recheck.patch(node, memory));
        if !turns.pulls.is_empty() {
            let names = objects.nodes.iter().map(|(_, node)| &node.facts.name);
            names.for_each(|node| recheck.pull(&pull_name(node), node, memory));
            let of_no_node = turns.pulls.keys().filter(|name| !recheck.pulls.contains_key(*name));
            let of_no_node: Vec<&String> = of_no_node.collect();
            of_no_node.into_iter().for_each(|name| recheck.pull(name, &NodeName::default(), memory));
        }
        if memory.has_entries_of_pods() {
            let is_remembered = |uid: &str| {
                let is_changed = turns.in_place.contains_key(uid) || turns.pull_deletes.contains_key(uid);
                is_changed || memory.deletes().contains_key(uid)
            };
            let pods = objects.pods.iter().filter(|(_, pod)| is_remembered(pod.uid()));
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
        for version in versions_of(uid, memory) {
            self.versions.extend(version.map(|version| (version, node.clone())));
            self.deletes.insert(uid.clone(), node.clone());
        }
    }

    fn patch(&mut self, node: &NodeName, memory: &Memory) {
        let Some(patch) = memory.turns().patches.get(node) else { return };
        self.node_versions.extend(patch.version.map(|version| (version, node.clone())));
    }

    fn pull(&mut self, name: &str, node: &NodeName, memory: &Memory) {
        let Some(pull) = memory.turns().pulls.get(name) else { return };
        self.versions.extend(pull.version.map(|version| (version, node.clone())));
        self.pulls.insert(name.to_owned(), node.clone());
        self.pulls_by_node.insert((node.clone(), name.to_owned()));
        self.pulls_by_time.insert((pull.at, name.to_owned()));
    }

    /// The pulls in flight of a node, by name.
    pub(super) fn pulls_of(&self, node: &str) -> impl Iterator<Item = &str> + Clone {
        let first = (!self.pulls.is_empty()).then(|| (NodeName::from(node), String::new()));
        let pulls = first.map(|first| self.pulls_by_node.range(first..));
        let pulls = pulls.into_iter().flatten();
        pulls.take_while(move |(of, _)| of.as_str() == node).map(|(_, name)| name.as_str())
    }

    /// The nodes of all pulls in flight; some more than once.
    pub(super) fn nodes_of_pulls(&self) -> impl Iterator<Item = &NodeName> {
        self.pulls.values()
    }

    /// The name and the instant of each pull in flight, the first ones first.
    pub(super) fn pulls_by_time(&self) -> impl Iterator<Item = &(Timestamp, String)> {
        self.pulls_by_time.iter()
    }

    /// The outcome of an action has changed the memory, whose entries about it were `before`.
    pub(super) fn recorded(&mut self, action: &Action, before: &Memory, memory: &Memory, objects: &Objects) {
        let of_patch: NodeName;
        let node = match action {
            Action::CreatePod { node, .. }
            | Action::DeletePod { node, .. }
            | Action::UpdatePodInPlace { node, .. } => node,
            Action::PatchNode { node, .. } => {
                of_patch = node.name.as_str().into();
                &of_patch
            }
            _ => return,
        };
        self.forget(before, memory);
        match action {
            Action::CreatePod { reason: CreateReason::PullImages, pod, .. } => {
                pod.name().into_iter().for_each(|name| self.pull(name, node, memory));
            }
            Action::DeletePod { pod, .. } | Action::UpdatePodInPlace { pod, .. } => {
                self.delete(&pod.uid, node, memory);
                self.pods.insert(pod.uid.clone());
            }
            _ => {}
        }
        self.create(node, memory);
        self.patch(node, memory);
        self.nodes.insert(node.clone());
        if objects.node_slot(node.as_str()).is_none() {
            self.unknown(node.as_str(), memory);
        }
        // The next plan finds the instant again.
        if !memory.turns().refused_pulls.is_empty() || !memory.turns().refused_in_place.is_empty() {
            self.refused_until = Some(Timestamp::MIN);
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

    /// A pod with this name came or changed.
    pub(super) fn pod_named(&mut self, name: &str) {
        self.nodes.extend(self.pulls.get(name).cloned());
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

    /// Adds the nodes of the entries that lists at these versions show, and of the pulls that have expired.
    pub(super) fn advance(&mut self, at: ObservedAt, expiry: SignedDuration) {
        let Recheck { nodes, versions, node_versions, pulls, pulls_by_time, .. } = self;
        let is_due = |accepted: Timestamp| expiry <= at.now.duration_since(accepted);
        let due = pulls_by_time.iter().take_while(|(accepted, _)| is_due(*accepted));
        nodes.extend(due.filter_map(|(_, name)| pulls.get(name)).cloned());
        for (versions, read) in [(versions, at.pods_version), (node_versions, at.nodes_version)] {
            let Some(read) = read else { continue };
            while let Some((_, node)) = versions.first().filter(|(version, _)| *version <= read).cloned() {
                versions.pop_first();
                nodes.insert(node);
            }
        }
    }

    /// The memory has forgotten the entries that `before` has and `after` lacks, or has otherwise. Returns the nodes that it no longer waits
    /// for.
    pub(super) fn forget(&mut self, before: &Memory, after: &Memory) -> Vec<NodeName> {
        for (node, create) in lost(before.creates(), after.creates()) {
            create.version.map(|version| self.versions.remove(&(version, node.clone())));
            create.expected.uid.as_ref().map(|uid| self.creates.remove(uid));
        }
        if before.has_entries_of_pods() {
            let (turns, later) = (before.turns(), after.turns());
            let deletes = lost(before.deletes(), after.deletes()).map(|(uid, delete)| (uid, delete.version));
            let pull_deletes = lost(&turns.pull_deletes, &later.pull_deletes);
            let in_place = lost(&turns.in_place, &later.in_place);
            let of_turns = pull_deletes.map(|(uid, delete)| (uid, delete.version));
            let of_turns = of_turns.chain(in_place.map(|(uid, change)| (uid, change.version)));
            for (uid, version) in deletes.chain(of_turns) {
                let Some(node) = self.deletes.get(uid).cloned() else { continue };
                version.map(|version| self.versions.remove(&(version, node)));
                if versions_of(uid, after).next().is_none() {
                    self.deletes.remove(uid);
                }
            }
            for (node, patch) in lost(&turns.patches, &later.patches) {
                patch.version.map(|version| self.node_versions.remove(&(version, node.clone())));
            }
            for (name, pull) in lost(&turns.pulls, &later.pulls) {
                let Some(node) = self.pulls.remove(name) else { continue };
                pull.version.map(|version| self.versions.remove(&(version, node.clone())));
                self.pulls_by_node.remove(&(node, name.clone()));
                self.pulls_by_time.remove(&(pull.at, name.clone()));
            }
        }
        before
            .deleted_by_update()
            .keys()
            .filter(|node| !after.deleted_by_update().contains_key(*node))
            .cloned()
            .collect()
    }
}

/// The entries that a memory had `before` and has no more, or otherwise.
fn lost<'m, K: Ord, V: PartialEq>(
    before: &'m BTreeMap<K, V>,
    after: &'m BTreeMap<K, V>,
) -> impl Iterator<Item = (&'m K, &'m V)> {
    before.iter().filter(|(key, entry)| after.get(*key) != Some(*entry))
}

/// For each delete and change of a pod in flight the version at which a list shows it.
fn versions_of(uid: &Uid, memory: &Memory) -> impl Iterator<Item = Option<u64>> {
    let turns = memory.turns();
    let delete = memory.deletes().get(uid).map(|delete| delete.version);
    let pull = turns.pull_deletes.get(uid).map(|delete| delete.version);
    let change = turns.in_place.get(uid).map(|change| change.version);
    [delete, pull, change].into_iter().flatten()
}
