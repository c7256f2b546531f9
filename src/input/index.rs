//! Turns the labels, the owner and the node of each pod into small numbers, once.
//!
//! Later steps compare these numbers, which are side by side in memory. The strings are spread over the heap, and reading
//! them for each question would be most of the cost of a decision.

use crate::input::lookup::{Lookup, Recent};
use crate::position::{HashIx, IndexVec, NodeIx, PodIx, Position, neutral};
use daemonset_objects::internal::{ClaimVerdict, LabelsView, Ownership, lookup_hash};
use daemonset_objects::kubernetes::Selector;
use daemonset_objects::kubernetes::well_known::TEMPLATE_GENERATION_LABEL;
use daemonset_objects::model::DaemonSet;
use daemonset_objects::{NodeView, PodView};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Positions of names and hash labels, and the facts about each pod.
#[derive(Debug, Clone)]
pub struct Index<'a> {
    nodes: NodeNames<'a>,
    /// Order nodes by name; see [`name_keys`].
    name_keys: IndexVec<NodeIx, u64>,
    hashes: Hashes<'a>,
    pub(crate) pods: IndexVec<PodIx, PodFacts>,
}

/// The relation of a pod to the DaemonSet.
#[derive(Debug, Clone, Copy)]
pub struct PodFacts {
    pub ownership: Ownership,
    /// The selector matches its labels.
    pub selected: bool,
    /// Its template generation is the DaemonSet's.
    pub same_generation: bool,
    /// Its target node; `None` where it has none, or one that is not in the snapshot.
    pub node: Option<NodeIx>,
    /// Its hash label.
    pub hash: Option<HashIx>,
}

impl PodFacts {
    /// Whether the DaemonSet owns, adopts, releases or ignores the pod.
    pub fn verdict(&self, pod: &PodView<'_>) -> ClaimVerdict {
        self.ownership.verdict(|| self.selected, pod.deleted_at.is_some())
    }
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
pub struct RevisionFacts {
    pub claim: ClaimVerdict,
    /// It holds the template, and the inputs. Never of a revision that does not belong to the DaemonSet.
    pub has_content: bool,
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
        nodes: &[NodeView<'a>],
        node_names: Lookup<&'a str, NodeIx>,
        pods: &[PodView<'a>],
        criteria: &Criteria<'_>,
    ) -> Self {
        let nodes = NodeNames { names: nodes.iter().map(|node| node.name).collect(), positions: node_names };
        let mut labels = LabelReader { criteria, hashes: Hashes::default(), recent: Recent::default() };
        let facts = |pod: &PodView<'a>| {
            let LabelFacts { selected, same_generation, hash } = labels.facts(pod.labels);
            let node = pod.target.and_then(|target| nodes.find(target));
            PodFacts { ownership: criteria.ownership(pod), selected, same_generation, node, hash }
        };
        let pods = pods.iter().map(facts).collect();
        let hashes = labels.hashes;
        Index { name_keys: name_keys(&nodes.names), nodes, hashes, pods }
    }

    /// An index of facts that are known already.
    pub(crate) fn from_facts(
        nodes: impl ExactSizeIterator<Item = &'a str>,
        hashes: Hashes<'a>,
        pods: IndexVec<PodIx, PodFacts>,
    ) -> Self {
        let nodes = NodeNames::new(nodes);
        Index { name_keys: name_keys(&nodes.names), nodes, hashes, pods }
    }

    /// Compares two nodes by their names.
    pub(crate) fn by_name(&self, a: NodeIx, b: NodeIx) -> Ordering {
        let name = |node: NodeIx| self.nodes.names.at(node);
        self.name_keys.at(a).cmp(self.name_keys.at(b)).then_with(|| name(a).cmp(name(b)))
    }

    /// The node with this name, if the snapshot has one.
    pub fn node(&self, name: &str) -> Option<NodeIx> {
        self.nodes.find(name)
    }

    /// The hash label at a position.
    pub fn hash(&self, position: HashIx) -> Option<&'a str> {
        self.hashes.list.get(position.index()).copied()
    }

    /// The different hash labels of pods, in the order of their positions.
    pub fn hashes(&self) -> impl ExactSizeIterator<Item = &'a str> {
        self.hashes.list.iter().copied()
    }
}

/// The different hash labels of pods. They are few, unless somebody has chosen them.
#[derive(Debug, Clone, Default)]
pub struct Hashes<'a> {
    /// In the order of their positions.
    list: Vec<&'a str>,
    positions: BTreeMap<&'a str, HashIx>,
}

impl<'a> Hashes<'a> {
    /// Adds a label, if it is not there. Returns its position.
    pub fn add(&mut self, hash: &'a str) -> HashIx {
        *self.positions.entry(hash).or_insert_with(|| {
            self.list.push(hash);
            HashIx::new(self.list.len() - 1)
        })
    }
}

/// The names of the nodes, in the order of the nodes.
#[derive(Debug, Clone)]
struct NodeNames<'a> {
    names: IndexVec<NodeIx, &'a str>,
    positions: Lookup<&'a str, NodeIx>,
}

impl<'a> NodeNames<'a> {
    /// Of names that differ.
    fn new(names: impl ExactSizeIterator<Item = &'a str>) -> Self {
        let mut positions = Lookup::with_capacity(names.len());
        let names: IndexVec<NodeIx, &str> = names.collect();
        for (node, name) in names.enumerated() {
            positions.insert(lookup_hash(name), *name, node, |_| false);
        }
        NodeNames { names, positions }
    }

    #[inline]
    fn find(&self, name: &str) -> Option<NodeIx> {
        self.positions.find(lookup_hash(&name), name, |node| *self.names.at(node) == name)
    }
}

/// Reads the labels of pods.
///
/// The pods of one template have equal labels, and one comparison of all labels costs less than a search for each label that
/// matters.
struct LabelReader<'c, 'a> {
    criteria: &'c Criteria<'c>,
    hashes: Hashes<'a>,
    recent: Recent<LabelsView<'a>, LabelFacts>,
}

/// The facts about a pod that follow from its labels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct LabelFacts {
    selected: bool,
    same_generation: bool,
    hash: Option<HashIx>,
}

impl<'a> LabelReader<'_, 'a> {
    fn facts(&mut self, labels: LabelsView<'a>) -> LabelFacts {
        if let Some(facts) = self.recent.get(&labels) {
            return facts;
        }
        let facts = self.read(labels);
        self.recent.add(labels, facts);
        facts
    }

    fn read(&mut self, labels: LabelsView<'a>) -> LabelFacts {
        let Criteria { selector, unique_label_key, template_generation, .. } = self.criteria;
        let generation = labels.get(TEMPLATE_GENERATION_LABEL);
        let hash = labels.get(unique_label_key);
        LabelFacts {
            selected: selector.matches(labels),
            same_generation: generation.is_some() && generation == *template_generation,
            hash: hash.map(|hash| self.hashes.add(hash)),
        }
    }
}

/// For each name the eight bytes after the prefix that all names share, as a number.
///
/// Plans sort nodes by name, and node names of a cluster begin alike (`node-00017.example`). The prefix has no part in the
/// order, and the bytes after it decide nearly every comparison without a look at the strings. A shorter name is filled
/// up with zeros, which keeps the order. Equal keys decide nothing: then the names are compared.
fn name_keys(names: &IndexVec<NodeIx, &str>) -> IndexVec<NodeIx, u64> {
    let mut prefix = names.iter().next().map_or(&[][..], |name| name.as_bytes());
    for name in names.iter().map(|name| name.as_bytes()) {
        if !name.starts_with(prefix) {
            let shared = name.iter().zip(prefix).take_while(|(a, b)| a == b).count();
            prefix = prefix.get(..shared).unwrap_or_default();
        }
    }
    let rest = |name: &&str| name.as_bytes().get(prefix.len()..).map_or(0, first_eight);
    names.iter().map(rest).collect()
}

/// The first eight bytes as a number, filled up with zeros.
fn first_eight(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(bytes) => u64::from_be_bytes(*bytes),
        None => {
            bytes.iter().chain(std::iter::repeat(&0)).take(8).fold(0, |key, byte| key << 8 | u64::from(*byte))
        }
    }
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
