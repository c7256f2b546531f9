//! The list of actions beside the snapshot: the subject of each action, and the deletes that count.

use super::goals::Goals;
use super::lineage::Lineage;
use super::memories::{self, Unseen};
use super::named::{ByUid, Named, Subject, subjects};
use super::pulls;
use super::pulls::Pull;
use super::stage::{PodStage, PodStages};
use super::turns::Turns;
use daemonset::internal::{IndexVec, NodeIx, Ownership, PodFacts, PodIx, RevisionIx, neutral};
use daemonset::model::NodeName;
use daemonset::{Action, Failure, PodView, Snapshot};
use serde_json::Value;
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// Everything that the rules are applied to.
pub(super) struct Context<'s> {
    pub(super) snapshot: &'s Snapshot<'s>,
    pub(super) goals: &'s Goals<'s>,
    pub(super) actions: &'s [Action],
    pub(super) lineage: Lineage<'s>,
    pub(super) stages: PodStages<'s>,
    pub(super) turns: Turns<'s>,
    /// See [`pulls::by_node`].
    pub(super) pulls: BTreeMap<(NodeIx, &'s str), Vec<Pull<'s>>>,
    /// For each action its subject.
    subjects: Vec<Subject>,
    /// The changes of each pod by the list.
    marks: IndexVec<PodIx, Marks>,
    /// Revisions that the list adopts, sorted.
    adopted_revisions: Vec<RevisionIx>,
    /// Deletes of pods that are there and the DaemonSet's, each pod once.
    pub(super) deletes: Vec<Deletion<'s>>,
    /// Created pods that the snapshot does not show, by node.
    pub(super) unseen: Vec<Unseen<'s>>,
    /// The live pods of each node before the list, where a rule asks for them.
    live_pods: OnceCell<BTreeMap<NodeIx, Vec<PodIx>>>,
}

/// The revision that a node should run.
pub(super) struct Goal<'c> {
    pub(super) template: &'c Value,
    /// Its hash label.
    pub(super) hash: &'c str,
    pub(super) is_base: bool,
}

/// The changes of a pod by the list.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Marks {
    pub(super) adopted: bool,
    pub(super) labelled: bool,
    pub(super) deleted: bool,
}

neutral!(Marks, Marks { adopted: false, labelled: false, deleted: false });

/// The delete of a pod.
pub(super) struct Deletion<'s> {
    /// Position in the list.
    pub(super) action: usize,
    pub(super) pod: &'s PodView<'s>,
    pub(super) facts: &'s PodFacts,
    pub(super) stage: PodStage,
    pub(super) node: &'s NodeName,
    pub(super) failure: Option<Failure>,
}

impl<'s> Context<'s> {
    pub(super) fn new(snapshot: &'s Snapshot<'s>, goals: &'s Goals<'s>, actions: &'s [Action]) -> Self {
        let named = || actions.iter().map(Named::by);
        let pod_uids = named().filter_map(|subject| subject.pod()).map(|pod| pod.uid.as_str());
        let requested = pod_uids.chain(memories::created(snapshot));
        let pods = ByUid::new(requested, snapshot.pods().iter().map(|pod| pod.uid));
        let requested =
            named().filter_map(|subject| subject.revision()).map(|revision| revision.uid.as_str());
        let revisions = ByUid::new(requested, snapshot.revisions().iter().map(|revision| revision.uid));
        let mut context = Context {
            snapshot,
            goals,
            actions,
            lineage: Lineage::new(snapshot, Some(goals), actions),
            stages: PodStages::new(snapshot),
            turns: Turns::new(snapshot, actions),
            pulls: pulls::by_node(snapshot),
            subjects: subjects(snapshot, actions, &pods, &revisions),
            marks: IndexVec::repeat(Marks::default(), snapshot.pods().len()),
            adopted_revisions: Vec::new(),
            deletes: Vec::new(),
            unseen: memories::unseen_creates(snapshot, &pods),
            live_pods: OnceCell::new(),
        };
        context.mark_changes();
        context
    }

    /// Each action with its position in the list and its subject.
    pub(super) fn actions(&self) -> impl Iterator<Item = (usize, &'s Action, Subject)> {
        let actions = self.actions.iter().zip(&self.subjects).enumerate();
        actions.map(|(index, (action, subject))| (index, action, *subject))
    }

    pub(super) fn marks(&self, pod: PodIx) -> Marks {
        *self.marks.at(pod)
    }

    /// The pods of the DaemonSet, and those that it may adopt.
    pub(super) fn own_pods(&self) -> impl Iterator<Item = (PodIx, &'s PodView<'s>, &'s PodFacts)> {
        self.snapshot.pods_with_facts().filter(|(_, pod, facts)| {
            let ours = match facts.ownership {
                Ownership::Controlled => true,
                Ownership::Orphan => pod.deleted_at.is_none(),
                Ownership::Foreign => false,
            };
            ours && facts.selected
        })
    }

    /// The live ones of these on a node, before the list.
    pub(super) fn live_pods_of(&self, node: NodeIx) -> impl Iterator<Item = &'s PodView<'s>> {
        let by_node = self.live_pods.get_or_init(|| {
            let mut by_node: BTreeMap<NodeIx, Vec<PodIx>> = BTreeMap::new();
            for (position, pod, facts) in self.own_pods() {
                let is_live = matches!(self.stages.stage(pod, facts, &self.lineage), PodStage::Live(_));
                if let Some(node) = facts.node.filter(|_| is_live) {
                    by_node.entry(node).or_default().push(position);
                }
            }
            by_node
        });
        by_node.get(&node).into_iter().flatten().map(|position| self.snapshot.pod(*position))
    }

    /// The revision that a node should run.
    pub(super) fn goal_of(&self, node: NodeIx) -> Goal<'_> {
        match self.goals.base_of(node) {
            Some(base) => Goal {
                template: base.view.data.pointer("/spec/template").unwrap_or(&Value::Null),
                hash: base.hash,
                is_base: true,
            },
            None => Goal {
                template: self.snapshot.spec().raw_template(),
                hash: self.lineage.current_hash.unwrap_or_default(),
                is_base: false,
            },
        }
    }

    /// The DaemonSet's, or adopted in this list; a pod that is released is not.
    pub(super) fn owns_pod(&self, pod: PodIx) -> bool {
        let facts = self.snapshot.facts(pod);
        let ours = match facts.ownership {
            Ownership::Controlled => true,
            Ownership::Orphan => self.marks(pod).adopted,
            Ownership::Foreign => false,
        };
        ours && facts.selected
    }

    /// The DaemonSet's, or adopted in this list.
    pub(super) fn owns_revision(&self, revision: RevisionIx) -> bool {
        self.lineage.member(revision).is_some_and(|member| {
            member.view.controller.is_some() || self.adopted_revisions.binary_search(&revision).is_ok()
        })
    }

    fn mark_changes(&mut self) {
        let (actions, subjects) = (self.actions, std::mem::take(&mut self.subjects));
        // Adoptions first: a list out of order is judged as if it were in order.
        for (action, subject) in actions.iter().zip(&subjects) {
            match (action, *subject) {
                (Action::AdoptPod { .. }, Subject::Pod(pod)) => {
                    self.marks.change(pod, |marks| marks.adopted = true);
                }
                (Action::AdoptRevision { .. }, Subject::Revision(revision)) => {
                    self.adopted_revisions.push(revision);
                }
                _ => {}
            }
        }
        self.adopted_revisions.sort_unstable();
        for (index, (action, subject)) in actions.iter().zip(&subjects).enumerate() {
            match (action, *subject) {
                (Action::LabelPod { .. }, Subject::Pod(pod)) if self.owns_pod(pod) => {
                    self.marks.change(pod, |marks| marks.labelled = true);
                }
                (Action::DeletePod { node, failure, .. }, Subject::Pod(pod)) if self.owns_pod(pod) => {
                    self.mark_deleted(index, pod, node, *failure);
                }
                // The other way in which an update takes a pod: it counts in the same limits.
                (Action::UpdatePodInPlace { node, .. }, Subject::Pod(pod)) if self.owns_pod(pod) => {
                    self.mark_deleted(index, pod, node, None);
                }
                _ => {}
            }
        }
        self.subjects = subjects;
    }

    fn mark_deleted(&mut self, action: usize, position: PodIx, node: &'s NodeName, failure: Option<Failure>) {
        let (pod, facts) = (self.snapshot.pod(position), self.snapshot.facts(position));
        let stage = self.stages.stage(pod, facts, &self.lineage);
        if !self.marks(position).deleted && !matches!(stage, PodStage::Terminating | PodStage::Gone) {
            self.marks.change(position, |marks| marks.deleted = true);
            self.deletes.push(Deletion { action, pod, facts, stage, node, failure });
        }
    }
}
