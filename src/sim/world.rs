//! The cluster as it really is: what the API server stores, what the machines do, and the history of it all.

use super::chance::Chance;
use super::event::{Actor, Change, Event, NodeState, PodIdentity};
use super::needs::{Needs, Resources};
use super::queue::Queue;
use super::settings::{Behaviour, Settings};
use super::watch::{Objects, Seen};
use crate::kubernetes::Selector;
use crate::kubernetes::hash::Hasher;
use crate::kubernetes::revision::has_template;
use crate::model::{ControllerRevision, Labels, Node, NodeName, ObjectRef, OwnerReference, Pod, Uid};
use crate::problem::Problems;
use indexmap::{IndexMap, IndexSet};
use jiff::Timestamp;
use serde_json::Value;
use std::sync::Arc;

/// What the uids of a simulation begin with.
const UID_PREFIX: &str = "00000000-0000-4000-8000-";

/// Everything but the controller.
#[derive(Debug)]
pub(super) struct World {
    pub(super) now: Timestamp,
    pub(super) settings: Settings,
    pub(super) chance: Chance,
    pub(super) queue: Queue,
    pub(super) objects: Objects,
    /// `namespace/name` of all pods.
    pub(super) pod_names: IndexSet<String, Hasher>,
    pub(super) machines: IndexMap<NodeName, Machine, Hasher>,
    pub(super) lives: IndexMap<Uid, Life, Hasher>,
    /// Nodes that have left, and when the garbage collector removes what they leave behind.
    pub(super) left: IndexMap<NodeName, Timestamp, Hasher>,
    pub(super) versions: Versions,
    pub(super) history: Vec<Event>,
    /// Watch events that no cache has been sent yet.
    pub(super) outbox: Vec<Seen>,
    /// Counts uids and resource versions.
    serial: u64,
}

/// A node's machine.
#[derive(Debug, Clone)]
pub(super) struct Machine {
    /// Its kubelet runs, and reaches the API server.
    pub(super) up: bool,
    pub(super) capacity: Resources,
    /// Revisions whose images it has.
    pub(super) pulled: IndexSet<String, Hasher>,
    /// Pods for it, bound or not, oldest first.
    pub(super) pods: Vec<Uid>,
    /// How often each revision was tried on it.
    pub(super) tries: IndexMap<String, u64, Hasher>,
    /// Goes up with each change of its state, so that older plans for it lapse.
    pub(super) turn: u32,
}

/// What the API server's object does not tell of a pod.
#[derive(Debug, Clone)]
pub(super) struct Life {
    pub(super) node: NodeName,
    pub(super) revision: String,
    pub(super) needs: Arc<Needs>,
    pub(super) behaviour: Behaviour,
    pub(super) finalizers: Vec<String>,
    /// Its containers have been started, or are being started.
    pub(super) started: bool,
    /// Its containers have ended after its deletion; finalizers keep the object.
    pub(super) stopped: bool,
    /// The how-manieth pod of its revision on its node.
    pub(super) attempt: u64,
    pub(super) restarts: u32,
    /// Goes up with each turn that its life takes, so that older plans for it lapse.
    pub(super) turn: u32,
    /// Its history is told: it is not somebody else's.
    pub(super) told: bool,
}

/// What is known of the versions of the template, by the hash of their revisions.
#[derive(Debug, Default)]
pub(super) struct Versions {
    known: IndexMap<String, (Arc<Needs>, Behaviour), Hasher>,
    /// How templates behave that have no revision yet.
    expected: Vec<(Value, Behaviour)>,
    /// The labels of the last pod of each revision.
    labels: IndexMap<String, Labels, Hasher>,
}

impl Versions {
    /// From now on pods of this template behave so.
    pub(super) fn expect(&mut self, template: Value, behaviour: Behaviour) {
        self.expected.insert(0, (template, behaviour));
    }

    pub(super) fn learn(&mut self, hash: &str, revision: &ControllerRevision, otherwise: Behaviour) {
        let expected = self.expected.iter().find(|(template, _)| has_template(&revision.data, template));
        let behaviour = expected.map_or(otherwise, |(_, behaviour)| *behaviour);
        let template = revision.data.pointer("/spec/template").unwrap_or(&Value::Null);
        self.known.insert(hash.to_owned(), (Arc::new(Needs::of(template)), behaviour));
    }

    /// The same labels, shared with the last pod of this revision where it had the same.
    pub(super) fn shared(&mut self, hash: &str, labels: Labels) -> Labels {
        match self.labels.get(hash) {
            Some(known) if *known == labels => known.clone(),
            _ => {
                self.labels.insert(hash.to_owned(), labels.clone());
                labels
            }
        }
    }

    pub(super) fn of(&self, hash: &str) -> Option<(Arc<Needs>, Behaviour)> {
        self.known.get(hash).cloned()
    }
}

impl World {
    pub(super) fn new(settings: Settings, seed: u64, now: Timestamp) -> Self {
        World {
            now,
            settings,
            chance: Chance::new(seed),
            queue: Queue::default(),
            objects: Objects::default(),
            pod_names: IndexSet::default(),
            machines: IndexMap::default(),
            lives: IndexMap::default(),
            left: IndexMap::default(),
            versions: Versions::default(),
            history: Vec::new(),
            outbox: Vec::new(),
            serial: 0,
        }
    }

    pub(super) fn tell(&mut self, by: Actor, change: Change) {
        self.history.push(Event { t: self.now, by, change });
    }

    /// Goes on after the uids and resource versions of these objects, where they are of a simulation: another object
    /// must not get one of them again.
    pub(super) fn go_on_after<'a>(&mut self, given: impl Iterator<Item = (&'a Uid, &'a str)> + Clone) {
        let serial = |uid: &Uid| u64::from_str_radix(uid.as_str().strip_prefix(UID_PREFIX)?, 16).ok();
        let Some(last) = given.clone().filter_map(|(uid, _)| serial(uid)).max() else { return };
        let versions = given.filter_map(|(_, version)| version.parse::<u64>().ok());
        self.serial = versions.fold(last, u64::max).max(self.serial);
    }

    fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    pub(super) fn new_uid(&mut self) -> Uid {
        Uid::from(format!("{UID_PREFIX}{:012x}", self.next_serial()).as_str())
    }

    pub(super) fn new_version(&mut self) -> String {
        self.next_serial().to_string()
    }

    /// What a watch tells changes the store at the same time.
    pub(super) fn store(&mut self, seen: Seen) {
        self.objects.apply(seen.clone());
        self.outbox.push(seen);
    }

    pub(super) fn pod(&self, uid: &Uid) -> Option<&Arc<Pod>> {
        self.objects.pods.get(uid)
    }

    /// Changes a pod's object; what reads it already keeps what it has.
    pub(super) fn change_pod(&mut self, uid: &Uid, change: impl FnOnce(&mut Pod)) {
        let version = self.new_version();
        let Some(stored) = self.objects.pods.get_mut(uid) else { return };
        let pod = Arc::make_mut(stored);
        change(pod);
        pod.metadata.resource_version = version;
        self.outbox.push(Seen::Pod(Arc::clone(stored)));
    }

    pub(super) fn change_node(&mut self, name: &NodeName, change: impl FnOnce(&mut Node)) {
        let Some(stored) = self.objects.nodes.get_mut(name) else { return };
        change(Arc::make_mut(stored));
        self.outbox.push(Seen::Node(Arc::clone(stored)));
    }

    pub(super) fn change_revision(&mut self, uid: &Uid, change: impl FnOnce(&mut ControllerRevision)) {
        let version = self.new_version();
        let Some(stored) = self.objects.revisions.get_mut(uid) else { return };
        let revision = Arc::make_mut(stored);
        change(revision);
        revision.metadata.resource_version = version;
        let seen = Seen::Revision(Arc::clone(stored));
        self.outbox.push(seen);
        self.learn_version(uid);
    }

    /// Reads what the pods of a revision need, and how they behave.
    pub(super) fn learn_version(&mut self, uid: &Uid) {
        let Some(revision) = self.objects.revisions.get(uid) else { return };
        let key = &self.settings.controller.policy.unique_label_key;
        let hash = revision.metadata.labels.get(key).unwrap_or(&revision.metadata.name).to_owned();
        self.versions.learn(&hash, revision, self.settings.behaviour);
    }

    /// The names under which a trace tells of a pod; none for one that is somebody else's.
    pub(super) fn identity(&self, uid: &Uid) -> Option<PodIdentity> {
        let life = self.lives.get(uid).filter(|life| life.told)?;
        let pod = self.pod(uid)?;
        Some(PodIdentity {
            node: life.node.clone(),
            pod: pod.metadata.name.clone(),
            uid: uid.clone(),
            revision: life.revision.clone(),
        })
    }

    pub(super) fn tell_of_pod(&mut self, by: Actor, uid: &Uid, change: impl FnOnce(PodIdentity) -> Change) {
        if let Some(identity) = self.identity(uid) {
            self.tell(by, change(identity));
        }
    }

    pub(super) fn tell_of_node(
        &mut self,
        by: Actor,
        name: &NodeName,
        change: impl FnOnce(NodeState) -> Change,
    ) {
        if let Some(node) = self.objects.nodes.get(name) {
            let state = NodeState::of(node);
            self.tell(by, change(state));
        }
    }

    /// Whether a pod is the DaemonSet's, or could become it: one without a controller that the selector chooses.
    pub(super) fn is_told(&self, pod: &Pod) -> bool {
        let controller = OwnerReference::controller_of(&pod.metadata.owner_references);
        let ours = self.objects.daemon_set.as_ref().map(|ds| ds.metadata.uid.as_str());
        let fits = controller == ours || (controller.is_none() && self.is_chosen(pod));
        pod.metadata.annotations.mirror.is_none() && fits
    }

    /// Before there is a DaemonSet nobody knows.
    fn is_chosen(&self, pod: &Pod) -> bool {
        let selector = self.objects.daemon_set.as_ref().and_then(|ds| ds.spec.selector.as_ref());
        selector.is_none_or(|selector| {
            Selector::compile(selector, "spec.selector", &mut Problems::default())
                .matches(&pod.metadata.labels)
        })
    }

    pub(super) fn pod_ref(&self, uid: &Uid) -> Option<ObjectRef> {
        let metadata = &self.pod(uid)?.metadata;
        Some(ObjectRef {
            namespace: metadata.namespace.clone(),
            name: metadata.name.clone(),
            uid: uid.clone(),
            resource_version: metadata.resource_version.clone(),
        })
    }
}

/// The name that makes a pod unique.
pub(super) fn full_name(namespace: &str, name: &str) -> String {
    format!("{namespace}/{name}")
}
