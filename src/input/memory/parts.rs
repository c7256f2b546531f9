//! What crates of the same version read of a memory, and the parts of one that are about some nodes and pods.

use crate::input::memory::Memory;
use crate::input::memory::Taken;
use crate::input::memory::accepted::{CreatedPod, DeletedPod, InFlight, RestoredTemplate};
use crate::input::memory::node_failures::{FAILURES_FORGOTTEN_AFTER, NodeFailures};
use crate::input::memory::turns::TurnMemory;
use daemonset_objects::model::{NodeName, Uid};
use jiff::{SignedDuration, Timestamp};
use std::borrow::Borrow;
use std::collections::BTreeMap;

/// For crates of the same version: [`internal`](crate::internal).
#[doc(hidden)]
impl Memory {
    /// Creates that the API server accepted, by node.
    pub fn creates(&self) -> &BTreeMap<NodeName, InFlight<CreatedPod>> {
        &self.creates
    }

    /// Deletes that the API server accepted, by the pod's uid.
    pub fn deletes(&self) -> &BTreeMap<Uid, InFlight<DeletedPod>> {
        &self.deletes
    }

    /// Failures, by node.
    pub fn all_failures(&self) -> &BTreeMap<NodeName, NodeFailures> {
        &self.failures
    }

    /// Nodes whose pod an update took, until a Ready updated pod is seen there.
    pub fn taken(&self) -> &BTreeMap<NodeName, Taken> {
        &self.taken
    }

    /// As [`taken`](Self::taken), to change.
    pub fn taken_mut(&mut self) -> &mut BTreeMap<NodeName, Taken> {
        &mut self.taken
    }

    /// Turns, pulls and changes in place.
    pub fn turns(&self) -> &TurnMemory {
        &self.turns
    }

    /// As [`turns`](Self::turns), to change.
    pub fn turns_mut(&mut self) -> &mut TurnMemory {
        &mut self.turns
    }

    /// The restored template that the API server accepted.
    pub fn restored(&self) -> Option<InFlight<RestoredTemplate>> {
        self.restores.as_ref()?.accepted
    }

    /// The nodes that it has entries of, but for deletes; some more than once.
    pub fn nodes_with_entries(&self) -> impl Iterator<Item = &NodeName> {
        let by_action = self.creates.keys().chain(self.taken.keys());
        by_action.chain(self.failures.keys()).chain(self.refusals.keys()).chain(self.rejections.keys())
    }

    /// Whether it has entries of a node, but for deletes.
    pub fn has_entries_of(&self, node: &str) -> bool {
        self.creates.contains_key(node)
            || self.taken.contains_key(node)
            || self.failures.contains_key(node)
            || self.refusals.contains_key(node)
            || self.rejections.contains_key(node)
    }

    /// The part about these nodes and these pods: their names and uids. It has no turns: no plan of a part has any.
    pub fn part<'n>(
        &self,
        nodes: impl Iterator<Item = &'n str> + Clone,
        pods: impl Iterator<Item = &'n str>,
    ) -> Memory {
        let Memory { uid, creates, deletes, failures, refusals, taken, rejections, turns: _, restores } =
            self;
        Memory {
            uid: uid.clone(),
            creates: with_keys(creates, nodes.clone()),
            deletes: with_keys(deletes, pods),
            failures: with_keys(failures, nodes.clone()),
            refusals: with_keys(refusals, nodes.clone()),
            taken: with_keys(taken, nodes.clone()),
            rejections: with_keys(rejections, nodes),
            turns: Default::default(),
            // These are about the DaemonSet itself: each part has them.
            restores: restores.clone(),
        }
    }

    /// Forgets the entries that a part of it had and has forgotten.
    pub fn forget_lost(&mut self, before: &Memory, after: &Memory) {
        let Memory { uid: _, creates, deletes, failures, refusals, taken, rejections, turns: _, restores } =
            self;
        remove_lost(creates, &before.creates, &after.creates);
        remove_lost(deletes, &before.deletes, &after.deletes);
        remove_lost(failures, &before.failures, &after.failures);
        remove_lost(refusals, &before.refusals, &after.refusals);
        remove_lost(taken, &before.taken, &after.taken);
        remove_lost(rejections, &before.rejections, &after.rejections);
        restores.clone_from(&after.restores);
    }

    /// Adds the deletes of these pods that another memory has.
    pub fn add_deletes<'p>(&mut self, other: &Memory, pods: impl IntoIterator<Item = &'p Uid>) {
        let deletes = pods.into_iter().filter_map(|uid| other.deletes.get_key_value(uid));
        self.deletes.extend(deletes.map(|(uid, delete)| (uid.clone(), *delete)));
    }

    /// The first instant after `now` at which an entry of a node or of one of its pods ends, or its effect. Actions in flight
    /// and taken nodes expire after these times.
    pub fn next_end<'p>(
        &self,
        node: &str,
        pods: impl Iterator<Item = &'p str>,
        (expiry, taken_expiry): (SignedDuration, SignedDuration),
        now: Timestamp,
    ) -> Option<Timestamp> {
        let after = |at: Timestamp, time: SignedDuration| at.checked_add(time).ok();
        let deletes = pods.filter_map(|uid| self.deletes.get(uid));
        let failures = self.failures.get(node);
        let ends = [
            self.creates.get(node).and_then(|create| after(create.at, expiry)),
            failures.and_then(|failures| after(failures.at, FAILURES_FORGOTTEN_AFTER)),
            failures.and_then(|failures| failures.back_off_ends()),
            self.refusals.get(node).and_then(|at| after(*at, FAILURES_FORGOTTEN_AFTER)),
            self.rejections.get(node).and_then(|last| after(last.at, FAILURES_FORGOTTEN_AFTER)),
            self.taken.get(node).and_then(|taken| after(taken.at, taken_expiry)),
        ];
        let deletes = deletes.filter_map(|delete| after(delete.at, expiry));
        ends.into_iter().flatten().chain(deletes).filter(|at| now < *at).min()
    }
}

/// The entries with these keys.
fn with_keys<'k, K, V>(entries: &BTreeMap<K, V>, keys: impl Iterator<Item = &'k str>) -> BTreeMap<K, V>
where
    K: Ord + Clone + Borrow<str>,
    V: Clone,
{
    if entries.is_empty() {
        return BTreeMap::new();
    }
    keys.filter_map(|key| entries.get_key_value(key))
        .map(|(key, entry)| (key.clone(), entry.clone()))
        .collect()
}

/// Removes the entries that `before` has and `after` lacks.
fn remove_lost<K: Ord, V>(entries: &mut BTreeMap<K, V>, before: &BTreeMap<K, V>, after: &BTreeMap<K, V>) {
    for key in before.keys().filter(|key| !after.contains_key(*key)) {
        entries.remove(key);
    }
}
