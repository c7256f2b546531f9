//! The state that a [`Tracker`](crate::Tracker) keeps, so that a plan costs as much as the changes,
//! whatever the size of the fleet.
//!
//! It holds facts about nodes and pods, not the objects. For each node it keeps the [evaluation](evaluation::KeptEvaluation): the
//! figures in which the node counts, and its places in the orders from which a plan chooses. A change makes nodes dirty.
//! A plan finds the evaluation of dirty nodes anew, chooses from the orders the nodes that it can touch, and decides on a
//! snapshot of these alone, beside the sums of all others. The steps are those of a decision on the whole: there is one
//! planner.

mod apply;
mod choose;
mod evaluate;
mod evaluation;
mod facts;
mod memory;
mod objects;
mod partial;
mod plan;
mod recheck;
mod relation;
mod rollout;
mod slots;
mod standing;
mod waves;

pub use apply::Change;
pub(crate) use memory::about;

use crate::NeedsLists;
use apply::{images_of, keeps};
use daemonset::internal::{
    Decision, Fleet, History, ImageChanges, IndexVec, KnownRollout, NodeIx, Placement, Position,
    RestOfCluster, RevisionFacts, Shared, Spec, Steps, claim, decide, ends_at_once, goal_hash, plan_decided,
    pull_pod_name,
};
use daemonset::model::{ControllerRevision, NodeName};
use daemonset::report::{Evidence, Wait};
use daemonset::{Memory, ObservedAt, Plan, Report, Snapshot};
use evaluation::KeptEvaluations;
use facts::{NOWHERE, Reads, Slot};
use jiff::Timestamp;
use objects::Objects;
use partial::partial_snapshot;
use recheck::Recheck;
use relation::PodRelation;
use rollout::KeptRollout;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

/// The state of one DaemonSet.
#[derive(Debug)]
pub(crate) struct Kept {
    spec: Arc<Spec<'static>>,
    /// The revisions that can concern the DaemonSet.
    revisions: Vec<ControllerRevision>,
    revision_facts: Vec<RevisionFacts>,
    objects: Objects,
    /// The images that nodes are asked for, where the policy pulls them: those of the template and of all revisions.
    images: BTreeSet<String>,
    evaluations: KeptEvaluations,
    recheck: Recheck,
    /// Nodes in turn for which the last plan had no room.
    without_room: Vec<Slot>,
    /// The rollout, if the policy steers it.
    rollout: Option<Box<KeptRollout>>,
    /// The history that the evaluations rest on; `None` where they must be found anew.
    history_facts: Option<HistoryFacts>,
    /// Whether a revision or the DaemonSet has changed since the last plan.
    is_history_stale: bool,
    /// Whether the last plan waited for a restored template.
    awaited_template: bool,
    /// The pod template of the last plan with creates.
    pod_template: Option<Arc<Shared>>,
    /// The comparison of revisions for changes in place; empty where it must be made anew.
    image_changes: OnceLock<Arc<ImageChanges>>,
    /// The instant of the last plan.
    now: Timestamp,
}

/// The parts of the history that an evaluation depends on.
#[derive(Debug, Clone, PartialEq)]
struct HistoryFacts {
    current_hash: String,
    created_at: Option<Timestamp>,
    /// The current revision is there.
    exists: bool,
    /// The other controller has not yet left it as a driver needs it.
    is_awaited: bool,
    /// The meaning of each hash that a pod carries.
    hashes: BTreeMap<Arc<str>, HashFacts>,
}

/// The meaning of a hash label.
#[derive(Debug, Clone, PartialEq)]
struct HashFacts {
    evidence: Evidence,
    /// The number of its revision.
    number: Option<i64>,
    /// Its pods need another label.
    relabels: bool,
    /// Its pods are those of the stable revision of a rollout.
    is_stable: bool,
    /// The uid of its revision: a change in place depends on its template.
    revision: Option<Box<str>>,
}

/// A plan of all objects, and the places of its nodes in the state that is made of it.
struct WholePlan<'l> {
    snapshot: &'l Snapshot<'l>,
    /// `None` where the plan ended early.
    steps: Option<&'l Steps<'l>>,
    report: &'l Report,
    /// The nodes in the order of their slots: by name, unless the plan ended early, so that orders by name are made at once.
    order: Cow<'l, [NodeIx]>,
    slots: IndexVec<NodeIx, Slot>,
}

impl<'l> WholePlan<'l> {
    fn new(snapshot: &'l Snapshot<'l>, decision: &'l Decision<'l>, report: &'l Report) -> Self {
        let steps = match decision {
            Decision::Synced(steps) => Some(&**steps),
            Decision::SelectingAll | Decision::BeingDeleted | Decision::NameCollision(_) => None,
        };
        let order = match steps {
            Some(steps) => Cow::Borrowed(steps.by_name()),
            None => (0..snapshot.nodes().len()).map(NodeIx::new).collect(),
        };
        let mut slots = IndexVec::repeat(NOWHERE, order.len());
        for (slot, position) in (0..).zip(&*order) {
            slots.set(*position, slot);
        }
        WholePlan { snapshot, steps, report, order, slots }
    }

    /// The name of the pull pod of a node, for its goal.
    fn pull_name(&self, node: &str) -> String {
        let position = self.snapshot.index().node(node);
        let hash = self
            .steps
            .zip(position)
            .map_or("", |(steps, node)| goal_hash(&steps.fleet, &steps.history, node));
        pull_pod_name(self.snapshot.spec(), node, hash)
    }

    /// The names of the nodes, in the order of the slots: they share the text of the report.
    fn names(&self) -> impl Iterator<Item = NodeName> {
        self.order.iter().enumerate().map(|(slot, position)| match self.report.nodes.get(slot) {
            Some(verdict) => verdict.node.clone(),
            None => self.snapshot.node(*position).name.into(),
        })
    }
}

impl Kept {
    /// The state for a snapshot of the whole cluster, the decision on it and its report. `memory` has observed the snapshot.
    pub(crate) fn new(
        snapshot: &Snapshot<'_>,
        decision: &Decision<'_>,
        report: &Report,
        memory: &Memory,
    ) -> Self {
        let listed = WholePlan::new(snapshot, decision, report);
        let spec = Arc::new(Spec::clone(snapshot.spec()).into_owned());
        let mut kept = Kept {
            spec,
            revisions: Vec::new(),
            revision_facts: Vec::new(),
            objects: Objects::new(&snapshot.spec().policy),
            images: BTreeSet::new(),
            evaluations: KeptEvaluations::default(),
            recheck: Recheck::default(),
            without_room: Vec::new(),
            rollout: None,
            history_facts: None,
            is_history_stale: false,
            awaited_template: listed.steps.is_none_or(|steps| steps.history.awaits_template.is_some()),
            pod_template: None,
            image_changes: OnceLock::new(),
            now: snapshot.now(),
        };
        for (revision, facts) in snapshot.revisions().iter().zip(snapshot.revision_facts().iter()) {
            if kept.concerns(revision, facts) {
                kept.revisions.push(ControllerRevision::from(revision));
                kept.revision_facts.push(*facts);
            }
        }
        if kept.spec.policy.pull.is_some() {
            let templates =
                kept.revisions.iter().filter_map(|revision| revision.data.pointer("/spec/template"));
            kept.images = templates.chain([kept.spec.raw_template()]).flat_map(images_of).collect();
        }
        let spec = Arc::clone(&kept.spec);
        let reads = Reads::new(&spec, &kept.images);
        let pods = snapshot.pods_with_facts();
        let pods: Vec<_> = pods.filter(|(_, pod, facts)| keeps(&spec, pod, facts.verdict(pod))).collect();
        kept.objects.reserve(snapshot.nodes().len(), pods.len());
        // The snapshot is checked: no name is given twice, and each pod has found its node.
        for (name, position) in listed.names().zip(&*listed.order) {
            kept.objects.list_node(name, snapshot.node(*position), snapshot.placement(*position), reads);
        }
        for (position, pod, facts) in pods {
            let node = facts.node.map_or(NOWHERE, |node| *listed.slots.at(node));
            kept.objects.add_pod(pod, PodRelation::of(snapshot, position), node, reads);
        }
        kept.rollout = KeptRollout::of_decision(&listed, &kept.objects).map(Box::new);
        let pull_name = |node: &NodeName| listed.pull_name(node.as_str());
        kept.recheck = Recheck::new(memory, &kept.objects, pull_name);
        if let Some(steps) = listed.steps {
            kept.take_evaluations(steps, &listed.order);
            // Entries that the memory forgot with this snapshot count no more in the next plan.
            let forgotten = snapshot.memory().map(|before| kept.recheck.forget(before, memory));
            forgotten.iter().flatten().for_each(|node| kept.mark_dirty(node));
        } else {
            kept.objects.mark_all_dirty();
        }
        kept
    }

    /// Whether most of its places are empty.
    pub(crate) fn is_sparse(&self) -> bool {
        self.objects.is_sparse()
    }

    fn mark_dirty(&mut self, node: &NodeName) {
        if let Some(slot) = self.objects.node_slot(node.as_str()) {
            self.objects.mark_dirty(slot);
        }
    }

    /// The evaluations of all nodes, from a decision on the whole, whose nodes are in this order of the slots.
    fn take_evaluations(&mut self, steps: &Steps<'_>, order: &[NodeIx]) {
        let Steps { history, fleet, node_sync, evaluations, claim, .. } = steps;
        let sums = evaluations.sums.clone();
        let steps = evaluate::Steps::new(history, fleet, node_sync, evaluations);
        let evaluations = steps.evaluations(claim, order.iter().copied());
        // The decision has looked at all nodes: none is dirty any more.
        for ((_, node), evaluation) in self.objects.nodes.iter_mut().zip(evaluations) {
            (node.evaluation, node.is_dirty) = (evaluation, false);
        }
        let nodes = self.objects.nodes.iter();
        let named = nodes.map(|(slot, node)| ((node.facts.name.clone(), slot as Slot), &node.evaluation));
        self.evaluations = KeptEvaluations::of(named, sums);
        self.history_facts = Some(self.history_facts_of(history));
    }

    fn set_evaluation(&mut self, slot: Slot, evaluation: evaluation::KeptEvaluation) {
        let Some(node) = self.objects.nodes.get_mut(slot as usize) else { return };
        let named = (node.facts.name.clone(), slot);
        let old = std::mem::replace(&mut node.evaluation, evaluation);
        self.evaluations.change(&named, &old, false);
        self.evaluations.change(&named, &node.evaluation, true);
    }

    /// The plan of the whole cluster.
    ///
    /// # Errors
    /// [`NeedsLists::NotKept`] as [`plan`](Self::plan).
    pub(crate) fn explain(&self, memory: &Memory, at: ObservedAt) -> Result<Plan, NeedsLists> {
        let snapshot = self.whole(memory, at);
        let rollout = self.rollout_in(&snapshot)?;
        let rest = RestOfCluster { rollout, ..RestOfCluster::NONE };
        Ok(plan_decided(&snapshot, &decide(&snapshot, &rest)))
    }

    /// The state of the rollout in a snapshot of the whole cluster.
    fn rollout_in(&self, snapshot: &Snapshot<'_>) -> Result<Option<KnownRollout>, NeedsLists> {
        let rollout = self.rollout.clone().filter(|_| ends_at_once(&self.spec).is_none());
        let Some(mut rollout) = rollout else { return Ok(None) };
        let claim = claim(snapshot);
        let Ok(history) = History::new(snapshot, &claim.revisions) else { return Ok(None) };
        let fleet = Fleet::build(snapshot, &claim, &history, &[]);
        // No plan has compared the history since the last changes.
        rollout.revisions_changed();
        let slots: Vec<Slot> = self.all_slots().collect();
        rollout.look_at(&fleet, &history, &slots)?;
        Ok(rollout.known(slots.into_iter()))
    }

    /// A snapshot of the whole cluster, as far as the facts go: pods of others that are on no known node are missing.
    fn whole(&self, memory: &Memory, at: ObservedAt) -> Snapshot<'_> {
        self.part(self.all_slots(), memory, at).1
    }

    /// As [`whole`](Self::whole), of the nodes in these slots; with the slots that have a node.
    pub(crate) fn part(
        &self,
        slots: impl IntoIterator<Item = Slot>,
        memory: &Memory,
        at: ObservedAt,
    ) -> (Vec<Slot>, Snapshot<'_>) {
        let slots: Vec<Slot> = slots.into_iter().filter(|slot| self.objects.node(*slot).is_some()).collect();
        let snapshot = partial_snapshot(self, &slots, memory.clone(), at);
        (slots, snapshot)
    }

    pub(crate) fn take_touched(&mut self) -> Option<BTreeSet<Slot>> {
        self.objects.take_touched()
    }

    /// The slots of the nodes that the memory has an entry of, or of a pod of theirs; some more than once.
    pub(crate) fn remembered_slots<'k>(&'k self, memory: &'k Memory) -> impl Iterator<Item = Slot> + 'k {
        let nodes = memory.nodes_with_entries().chain(self.recheck.nodes_of_deletes());
        nodes.filter_map(|node| self.node_slot(node.as_str()))
    }

    /// The nodes whose candidate waits for something else than a limit by the last plan, which went through all steps: by name, those
    /// without room last.
    pub(crate) fn waits(&self) -> impl Iterator<Item = (&NodeName, &Wait)> {
        let waits = self.evaluations.waits.iter().filter_map(|(_, slot)| self.objects.node(*slot));
        let waits = waits.filter_map(|node| Some((&node.facts.name, node.evaluation.wait()?)));
        let without_room = self.without_room.iter().filter_map(|slot| self.objects.node(*slot));
        let without_room = without_room.filter(|node| node.evaluation.wait().is_none());
        waits.chain(without_room.map(|node| (&node.facts.name, &Wait::Room)))
    }

    /// The slots of the nodes in turn, and of those with a pull pod or a pod that was changed in its place, as the last plan found them.
    pub(crate) fn slots_of_turns(&self) -> impl Iterator<Item = Slot> {
        self.evaluations.touched.iter().copied()
    }

    pub(crate) fn node_slot(&self, name: &str) -> Option<Slot> {
        self.objects.node_slot(name)
    }

    pub(crate) fn node_slot_of_pod(&self, name: &str) -> Option<Slot> {
        let pod = self.objects.pod_slot(name)?;
        self.objects.pod(pod).map(|pod| pod.node)
    }

    /// For each wave of the rollout policy, whether it matches the labels of the node in this slot.
    pub(crate) fn wave_matches(&self, slot: Slot) -> impl Iterator<Item = bool> {
        self.rollout.iter().flat_map(move |rollout| rollout.wave_matches(slot))
    }

    /// Whether the node in this slot should run a pod of the revision with this uid; `None` if that one is not the stable revision.
    pub(crate) fn stable_placement(&self, slot: Slot, uid: &str) -> Option<Placement> {
        let rollout = self.rollout.as_ref().filter(|rollout| rollout.has_stable(uid))?;
        rollout.placement_of(slot)
    }

    pub(crate) fn all_slots(&self) -> impl Iterator<Item = Slot> {
        self.objects.nodes.iter().map(|(slot, _)| slot as Slot)
    }
}
