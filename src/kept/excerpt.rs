//! A snapshot of a few nodes, made from the kept facts: decisions look at it as at any other.

use super::Kept;
use super::facts::{PodFacts, Slot};
use super::objects::Node;
use crate::memory::Memory;
use crate::snapshot::index::{self, Hashes, Index};
use crate::snapshot::position::{NodeIx, Position};
use crate::snapshot::{ObservedAt, Snapshot};
use crate::view::{PodView, RevisionView};
use std::sync::Arc;

/// A snapshot of these nodes, in this order, with their pods, the pods without a node, and all revisions.
pub(super) fn excerpt<'k>(kept: &'k Kept, slots: &[Slot], memory: Memory, at: ObservedAt) -> Snapshot<'k> {
    let nodes: Vec<&Node> = slots.iter().filter_map(|slot| kept.objects.node(*slot)).collect();
    let mut pods = Pods { kept, views: Vec::new(), facts: Vec::new(), hashes: Hashes::default() };
    for (position, node) in nodes.iter().enumerate() {
        kept.objects.pods_of(node).for_each(|pod| pods.add(pod, Some(NodeIx::new(position))));
    }
    kept.objects.strays().for_each(|pod| pods.add(pod, None));
    let node_names = nodes.iter().map(|node| node.facts.name.as_str());
    Snapshot {
        spec: Arc::clone(&kept.spec) as _,
        now: at.now,
        pods_version: at.pods_version,
        index: Index::from_facts(node_names, pods.hashes, pods.facts),
        placements: nodes.iter().map(|node| node.facts.placement).collect(),
        nodes: nodes.iter().map(|node| node.facts.view()).collect(),
        pods: pods.views,
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
    hashes: Hashes<'k>,
}

impl<'k> Pods<'k> {
    fn add(&mut self, pod: &'k PodFacts, node: Option<NodeIx>) {
        let Kept { spec, objects, .. } = self.kept;
        let ds = &spec.daemon_set.metadata;
        self.views.push(objects.pod_view(pod, &ds.namespace, ds.uid.as_str()));
        let shared = objects.shared(pod.shared);
        let generation = shared.and_then(|shared| shared.generation.as_deref());
        let hash = shared.and_then(|shared| shared.hash.as_deref());
        self.facts.push(index::PodFacts {
            ownership: pod.ownership,
            selected: pod.is_selected(),
            same_generation: generation.is_some() && generation == spec.template_generation.as_deref(),
            node,
            hash: hash.map(|hash| self.hashes.add(hash)),
        });
    }
}
