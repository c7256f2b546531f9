//! The checked input of a decision.

use crate::input::builder::SnapshotBuilder;
use crate::input::index::{Index, PodFacts, RevisionFacts};
use crate::input::manifests::Manifests;
use crate::input::memory::Memory;
use crate::input::observed::{Objects, ObservedAt};
use crate::input::placement::Placement;
use crate::input::spec::Spec;
use crate::position::{IndexVec, NodeIx, PodIx, RevisionIx, at};
use daemonset_objects::{NodeView, PodView, RevisionView};
use jiff::Timestamp;
use std::fmt;
use std::sync::Arc;

/// A checked snapshot of everything that a decision reads. Nothing in it can make [`reconcile`](crate::reconcile)
/// fail.
///
/// ```
/// use daemonset::{Observed, Snapshot, model, plan};
/// use serde_json::{from_value, json};
///
/// let daemon_set: model::DaemonSet = from_value(json!({
///     "metadata": {"name": "agent", "namespace": "ns", "uid": "u1"},
///     "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": {"metadata": {"labels": {"app": "agent"}}}},
/// }))?;
/// let nodes: Vec<model::Node> = from_value(json!([{"metadata": {"name": "a"}}]))?;
/// let (pods, revisions): (Vec<model::Pod>, Vec<model::ControllerRevision>) = (vec![], vec![]);
/// let now: jiff::Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
///
/// let observed = Observed { daemon_set: &daemon_set, nodes: &nodes, pods: &pods, revisions: &revisions };
/// let snapshot = Snapshot::builder(observed, now).check().unwrap();
/// assert_eq!(snapshot.now(), now);
/// assert_eq!(plan(&snapshot).status.unwrap().desired_number_scheduled, 1);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Snapshot<'a> {
    pub(crate) spec: Arc<Spec<'a>>,
    pub(crate) now: Timestamp,
    /// The version of the list of pods, if known.
    pub(crate) pods_version: Option<u64>,
    /// The version of the list of nodes, if known.
    pub(crate) nodes_version: Option<u64>,
    pub(crate) nodes: Vec<NodeView<'a>>,
    pub(crate) pods: Vec<PodView<'a>>,
    pub(crate) revisions: Vec<RevisionView<'a>>,
    pub(crate) revision_facts: IndexVec<RevisionIx, RevisionFacts>,
    pub(crate) memory: Option<Memory>,
    pub(crate) index: Index<'a>,
    /// In the order of the nodes.
    pub(crate) placements: Vec<Placement>,
    /// The caller's, whose inputs the spec has.
    pub(crate) manifests: Option<Arc<dyn Manifests>>,
    /// Whether a pod of the namespace has a name, where the snapshot does not have all pods.
    pub(crate) pod_names: Option<&'a dyn PodLookup>,
}

/// Knows the names of all pods of the namespace.
#[doc(hidden)]
pub trait PodLookup: fmt::Debug + Sync {
    fn has_pod(&self, name: &str) -> bool;
}

impl<'a> Snapshot<'a> {
    /// Starts a snapshot of the observed objects at this instant, or with the version of a list ([`ObservedAt`]);
    /// [`SnapshotBuilder::check`] ends it.
    pub fn builder(objects: impl Into<Objects<'a>>, at: impl Into<ObservedAt>) -> SnapshotBuilder<'a> {
        SnapshotBuilder::new(objects.into(), at.into())
    }

    /// The instant that it is taken at.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// When an action accepted at `at` is expected no longer. `None` when that time is over, or when `at` is so far ahead that a
    /// clock must have gone back.
    pub(crate) fn expires(&self, at: Timestamp) -> Option<Timestamp> {
        let expiry = self.spec.in_flight_expiry();
        let plausible = at.duration_since(self.now) <= expiry;
        at.checked_add(expiry).ok().filter(|until| plausible && self.now < *until)
    }
}

/// For crates of the same version: [`internal`](crate::internal).
#[doc(hidden)]
impl<'a> Snapshot<'a> {
    /// The DaemonSet and the caller's choices, compiled.
    pub fn spec(&self) -> &Spec<'a> {
        &self.spec
    }

    /// The version of the list of pods, if known.
    pub fn pods_version(&self) -> Option<u64> {
        self.pods_version
    }

    /// The version of the list of nodes, if known.
    pub fn nodes_version(&self) -> Option<u64> {
        self.nodes_version
    }

    /// All nodes.
    #[inline]
    pub fn nodes(&self) -> &[NodeView<'a>] {
        &self.nodes
    }

    /// All pods.
    #[inline]
    pub fn pods(&self) -> &[PodView<'a>] {
        &self.pods
    }

    /// All revisions.
    pub fn revisions(&self) -> &[RevisionView<'a>] {
        &self.revisions
    }

    /// The relation of each revision to the DaemonSet.
    pub fn revision_facts(&self) -> &IndexVec<RevisionIx, RevisionFacts> {
        &self.revision_facts
    }

    /// The caller's memory.
    #[inline]
    pub fn memory(&self) -> Option<&Memory> {
        self.memory.as_ref()
    }

    /// The caller's memory, or an empty one.
    pub fn into_memory(self) -> Memory {
        self.memory.unwrap_or_default()
    }

    /// Positions of names and hash labels.
    #[inline]
    pub fn index(&self) -> &Index<'a> {
        &self.index
    }

    /// The node at a position.
    #[inline]
    pub fn node(&self, node: NodeIx) -> &NodeView<'a> {
        at(&self.nodes, node)
    }

    /// The placement of the node at a position, by the DaemonSet's template.
    #[inline]
    pub fn placement(&self, node: NodeIx) -> Placement {
        *at(&self.placements, node)
    }

    /// Whether another controller creates the pods, and this one only drives the update.
    pub fn drives(&self) -> bool {
        self.spec.policy.external_controller.is_some()
    }

    /// The pod at a position.
    #[inline]
    pub fn pod(&self, pod: PodIx) -> &PodView<'a> {
        at(&self.pods, pod)
    }

    /// The facts about the pod at a position.
    #[inline]
    pub fn facts(&self, pod: PodIx) -> &PodFacts {
        self.index.pods.at(pod)
    }

    /// The revision at a position.
    pub fn revision(&self, revision: RevisionIx) -> &RevisionView<'a> {
        at(&self.revisions, revision)
    }

    /// Each pod with its facts.
    pub fn pods_with_facts(&self) -> impl ExactSizeIterator<Item = (PodIx, &PodView<'a>, &PodFacts)> + Clone {
        let pods = crate::position::enumerate(&self.pods).zip(self.index.pods.iter());
        pods.map(|((position, pod), facts)| (position, pod, facts))
    }
}
