//! The nodes and pods of a kept state, found by name, each pod on its node.

use super::evaluation::KeptEvaluation;
use super::facts::{Frame, KeptNode, KeptPod, NOWHERE, Reads, SharedByPods, Slot};
use super::relation::PodRelation;
use super::slots::Slots;
use daemonset::internal::{ClaimVerdict, Placement};
use daemonset::kubernetes::well_known::TEMPLATE_GENERATION_LABEL;
use daemonset::model::NodeName;
use daemonset::policy::PodNames;
use daemonset::{NodeView, PodView, Policy};
use slab::Slab;
use std::collections::{BTreeMap, BTreeSet};

/// A kept node.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) facts: KeptNode,
    /// The name of its pod, where each node has one name.
    own_name: Option<Box<str>>,
    first_pod: Slot,
    /// Its evaluation is that of other facts.
    pub(super) is_dirty: bool,
    pub(super) evaluation: KeptEvaluation,
}

/// Facts that pods share.
#[derive(Debug)]
struct Shared {
    facts: SharedByPods,
    /// How many kept pods have them.
    uses: u32,
    /// How many pods of the DaemonSet are among these.
    live: u32,
}

/// Nodes and pods.
#[derive(Debug, Default)]
pub(super) struct Objects {
    pub(super) nodes: Slab<Node>,
    node_slots: Slots,
    pub(super) pods: Slab<KeptPod>,
    pod_slots: Slots,
    /// A few: pods differ by revision, and by templates of a person. Only the facts in the first slots are looked for: where somebody
    /// gives each pod a label of its own, each has facts of its own.
    shared: Slab<Shared>,
    /// The nodes by the name of their pod, where each has one name.
    own_names: Option<BTreeMap<Box<str>, Slot>>,
    /// The key of the hash label.
    hash_key: Box<str>,
    /// The hashes that pods of the DaemonSet carry, each with how many shared facts of such pods have it.
    live_hashes: BTreeMap<Box<str>, u32>,
    /// The shared facts of the pod that was put last: most often the next one has the same.
    last_shared: Slot,
    /// Pods without a node among the nodes, by the name of their node, if they have one; without those of other owners.
    strays: BTreeMap<Option<Box<str>>, BTreeSet<Slot>>,
    /// Nodes whose evaluation must be found anew.
    dirty: Vec<Slot>,
    /// Nodes whose facts have changed since the last call of [`take_touched`](Self::take_touched); `None` for all.
    touched: Option<BTreeSet<Slot>>,
}

/// How many slots of shared facts are looked at for a pod.
const MOST_SHARED: Slot = 64;

fn name_of_node(nodes: &Slab<Node>, slot: Slot) -> Option<&str> {
    nodes.get(slot as usize).map(|node| node.facts.name.as_str())
}

fn name_of_pod(pods: &Slab<KeptPod>, slot: Slot) -> Option<&str> {
    pods.get(slot as usize).map(KeptPod::name)
}

impl Objects {
    /// No objects.
    pub(super) fn new(policy: &Policy) -> Self {
        let own_names = (policy.pod_names == PodNames::OnePerNode).then(BTreeMap::new);
        Objects { hash_key: policy.unique_label_key.as_str().into(), own_names, ..Objects::default() }
    }

    /// The pod that has the name of a node's pod, where each node has one name for them.
    pub(super) fn namesake_of(&self, node: &Node) -> Option<Slot> {
        self.pod_slot(node.own_name.as_deref()?)
    }

    /// A pod with this name came, changed or went.
    fn touch_node_named(&mut self, pod: &str) {
        let node = self.own_names.as_ref().and_then(|names| names.get(pod)).copied();
        node.into_iter().for_each(|slot| self.change_facts(slot));
    }

    /// Makes room for so many at once, and for no more.
    pub(super) fn reserve(&mut self, nodes: usize, pods: usize) {
        self.nodes.reserve_exact(nodes);
        self.pods.reserve_exact(pods);
        self.node_slots.reserve(nodes);
        self.pod_slots.reserve(pods);
    }

    pub(super) fn node_slot(&self, name: &str) -> Option<Slot> {
        self.node_slots.find(name, |slot| name_of_node(&self.nodes, slot))
    }

    pub(super) fn pod_slot(&self, name: &str) -> Option<Slot> {
        self.pod_slots.find(name, |slot| name_of_pod(&self.pods, slot))
    }

    pub(super) fn node(&self, slot: Slot) -> Option<&Node> {
        self.nodes.get(slot as usize)
    }

    pub(super) fn pod(&self, slot: Slot) -> Option<&KeptPod> {
        self.pods.get(slot as usize)
    }

    pub(super) fn shared(&self, slot: Slot) -> Option<&SharedByPods> {
        self.shared.get(slot as usize).map(|shared| &shared.facts)
    }

    /// The hashes that pods of the DaemonSet carry.
    pub(super) fn live_hashes(&self) -> impl Iterator<Item = &str> {
        self.live_hashes.keys().map(|hash| &**hash)
    }

    /// The pods of a node.
    pub(super) fn pods_of(&self, node: &Node) -> impl Iterator<Item = &KeptPod> {
        std::iter::successors(self.pod(node.first_pod), |pod| self.pod(pod.next))
    }

    /// The pods without a node among the nodes.
    pub(super) fn strays(&self) -> impl Iterator<Item = &KeptPod> {
        self.strays.values().flatten().filter_map(|slot| self.pod(*slot))
    }

    /// The relation of a pod to the DaemonSet.
    pub(super) fn relation<'o>(&'o self, pod: &'o KeptPod) -> PodRelation<'o> {
        let shared = self.shared(pod.shared);
        PodRelation {
            ownership: pod.ownership,
            selected: pod.is_selected(),
            hash: shared.and_then(|shared| shared.hash.as_deref()),
            generation: shared.and_then(|shared| shared.generation.as_deref()),
        }
    }

    /// The view of a pod.
    pub(super) fn pod_view<'o>(&'o self, pod: &'o KeptPod, namespace: &'o str, uid: &'o str) -> PodView<'o> {
        let node = self.node(pod.node).map(|node| node.facts.name.as_str());
        pod.view(Frame { namespace, uid, shared: self.shared(pod.shared), node })
    }

    /// Takes a node whose evaluation must be found anew off the list; `None` once there is no other.
    pub(super) fn next_dirty(&mut self) -> Option<Slot> {
        if self.dirty.is_empty() {
            // After a change of all nodes the list is as long as the fleet.
            self.dirty = Vec::new();
        }
        while let Some(slot) = self.dirty.pop() {
            if let Some(node) = self.nodes.get_mut(slot as usize).filter(|node| node.is_dirty) {
                node.is_dirty = false;
                return Some(slot);
            }
        }
        None
    }

    /// The slots of the nodes whose facts have changed since the last call, or those of their pods, with nodes that are gone; `None` for
    /// all.
    pub(super) fn take_touched(&mut self) -> Option<BTreeSet<Slot>> {
        self.touched.replace(BTreeSet::new())
    }

    /// The facts about the node or its pods have changed.
    pub(super) fn change_facts(&mut self, slot: Slot) {
        self.mark_dirty(slot);
        self.touch(slot);
    }

    fn touch(&mut self, slot: Slot) {
        let Some(touched) = &mut self.touched else { return };
        touched.insert(slot);
        // Where nobody takes them, they are not kept for ever.
        if touched.len() > self.nodes.len() / 2 + 64 {
            self.touched = None;
        }
    }

    pub(super) fn mark_dirty(&mut self, slot: Slot) {
        if let Some(node) = self.nodes.get_mut(slot as usize).filter(|node| !node.is_dirty) {
            node.is_dirty = true;
            self.dirty.push(slot);
        }
    }

    pub(super) fn mark_all_dirty(&mut self) {
        self.dirty.clear();
        for (slot, node) in &mut self.nodes {
            node.is_dirty = true;
            self.dirty.push(slot as Slot);
        }
    }

    /// Puts a node among the nodes. It is dirty if something about it has changed.
    pub(super) fn put_node(&mut self, view: &NodeView<'_>, placement: Placement, reads: Reads<'_>) {
        let known = self.node_slot(view.name);
        let Some((slot, node)) = known.and_then(|slot| Some((slot, self.nodes.get_mut(slot as usize)?)))
        else {
            return self.add_node(view.name.into(), view, placement, reads);
        };
        let facts = KeptNode::new(node.facts.name.clone(), view, placement, reads);
        let is_same = node.facts.is_but_for_version(&facts);
        node.facts = facts;
        if !is_same {
            self.change_facts(slot);
        }
    }

    /// Adds a node that is not among the nodes, with its name.
    fn add_node(&mut self, name: NodeName, view: &NodeView<'_>, placement: Placement, reads: Reads<'_>) {
        let slot = self.insert_node(name, view, placement, reads, false);
        if !self.strays.is_empty() {
            let waiting = self.strays.remove(&Some(view.name.into()));
            waiting.into_iter().flatten().for_each(|pod| self.link(pod, slot));
        }
        self.change_facts(slot);
    }

    /// Adds a node before all pods. It counts as dirty, and is on no list: the caller evaluates all nodes, or
    /// [marks all of them](Self::mark_all_dirty).
    pub(super) fn list_node(
        &mut self,
        name: NodeName,
        view: &NodeView<'_>,
        placement: Placement,
        reads: Reads<'_>,
    ) {
        self.insert_node(name, view, placement, reads, true);
    }

    fn insert_node(
        &mut self,
        name: NodeName,
        view: &NodeView<'_>,
        placement: Placement,
        reads: Reads<'_>,
        is_dirty: bool,
    ) -> Slot {
        let own_name = self.own_names.as_ref().map(|_| reads.own_name(view.name));
        let facts = KeptNode::new(name, view, placement, reads);
        let evaluation = KeptEvaluation::default();
        let node = Node { facts, own_name: own_name.clone(), first_pod: NOWHERE, is_dirty, evaluation };
        let slot = self.nodes.insert(node) as Slot;
        self.own_names.iter_mut().for_each(|names| names.extend(own_name.clone().map(|name| (name, slot))));
        let nodes = &self.nodes;
        self.node_slots.insert(view.name, slot, |slot| name_of_node(nodes, slot));
        slot
    }

    /// Removes a node, whose evaluation the caller has withdrawn. Its pods have no node then.
    pub(super) fn remove_node(&mut self, slot: Slot) -> Option<Node> {
        let node = self.nodes.try_remove(slot as usize)?;
        let own_name = node.own_name.as_ref();
        self.own_names.as_mut().zip(own_name).map(|(names, name)| names.remove(name));
        self.touch(slot);
        self.node_slots.remove(node.facts.name.as_str(), slot);
        let mut next = node.first_pod;
        while let Some(pod) = self.pods.get_mut(next as usize) {
            let slot = std::mem::replace(&mut next, pod.next);
            pod.leave_node(node.facts.name.as_str());
            self.add_stray(slot);
        }
        Some(node)
    }

    /// Puts a pod among the pods. Returns whether a decision can depend on the change.
    pub(super) fn put_pod(
        &mut self,
        view: &PodView<'_>,
        relation: PodRelation<'_>,
        reads: Reads<'_>,
    ) -> bool {
        let shared = self.use_shared(view);
        let node = view.target.and_then(|target| self.node_slot(target)).unwrap_or(NOWHERE);
        let facts = KeptPod::new(view, relation, shared, node, reads);
        let old = self.pod_slot(view.name);
        if let Some((slot, pod)) = old.and_then(|slot| Some((slot, self.pods.get_mut(slot as usize)?))) {
            if pod.is_but_for_version(&facts) {
                pod.take_version_of(facts);
                // The old facts are kept, and use them already.
                self.drop_shared(shared);
                return false;
            }
            self.unlink(slot);
            self.count_live(slot, false);
            let old = self.pods.get_mut(slot as usize).map(|pod| std::mem::replace(pod, facts));
            old.into_iter().for_each(|old| self.drop_shared(old.shared));
            self.link(slot, node);
            self.count_live(slot, true);
            self.touch_node_named(view.name);
            return true;
        }
        self.insert_pod(facts, node);
        self.touch_node_named(view.name);
        true
    }

    /// Adds a pod whose name no other one has, on a node of this slot.
    pub(super) fn add_pod(
        &mut self,
        view: &PodView<'_>,
        relation: PodRelation<'_>,
        node: Slot,
        reads: Reads<'_>,
    ) {
        let shared = self.use_shared(view);
        self.insert_pod(KeptPod::new(view, relation, shared, node, reads), node);
    }

    fn insert_pod(&mut self, facts: KeptPod, node: Slot) {
        let slot = self.pods.insert(facts) as Slot;
        let pods = &self.pods;
        if let Some(name) = name_of_pod(pods, slot) {
            self.pod_slots.insert(name, slot, |slot| name_of_pod(pods, slot));
        }
        self.link(slot, node);
        self.count_live(slot, true);
    }

    pub(super) fn remove_pod(&mut self, slot: Slot) -> Option<KeptPod> {
        self.unlink(slot);
        self.count_live(slot, false);
        let pod = self.pods.try_remove(slot as usize)?;
        self.pod_slots.remove(pod.name(), slot);
        self.touch_node_named(pod.name());
        self.drop_shared(pod.shared);
        Some(pod)
    }

    /// Puts a pod on a node, or among those without one.
    fn link(&mut self, slot: Slot, node: Slot) {
        let Some(found) = self.nodes.get_mut(node as usize) else { return self.add_stray(slot) };
        let Some(pod) = self.pods.get_mut(slot as usize) else { return };
        pod.enter_node(node, std::mem::replace(&mut found.first_pod, slot));
        self.change_facts(node);
    }

    fn add_stray(&mut self, slot: Slot) {
        let Some(pod) = self.pod(slot).filter(|pod| pod.is_of_interest()) else { return };
        let target = pod.missing_target().map(Into::into);
        self.strays.entry(target).or_default().insert(slot);
    }

    fn unlink(&mut self, slot: Slot) {
        let Some(pod) = self.pod(slot) else { return };
        let (node, next) = (pod.node, pod.next);
        if node == NOWHERE {
            let target: Option<Box<str>> = pod.missing_target().map(Into::into);
            if let Some(pods) = self.strays.get_mut(&target) {
                pods.remove(&slot);
                if pods.is_empty() {
                    self.strays.remove(&target);
                }
            }
            return;
        }
        let Some(found) = self.nodes.get_mut(node as usize) else { return };
        if found.first_pod == slot {
            found.first_pod = next;
        } else {
            let mut before = found.first_pod;
            while let Some(pod) = self.pods.get_mut(before as usize) {
                if pod.next == slot {
                    pod.next = next;
                    break;
                }
                before = pod.next;
            }
        }
        self.change_facts(node);
    }

    fn count_live(&mut self, slot: Slot, is_added: bool) {
        let Objects { pods, shared, live_hashes, .. } = self;
        let Some(pod) = pods.get(slot as usize).filter(|pod| pod.claim().is_ours()) else { return };
        let Some(shared) = shared.get_mut(pod.shared as usize) else { return };
        shared.live = if is_added { shared.live + 1 } else { shared.live.saturating_sub(1) };
        // The first pod brings the hash, and the last one takes it along.
        let has_changed = shared.live == u32::from(is_added);
        let Some(hash) = shared.facts.hash.as_deref().filter(|_| has_changed) else { return };
        match live_hashes.get_mut(hash) {
            Some(count) if is_added => *count += 1,
            Some(count) if *count > 1 => *count -= 1,
            Some(_) => _ = live_hashes.remove(hash),
            None => _ = live_hashes.insert(hash.into(), 1),
        }
    }

    fn use_shared(&mut self, view: &PodView<'_>) -> Slot {
        let is_it = |shared: &Shared| {
            view.labels.are(&shared.facts.labels) && view.tolerations.are(&shared.facts.tolerations)
        };
        let is_last = self.shared.get(self.last_shared as usize).is_some_and(is_it);
        let is_at = |slot: &Slot| self.shared.get(*slot as usize).is_some_and(is_it);
        let found = if is_last { Some(self.last_shared) } else { (0..MOST_SHARED).find(is_at) };
        let slot = found.unwrap_or_else(|| {
            let label = |key| view.labels.get(key).map(Into::into);
            let facts = SharedByPods {
                hash: label(&self.hash_key),
                generation: label(TEMPLATE_GENERATION_LABEL),
                labels: view.labels.to_labels(),
                tolerations: view.tolerations.to_vec(),
            };
            self.shared.insert(Shared { facts, uses: 0, live: 0 }) as Slot
        });
        if let Some(shared) = self.shared.get_mut(slot as usize) {
            shared.uses += 1;
        }
        self.last_shared = slot;
        slot
    }

    fn drop_shared(&mut self, slot: Slot) {
        let Some(shared) = self.shared.get_mut(slot as usize) else { return };
        shared.uses -= 1;
        if shared.uses == 0 {
            self.shared.remove(slot as usize);
        }
    }

    /// Whether most of the places are empty, so that a state built anew would take much less memory.
    pub(super) fn is_sparse(&self) -> bool {
        const SMALL: usize = 64;
        let is_sparse = |capacity: usize, length: usize| capacity > SMALL && capacity / 4 > length;
        is_sparse(self.nodes.capacity(), self.nodes.len()) || is_sparse(self.pods.capacity(), self.pods.len())
    }
}

impl KeptPod {
    /// The DaemonSet owns, adopts or releases it, or it may be of its turns.
    pub(super) fn is_of_interest(&self) -> bool {
        self.claim() != ClaimVerdict::Ignore || self.is_of_turns()
    }

    fn claim(&self) -> ClaimVerdict {
        self.ownership.verdict(|| self.is_selected(), self.is_terminating())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use daemonset::internal::Ownership;
    use daemonset::model::Labels;

    /// Where somebody gives each pod labels of its own, a search through all of them for each pod would be quadratic.
    #[test]
    fn shared_facts_are_looked_for_among_the_first_ones() {
        let mut objects = Objects::new(&Policy::default().unique_label_key("hash"));
        let reads = Reads::NONE;
        let mut count_with = |name: &str, hash: &str| {
            let labels = Labels::from_iter([("hash", hash)]);
            let (ownership, hash) = (Ownership::Controlled, Some(hash));
            let relation = PodRelation { ownership, selected: true, hash, generation: None };
            objects.put_pod(&PodView::new("ns", name, name).labels(&labels), relation, reads);
            objects.shared.len()
        };
        for number in 0..100 {
            count_with(&format!("pod-{number}"), &format!("hash-{number}"));
        }
        assert_eq!(count_with("early", "hash-5"), 100);
        assert_eq!(count_with("late", "hash-80"), 101);
    }
}
