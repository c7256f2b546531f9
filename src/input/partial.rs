//! A snapshot of facts that somebody keeps instead of the objects: decisions look at it as at any other.

use crate::input::index::{Hashes, Index, PodFacts, RevisionFacts};
use crate::input::memory::Memory;
use crate::input::placement::Placement;
use crate::input::spec::Spec;
use crate::input::{ObservedAt, Snapshot};
use crate::kubernetes::ownership::Ownership;
use crate::kubernetes::well_known::TEMPLATE_GENERATION_LABEL;
use crate::objects::position::{NodeIx, PodIx};
use crate::objects::view::{NodeView, PodView, RevisionView};
use std::sync::Arc;

/// The relation of a pod to the DaemonSet, with the labels that a decision reads.
#[derive(Debug, Clone, Copy)]
pub struct PodRelation<'l> {
    pub ownership: Ownership,
    /// The selector matches its labels.
    pub selected: bool,
    /// Its hash label.
    pub hash: Option<&'l str>,
    /// Its label of the template generation.
    pub generation: Option<&'l str>,
}

impl<'l> PodRelation<'l> {
    /// Of a pod of which the ownership is known, and whether the selector matches it.
    pub fn new(spec: &Spec<'_>, pod: &PodView<'l>, ownership: Ownership, selected: bool) -> Self {
        PodRelation {
            ownership,
            selected,
            hash: pod.labels.get(&spec.policy.unique_label_key),
            generation: pod.labels.get(TEMPLATE_GENERATION_LABEL),
        }
    }

    /// Of a pod of a snapshot: its index has read the labels already.
    pub fn of(snapshot: &'l Snapshot<'l>, pod: PodIx) -> Self {
        let PodFacts { ownership, selected, same_generation, hash, node: _ } = *snapshot.facts(pod);
        let current = snapshot.spec.template_generation.as_deref();
        let read = || snapshot.pod(pod).labels.get(TEMPLATE_GENERATION_LABEL);
        PodRelation {
            ownership,
            selected,
            hash: hash.and_then(|hash| snapshot.index.hash(hash)),
            generation: if same_generation { current } else { read() },
        }
    }
}

/// The facts of a snapshot, which were checked when they were objects.
#[derive(Debug)]
pub struct PartialSnapshot<'a> {
    spec: Arc<Spec<'a>>,
    nodes: Vec<NodeView<'a>>,
    placements: Vec<Placement>,
    pods: Vec<PodView<'a>>,
    pod_facts: Vec<PodFacts>,
    hashes: Hashes<'a>,
}

impl<'a> PartialSnapshot<'a> {
    /// Nodes whose names differ, with their placements.
    pub fn new(spec: Arc<Spec<'a>>, nodes: impl Iterator<Item = (NodeView<'a>, Placement)>) -> Self {
        let (nodes, placements) = nodes.unzip();
        let hashes = Hashes::default();
        PartialSnapshot { spec, nodes, placements, pods: Vec::new(), pod_facts: Vec::new(), hashes }
    }

    /// Adds a pod on one of the nodes, or on none.
    pub fn add_pod(&mut self, view: PodView<'a>, relation: PodRelation<'a>, node: Option<NodeIx>) {
        let PodRelation { ownership, selected, hash, generation } = relation;
        self.pods.push(view);
        self.pod_facts.push(PodFacts {
            ownership,
            selected,
            same_generation: generation.is_some() && generation == self.spec.template_generation.as_deref(),
            node,
            hash: hash.map(|hash| self.hashes.add(hash)),
        });
    }

    /// The snapshot, with all revisions that concern the DaemonSet.
    pub fn snapshot(
        self,
        revisions: Vec<RevisionView<'a>>,
        revision_facts: Vec<RevisionFacts>,
        memory: Memory,
        at: ObservedAt,
    ) -> Snapshot<'a> {
        let PartialSnapshot { spec, nodes, placements, pods, pod_facts, hashes } = self;
        Snapshot {
            spec,
            now: at.now,
            pods_version: at.pods_version,
            index: Index::from_facts(nodes.iter().map(|node| node.name), hashes, pod_facts),
            placements,
            nodes,
            pods,
            revisions,
            revision_facts: revision_facts.into(),
            memory: Some(memory),
        }
    }
}
