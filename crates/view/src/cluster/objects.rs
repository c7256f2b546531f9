//! The objects of a cluster, by kind, and the forms in which questions take them.

use crate::cluster::Wanted;
use crate::cluster::happened::ClusterEvents;
use crate::cluster::notes::ClusterNotes;
use crate::cluster::object::{name, namespace};
use crate::cluster::places::Places;
use crate::cluster::policy::{AnnotationProblem, POLICY, may_need_powers};
use daemonset::model::{ControllerRevision, DaemonSet, Labels, Node, NodeName, Pod, ResourceList};
use daemonset::policy::Permissions;
use daemonset::{Memory, ObservedAt, Policy, Recording};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// An object as a decision reads it, and where it was: `items[3]`; an empty path where it is the whole file.
#[derive(Clone)]
pub(super) struct ListItem<T> {
    pub(super) path: String,
    pub(super) model: T,
}

/// An object that kubectl and the API server read too. It has no model where it could not be read.
#[derive(Clone)]
pub(super) struct RawItem<T> {
    pub(super) path: String,
    pub(super) raw: Value,
    pub(super) model: Option<T>,
}

impl<T> RawItem<T> {
    pub(super) fn is(&self, wanted: Option<&Wanted>) -> bool {
        let labels = || self.raw.pointer("/metadata/labels").and_then(|it| Labels::deserialize(it).ok());
        wanted.is_none_or(|wanted| {
            wanted.matches(namespace(&self.raw), name(&self.raw), &labels().unwrap_or_default())
        })
    }
}

/// The powers of the annotations of DaemonSets, by their namespace.
#[derive(Debug, Clone, Default)]
pub struct NamespacePowers(pub(super) BTreeMap<String, Permissions>);

impl NamespacePowers {
    /// None for a namespace that is not among the objects.
    pub fn of(&self, namespace: &str) -> Permissions {
        self.0.get(namespace).copied().unwrap_or_default()
    }

    /// Whether this namespace is among the objects.
    pub fn knows(&self, namespace: &str) -> bool {
        self.0.contains_key(namespace)
    }
}

/// The objects of a cluster.
#[derive(Clone)]
pub struct Objects {
    pub(super) daemon_sets: Vec<RawItem<DaemonSet>>,
    pub(super) revisions: Vec<RawItem<ControllerRevision>>,
    pub(super) nodes: Vec<ListItem<Node>>,
    pub(super) pods: Vec<ListItem<Pod>>,
    pub(super) notes: ClusterNotes,
    pub(super) events: ClusterEvents,
    /// Pods with an emptyDir volume, by namespace and name: only a drain reads volumes.
    pub(super) local_storage: BTreeSet<(String, String)>,
    pub(super) priority_classes: Vec<String>,
    /// Of nodes, by name: only the linter reads it.
    pub(super) allocatable: BTreeMap<String, ResourceList>,
    pub(super) powers: NamespacePowers,
    /// Namespaces that are being deleted.
    pub(super) ending_namespaces: BTreeSet<String>,
    /// The first object, or time in it, that can't be read: some questions do not need it.
    pub(super) unreadable: Option<String>,
    /// The newest creation, condition change or sign of life of any object.
    pub(super) newest: Option<Timestamp>,
    /// A Recording's own time, policy and memory.
    pub(super) now: Option<Timestamp>,
    pub(super) policy: Option<Policy>,
    pub(super) memory: Option<Memory>,
    /// The free resources of the nodes of a Recording.
    pub(super) free: BTreeMap<NodeName, ResourceList>,
    /// The inputs of the pods of a Recording: those of a kind of its own.
    pub(super) inputs: Value,
    /// The versions of a Recording's lists.
    pub(super) pods_version: Option<u64>,
    pub(super) nodes_version: Option<u64>,
    /// The choices that the annotations of a DaemonSet change.
    pub(super) base_policy: Policy,
    /// As messages call it: `the List`.
    pub(super) holder: String,
    /// Where else to look.
    pub(super) hint: &'static str,
}

impl Default for Objects {
    fn default() -> Self {
        Objects {
            daemon_sets: Vec::new(),
            revisions: Vec::new(),
            nodes: Vec::new(),
            pods: Vec::new(),
            notes: ClusterNotes::default(),
            events: ClusterEvents::default(),
            local_storage: BTreeSet::new(),
            priority_classes: Vec::new(),
            allocatable: BTreeMap::new(),
            powers: NamespacePowers::default(),
            ending_namespaces: BTreeSet::new(),
            unreadable: None,
            newest: None,
            now: None,
            policy: None,
            memory: None,
            free: BTreeMap::new(),
            inputs: Value::Null,
            pods_version: None,
            nodes_version: None,
            base_policy: Policy::default(),
            holder: "the List".to_owned(),
            hint: "",
        }
    }
}

/// One DaemonSet and its namespace, as kubectl and the API server read them.
pub struct Chosen {
    pub daemon_set: Value,
    /// Of its namespace.
    pub revisions: Vec<Value>,
}

/// Everything that a decision about any DaemonSet reads.
pub struct Models {
    pub daemon_sets: Vec<DaemonSet>,
    pub nodes: Vec<Node>,
    pub pods: Vec<Pod>,
    pub notes: ClusterNotes,
    pub events: ClusterEvents,
    /// Pods with an emptyDir volume, by namespace and name.
    pub local_storage: BTreeSet<(String, String)>,
    pub revisions: Vec<ControllerRevision>,
    /// Of a Recording or the command line; without one the annotations of each DaemonSet decide.
    pub policy: Option<Policy>,
    pub powers: NamespacePowers,
    /// Namespaces that are being deleted.
    pub ending_namespaces: BTreeSet<String>,
    pub memory: Option<Memory>,
    /// The free resources of nodes, where they are known.
    pub free: BTreeMap<NodeName, ResourceList>,
    /// The inputs of a Recording's pods.
    pub inputs: Value,
    pub(super) pods_version: Option<u64>,
    pub(super) nodes_version: Option<u64>,
    /// The positions of the nodes, by name.
    pub(super) positions: BTreeMap<NodeName, usize>,
    /// The positions of the pods, by node: made at the first question, since most commands have none.
    pub(super) positions_of_pods: OnceLock<BTreeMap<NodeName, Vec<usize>>>,
}

impl Models {
    /// When they are planned, and how new their lists are.
    pub(crate) fn observed_at(&self, now: Timestamp) -> ObservedAt {
        let mut at = ObservedAt::new(now);
        (at.pods_version, at.nodes_version) = (self.pods_version, self.nodes_version);
        at
    }

    /// The decision about the DaemonSet of a Recording, whose pods have inputs of their own.
    pub(crate) fn recording(&self, daemon_set: &DaemonSet, policy: &Policy, now: Timestamp) -> Recording {
        let mut recording = Recording::new(daemon_set.clone(), now);
        (recording.pods_version, recording.nodes_version) = (self.pods_version, self.nodes_version);
        recording.nodes = self.nodes.clone();
        recording.pods = self.pods.clone();
        recording.revisions = self.revisions.clone();
        recording.policy = policy.clone();
        recording.inputs = self.inputs.clone();
        recording.memory = self.memory.clone();
        recording.free = self.free.clone();
        recording
    }

    /// A node, without a look at all of them.
    pub fn node(&self, name: &NodeName) -> Option<&Node> {
        let node = self.nodes.get(*self.positions.get(name)?)?;
        Some(node).filter(|node| node.metadata.name == *name)
    }

    /// The pods that are bound to a node, without a look at all of them.
    pub fn pods_on(&self, node: &NodeName) -> impl Iterator<Item = &Pod> {
        let positions = self.positions_of_pods.get_or_init(|| {
            let mut positions: BTreeMap<NodeName, Vec<usize>> = BTreeMap::new();
            for (at, pod) in self.pods.iter().enumerate() {
                positions.entry(pod.spec.node_name.clone()).or_default().push(at);
            }
            positions
        });
        positions.get(node).into_iter().flatten().filter_map(|at| self.pods.get(*at))
    }
}

/// Everything that a decision about one DaemonSet reads.
pub(super) struct RecordedDecision {
    pub(super) recording: Recording,
    pub(super) places: Places,
    pub(super) policy_problems: Vec<AnnotationProblem>,
    pub(super) powers: Permissions,
    pub(super) notes: ClusterNotes,
}

impl Objects {
    /// Takes the priority classes of another List, and nothing else.
    pub fn learn_priority_classes(&mut self, other: Option<Objects>) {
        self.priority_classes.extend(other.into_iter().flat_map(|other| other.priority_classes));
    }

    /// Takes the namespaces of another List, and nothing else.
    pub fn learn_powers(&mut self, mut other: Objects) {
        self.powers.0.append(&mut other.powers.0);
        self.ending_namespaces.append(&mut other.ending_namespaces);
    }

    /// Its namespaces that are being deleted.
    pub fn into_ending_namespaces(self) -> BTreeSet<String> {
        self.ending_namespaces
    }

    /// What its events tell.
    pub fn into_events(self) -> ClusterEvents {
        self.events
    }

    /// The powers of a namespace; none where there is no such object.
    pub fn powers_of(&self, namespace: &str) -> Permissions {
        self.powers.of(namespace)
    }

    /// Whether this namespace is among the objects.
    pub fn knows_powers_of(&self, namespace: &str) -> bool {
        self.powers.knows(namespace)
    }

    /// The namespaces whose powers the policy of a DaemonSet may need.
    pub fn namespaces_that_need_powers(&self) -> BTreeSet<String> {
        let needs_some = |item: &&RawItem<DaemonSet>| {
            let annotations = item.model.as_ref().map(|model| &model.metadata.annotations);
            annotations.and_then(|annotations| annotations.get(POLICY)).is_some_and(may_need_powers)
        };
        self.daemon_sets.iter().filter(needs_some).map(|item| namespace(&item.raw).to_owned()).collect()
    }

    /// The namespaces with a DaemonSet.
    pub fn namespaces(&self) -> BTreeSet<String> {
        self.daemon_sets.iter().map(|item| namespace(&item.raw).to_owned()).collect()
    }

    /// How messages call where the objects were found.
    pub fn found_in(&mut self, holder: String, hint: &'static str) {
        self.holder = holder;
        self.hint = hint;
    }

    /// When to look at the cluster: a Recording's own time, or the newest creation or condition change.
    pub fn now(&self) -> Option<Timestamp> {
        self.now.or(self.newest)
    }

    /// Whether it has the time of a Recording.
    pub fn is_recorded(&self) -> bool {
        self.now.is_some()
    }
}
