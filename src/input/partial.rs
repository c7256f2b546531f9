//! A snapshot of facts that somebody keeps instead of the objects: decisions look at it as at any other.

use crate::input::index::{Hashes, Index, PodFacts, RevisionFacts};
use crate::input::memory::Memory;
use crate::input::placement::Placement;
use crate::input::snapshot::PodLookup;
use crate::input::spec::Spec;
use crate::input::{ObservedAt, Snapshot};
use crate::position::{IndexVec, PodIx, RevisionIx};
use daemonset_objects::{NodeView, PodView, RevisionView};
use std::sync::Arc;

/// The facts of a snapshot, which were checked when they were objects.
#[derive(Debug)]
pub struct SnapshotFacts<'a> {
    pub spec: Arc<Spec<'a>>,
    /// Their names differ.
    pub nodes: Vec<NodeView<'a>>,
    pub placements: Vec<Placement>,
    pub pods: Vec<PodView<'a>>,
    pub pod_facts: IndexVec<PodIx, PodFacts>,
    /// The hash labels of the pods.
    pub hashes: Hashes<'a>,
    /// All revisions that concern the DaemonSet.
    pub revisions: Vec<RevisionView<'a>>,
    pub revision_facts: IndexVec<RevisionIx, RevisionFacts>,
    /// Of all pods of the namespace that matter.
    pub pod_names: Option<&'a dyn PodLookup>,
}

#[doc(hidden)]
impl<'a> Snapshot<'a> {
    /// The snapshot of these facts.
    pub fn of_facts(facts: SnapshotFacts<'a>, memory: Memory, at: ObservedAt) -> Self {
        let SnapshotFacts {
            spec,
            nodes,
            placements,
            pods,
            pod_facts,
            hashes,
            revisions,
            revision_facts,
            pod_names,
        } = facts;
        Snapshot {
            spec,
            now: at.now,
            pods_version: at.pods_version,
            nodes_version: at.nodes_version,
            index: Index::from_facts(nodes.iter().map(|node| node.name), hashes, pod_facts),
            placements,
            nodes,
            pods,
            revisions,
            revision_facts,
            memory: Some(memory),
            manifests: None,
            pod_names,
        }
    }
}
