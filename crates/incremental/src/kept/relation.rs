//! The relation of a pod to the DaemonSet, with the labels that a decision reads.

use daemonset::internal::{Hashes, NodeIx, Ownership, PodFacts, PodIx, Spec};
use daemonset::kubernetes::well_known::TEMPLATE_GENERATION_LABEL;
use daemonset::{PodView, Snapshot};

/// The relation of a pod to the DaemonSet.
#[derive(Debug, Clone, Copy)]
pub(super) struct PodRelation<'l> {
    pub(super) ownership: Ownership,
    /// The selector matches its labels.
    pub(super) selected: bool,
    /// Its hash label.
    pub(super) hash: Option<&'l str>,
    /// Its label of the template generation.
    pub(super) generation: Option<&'l str>,
}

impl<'l> PodRelation<'l> {
    /// Of a pod of which the ownership is known, and whether the selector matches it.
    pub(super) fn new(spec: &Spec<'_>, pod: &PodView<'l>, ownership: Ownership, selected: bool) -> Self {
        PodRelation {
            ownership,
            selected,
            hash: pod.labels.get(&spec.policy.unique_label_key),
            generation: pod.labels.get(TEMPLATE_GENERATION_LABEL),
        }
    }

    /// Of a pod of a snapshot: its index has read the labels already.
    pub(super) fn of(snapshot: &'l Snapshot<'l>, pod: PodIx) -> Self {
        let PodFacts { ownership, selected, same_generation, hash, node: _ } = *snapshot.facts(pod);
        let current = snapshot.spec().template_generation.as_deref();
        let read = || snapshot.pod(pod).labels.get(TEMPLATE_GENERATION_LABEL);
        PodRelation {
            ownership,
            selected,
            hash: hash.and_then(|hash| snapshot.index().hash(hash)),
            generation: if same_generation { current } else { read() },
        }
    }

    /// The facts that a snapshot holds about a pod on one of its nodes, or on none.
    pub(super) fn facts(self, spec: &Spec<'_>, node: Option<NodeIx>, hashes: &mut Hashes<'l>) -> PodFacts {
        let PodRelation { ownership, selected, hash, generation } = self;
        let same_generation = generation.is_some() && generation == spec.template_generation.as_deref();
        PodFacts { ownership, selected, same_generation, node, hash: hash.map(|hash| hashes.add(hash)) }
    }
}
