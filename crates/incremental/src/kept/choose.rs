//! The choice of a plan from the orders of the evaluations, and the nodes that the plan can touch, beside the rest of the cluster.

use super::Kept;
use super::evaluation::NodeEvaluation;
use super::facts::Slot;
use super::objects::Objects;
use daemonset::Memory;
use daemonset::internal::{
    Candidates, Choice, First, PodLookup, Readiness, RestOfCluster, RevisionFacts, Strategy, beyond_limit,
    choose,
};
use std::collections::BTreeSet;

/// The candidates of all nodes, in order.
struct Ordered<'k> {
    kept: &'k Kept,
    /// Nodes that the plan looks at whether it updates them or not.
    looked_at: &'k BTreeSet<Slot>,
    cap: usize,
}

impl Ordered<'_> {
    /// How many candidates of a group a plan looks at. Creates are capped in the order of names, not of urgency: all that are
    /// chosen are needed.
    fn cap(&self, group: Readiness) -> usize {
        match (self.kept.spec.strategy, group) {
            (Strategy::Surge { .. }, Readiness::NotYetAvailable | Readiness::Available) => usize::MAX,
            (Strategy::OnDelete | Strategy::Replace(_) | Strategy::Surge { .. }, _) => self.cap,
        }
    }

    fn evaluation(&self, slot: Slot) -> Option<&NodeEvaluation> {
        self.kept.objects.node(slot).map(|node| &node.evaluation)
    }
}

impl Candidates for Ordered<'_> {
    type Node = Slot;

    fn len(&self, group: Readiness) -> u32 {
        self.kept.evaluations.group(group).len() as u32
    }

    fn first(&mut self, group: Readiness, count: u32) -> First<Slot> {
        let candidates = self.kept.evaluations.group(group);
        let (count, cap) = (candidates.len().min(count as usize), self.cap(group));
        let mut nodes: Vec<Slot> = candidates.iter().take(count.min(cap)).collect();
        let waits = |slot: &Slot| self.evaluation(*slot).is_some_and(NodeEvaluation::waits);
        if count == candidates.len() {
            // All candidates of the group: its kept number of waiting ones holds, and no walk counts them.
            if count > cap {
                let first: BTreeSet<Slot> = nodes.iter().copied().collect();
                let in_group = |slot: &Slot| self.evaluation(*slot).is_some_and(|s| s.group == Some(group));
                let beyond = self.looked_at.difference(&first).copied();
                nodes.extend(beyond.filter(in_group));
            }
            return First { nodes, count: count as u32, waiting: candidates.waiting() };
        }
        let waiting = candidates.iter().take(count).filter(waits).count() as u32;
        let beyond = candidates.iter().take(count).skip(cap);
        nodes.extend(beyond.filter(|slot| self.looked_at.contains(slot)));
        First { nodes, count: count as u32, waiting }
    }

    fn leaving(&mut self, count: u32) -> Vec<Slot> {
        let leaving = self.kept.evaluations.leaving_last.iter();
        leaving.take(count as usize).map(|(_, (_, slot))| *slot).collect()
    }
}

impl Kept {
    /// The choice of the plan, and the nodes that it looks at: those that it can touch and those that have changed, since the
    /// report has their verdicts.
    pub(super) fn choose(&self, changed: &[Slot], memory: &Memory) -> (Choice<Slot>, BTreeSet<Slot>) {
        let evaluations = &self.evaluations;
        // One more than a plan may hold: so it sees that it is capped.
        let cap = self.spec.policy.burst as usize + 1;
        let mut slots: BTreeSet<Slot> = changed.iter().copied().collect();
        slots.extend(&evaluations.claiming);
        slots.extend(evaluations.creating.iter().take(cap).map(|(_, slot)| *slot));
        slots.extend(self.first_deleting(cap));
        slots.extend(self.nodes_with_history(memory));
        let mut candidates = Ordered { kept: self, looked_at: &slots, cap };
        let choice = choose(&mut candidates, self.spec.strategy, self.spec.policy.unready, &evaluations.sums);
        slots.extend(choice.deletes.iter().map(|(_, slot)| *slot));
        slots.extend(choice.creates.iter().chain(&choice.leaving));
        (choice, slots)
    }

    /// The first nodes of which node sync deletes pods, until the deletes that the update can't take back fill the plan.
    fn first_deleting(&self, cap: usize) -> impl Iterator<Item = Slot> {
        let evaluations = &self.evaluations;
        let mut counted = 0;
        let is_needed = move |slot: &Slot| {
            let is_needed = counted < cap;
            // The update may keep the updated pod of such a node after all.
            counted += usize::from(!evaluations.keeping_outdated.contains(slot));
            is_needed
        };
        evaluations.deleting.iter().map(|(_, (_, slot))| *slot).take_while(is_needed)
    }

    /// Creates in flight keep their revisions: they matter as soon as a revision is beyond the limit.
    fn nodes_with_history<'k>(&'k self, memory: &'k Memory) -> impl Iterator<Item = Slot> + 'k {
        let is_old = |facts: &&RevisionFacts| facts.claim.is_ours() && !facts.has_content;
        let old = self.revision_facts.iter().filter(is_old).count();
        let is_beyond = beyond_limit(old, self.spec.daemon_set.spec.revision_history_limit) > 0;
        let nodes = is_beyond.then(|| memory.creates().keys());
        nodes.into_iter().flatten().filter_map(|node| self.objects.node_slot(node.as_str()))
    }

    /// The nodes that are not among these.
    pub(super) fn rest_of_cluster<'k>(&'k self, slots: &BTreeSet<Slot>) -> RestOfCluster<'k> {
        let evaluations = &self.evaluations;
        let inside = slots.iter().filter_map(|slot| self.objects.node(*slot));
        let conflicts: u32 = inside.map(|node| node.evaluation.conflicts).sum();
        let is_elsewhere = |slot: &Slot| !slots.contains(slot);
        let changes = evaluations.changes.iter().find(|(_, _, slot)| is_elsewhere(slot));
        let places_free = evaluations.places_free.iter().find(|(_, slot)| is_elsewhere(slot));
        let names = |nodes: &'k BTreeSet<Slot>| -> Vec<&'k str> {
            let others = nodes.iter().filter(|slot| is_elsewhere(slot));
            others.filter_map(|slot| self.objects.node(*slot)).map(|node| node.facts.name.as_str()).collect()
        };
        RestOfCluster {
            conflicts: evaluations.conflicts - conflicts,
            hashes: self.objects.live_hashes().collect(),
            next_change: changes.map(|(at, reason, _)| (*at, *reason)),
            place_free_at: places_free.map(|(at, _)| *at),
            taken: names(&evaluations.taken),
            held_without_pod: names(&evaluations.held_without_pod),
            rollout: self.rollout.as_ref().and_then(|rollout| rollout.known(slots.iter().copied())),
            pod_names: self.pod_names(),
            pod_template: self.pod_template.clone(),
        }
    }

    /// The names of all pods, where a new one must not have any of them.
    pub(super) fn pod_names(&self) -> Option<&dyn PodLookup> {
        let are_deterministic = self.spec.policy.pod_names == daemonset::policy::PodNames::Deterministic;
        are_deterministic.then_some(&self.objects as _)
    }
}

impl PodLookup for Objects {
    fn has_pod(&self, name: &str) -> bool {
        self.pod_slot(name).is_some()
    }
}
