//! The objects of the model in an API server or in a cache: small, ordered, comparable.

use std::hash::{Hash, Hasher};

/// The stage of a pod's lifecycle, as its object shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    Starting,
    /// It was Ready, and became not Ready by itself.
    Crashed,
    /// Its containers have restarted too often for the rollout's failure policy, and it never becomes Ready.
    Failing,
    /// Ready for less than minReadySeconds.
    Young,
    Available,
    /// Terminating. Its Ready condition is still True, which must not count.
    Terminating,
}

impl Phase {
    pub fn is_ready(self) -> bool {
        matches!(self, Phase::Young | Phase::Available)
    }
}

/// Identifies a pod. A serial is reused only when nothing refers to its pod any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PodId {
    pub node: u8,
    pub serial: u8,
}

impl PodId {
    pub fn name(self) -> String {
        format!("{}-{}", node_name(self.node), self.serial)
    }
}

pub fn node_name(node: u8) -> String {
    format!("n{node}")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pod {
    pub id: PodId,
    /// The version of the template.
    pub version: u8,
    pub phase: Phase,
}

impl Hash for Pod {
    /// The whole pod in one number, because hashing states is most of the work.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let Pod { id: PodId { node, serial }, version, phase } = *self;
        state.write_u32(u32::from_le_bytes([node, serial, version, phase as u8]));
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Strategy {
    /// maxUnavailable.
    Replace(u8),
    /// maxSurge.
    Surge(u8),
}

/// The spec of the DaemonSet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Spec {
    pub version: u8,
    pub strategy: Strategy,
    /// The annotations that steer the rollout.
    pub paused: bool,
    /// Both waves of version 1.
    pub approved: bool,
    /// Generation and version of the DaemonSet, where a failed version is undone. They stay as they are elsewhere, since nothing depends
    /// on them.
    pub generation: u8,
    pub writes: u8,
}

/// A revision; there is at most one of each version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Revision {
    pub version: u8,
    pub number: u8,
    pub marks: Marks,
}

/// The marks of a revision, all of them valid, but for those of an undo.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Marks {
    pub started: bool,
    pub wave: Option<u8>,
    pub failed: bool,
    pub completed: bool,
    /// The number of the failed revision in whose place it comes back.
    pub restored: Option<u8>,
    pub undone: Option<Undone>,
}

/// The undo of a revision with this number, and of this generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Undone {
    pub number: u8,
    pub generation: u8,
}

/// A change of a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mark {
    Started(bool),
    Wave(Option<u8>),
    Failed,
    Completed,
    Restored(u8),
    Undone(Option<Undone>),
}

impl Marks {
    /// The marks that count under another number, too.
    pub fn of_undos(self) -> Self {
        Marks { restored: self.restored, undone: self.undone, ..Marks::default() }
    }

    pub fn set(&mut self, mark: Mark) {
        match mark {
            Mark::Started(started) => self.started = started,
            Mark::Wave(wave) => self.wave = wave,
            Mark::Failed => self.failed = true,
            Mark::Completed => self.completed = true,
            Mark::Restored(failed) => self.restored = Some(failed),
            Mark::Undone(undone) => self.undone = undone,
        }
    }
}

/// All objects; each list is sorted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Objects {
    pub pods: Vec<Pod>,
    pub spec: Spec,
    pub revisions: Vec<Revision>,
}

impl Objects {
    pub fn pod(&self, id: PodId) -> Option<&Pod> {
        self.pods.iter().find(|pod| pod.id == id)
    }

    pub fn pods_of(&self, node: u8) -> impl Iterator<Item = &Pod> {
        self.pods.iter().filter(move |pod| pod.id.node == node)
    }

    /// The marks of a version's revision.
    pub fn marks(&self, version: u8) -> Marks {
        let found = self.revisions.iter().find(|revision| revision.version == version);
        found.map_or_else(Marks::default, |revision| revision.marks)
    }

    /// The number of a version's revision.
    pub fn number(&self, version: u8) -> Option<u8> {
        self.revisions.iter().find(|revision| revision.version == version).map(|revision| revision.number)
    }

    /// Whether the spec's version was undone before, in a way that allows no more: of another number or generation, or without a
    /// version to go back to. The spec may look older than the revisions, and then time must pass.
    pub fn stays_failed(&self) -> bool {
        let (number, old) = (self.number(self.spec.version), self.marks(0));
        let is_chosen = old.restored == number && !old.failed;
        let is_due = |undone: Undone| {
            Some(undone.number) == number && undone.generation == self.spec.generation && is_chosen
        };
        let undone = self.marks(self.spec.version).undone;
        let looks_older =
            undone.is_some_and(|undone| undone.generation == self.spec.generation) && self.number(0) > number;
        self.has_failed() && (old.failed || looks_older || undone.is_some_and(|undone| !is_due(undone)))
    }

    /// Whether the revision of the spec has failed.
    pub fn has_failed(&self) -> bool {
        self.marks(self.spec.version).failed
    }

    /// Adds the pod, or replaces the pod of the same serial.
    pub fn put_pod(&mut self, pod: Pod) {
        self.remove_pod(pod.id);
        self.pods.push(pod);
        self.pods.sort_unstable();
    }

    pub fn remove_pod(&mut self, id: PodId) {
        self.pods.retain(|pod| pod.id != id);
    }

    /// Adds the revision, or replaces the one of the same version.
    pub fn put_revision(&mut self, revision: Revision) {
        self.revisions.retain(|other| other.version != revision.version);
        self.revisions.push(revision);
        self.revisions.sort_unstable();
    }
}

/// Watch events that have not reached the cache. Events of one kind keep their order; different kinds are independent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Undelivered {
    pub pods: Vec<PodEvent>,
    pub specs: Vec<Spec>,
    pub revisions: Vec<Revision>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PodEvent {
    Is(Pod),
    Gone(PodId),
}

impl PodEvent {
    pub fn id(self) -> PodId {
        match self {
            PodEvent::Is(pod) => pod.id,
            PodEvent::Gone(id) => id,
        }
    }
}

impl Undelivered {
    pub fn len(&self) -> usize {
        self.pods.len() + self.specs.len() + self.revisions.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
