//! A plan from the kept state.

use super::evaluation::KeptEvaluation;
use super::facts::Slot;
use super::partial::partial_snapshot;
use super::rollout::KeptRollout;
use super::{HistoryFacts, Kept, evaluate};
use crate::NeedsLists;
use daemonset::internal::{
    Choice, Decision, Evaluations, Fleet, Goals, History, NodeIx, Position, Sums, claim, claim_revisions,
    decide, end_turns, ends_at_once, evaluate, node_sync, plan_decided, pull_pod_name, watch_for_bugs,
};
use daemonset::model::NodeName;
use daemonset::report::{ReportScope, Situation};
use daemonset::{Action, CreateReason, Memory, ObservedAt, Plan};
use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

/// The end of an evaluation.
enum Evaluated {
    /// The evaluations of all nodes, and the part of the memory about them.
    Evaluations(Vec<KeptEvaluation>, Box<Memory>),
    /// These further nodes have other goals now.
    OtherGoals(Vec<Slot>),
}

impl Kept {
    /// The plan of the whole cluster. Its report has the verdicts of the nodes that have changed since the last plan or that
    /// the plan can touch. `memory` observes the objects.
    ///
    /// # Errors
    /// [`NeedsLists::NotKept`] if a rollout has another stable revision, [`NeedsLists::Bug`] after a bug: all objects must be listed again. The
    /// memory is then as it was.
    pub(crate) fn plan(&mut self, memory: &mut Memory, at: ObservedAt) -> Result<Plan, NeedsLists> {
        let clock_goes_back = at.now < self.now;
        self.advance(at);
        let names = self.names_to_compare(memory);
        let (decided, has_bug) = watch_for_bugs(|| {
            let changed = self.changed(&names, memory, at)?;
            Ok(self.decide(changed, &names, memory, at))
        });
        let (mut plan, before, after) = decided?;
        if has_bug {
            return Err(NeedsLists::Bug);
        }
        plan.report.scope = ReportScope::ChangedNodes;
        memory.forget_lost(&before, &after);
        for node in self.recheck.forget(&before, &after) {
            self.mark_dirty(&node);
        }
        self.recheck.unknown.retain(|node| memory.has_entries_of(node.as_str()));
        if clock_goes_back || self.recheck.refused_until.is_some_and(|until| until <= at.now) {
            self.recheck.refused_until = memory.forget_refusals(at.now);
        }
        let created = plan.actions.iter().find_map(|action| match action {
            Action::CreatePod { reason: CreateReason::PullImages, .. } => None,
            Action::CreatePod { pod, .. } if !pod.shared.is_stable => Some(&pod.shared),
            _ => None,
        });
        if let Some(template) = created {
            self.pod_template = Some(Arc::clone(template));
        }
        Ok(plan)
    }

    /// Lets time go on, or back: then every evaluation may change.
    fn advance(&mut self, at: ObservedAt) {
        if at.now < self.now {
            self.objects.mark_all_dirty();
            self.is_history_stale = true;
            let nodes: Vec<NodeName> = self.recheck.nodes_of_pulls().cloned().collect();
            self.recheck.nodes.extend(nodes);
        }
        self.now = at.now;
        let due = self.evaluations.due.range(..=(at.now, Slot::MAX));
        let due: Vec<Slot> = due.map(|(_, slot)| *slot).collect();
        due.into_iter().for_each(|slot| self.objects.mark_dirty(slot));
        self.recheck.advance(at, self.spec.in_flight_expiry());
    }

    /// The nodes, known or not, whose entries in the memory must be compared with the objects.
    fn names_to_compare(&mut self, memory: &Memory) -> Vec<NodeName> {
        let mut names = std::mem::take(&mut self.recheck.nodes);
        names.extend(self.recheck.unknown.iter().cloned());
        // The pulls in flight whose node is not known.
        names.extend(self.recheck.pulls_of("").next().map(|_| NodeName::default()));
        if self.is_history_stale {
            // A create in flight is of the current revision, or of another one.
            names.extend(memory.creates().keys().cloned());
        }
        names.into_iter().collect()
    }

    /// Finds the evaluations of the dirty nodes. Returns these nodes, with the part of the memory about them and about the nodes
    /// of these names.
    fn changed(
        &mut self,
        names: &[NodeName],
        memory: &Memory,
        at: ObservedAt,
    ) -> Result<(Vec<Slot>, Memory), NeedsLists> {
        names.iter().for_each(|node| self.mark_dirty(node));
        self.compare_history(memory, at);
        let mut changed = Vec::new();
        loop {
            while let Some(slot) = self.objects.next_dirty() {
                changed.push(slot);
            }
            changed.sort_unstable();
            let part = self.part_of(memory, &changed, names);
            if self.history_facts.is_none() {
                // Without a history no node has an evaluation: they stay dirty.
                changed.iter().for_each(|slot| self.objects.mark_dirty(*slot));
                return Ok((changed, part));
            }
            let mut rollout = self.rollout.take();
            // A decision that ends at once has no goals: a rollout that was made of one knows no stable revision.
            let looked_at = rollout.as_deref_mut().filter(|_| ends_at_once(&self.spec).is_none());
            let evaluated = self.evaluate(&changed, part, at, looked_at);
            self.rollout = rollout;
            match evaluated? {
                Evaluated::Evaluations(evaluations, part) => {
                    for (slot, evaluation) in changed.iter().zip(evaluations) {
                        self.set_evaluation(*slot, evaluation);
                    }
                    return Ok((changed, *part));
                }
                Evaluated::OtherGoals(nodes) => {
                    nodes.into_iter().for_each(|slot| self.objects.mark_dirty(slot))
                }
            }
        }
    }

    /// Marks all nodes where the history has changed in a way that evaluations depend on.
    fn compare_history(&mut self, memory: &Memory, at: ObservedAt) {
        // While a restored template is awaited nothing is renumbered: numbers change when it is remembered, shown, or awaited no longer.
        let remembers_restore = memory.restored().is_some();
        self.is_history_stale |= remembers_restore || self.awaited_template;
        let is_known = |history_facts: &HistoryFacts| {
            let mut hashes = self.objects.live_hashes();
            hashes.all(|hash| history_facts.hashes.contains_key(hash))
        };
        if !self.is_history_stale && self.history_facts.as_ref().is_some_and(is_known) {
            return;
        }
        if let Some(rollout) = &mut self.rollout {
            rollout.revisions_changed();
        }
        self.image_changes = OnceLock::new();
        let (history_facts, awaited_template) = {
            let part = self.part_of(memory, &[], &[]);
            let snapshot = partial_snapshot(self, &[], part, at);
            let history = History::new(&snapshot, &claim_revisions(&snapshot));
            let history = history.ok();
            let awaits_template = history.as_ref().is_some_and(|history| history.awaits_template.is_some());
            (history.map(|history| self.history_facts_of(&history)), awaits_template)
        };
        self.awaited_template = awaited_template;
        let is_same = match (&self.history_facts, &history_facts) {
            (Some(old), Some(new)) => old.allows(new),
            (None, _) | (_, None) => false,
        };
        if !is_same {
            self.objects.mark_all_dirty();
        }
        self.is_history_stale = history_facts.is_none();
        self.history_facts = history_facts;
    }

    /// The evaluations of these nodes, unless a rollout has other goals for further ones now.
    fn evaluate(
        &self,
        slots: &[Slot],
        part: Memory,
        at: ObservedAt,
        rollout: Option<&mut KeptRollout>,
    ) -> Result<Evaluated, NeedsLists> {
        if slots.is_empty() && rollout.is_none() {
            return Ok(Evaluated::Evaluations(Vec::new(), Box::new(part)));
        }
        let snapshot = partial_snapshot(self, slots, part, at);
        let claim = claim(&snapshot);
        let Ok(history) = History::new(&snapshot, &claim.revisions) else {
            return Ok(Evaluated::Evaluations(Vec::new(), Box::new(snapshot.into_memory())));
        };
        let mut fleet = Fleet::build(&snapshot, &claim, &history, &[]);
        fleet.set_image_changes(self.image_changes.get());
        if let Some(rollout) = rollout {
            let mut others = rollout.look_at(&fleet, &history, slots)?;
            others.retain(|slot| slots.binary_search(slot).is_err());
            if !others.is_empty() {
                return Ok(Evaluated::OtherGoals(others));
            }
            let known = rollout.known(slots.iter().copied());
            fleet = fleet.towards(Goals::of_rollout(known.map(Cow::Owned), &history));
        }
        end_turns(&mut fleet);
        let node_sync = node_sync(&fleet);
        let nodes = evaluate(&fleet, &history, &node_sync).into();
        let evaluations = &Evaluations { nodes, sums: Sums::default() };
        let steps = evaluate::Steps::new(&history, &fleet, &node_sync, evaluations);
        let evaluations = steps.evaluations(&claim, fleet.nodes.positions());
        self.keep_image_changes(&fleet);
        drop((fleet, history));
        Ok(Evaluated::Evaluations(evaluations, Box::new(snapshot.into_memory())))
    }

    /// Decides on the nodes that the plan can touch and on the changed ones, beside all others. Returns the part of the memory
    /// about these nodes as well, before and after it has observed them.
    fn decide(
        &mut self,
        (changed, part): (Vec<Slot>, Memory),
        names: &[NodeName],
        memory: &Memory,
        at: ObservedAt,
    ) -> (Plan, Memory, Memory) {
        let gone = std::mem::take(&mut self.recheck.pods);
        let (choice, slots) = self.choose(&changed, memory, &part);
        self.without_room.clone_from(&choice.without_room);
        let others = self.obstacles_beside(&slots);
        // Most often a plan can touch no node but those that have changed.
        let is_same = slots.iter().eq(&changed);
        let part_of_slots = || self.part_of(memory, &Vec::from_iter(slots.iter().copied()), names);
        let mut before = if is_same { part } else { part_of_slots() };
        let mut rest = self.rest_of_cluster(&slots, memory, &before);
        let slots: Vec<Slot> = slots.into_iter().collect();
        before.add_deletes(memory, &gone);
        let mut after = before.clone();
        let snapshot = partial_snapshot(self, &slots, before, at);
        let node = |slot: Slot| slots.binary_search(&slot).ok().map(NodeIx::new);
        // The counts stay as they are: the report is about all nodes that were chosen.
        let Choice { budget, deletes, creates, leaving, without_room, counts, waiting, lacks_places } =
            choice;
        let choice = Choice {
            budget,
            deletes: deletes.into_iter().filter_map(|(group, slot)| Some((group, node(slot)?))).collect(),
            creates: creates.into_iter().filter_map(node).collect(),
            leaving: leaving.into_iter().filter_map(node).collect(),
            without_room: without_room.into_iter().filter_map(node).collect(),
            counts,
            waiting,
            lacks_places,
        };
        rest.chosen = Some((&self.evaluations.sums, choice));
        let decision = decide(&snapshot, &rest);
        let mut plan = plan_decided(&snapshot, &decision);
        if let Decision::Synced(steps) = &decision {
            self.keep_image_changes(&steps.fleet);
        }
        if plan.report.situation == Situation::Synced {
            plan.report.others = others;
        }
        drop(decision);
        after.observe_beside(&snapshot, &rest);
        (plan, snapshot.into_memory(), after)
    }

    fn keep_image_changes(&self, fleet: &Fleet<'_>) {
        fleet.image_changes().map(|found| self.image_changes.get_or_init(|| Arc::clone(found)));
    }

    /// The part of the memory about these nodes, their pods and the pods without a node, and about the nodes of these names.
    fn part_of(&self, memory: &Memory, slots: &[Slot], names: &[NodeName]) -> Memory {
        let nodes = || slots.iter().filter_map(|slot| self.objects.node(*slot));
        let node_names = nodes().map(|node| &node.facts.name).chain(names).map(NodeName::as_str);
        // Most memories have entries of no pod, and no pod is looked up.
        let pods = nodes().filter(|_| memory.has_entries_of_pods());
        let pods = pods.flat_map(|node| self.objects.pods_of(node)).chain(self.objects.strays());
        let uids: Vec<&str> = pods.map(|pod| pod.uid()).collect();
        // Most memories have none, and no name is made.
        let has_refused = !memory.turns().refused_pulls.is_empty();
        let refused = node_names.clone().filter(|_| has_refused).flat_map(|node| self.pull_names(node));
        let refused: Vec<String> = refused.collect();
        let in_flight = node_names.clone().flat_map(|node| self.recheck.pulls_of(node));
        let pulls = in_flight.chain(refused.iter().map(String::as_str));
        memory.part(node_names, uids.iter().copied(), pulls)
    }

    /// The names of the pull pods of a node, for each revision.
    fn pull_names(&self, node: &str) -> impl Iterator<Item = String> {
        let current = self.history_facts.iter().map(|history| history.current_hash.as_str());
        let key = self.spec.policy.unique_label_key.as_str();
        let metadata = self.revisions.iter().map(|revision| &revision.metadata);
        let hashes = metadata.map(move |one| one.labels.get(key).unwrap_or(&one.name)).chain(current);
        hashes.map(move |hash| pull_pod_name(&self.spec, node, hash))
    }
}

impl HistoryFacts {
    /// Whether the evaluations that rest on these facts are the same on another one. A hash that only one of them has is of pods
    /// that came or went since, whose nodes are dirty anyway.
    fn allows(&self, other: &HistoryFacts) -> bool {
        self.current_hash == other.current_hash
            && self.created_at == other.created_at
            && (self.exists, self.is_awaited) == (other.exists, other.is_awaited)
            && self
                .hashes
                .iter()
                .all(|(hash, meaning)| other.hashes.get(hash).is_none_or(|found| found == meaning))
    }
}
