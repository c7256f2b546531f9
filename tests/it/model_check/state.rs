//! The state of the model: the objects in the API server and in the cache, and the effects of single events on them.

use super::controller::{Remembered, Step};
use super::objects::{Mark, Marks, Objects, Phase, Pod, PodEvent, PodId, Revision, Spec, Undelivered};
use super::promises::{Broken, Promises};
use daemonset::model::ObjectRef;
use daemonset::{ActionOutcome, Memory};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// The objects in the API server.
    pub real: Objects,
    /// The objects in the controller's cache.
    pub cache: Objects,
    pub undelivered: Undelivered,
    pub memory: Remembered,
    /// For each node: the controller deleted an available pod there, and no pod has been available since.
    pub down: Vec<bool>,
    /// The canary of version 1 has been available.
    pub canary_done: bool,
    /// How often the template of version 1 was replaced.
    pub undone: u8,
    /// How many more tries a person has allowed.
    pub allowed: u8,
    /// The template was restored, and the cache does not show it.
    pub awaits_template: bool,
    pub user_moves: u8,
    pub failures: u8,
    pub broken: Option<Broken>,
}

impl State {
    /// Whether the rollout is complete, so that no further event happens by itself.
    pub fn is_complete(&self) -> bool {
        let good = |pod: &Pod| pod.phase == Phase::Available && pod.version == self.real.spec.version;
        let alone = (0_u8..).zip(&self.down).all(|(node, _)| self.real.pods_of(node).count() == 1);
        self.undelivered.is_empty() && alone && self.real.pods.iter().all(good)
    }

    /// Whether each node is back on version 0, because version 1 has failed.
    pub fn is_rolled_back(&self) -> bool {
        let good = |pod: &Pod| pod.phase == Phase::Available && pod.version == 0;
        let alone = (0_u8..).zip(&self.down).all(|(node, _)| self.real.pods_of(node).count() == 1);
        self.undelivered.is_empty() && alone && self.real.has_failed() && self.real.pods.iter().all(good)
    }

    pub fn has_a_surging_node(&self) -> bool {
        (0_u8..).zip(&self.down).any(|(node, _)| self.real.pods_of(node).count() > 1)
    }

    /// Whether no live pod of the node is Ready.
    pub fn is_absent(&self, node: u8) -> bool {
        !self.real.pods_of(node).any(|pod| pod.phase.is_ready())
    }

    /// A new process starts with a list, so that its cache is fresh. It has no memory, unless that is kept elsewhere.
    pub(super) fn restart(&mut self, remembers: bool) {
        if !remembers {
            self.memory = Remembered::new(Memory::default());
        }
        self.cache.clone_from(&self.real);
        self.awaits_template = false;
        self.undelivered = Undelivered::default();
    }

    pub(super) fn user(&mut self, change: impl FnOnce(&mut Spec)) {
        self.user_moves -= 1;
        self.write(change);
    }

    /// Somebody writes the DaemonSet.
    pub(super) fn write(&mut self, change: impl FnOnce(&mut Spec)) {
        change(&mut self.real.spec);
        self.undelivered.specs.push(self.real.spec);
    }

    pub(super) fn pod_is(&mut self, id: PodId, phase: Phase) {
        let Some(pod) = self.real.pod(id) else { return };
        let pod = Pod { phase, ..*pod };
        self.real.put_pod(pod);
        self.undelivered.pods.push(PodEvent::Is(pod));
        self.note_availability(pod);
    }

    /// Time passes for the real pod, for its copy in the cache, and for the copies in pending watch events.
    pub(super) fn grows_old(&mut self, id: PodId) {
        let grow = |pod: &mut Pod| {
            if pod.id == id && pod.phase == Phase::Young {
                pod.phase = Phase::Available;
            }
        };
        self.real.pods.iter_mut().for_each(grow);
        self.cache.pods.iter_mut().for_each(grow);
        for event in &mut self.undelivered.pods {
            if let PodEvent::Is(pod) = event {
                grow(pod);
            }
        }
        if let Some(pod) = self.real.pod(id).copied() {
            self.note_availability(pod);
        }
    }

    pub(super) fn note_availability(&mut self, pod: Pod) {
        if pod.phase == Phase::Available {
            self.canary_done |= pod.version == 1 && pod.id.node == 0;
            self.down[usize::from(pod.id.node)] = false;
        }
    }

    /// The API server executes a step.
    pub(super) fn take(&mut self, step: Step, marks_lag: bool) -> ActionOutcome {
        match step {
            Step::CreateRevision { version, number, started } => {
                if self.real.revisions.iter().any(|revision| revision.version == version) {
                    return ActionOutcome::Rejected;
                }
                let marks = Marks { started, ..Marks::default() };
                self.revision_is(Revision { version, number, marks })
            }
            Step::Mark { version, mark } => {
                let outcome = self.mark(version, mark);
                if !marks_lag {
                    // The cache shows the revision as it is after the write.
                    self.cache.revisions.clone_from(&self.real.revisions);
                    self.undelivered.revisions.clear();
                }
                outcome
            }
            Step::Renumber { version, number } => {
                let seen = self.cache.revisions.iter().find(|revision| revision.version == version);
                if !self.real.revisions.iter().any(|revision| Some(revision) == seen) {
                    return ActionOutcome::Rejected;
                }
                self.revision_is(Revision { version, number, marks: self.real.marks(version).of_undos() })
            }
            Step::Restore { writes, .. } if writes != self.real.spec.writes => ActionOutcome::Conflict,
            Step::Restore { version, .. } => {
                self.undone += 1;
                self.write(|spec| {
                    *spec =
                        Spec { version, generation: spec.generation + 1, writes: spec.writes + 1, ..*spec };
                });
                self.awaits_template = true;
                ActionOutcome::Done
            }
            Step::Delete(id) => {
                if Promises::takes_down(self, id) {
                    self.down[usize::from(id.node)] = true;
                }
                if self.real.pod(id).is_some_and(|pod| pod.phase != Phase::Terminating) {
                    self.pod_is(id, Phase::Terminating);
                }
                ActionOutcome::Done
            }
            Step::Create { node, version, .. } => {
                let id = self.unknown_id(node);
                let pod = Pod { id, version, phase: Phase::Starting };
                self.real.put_pod(pod);
                self.undelivered.pods.push(PodEvent::Is(pod));
                ActionOutcome::Created(ObjectRef {
                    namespace: "ns".to_owned(),
                    name: id.name(),
                    uid: id.name().into(),
                    resource_version: String::new(),
                })
            }
        }
    }

    /// Changes a mark, by the controller or by hand.
    pub(super) fn mark(&mut self, version: u8, mark: Mark) -> ActionOutcome {
        let stored = self.real.revisions.iter().find(|revision| revision.version == version);
        let Some(mut revision) = stored.copied() else { return ActionOutcome::Rejected };
        revision.marks.set(mark);
        self.revision_is(revision)
    }

    pub(super) fn revision_is(&mut self, revision: Revision) -> ActionOutcome {
        self.real.put_revision(revision);
        self.undelivered.revisions.push(revision);
        ActionOutcome::Done
    }

    /// The first serial that no object, cache, event or memory refers to. Reusing serials keeps the number of states
    /// finite.
    pub(super) fn unknown_id(&self, node: u8) -> PodId {
        let known = |id: PodId| {
            self.real.pod(id).is_some()
                || self.cache.pod(id).is_some()
                || self.undelivered.pods.iter().any(|event| event.id() == id)
                || self.memory.mentions(&id.name())
        };
        (0..).map(|serial| PodId { node, serial }).find(|id| !known(*id)).unwrap()
    }
}
