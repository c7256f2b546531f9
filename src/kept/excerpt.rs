//! A snapshot of a few nodes, made from the kept facts: decisions look at it as at any other.

use super::Kept;
use super::facts::{NOWHERE, PodFacts, Slot};
use super::objects::Node;
use crate::memory::Memory;
use crate::model::NodeName;
use crate::snapshot::index::{self, Index};
use crate::snapshot::position::{HashIx, NodeIx, Position};
use crate::snapshot::{ObservedAt, Snapshot};
use crate::view::{PodView, RevisionView};
use std::sync::Arc;

/// A snapshot of these nodes, with their pods and those that have no node; all revisions are in it. Its nodes are in the
/// order of `slots`.
///
/// Its memory has the entries of these nodes and pods, and of `names` besides.
pub(super) fn excerpt<'k>(
    kept: &'k Kept,
    slots: &[Slot],
    memory: &Memory,
    names: &'k [NodeName],
    at: ObservedAt,
) -> Snapshot<'k> {
    let mut pods = Pods { kept, views: Vec::new(), facts: Vec::new(), hashes: Default::default() };
    let nodes: Vec<&Node> = slots.iter().filter_map(|slot| kept.objects.node(*slot)).collect();
    for (position, node) in nodes.iter().enumerate() {
        kept.objects.pods_of(node).for_each(|(_, pod)| pods.add(pod, Some(NodeIx::new(position))));
    }
    let homeless = kept.objects.homeless.values().flatten();
    homeless.filter_map(|slot| kept.objects.pod(*slot)).for_each(|pod| pods.add(pod, None));
    let Pods { views, facts, hashes, .. } = pods;
    let node_names = nodes.iter().map(|node| &*node.facts.name);
    let uids = views.iter().map(|pod| pod.uid);
    let memory = memory.part(node_names.clone().chain(names.iter().map(NodeName::as_str)), uids);
    Snapshot {
        index: Index::from_facts(node_names.collect(), hashes, facts),
        spec: Arc::clone(&kept.spec) as _,
        now: at.now,
        pods_version: at.pods_version,
        placements: nodes.iter().map(|node| node.facts.placement).collect(),
        nodes: nodes.iter().map(|node| node.facts.view()).collect(),
        pods: views,
        revisions: kept.revisions.iter().map(RevisionView::from).collect(),
        revision_facts: kept.revision_facts.clone().into(),
        memory: Some(memory),
    }
}

/// The pods of an excerpt.
struct Pods<'k> {
    kept: &'k Kept,
    views: Vec<PodView<'k>>,
    facts: Vec<index::PodFacts>,
    hashes: indexmap::IndexSet<&'k str, crate::kubernetes::hash::Hasher>,
}

impl<'k> Pods<'k> {
    fn add(&mut self, pod: &'k PodFacts, node: Option<NodeIx>) {
        let ds = &self.kept.spec.daemon_set.metadata;
        let objects = &self.kept.objects;
        self.views.push(objects.pod_view(pod, &ds.namespace, ds.uid.as_str()));
        let generation = objects.label(pod.generation);
        let hash = objects.label(pod.hash).filter(|_| pod.hash != NOWHERE);
        self.facts.push(index::PodFacts {
            ownership: pod.ownership,
            selected: pod.selected,
            same_generation: generation.is_some()
                && generation == self.kept.spec.template_generation.as_deref(),
            node,
            hash: hash.map(|hash| HashIx::new(self.hashes.insert_full(hash).0)),
        });
    }
}
