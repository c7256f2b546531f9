//! A snapshot of a few nodes, made from the kept facts.

use super::Kept;
use super::facts::{KeptPod, Slot};
use super::objects::Node;
use daemonset::internal::{NodeIx, PartialSnapshot, Position};
use daemonset::{Memory, ObservedAt, RevisionView, Snapshot};
use std::sync::Arc;

/// A snapshot of these nodes, in this order, with their pods, the pods without a node, and all revisions.
pub(super) fn partial_snapshot<'k>(
    kept: &'k Kept,
    slots: &[Slot],
    memory: Memory,
    at: ObservedAt,
) -> Snapshot<'k> {
    let Kept { spec, objects, revisions, revision_facts, .. } = kept;
    let nodes: Vec<&Node> = slots.iter().filter_map(|slot| objects.node(*slot)).collect();
    let views = nodes.iter().map(|node| (node.facts.view(), node.facts.placement));
    let mut part = PartialSnapshot::new(Arc::clone(spec) as _, views);
    let daemon_set = &spec.daemon_set.metadata;
    let mut add = |pod: &'k KeptPod, node| {
        let view = objects.pod_view(pod, &daemon_set.namespace, daemon_set.uid.as_str());
        part.add_pod(view, objects.relation(pod), node);
    };
    for (position, node) in nodes.iter().enumerate() {
        objects.pods_of(node).for_each(|pod| add(pod, Some(NodeIx::new(position))));
    }
    objects.strays().for_each(|pod| add(pod, None));
    let revisions = revisions.iter().map(RevisionView::from).collect();
    part.snapshot(revisions, revision_facts.clone(), memory, at)
}
