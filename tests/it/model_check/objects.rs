//! What the model keeps of the objects in an API server, or in a cache of it: small, ordered, comparable.

use std::hash::{Hash, Hasher};

/// Where a pod is in its life, as its object says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    Starting,
    /// It was Ready, and went down by itself.
    Crashed,
    /// Ready, but not for minReadySeconds.
    Young,
    Available,
    /// Its Ready condition still says True, which must count for nothing.
    Terminating,
}

impl Phase {
    pub fn is_ready(self) -> bool {
        matches!(self, Phase::Young | Phase::Available)
    }
}

/// Names a pod: a serial is used again only when nothing in the world knows the pod that had it.
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
    /// Of the template.
    pub version: u8,
    pub phase: Phase,
}

impl Hash for Pod {
    /// All of it in one number: hashing states is most of the work.
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
}

/// A revision, one at most of each version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Revision {
    pub version: u8,
    pub number: u8,
}

/// All objects, each list in order.
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

    /// Adds the pod, or replaces the one of its name.
    pub fn put_pod(&mut self, pod: Pod) {
        self.remove_pod(pod.id);
        self.pods.push(pod);
        self.pods.sort_unstable();
    }

    pub fn remove_pod(&mut self, id: PodId) {
        self.pods.retain(|pod| pod.id != id);
    }

    /// Adds the revision, or replaces the one of its version.
    pub fn put_revision(&mut self, revision: Revision) {
        self.revisions.retain(|other| other.version != revision.version);
        self.revisions.push(revision);
        self.revisions.sort_unstable();
    }
}

/// Watch events that the cache has not got yet. Those of one kind come in order; kinds are on their own.
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
