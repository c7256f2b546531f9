//! Strings to numbers, once: what the labels, the owner and the node of each pod are to this DaemonSet.
//!
//! Steps after this one compare small numbers side by side in memory. Strings lie all over the heap, and looking at
//! them again for each question would be most of the cost of a decision.

use crate::check::Hasher;
use crate::classify::TEMPLATE_GENERATION_LABEL;
use crate::matching::Selector;
use crate::model::DaemonSet;
use crate::view::PodView;
use indexmap::IndexSet;

/// Names of the snapshot, each with its number, and what each pod has to do with them.
#[derive(Debug, Clone)]
pub(crate) struct Index<'a> {
    /// Node names, by position in the snapshot's list.
    nodes: IndexSet<&'a str, Hasher>,
    /// The different hash labels of pods.
    hashes: IndexSet<&'a str, Hasher>,
    /// By position in the snapshot's list.
    pub(crate) pods: Vec<PodFacts>,
}

/// What a pod is to the DaemonSet, as numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PodFacts {
    pub(crate) tie: Tie,
    /// The selector matches its labels.
    pub(crate) selected: bool,
    /// Its template generation is the DaemonSet's.
    pub(crate) same_generation: bool,
    /// The position of its target node, plus one; 0 for none, or one that is not in the snapshot.
    node: u32,
    /// The position of its hash label in `hashes`, plus one; 0 for none.
    hash: u32,
}

/// Who controls an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tie {
    /// This DaemonSet.
    Ours,
    /// Nobody.
    Free,
    /// Somebody else; or the object is of another namespace, or the mirror of a static pod, which is never ours: its
    /// kubelet owns it, and a delete would not end it.
    Foreign,
}

/// What of a DaemonSet a pod is compared with.
pub(crate) struct Criteria<'s> {
    pub(crate) daemon_set: &'s DaemonSet,
    pub(crate) selector: &'s Selector<'s>,
    pub(crate) unique_label_key: &'s str,
    pub(crate) template_generation: Option<&'s str>,
}

impl<'a> Index<'a> {
    pub(crate) fn of(
        nodes: IndexSet<&'a str, Hasher>,
        pods: &[PodView<'a>],
        criteria: &Criteria<'_>,
    ) -> Self {
        let mut hashes = IndexSet::default();
        let facts = |pod: &PodView<'a>| {
            let hash = pod.labels.get(criteria.unique_label_key);
            let generation = pod.labels.get(TEMPLATE_GENERATION_LABEL);
            let node = pod.target.and_then(|target| nodes.get_index_of(target));
            PodFacts {
                tie: criteria.tie_of(pod),
                selected: criteria.selector.matches(pod.labels),
                same_generation: generation.is_some() && generation == criteria.template_generation,
                node: node.map_or(0, |position| position as u32 + 1),
                hash: hash.map_or(0, |hash| hashes.insert_full(hash).0 as u32 + 1),
            }
        };
        let pods = pods.iter().map(facts).collect();
        Index { nodes, hashes, pods }
    }

    /// The position of a node in the snapshot's list.
    pub(crate) fn node(&self, name: &str) -> Option<usize> {
        self.nodes.get_index_of(name)
    }

    /// The different hash labels of pods, in the order of their numbers.
    pub(crate) fn hashes(&self) -> impl ExactSizeIterator<Item = &'a str> {
        self.hashes.iter().copied()
    }
}

impl Criteria<'_> {
    fn tie_of(&self, pod: &PodView<'_>) -> Tie {
        let ds = &self.daemon_set.metadata;
        if pod.namespace != ds.namespace || pod.mirror {
            return Tie::Foreign;
        }
        Tie::of(pod.controller, ds.uid.as_str())
    }
}

impl Tie {
    /// By the uid of the object's controller.
    pub(crate) fn of(controller: Option<&str>, ours: &str) -> Self {
        match controller {
            None => Tie::Free,
            Some(uid) if uid == ours => Tie::Ours,
            Some(_) => Tie::Foreign,
        }
    }
}

impl PodFacts {
    /// The position of its target node in the snapshot's list.
    pub(crate) fn node(self) -> Option<u32> {
        self.node.checked_sub(1)
    }

    /// The number of its hash label.
    pub(crate) fn hash(self) -> Option<usize> {
        (self.hash as usize).checked_sub(1)
    }
}
