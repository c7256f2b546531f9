//! What crates of the same version read of a memory, and the parts of one that are about some nodes and pods.

use crate::input::memory::DeletedByUpdate;
use crate::input::memory::Memory;
use crate::input::memory::accepted::{CreatedPod, DeletedPod, InFlight, RestoredTemplate};
use crate::input::memory::node_failures::{
    FAILURES_FORGOTTEN_AFTER, NodeFailures, is_long_ago, remembered_until,
};
use crate::input::memory::turns::{KeptTurns, TurnMemory};
use daemonset_objects::model::{NodeName, Uid};
use jiff::{SignedDuration, Timestamp};
use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

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
    pub fn deleted_by_update(&self) -> &BTreeMap<NodeName, DeletedByUpdate> {
        &self.deleted_by_update
    }

    /// As [`deleted_by_update`](Self::deleted_by_update), to change.
    pub fn deleted_by_update_mut(&mut self) -> &mut BTreeMap<NodeName, DeletedByUpdate> {
        &mut self.deleted_by_update
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
        let by_action = self.creates.keys().chain(self.deleted_by_update.keys());
        let by_outcome = self.failures.keys().chain(self.refusals.keys()).chain(self.rejections.keys());
        by_action.chain(by_outcome).chain(self.turns.patches.keys())
    }

    /// Whether it has entries of a node, but for deletes.
    pub fn has_entries_of(&self, node: &str) -> bool {
        self.creates.contains_key(node)
            || self.deleted_by_update.contains_key(node)
            || self.failures.contains_key(node)
            || self.refusals.contains_key(node)
            || self.rejections.contains_key(node)
            || self.turns.patches.contains_key(node)
    }

    /// Whether it has entries of pods, by their uids.
    pub fn has_entries_of_pods(&self) -> bool {
        !self.deletes.is_empty() || !self.turns.is_empty()
    }

    /// The part about these nodes, these pods and these pull pods: names, uids, and names again.
    pub fn part<'n>(
        &self,
        nodes: impl Iterator<Item = &'n str> + Clone,
        pods: impl Iterator<Item = &'n str> + Clone,
        pulls: impl Iterator<Item = &'n str> + Clone,
    ) -> Memory {
        let Memory {
            uid,
            creates,
            deletes,
            failures,
            refusals,
            deleted_by_update,
            rejections,
            turns,
            restores,
        } = self;
        Memory {
            uid: uid.clone(),
            creates: with_keys(creates, nodes.clone()),
            deletes: with_keys(deletes, pods.clone()),
            failures: with_keys(failures, nodes.clone()),
            refusals: with_keys(refusals, nodes.clone()),
            deleted_by_update: with_keys(deleted_by_update, nodes.clone()),
            rejections: with_keys(rejections, nodes.clone()),
            turns: turns.part(nodes, pods, pulls),
            // These are about the DaemonSet itself: each part has them.
            restores: restores.clone(),
        }
    }

    /// Forgets the entries that a part of it had and has forgotten.
    pub fn forget_lost(&mut self, before: &Memory, after: &Memory) {
        let Memory {
            uid: _,
            creates,
            deletes,
            failures,
            refusals,
            deleted_by_update,
            rejections,
            turns,
            restores,
        } = self;
        turns.forget_lost(&before.turns, &after.turns);
        remove_lost(creates, &before.creates, &after.creates);
        remove_lost(deletes, &before.deletes, &after.deletes);
        remove_lost(failures, &before.failures, &after.failures);
        remove_lost(refusals, &before.refusals, &after.refusals);
        remove_lost(deleted_by_update, &before.deleted_by_update, &after.deleted_by_update);
        remove_lost(rejections, &before.rejections, &after.rejections);
        restores.clone_from(&after.restores);
    }

    /// Adds the deletes and changes of these pods that another memory has.
    pub fn add_deletes(&mut self, other: &Memory, pods: &BTreeSet<Uid>) {
        if pods.is_empty() {
            return;
        }
        let keys = || pods.iter().map(Uid::as_str);
        self.deletes.extend(with_keys(&other.deletes, keys()));
        if !other.turns.is_empty() {
            self.turns.pull_deletes.extend(with_keys(&other.turns.pull_deletes, keys()));
            self.turns.in_place.extend(with_keys(&other.turns.in_place, keys()));
        }
    }

    /// Forgets refusals of long ago; the next one is of long ago from this instant on.
    pub fn forget_refusals(&mut self, now: Timestamp) -> Option<Timestamp> {
        if self.turns.is_empty() {
            return None;
        }
        let TurnMemory { refused_pulls, refused_in_place, .. } = &mut *self.turns;
        refused_pulls.retain(|_, at| !is_long_ago(*at, now));
        refused_in_place.retain(|_, at| !is_long_ago(*at, now));
        let all = refused_pulls.values().chain(refused_in_place.values());
        all.filter_map(|at| remembered_until(*at, now)).min()
    }

    /// The first instant after `now` at which an entry of a node or of one of its pods ends, or its effect. Actions in flight
    /// and nodes whose pod the update deleted expire after these times.
    pub fn next_end<'p>(
        &self,
        node: &str,
        pods: impl Iterator<Item = &'p str> + Clone,
        (expiry, taken_expiry): (SignedDuration, SignedDuration),
        now: Timestamp,
    ) -> Option<Timestamp> {
        let after = |at: Timestamp, time: SignedDuration| at.checked_add(time).ok();
        let deletes = pods.clone().filter_map(|uid| self.deletes.get(uid));
        let failures = self.failures.get(node);
        let ends = [
            self.creates.get(node).and_then(|create| after(create.at, expiry)),
            failures.and_then(|failures| after(failures.at, FAILURES_FORGOTTEN_AFTER)),
            failures.and_then(|failures| failures.back_off_ends()),
            self.refusals.get(node).and_then(|at| after(*at, FAILURES_FORGOTTEN_AFTER)),
            self.rejections.get(node).and_then(|last| after(last.at, FAILURES_FORGOTTEN_AFTER)),
            self.deleted_by_update.get(node).and_then(|taken| after(taken.at, taken_expiry)),
        ];
        let deletes = deletes.filter_map(|delete| after(delete.at, expiry));
        let of_turns =
            if self.turns.is_empty() { None } else { self.turns.next_end(node, pods, expiry, now) };
        ends.into_iter().flatten().chain(deletes).chain(of_turns).filter(|at| now < *at).min()
    }
}

impl KeptTurns {
    fn part<'n>(
        &self,
        nodes: impl Iterator<Item = &'n str>,
        pods: impl Iterator<Item = &'n str> + Clone,
        pulls: impl Iterator<Item = &'n str> + Clone,
    ) -> KeptTurns {
        if self.is_empty() {
            return KeptTurns::default();
        }
        let TurnMemory { patches, pulls: in_flight, pull_deletes, refused_pulls, in_place, refused_in_place } =
            &**self;
        KeptTurns::from(TurnMemory {
            patches: with_keys(patches, nodes),
            pulls: with_keys(in_flight, pulls.clone()),
            pull_deletes: with_keys(pull_deletes, pods.clone()),
            refused_pulls: with_keys(refused_pulls, pulls),
            in_place: with_keys(in_place, pods.clone()),
            refused_in_place: with_keys(refused_in_place, pods),
        })
    }

    fn forget_lost(&mut self, before: &TurnMemory, after: &TurnMemory) {
        if self.is_empty() {
            return;
        }
        let TurnMemory { patches, pulls, pull_deletes, refused_pulls, in_place, refused_in_place } =
            &mut **self;
        remove_lost(patches, &before.patches, &after.patches);
        remove_lost(pulls, &before.pulls, &after.pulls);
        remove_lost(pull_deletes, &before.pull_deletes, &after.pull_deletes);
        remove_lost(refused_pulls, &before.refused_pulls, &after.refused_pulls);
        remove_lost(in_place, &before.in_place, &after.in_place);
        remove_lost(refused_in_place, &before.refused_in_place, &after.refused_in_place);
    }
}

impl TurnMemory {
    /// As [`Memory::next_end`], but for pulls.
    fn next_end<'p>(
        &self,
        node: &str,
        pods: impl Iterator<Item = &'p str> + Clone,
        expiry: SignedDuration,
        now: Timestamp,
    ) -> Option<Timestamp> {
        let after = |at: Timestamp| at.checked_add(expiry).ok();
        let patch = self.patches.get(node).and_then(|patch| after(patch.at));
        let of_pods = pods.flat_map(|uid| {
            [
                self.pull_deletes.get(uid).and_then(|delete| after(delete.at)),
                self.in_place.get(uid).and_then(|change| after(change.at)),
                self.refused_in_place.get(uid).and_then(|at| remembered_until(*at, now)),
            ]
        });
        patch.into_iter().chain(of_pods.flatten()).filter(|at| now < *at).min()
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
