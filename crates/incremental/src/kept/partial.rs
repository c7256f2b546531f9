//! A snapshot of a few nodes, made from the kept facts.

use super::Kept;
use super::facts::{KeptPod, NOWHERE, Slot};
use super::objects::Node;
use daemonset::internal::{Hashes, NodeIx, Position, SnapshotFacts};
use daemonset::{Memory, ObservedAt, RevisionView, Snapshot};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A snapshot of these nodes, in the order of their slots, with their pods, the pods without a node, and all revisions.
pub(super) fn partial_snapshot<'k>(
    kept: &'k Kept,
    slots: &[Slot],
    memory: Memory,
    at: ObservedAt,
) -> Snapshot<'k> {
    let Kept { spec, objects, revisions, revision_facts, .. } = kept;
    let nodes: Vec<&Node> = slots.iter().filter_map(|slot| objects.node(*slot)).collect();
    let daemon_set = &spec.daemon_set.metadata;
    let (mut pods, mut pod_facts, mut hashes) = (Vec::new(), Vec::new(), Hashes::default());
    let mut add = |pod: &'k KeptPod, node| {
        pods.push(objects.pod_view(pod, &daemon_set.namespace, daemon_set.uid.as_str()));
        pod_facts.push(objects.relation(pod).facts(spec, node, &mut hashes));
    };
    for (position, node) in nodes.iter().enumerate() {
        objects.pods_of(node).for_each(|pod| add(pod, Some(NodeIx::new(position))));
    }
    objects.strays().for_each(|pod| add(pod, None));
    // A pod of another node, or of another owner, may have the name of a node's pod.
    let is_there = |pod: &KeptPod| {
        if pod.node == NOWHERE { pod.is_of_interest() } else { slots.binary_search(&pod.node).is_ok() }
    };
    debug_assert!(slots.is_sorted(), "a slot is found by binary search");
    let namesakes: BTreeSet<Slot> = nodes.iter().filter_map(|node| objects.namesake_of(node)).collect();
    let namesakes = namesakes.into_iter().filter_map(|slot| objects.pod(slot));
    namesakes.filter(|pod| !is_there(pod)).for_each(|pod| add(pod, None));
    let (nodes, placements) = nodes.iter().map(|node| (node.facts.view(), node.facts.placement)).unzip();
    let facts = SnapshotFacts {
        spec: Arc::clone(spec) as _,
        nodes,
        placements,
        pods,
        pod_facts: pod_facts.into(),
        hashes,
        revisions: revisions.iter().map(RevisionView::from).collect(),
        revision_facts: revision_facts.clone().into(),
        pod_names: Some(objects),
    };
    Snapshot::of_facts(facts, memory, at)
}
