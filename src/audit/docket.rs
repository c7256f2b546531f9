//! The list of actions beside the snapshot: what each of them is about, and what of it counts.

use super::life::{Doctor, Life};
use super::lineage::Lineage;
use super::memories::{self, Unseen};
use super::named::{ByUid, Subject, positions};
use crate::action::{Action, Failure};
use crate::kubernetes::ownership::Ownership;
use crate::model::NodeName;
use crate::snapshot::Snapshot;
use crate::snapshot::index::PodFacts;
use crate::view::PodView;

/// What the rules are applied to.
pub(super) struct Docket<'s> {
    pub(super) snapshot: &'s Snapshot<'s>,
    pub(super) actions: &'s [Action],
    pub(super) lineage: Lineage<'s>,
    pub(super) doctor: Doctor<'s>,
    /// For each action the position of its pod or revision.
    pub(super) subjects: Vec<Option<u32>>,
    /// What the list does to each pod; empty where it names none.
    marks: Vec<Marks>,
    /// Revisions that the list adopts, as sorted positions.
    adopted_revisions: Vec<u32>,
    /// Deletes of pods that are there and the DaemonSet's, each pod once.
    pub(super) deletes: Vec<Deletion<'s>>,
    /// Created pods that are not seen yet, by node.
    pub(super) unseen: Vec<Unseen<'s>>,
}

/// What the list does to a pod.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Marks {
    pub(super) adopted: bool,
    pub(super) labelled: bool,
    pub(super) deleted: bool,
}

/// The delete of a pod.
pub(super) struct Deletion<'s> {
    /// Position in the list.
    pub(super) action: usize,
    pub(super) pod: &'s PodView<'s>,
    pub(super) facts: &'s PodFacts,
    pub(super) life: Life,
    pub(super) node: &'s NodeName,
    pub(super) failure: Option<Failure>,
}

impl<'s> Docket<'s> {
    pub(super) fn of(snapshot: &'s Snapshot<'s>, actions: &'s [Action]) -> Self {
        let named = || actions.iter().map(Subject::of);
        let pod_uids = named().filter_map(|subject| subject.pod()).map(|pod| pod.uid.as_str());
        let asked = pod_uids.chain(memories::created(snapshot));
        let pods = ByUid::of(asked, snapshot.pods.iter().map(|pod| pod.uid));
        let asked = named().filter_map(|subject| subject.revision()).map(|revision| revision.uid.as_str());
        let revisions = ByUid::of(asked, snapshot.revisions.iter().map(|revision| revision.uid));
        let mut docket = Docket {
            snapshot,
            actions,
            lineage: Lineage::of(snapshot, actions),
            doctor: Doctor::new(snapshot),
            subjects: positions(snapshot, actions, &pods, &revisions),
            marks: Vec::new(),
            adopted_revisions: Vec::new(),
            deletes: Vec::new(),
            unseen: memories::unseen_creates(snapshot, &pods),
        };
        docket.mark();
        docket
    }

    /// The position of the pod or revision that an action names, if it is there.
    pub(super) fn subject(&self, action: usize) -> Option<u32> {
        self.subjects.get(action).copied().flatten()
    }

    pub(super) fn pod(&self, position: u32) -> Option<(&'s PodView<'s>, &'s PodFacts)> {
        self.snapshot.pods.get(position as usize).zip(self.snapshot.index.pods.get(position as usize))
    }

    pub(super) fn marks(&self, position: usize) -> Marks {
        self.marks.get(position).copied().unwrap_or_default()
    }

    /// The DaemonSet's, or adopted in this list; a pod that is released is not.
    pub(super) fn owns_pod(&self, position: u32) -> bool {
        let facts = self.snapshot.index.pods.get(position as usize);
        facts.is_some_and(|facts| {
            let ours = match facts.tie {
                Ownership::Controlled => true,
                Ownership::Orphan => self.marks(position as usize).adopted,
                Ownership::Foreign => false,
            };
            ours && facts.selected
        })
    }

    /// The DaemonSet's, or adopted in this list.
    pub(super) fn owns_revision(&self, position: u32) -> bool {
        self.lineage.member(position).is_some_and(|member| {
            member.view.controller.is_some() || self.adopted_revisions.binary_search(&position).is_ok()
        })
    }

    fn mark(&mut self) {
        self.adopted_revisions = self.adoptions(|action| matches!(action, Action::AdoptRevision { .. }));
        let adopted_pods = self.adoptions(|action| matches!(action, Action::AdoptPod { .. }));
        if self.subjects.iter().any(Option::is_some) {
            self.marks = vec![Marks::default(); self.snapshot.pods.len()];
        }
        for position in adopted_pods {
            if let Some(marks) = self.marks.get_mut(position as usize) {
                marks.adopted = true;
            }
        }
        let actions = self.actions;
        for (index, action) in actions.iter().enumerate() {
            let Some(position) = self.subject(index).filter(|position| self.owns_pod(*position)) else {
                continue;
            };
            match action {
                Action::LabelPod { .. } => self.mark_labelled(position),
                Action::DeletePod { .. } => self.mark_deleted(index, action, position),
                _ => {}
            }
        }
    }

    /// Positions of the objects that these actions name, sorted.
    fn adoptions(&self, adopts: impl Fn(&Action) -> bool) -> Vec<u32> {
        let named = self.actions.iter().zip(&self.subjects).filter(|(action, _)| adopts(action));
        let mut positions: Vec<u32> = named.filter_map(|(_, position)| *position).collect();
        positions.sort_unstable();
        positions
    }

    fn mark_labelled(&mut self, position: u32) {
        if let Some(marks) = self.marks.get_mut(position as usize) {
            marks.labelled = true;
        }
    }

    fn mark_deleted(&mut self, index: usize, action: &'s Action, position: u32) {
        let Action::DeletePod { node, failure, .. } = action else { return };
        let Some((pod, facts)) = self.pod(position) else { return };
        let life = self.doctor.life(pod, facts, &self.lineage);
        let Some(marks) = self.marks.get_mut(position as usize) else { return };
        if !marks.deleted && !matches!(life, Life::Leaving | Life::Gone) {
            marks.deleted = true;
            self.deletes.push(Deletion { action: index, pod, facts, life, node, failure: *failure });
        }
    }
}
