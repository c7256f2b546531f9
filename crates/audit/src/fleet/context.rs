//! The list of actions beside the snapshot: the subject of each action, and the deletes that count.

use crate::facts::lineage::Lineage;
use crate::facts::memories::{self, Unseen};
use crate::facts::named::{ByUid, Named, Subject, subjects};
use crate::facts::pulls;
use crate::facts::pulls::Pull;
use crate::facts::stage::{PodStage, PodStages};
use crate::facts::turns::Turns;
use crate::goals::Goals;
use daemonset::internal::{IndexVec, NodeIx, Ownership, PodFacts, PodIx, RevisionIx, neutral};
use daemonset::model::NodeName;
use daemonset::{Action, Failure, PodView, Snapshot};
use serde_json::Value;
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// Everything that the rules are applied to.
pub(crate) struct Context<'s> {
    pub(crate) snapshot: &'s Snapshot<'s>,
    pub(crate) goals: &'s Goals<'s>,
    pub(crate) actions: &'s [Action],
    pub(crate) lineage: Lineage<'s>,
    stages: PodStages<'s>,
    pub(crate) turns: Turns<'s>,
    /// See [`pulls::by_node`].
    pub(crate) pulls: BTreeMap<(NodeIx, &'s str), Vec<Pull<'s>>>,
    /// For each action its subject.
    subjects: Vec<Subject>,
    /// The changes of each pod by the list.
    marks: IndexVec<PodIx, Marks>,
    /// Revisions that the list adopts, sorted.
    adopted_revisions: Vec<RevisionIx>,
    /// Deletes of pods that are there and the DaemonSet's, each pod once.
    pub(crate) deletes: Vec<Deletion<'s>>,
    /// Created pods that the snapshot does not show, by node.
    pub(crate) unseen: Vec<Unseen<'s>>,
    /// The live pods of each node before the list, where a rule asks for them.
    live_pods: OnceCell<BTreeMap<NodeIx, Vec<PodIx>>>,
}

/// The revision that a node should run.
pub(crate) struct Goal<'c> {
    pub(crate) template: &'c Value,
    /// Its hash label.
    pub(crate) hash: &'c str,
    pub(crate) is_stable: bool,
}

/// The changes of a pod by the list.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Marks {
    pub(crate) adopted: bool,
    pub(crate) labelled: bool,
    pub(crate) deleted: bool,
}

neutral!(Marks, Marks { adopted: false, labelled: false, deleted: false });

/// The delete of a pod.
pub(crate) struct Deletion<'s> {
    /// Position in the list.
    pub(crate) action: usize,
    pub(crate) pod: &'s PodView<'s>,
    pub(crate) facts: &'s PodFacts,
    pub(crate) stage: PodStage,
    pub(crate) node: &'s NodeName,
    pub(crate) failure: Option<Failure>,
}

impl<'s> Context<'s> {
    pub(crate) fn new(snapshot: &'s Snapshot<'s>, goals: &'s Goals<'s>, actions: &'s [Action]) -> Self {
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
            lineage: Lineage::new(snapshot, actions),
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
    pub(crate) fn actions(&self) -> impl Iterator<Item = (usize, &'s Action, Subject)> {
        let actions = self.actions.iter().zip(&self.subjects).enumerate();
        actions.map(|(index, (action, subject))| (index, action, *subject))
    }

    pub(crate) fn marks(&self, pod: PodIx) -> Marks {
        *self.marks.at(pod)
    }

    /// The pods of the DaemonSet, and those that it may adopt.
    pub(crate) fn own_pods(&self) -> impl Iterator<Item = (PodIx, &'s PodView<'s>, &'s PodFacts)> {
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
    pub(crate) fn live_pods_of(&self, node: NodeIx) -> impl Iterator<Item = &'s PodView<'s>> {
        let by_node = self.live_pods.get_or_init(|| {
            let mut by_node: BTreeMap<NodeIx, Vec<PodIx>> = BTreeMap::new();
            for (position, pod, facts) in self.own_pods() {
                let is_live = matches!(self.stage(pod, facts), PodStage::Live(_));
                if let Some(node) = facts.node.filter(|_| is_live) {
                    by_node.entry(node).or_default().push(position);
                }
            }
            by_node
        });
        by_node.get(&node).into_iter().flatten().map(|position| self.snapshot.pod(*position))
    }

    /// The revision that a node should run.
    pub(crate) fn goal_of(&self, node: NodeIx) -> Goal<'_> {
        match self.goals.stable_of(node) {
            Some(stable) => Goal {
                template: stable.view.data.pointer("/spec/template").unwrap_or(&Value::Null),
                hash: stable.hash,
                is_stable: true,
            },
            None => Goal {
                template: self.snapshot.spec().raw_template(),
                hash: self.lineage.current_hash.unwrap_or_default(),
                is_stable: false,
            },
        }
    }

    pub(crate) fn stage(&self, pod: &PodView<'_>, facts: &PodFacts) -> PodStage {
        self.stages.stage(pod, || self.is_of_goal(facts))
    }

    /// Whether a pod is of the revision that is the goal of its node: updated, where that is the current one.
    pub(crate) fn is_of_goal(&self, pod: &PodFacts) -> bool {
        // Without a stable revision, the usual case, no node is looked up.
        let stable = self.goals.stable().and_then(|_| self.goals.stable_of(pod.node?));
        match stable {
            Some(stable) => pod.hash.is_some_and(|hash| self.lineage.hash(hash) == stable.hash),
            None => self.lineage.is_updated(pod),
        }
    }

    /// The same of a pod that is not seen yet.
    pub(crate) fn is_goal_of(&self, node: NodeIx, hash: &str) -> bool {
        match self.goals.stable_of(node) {
            Some(stable) => stable.hash == hash,
            None => self.lineage.has_template(hash),
        }
    }

    /// The DaemonSet's, or adopted in this list; a pod that is released is not.
    pub(crate) fn owns_pod(&self, pod: PodIx) -> bool {
        let facts = self.snapshot.facts(pod);
        let ours = match facts.ownership {
            Ownership::Controlled => true,
            Ownership::Orphan => self.marks(pod).adopted,
            Ownership::Foreign => false,
        };
        ours && facts.selected
    }

    /// The DaemonSet's, or adopted in this list.
    pub(crate) fn owns_revision(&self, revision: RevisionIx) -> bool {
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
        let stage = self.stage(pod, facts);
        if !self.marks(position).deleted && !matches!(stage, PodStage::Terminating | PodStage::Gone) {
            self.marks.change(position, |marks| marks.deleted = true);
            self.deletes.push(Deletion { action, pod, facts, stage, node, failure });
        }
    }
}
