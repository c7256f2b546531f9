//! The choice of a plan from the orders of the evaluations, and the nodes that the plan can touch, beside the rest of the cluster.

use super::Kept;
use super::evaluation::{KeptEvaluation, Passage, Ranked, merge};
use super::facts::Slot;
use super::objects::Objects;
use daemonset::internal::{
    Candidates, Choice, Figure, First, InTurn, PodLookup, PullSums, Readiness, RestOfCluster, RevisionFacts,
    Spec, Strategy, TurnRooms, beyond_limit, choose, pull_limit, turn_rules,
};
use daemonset::{Memory, RequeueReason};
use jiff::Timestamp;
use std::collections::BTreeSet;

/// The candidates of all nodes, in order.
struct Ordered<'k> {
    kept: &'k Kept,
    /// Nodes that the plan looks at whether it updates them or not.
    looked_at: &'k BTreeSet<Slot>,
    cap: usize,
    /// Nodes in turn that are no candidates, since the budget has no room for them.
    without_room: BTreeSet<Slot>,
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

    fn evaluation(&self, slot: Slot) -> Option<&KeptEvaluation> {
        self.kept.objects.node(slot).map(|node| &node.evaluation)
    }

    /// All candidates of a group that are in turn, and the first `count` that may begin one.
    fn first_in_turns(&self, group: Readiness, count: u32, turns: &mut TurnRooms) -> First<Slot> {
        let candidates = self.kept.evaluations.group(group);
        let has_room = |(_, (_, slot)): &Ranked<'_>| !self.without_room.contains(slot);
        let in_turn = candidates.of(Passage::InTurn).filter(has_room);
        // Each kind up to its room: none is walked over for a place that it can't have.
        let counted = candidates.of(Passage::Counted).take(turns.counted.min(count) as usize);
        let excused = candidates.of(Passage::Excused).take(turns.excused.min(count) as usize);
        let begin: Vec<Ranked<'_>> = merge(counted, excused).take(count as usize).collect();
        for (_, (_, slot)) in &begin {
            let is_excused = self.evaluation(*slot).is_some_and(|one| one.figures.has(Figure::Excused));
            *turns.of(is_excused) -= 1;
        }
        let begun = begin.len() as u32;
        let chosen = merge(in_turn, begin.into_iter()).map(|(_, (_, slot))| *slot);
        First { count: begun, ..self.taken(chosen, self.cap) }
    }

    /// These candidates, of which the plan looks at so many and at those that it looks at anyway.
    fn taken(&self, candidates: impl Iterator<Item = Slot>, cap: usize) -> First<Slot> {
        let mut first = First { nodes: Vec::new(), count: 0, waiting: 0 };
        for slot in candidates {
            first.waiting += u32::from(self.evaluation(slot).is_some_and(KeptEvaluation::waits));
            if (first.count as usize) < cap || self.looked_at.contains(&slot) {
                first.nodes.push(slot);
            }
            first.count += 1;
        }
        first
    }
}

impl Candidates for Ordered<'_> {
    type Node = Slot;

    fn len(&self, group: Readiness) -> u32 {
        self.kept.evaluations.group(group).len() as u32
    }

    fn first(&mut self, group: Readiness, count: u32, turns: Option<&mut TurnRooms>) -> First<Slot> {
        if let Some(turns) = turns {
            return self.first_in_turns(group, count, turns);
        }
        let candidates = self.kept.evaluations.group(group);
        let (count, cap) = (candidates.len().min(count as usize), self.cap(group));
        if count == candidates.len() {
            let mut nodes = candidates.first(cap);
            // All candidates of the group: its kept number of waiting ones holds, and no walk counts them.
            if count > cap {
                let first: BTreeSet<Slot> = nodes.iter().copied().collect();
                let in_group = |slot: &Slot| self.evaluation(*slot).is_some_and(|s| s.group == Some(group));
                let beyond = self.looked_at.difference(&first).copied();
                nodes.extend(beyond.filter(in_group));
            }
            return First { nodes, count: count as u32, waiting: candidates.waiting() };
        }
        self.taken(candidates.first(count).into_iter(), cap)
    }

    fn in_turn_from(&mut self, place: u32) -> InTurn<Slot> {
        let turns = &self.kept.evaluations.turns;
        let beyond = turns.iter().rev().take(turns.len().saturating_sub(place as usize));
        let mut in_turn = InTurn { nodes: Vec::new(), places: 0, waiting: 0 };
        for (_, _, (_, slot)) in beyond {
            let Some(evaluation) = self.evaluation(*slot) else { continue };
            if evaluation.rare.as_ref().is_some_and(|rare| rare.has_ready_candidate) {
                in_turn.nodes.push(*slot);
                in_turn.places += u32::from(evaluation.figures.has(Figure::TurnPlace));
                in_turn.waiting += u32::from(evaluation.waits());
            }
        }
        self.without_room = in_turn.nodes.iter().copied().collect();
        in_turn
    }

    fn leaving(&mut self, count: u32) -> Vec<Slot> {
        let leaving = self.kept.evaluations.leaving_last.iter();
        leaving.take(count as usize).map(|(_, (_, slot))| *slot).collect()
    }
}

impl Kept {
    /// The choice of the plan, and the nodes that it looks at: those that it can touch and those that have changed, since the
    /// report has their verdicts. `part` is the part of the memory about the changed nodes.
    pub(super) fn choose(
        &self,
        changed: &[Slot],
        memory: &Memory,
        part: &Memory,
    ) -> (Choice<Slot>, BTreeSet<Slot>) {
        let evaluations = &self.evaluations;
        // One more than a plan may hold: so it sees that it is capped.
        let cap = self.spec.policy.burst as usize + 1;
        let mut slots: BTreeSet<Slot> = changed.iter().copied().collect();
        slots.extend(&evaluations.claiming);
        slots.extend(evaluations.creating.iter().take(cap).map(|(_, slot)| *slot));
        slots.extend(self.first_deleting(cap));
        slots.extend(self.nodes_with_history(memory));
        slots.extend(&evaluations.patching);
        if self.spec.daemon_set.metadata.deletion_timestamp.is_some() {
            // All turns end.
            slots.extend(&evaluations.touched);
        }
        slots.extend(evaluations.ending_pulls.iter().take(cap).map(|(_, slot)| *slot));
        let mut candidates = Ordered { kept: self, looked_at: &slots, cap, without_room: BTreeSet::new() };
        let Spec { strategy, policy, .. } = &*self.spec;
        let takes_turns = turn_rules(&self.spec).is_some();
        let choice = choose(&mut candidates, *strategy, policy.unready, takes_turns, &evaluations.sums);
        slots.extend(choice.deletes.iter().map(|(_, slot)| *slot));
        slots.extend(choice.creates.iter().chain(&choice.leaving));
        let unseen = pulls_in_flight(memory) - pulls_in_flight(part);
        slots.extend(self.first_lacking(cap, choice.deletes.len(), unseen));
        (choice, slots)
    }

    /// The first nodes that may get a pull pod, where so many others among them lose their pod instead, and so many pull pods were
    /// created at least that no list shows.
    fn first_lacking(&self, cap: usize, others: usize, unseen: usize) -> impl Iterator<Item = Slot> {
        let evaluations = &self.evaluations;
        let rules = self.spec.policy.pull.as_ref().filter(|_| !evaluations.lacking_pulls.is_empty());
        let free = rules.map_or(0, |rules| {
            pull_limit(rules, &evaluations.sums).saturating_sub(evaluations.pulling as usize + unseen)
        });
        // Most plans of an update: as many pull as may, and no other node is looked at.
        let count = if free == 0 { 0 } else { free.min(cap) + others };
        evaluations.lacking_pulls.iter().take(count).map(|(_, (_, slot))| *slot)
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

    /// The nodes that are not among these, and the pulls in flight that this part of the memory lacks.
    pub(super) fn rest_of_cluster<'k>(
        &'k self,
        slots: &BTreeSet<Slot>,
        memory: &Memory,
        part: &Memory,
    ) -> RestOfCluster<'k> {
        let evaluations = &self.evaluations;
        let inside = slots.iter().filter_map(|slot| self.objects.node(*slot));
        let conflicts: u32 = inside.map(|node| node.evaluation.conflicts).sum();
        let is_elsewhere = |slot: &Slot| !slots.contains(slot);
        let changes = evaluations.changes.iter().find(|(_, _, slot)| is_elsewhere(slot));
        let places_free = evaluations.places_free.iter().find(|(_, slot)| is_elsewhere(slot));
        let noted = evaluations.noted.iter().filter(|slot| is_elsewhere(slot));
        let notes = noted.filter_map(|slot| {
            let node = self.objects.node(*slot)?;
            Some((node.facts.name.as_str(), &node.evaluation.rare.as_ref()?.notes))
        });
        let names = |nodes: &'k BTreeSet<Slot>| -> Vec<&'k str> {
            let others = nodes.iter().filter(|slot| is_elsewhere(slot));
            others.filter_map(|slot| self.objects.node(*slot)).map(|node| node.facts.name.as_str()).collect()
        };
        let is_elsewhere = |(_, name): &&(Timestamp, String)| !part.turns().pulls.contains_key(name);
        let pull = self.recheck.pulls_by_time().find(is_elsewhere);
        let expiry = pull.and_then(|(at, _)| at.checked_add(self.spec.in_flight_expiry()).ok());
        let expiry = expiry.map(|at| (at, RequeueReason::InFlightExpiry));
        RestOfCluster {
            chosen: None,
            conflicts: evaluations.conflicts - conflicts,
            hashes: self.objects.live_hashes().collect(),
            next_change: changes.map(|(at, reason, _)| (*at, *reason)).into_iter().chain(expiry).min(),
            place_free_at: places_free.map(|(at, _)| *at),
            deleted_by_update: names(&evaluations.deleted_by_update),
            held_without_pod: names(&evaluations.held_without_pod),
            rollout: self.rollout.as_ref().and_then(|rollout| rollout.known(slots.iter().copied())),
            notes: notes.collect(),
            pulls: self.pulls_beside(slots, (pulls_in_flight(memory) - pulls_in_flight(part)) as u32),
            pod_template: self.pod_template.clone(),
            image_changes: self.image_changes.get().cloned(),
        }
    }

    /// The pulls on the nodes that are not among these, with so many that no list shows.
    fn pulls_beside(&self, slots: &BTreeSet<Slot>, unseen: u32) -> PullSums {
        let evaluations = &self.evaluations;
        let mut pulls = PullSums {
            pulling: evaluations.pulling + unseen,
            ends_at: None,
            lacking: evaluations.lacking_pulls.len() as u32,
        };
        if evaluations.pulling == 0 && pulls.lacking == 0 {
            return pulls;
        }
        for node in slots.iter().filter_map(|slot| self.objects.node(*slot)) {
            let Some(rare) = &node.evaluation.rare else { continue };
            pulls.pulling -= rare.pulls.pulling;
            pulls.lacking -= u32::from(rare.lacks_pull.is_some());
        }
        let ends = evaluations.pull_ends.iter().find(|(_, slot)| !slots.contains(slot));
        pulls.ends_at = ends.map(|(at, _)| *at);
        pulls
    }
}

fn pulls_in_flight(memory: &Memory) -> usize {
    memory.turns().pulls.len()
}

impl PodLookup for Objects {
    fn has_pod(&self, name: &str) -> bool {
        self.pod_slot(name).is_some()
    }
}
