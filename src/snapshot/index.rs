//! Turns the labels, the owner and the node of each pod into small numbers, once.
//!
//! Later steps compare these numbers, which are side by side in memory. The strings are spread over the heap, and reading
//! them for each question would be most of the cost of a decision.

use crate::kubernetes::Selector;
use crate::kubernetes::hash::Hasher;
use crate::kubernetes::ownership::{ClaimVerdict, Ownership};
use crate::kubernetes::well_known::TEMPLATE_GENERATION_LABEL;
use crate::model::DaemonSet;
use crate::snapshot::position::{HashIx, IndexVec, NodeIx, PodIx, Position, neutral};
use crate::view::PodView;
use indexmap::IndexSet;
use std::cmp::Ordering;

/// Positions of names and hash labels, and the facts about each pod.
#[derive(Debug, Clone)]
pub(crate) struct Index<'a> {
    /// Node names, in the order of the nodes.
    nodes: IndexSet<&'a str, Hasher>,
    /// Order nodes by name; see [`name_keys`].
    name_keys: IndexVec<NodeIx, u64>,
    /// The different hash labels of pods.
    hashes: IndexSet<&'a str, Hasher>,
    pub(crate) pods: IndexVec<PodIx, PodFacts>,
}

/// The relation of a pod to the DaemonSet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PodFacts {
    pub(crate) ownership: Ownership,
    /// The selector matches its labels.
    pub(crate) selected: bool,
    /// Its template generation is the DaemonSet's.
    pub(crate) same_generation: bool,
    /// Its target node; `None` where it has none, or one that is not in the snapshot.
    pub(crate) node: Option<NodeIx>,
    /// Its hash label.
    pub(crate) hash: Option<HashIx>,
}

neutral!(
    PodFacts,
    PodFacts {
        ownership: Ownership::Foreign,
        selected: false,
        same_generation: false,
        node: None,
        hash: None
    }
);

/// The relation of a revision to the DaemonSet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RevisionFacts {
    pub(crate) claim: ClaimVerdict,
    /// It holds the template, and the ingredients. Never of a revision that does not belong to the DaemonSet.
    pub(crate) has_content: bool,
}

neutral!(RevisionFacts, RevisionFacts { claim: ClaimVerdict::Ignore, has_content: false });

/// The parts of a DaemonSet that a pod is compared with.
pub(crate) struct Criteria<'s> {
    pub(crate) daemon_set: &'s DaemonSet,
    pub(crate) selector: &'s Selector<'s>,
    pub(crate) unique_label_key: &'s str,
    pub(crate) template_generation: Option<&'s str>,
}

impl<'a> Index<'a> {
    pub(crate) fn new(
        nodes: IndexSet<&'a str, Hasher>,
        pods: &[PodView<'a>],
        criteria: &Criteria<'_>,
    ) -> Self {
        let mut hashes = IndexSet::default();
        let facts = |pod: &PodView<'a>| {
            let hash = pod.labels.get(criteria.unique_label_key);
            let generation = pod.labels.get(TEMPLATE_GENERATION_LABEL);
            PodFacts {
                ownership: criteria.ownership(pod),
                selected: criteria.selector.matches(pod.labels),
                same_generation: generation.is_some() && generation == criteria.template_generation,
                node: pod.target.and_then(|target| node_position(&nodes, target)),
                hash: hash.map(|hash| HashIx::new(hashes.insert_full(hash).0)),
            }
        };
        let pods = pods.iter().map(facts).collect();
        let name_keys = name_keys(&nodes);
        Index { nodes, name_keys, hashes, pods }
    }

    /// An index of facts that are known already. The hashes are in the order of their positions.
    pub(crate) fn from_facts(
        nodes: IndexSet<&'a str, Hasher>,
        hashes: IndexSet<&'a str, Hasher>,
        pods: Vec<PodFacts>,
    ) -> Self {
        Index { name_keys: name_keys(&nodes), nodes, hashes, pods: pods.into() }
    }

    /// Compares two nodes by their names.
    pub(crate) fn by_name(&self, a: NodeIx, b: NodeIx) -> Ordering {
        let name = |node: NodeIx| self.nodes.get_index(node.index());
        self.name_keys.at(a).cmp(self.name_keys.at(b)).then_with(|| name(a).cmp(&name(b)))
    }

    /// The node with this name, if the snapshot has one.
    pub(crate) fn node(&self, name: &str) -> Option<NodeIx> {
        node_position(&self.nodes, name)
    }

    /// The different hash labels of pods, in the order of their positions.
    pub(crate) fn hashes(&self) -> impl ExactSizeIterator<Item = &'a str> {
        self.hashes.iter().copied()
    }
}

fn node_position(names: &IndexSet<&str, Hasher>, name: &str) -> Option<NodeIx> {
    names.get_index_of(name).map(NodeIx::new)
}

/// For each name the eight bytes after the prefix that all names share, as a number.
///
/// Plans sort nodes by name, and node names of a cluster begin alike (`node-00017.example`). The prefix has no part in the
/// order, and the bytes after it decide nearly every comparison without a look at the strings. A shorter name is filled
/// up with zeros, which keeps the order. Equal keys decide nothing: then the names are compared.
fn name_keys(names: &IndexSet<&str, Hasher>) -> IndexVec<NodeIx, u64> {
    let first = names.first().map_or(&[][..], |name| name.as_bytes());
    let shared = |name: &&str| name.bytes().zip(first).take_while(|(a, b)| a == *b).count();
    let prefix = names.iter().map(shared).min().unwrap_or(0);
    let key = |name: &&str| {
        let bytes = name.bytes().skip(prefix).chain(std::iter::repeat(0)).take(8);
        bytes.fold(0, |key, byte| key << 8 | u64::from(byte))
    };
    names.iter().map(key).collect()
}

impl Criteria<'_> {
    pub(crate) fn ownership(&self, pod: &PodView<'_>) -> Ownership {
        let ds = &self.daemon_set.metadata;
        if pod.namespace != ds.namespace || pod.mirror {
            return Ownership::Foreign;
        }
        Ownership::from_controller(pod.controller, ds.uid.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_compare_as_their_names_do() {
        let names = [
            "n-1",
            "n-10",
            "n-2",
            "n-",
            "n-\u{0}",
            "n-\u{0}\u{0}x",
            "n-same-start-1",
            "n-same-start-0",
            "n-azzzzzzb",
            "n-bzzzzzza",
            "n-é",
            "n-z",
        ];
        let keys = names.iter().copied().collect();
        let index = Index {
            name_keys: name_keys(&keys),
            nodes: keys,
            hashes: IndexSet::default(),
            pods: Vec::new().into(),
        };
        for (a, left) in names.iter().enumerate() {
            for (b, right) in names.iter().enumerate() {
                let order = index.by_name(NodeIx::new(a), NodeIx::new(b));
                assert_eq!(order, left.cmp(right), "{left:?} {right:?}");
            }
        }
    }
}
