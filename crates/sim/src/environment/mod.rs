//! The actual state of the cluster: the objects in the API server, the kubelets, the running pods, and the history.

pub(crate) mod api_server;
mod containers;
mod fit;
mod gates;
pub(crate) mod generations;
mod images;
mod in_place;
mod node_lifecycle;
pub(crate) mod pod_lifecycle;
mod pod_termination;
mod scheduler;
pub(crate) mod turns;
mod workloads;

use crate::event::{Actor, Change, Event, NodeState, PodIdentity};
use crate::event_queue::EventQueue;
use crate::random::RandomStreams;
use crate::requirements::PodRequirements;
use crate::settings::{Behaviour, Settings};
use crate::watch::{LAST_GIVEN, Objects, WatchEvent};
use crate::workload::ReplicaSet;
use daemonset::PodManifest;
use daemonset::internal::{Hasher, Shared, Tie, has_template};
use daemonset::kubernetes::Selector;
use daemonset::kubernetes::well_known::PULL_OWNER_LABEL;
use daemonset::model::{
    ControllerRevision, DaemonSet, Labels, Node, NodeName, ObjectRef, OwnerReference, Pod, ResourceList, Uid,
};
use indexmap::{IndexMap, IndexSet};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The prefix of all uids that a simulation generates.
const UID_PREFIX: &str = "00000000-0000-4000-8000-";

/// Everything in the cluster except the DaemonSet controllers.
#[derive(Debug)]
pub(crate) struct Environment {
    pub(crate) now: Timestamp,
    pub(crate) settings: Settings,
    pub(crate) random: RandomStreams,
    pub(crate) queue: EventQueue,
    pub(crate) objects: Objects,
    /// `namespace/name` of all pods.
    pub(crate) pod_names: IndexSet<String, Hasher>,
    pub(crate) kubelets: IndexMap<NodeName, Kubelet, Hasher>,
    pub(crate) runtimes: IndexMap<Uid, PodRuntime, Hasher>,
    /// Nodes that were deleted, and the instant at which the pod garbage collector removes their pods.
    pub(crate) removed_nodes: IndexMap<NodeName, Timestamp, Hasher>,
    pub(crate) versions: Versions,
    pub(crate) history: Vec<Event>,
    /// DaemonSets of other controllers.
    pub(crate) other_daemon_sets: Vec<DaemonSet>,
    pub(crate) workloads: Vec<ReplicaSet>,
    /// The nodes that are drained.
    pub(crate) drained: BTreeSet<NodeName>,
    /// Some node has had a turn.
    pub(crate) has_turns: bool,
    /// Watch events that have not been sent to the caches yet.
    pub(crate) unsent: Vec<WatchEvent>,
    /// The last number used for a uid or a resource version.
    pub(crate) serial: u64,
}

/// The kubelet of a node, with the state of its machine.
#[derive(Debug, Clone)]
pub(crate) struct Kubelet {
    /// It runs and reaches the API server.
    pub(crate) up: bool,
    /// Its machine shuts down gracefully: it ends its pods, and rejects new ones.
    pub(crate) shuts_down: bool,
    /// A pod of the DaemonSet has been Ready on this node, so that its absence is noticed.
    pub(crate) had_ready_pod: bool,
    /// The resources that its pods share; there is no end of one without an amount.
    pub(crate) capacity: ResourceList,
    /// Revisions whose images have been pulled, where no runtime knows images by name.
    pub(crate) pulled: IndexSet<String, Hasher>,
    /// When the pull of each image ends, or has ended.
    pub(crate) images: IndexMap<String, ImagePull, Hasher>,
    /// Pods whose target is this node, bound or not, oldest first.
    pub(crate) pods: Vec<Uid>,
    /// How many pods of each revision this node has had.
    pub(crate) attempts: IndexMap<String, u64, Hasher>,
    /// Rises whenever the kubelet goes down or up; timers of an earlier epoch are stale.
    pub(crate) epoch: u32,
}

/// The pull of an image.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ImagePull {
    pub(crate) since: Timestamp,
    pub(crate) until: Timestamp,
}

/// The state of a pod that its API object does not show.
#[derive(Debug, Clone)]
pub(crate) struct PodRuntime {
    pub(crate) node: NodeName,
    pub(crate) revision: String,
    pub(crate) requirements: Arc<PodRequirements>,
    pub(crate) behaviour: Behaviour,
    pub(crate) finalizers: Vec<String>,
    /// The kubelet has started the containers, or is about to.
    pub(crate) started: bool,
    /// The containers have ended after the pod's deletion; finalizers keep the object.
    pub(crate) stopped: bool,
    /// The number of this pod among the pods of its revision on its node, from 1.
    pub(crate) attempt: u64,
    pub(crate) restarts: u32,
    /// The containers that are being changed in their place.
    pub(crate) changing: Vec<String>,
    /// The condition Ready stays True meanwhile.
    pub(crate) keeps_ready: bool,
    /// The position of the workload that it is a replica of.
    pub(crate) workload: Option<usize>,
    /// Rises whenever the pod leaves its expected course (start, crash, deletion, node down); timers of an earlier
    /// epoch are stale.
    pub(crate) epoch: u32,
    /// The name of the pod in the history; `None` for a pod that the history leaves out, because it neither belongs to the
    /// DaemonSet nor could be adopted.
    pub(crate) identity: Option<Arc<PodIdentity>>,
}

/// The requirements and the behaviour of each version of the template, by the hash of its revision.
#[derive(Debug, Default)]
pub(crate) struct Versions {
    known: IndexMap<String, (Arc<PodRequirements>, Behaviour), Hasher>,
    /// The behaviour of templates that may have no revision yet, newest first.
    expected: Vec<(Value, Behaviour)>,
    /// The labels of the last pod of each revision.
    labels: IndexMap<String, Labels, Hasher>,
    /// The last created pod of each revision: a plan has thousands of manifests that differ by their node alone.
    created: IndexMap<String, Created, Hasher>,
}

/// A pod, as its manifest describes it.
#[derive(Debug, Clone)]
pub(crate) struct Created {
    body: Arc<Shared>,
    pub(crate) pod: Pod,
    pub(crate) generate_name: String,
    pub(crate) requirements: Arc<PodRequirements>,
}

impl Versions {
    /// Sets the behaviour of the pods of a template that are created from now on.
    pub(crate) fn set_behaviour(&mut self, template: Value, behaviour: Behaviour) {
        self.expected.insert(0, (template, behaviour));
    }

    /// Reads a revision; `default` is the behaviour of templates without one of their own.
    pub(crate) fn insert(&mut self, hash: &str, revision: &ControllerRevision, default: Behaviour) {
        let expected = self.expected.iter().find(|(template, _)| has_template(&revision.data, template));
        let behaviour = expected.map_or(default, |(_, behaviour)| *behaviour);
        let template = revision.data.pointer("/spec/template").unwrap_or(&Value::Null);
        self.created.swap_remove(hash);
        self.known.insert(hash.to_owned(), (Arc::new(PodRequirements::from_template(template)), behaviour));
    }

    /// Returns equal labels that share memory with the last pod of this revision, if that pod had the same labels.
    fn share_labels(&mut self, hash: &str, labels: Labels) -> Labels {
        match self.labels.get(hash) {
            Some(known) if *known == labels => known.clone(),
            _ => {
                self.labels.insert(hash.to_owned(), labels.clone());
                labels
            }
        }
    }

    /// The pod that this manifest describes.
    ///
    /// # Errors
    /// When the manifest is no pod.
    pub(crate) fn create(&mut self, manifest: &PodManifest) -> Result<Created, serde_json::Error> {
        let hash = manifest.revision_hash();
        let last = self.created.get(hash).filter(|_| manifest.body.is_none());
        if let Some(last) = last.filter(|last| Arc::ptr_eq(&last.body, &manifest.shared)) {
            let mut created = last.clone();
            created.pod.metadata.name = manifest.name.clone().unwrap_or_default();
            match &manifest.shared.tie {
                Tie::NodeAffinity { .. } => created.pod.spec.affinity_node = Some(manifest.node().clone()),
                Tie::NodeName => created.pod.spec.node_name = manifest.node().clone(),
            }
            return Ok(created);
        }
        let value = manifest.to_value();
        let mut pod = Pod::deserialize(&value)?;
        // Ten thousand pods of one revision share one copy of their labels.
        pod.metadata.labels = self.share_labels(hash, pod.metadata.labels);
        let of_pod = PodRequirements::from_template(&value);
        let requirements = match self.get(hash).filter(|_| !is_pull_pod(&pod)) {
            // The pod itself has the tolerations that the controller adds to the template.
            Some((known, _)) => {
                PodRequirements { tolerations: of_pod.tolerations, ..PodRequirements::clone(&known) }
            }
            None => of_pod,
        };
        let generate_name = value.pointer("/metadata/generateName").and_then(Value::as_str);
        let generate_name = generate_name.unwrap_or_default().to_owned();
        let created = Created {
            body: Arc::clone(&manifest.shared),
            pod,
            generate_name,
            requirements: Arc::new(requirements),
        };
        if manifest.body.is_none() {
            self.created.insert(hash.to_owned(), created.clone());
        }
        Ok(created)
    }

    pub(crate) fn get(&self, hash: &str) -> Option<(Arc<PodRequirements>, Behaviour)> {
        self.known.get(hash).cloned()
    }
}

impl Environment {
    pub(crate) fn new(settings: Settings, seed: u64, now: Timestamp) -> Self {
        Environment {
            now,
            settings,
            random: RandomStreams::new(seed),
            queue: EventQueue::default(),
            objects: Objects::default(),
            pod_names: IndexSet::default(),
            kubelets: IndexMap::default(),
            runtimes: IndexMap::default(),
            removed_nodes: IndexMap::default(),
            versions: Versions::default(),
            history: Vec::new(),
            other_daemon_sets: Vec::new(),
            workloads: Vec::new(),
            drained: BTreeSet::new(),
            has_turns: false,
            unsent: Vec::new(),
            serial: 0,
        }
    }

    pub(crate) fn record(&mut self, by: Actor, change: Change) {
        self.history.push(Event { t: self.now, by, change });
    }

    /// No new object gets this uid, which another simulation may have generated.
    pub(crate) fn skip_uid(&mut self, uid: &Uid) {
        let serial = uid.as_str().strip_prefix(UID_PREFIX);
        let serial = serial.and_then(|serial| u64::from_str_radix(serial, 16).ok());
        self.serial = self.serial.max(serial.filter(|serial| *serial <= LAST_GIVEN).unwrap_or_default());
    }

    /// New objects get later resource versions, as the caches and the memory compare them.
    pub(crate) fn skip_version(&mut self, version: Option<u64>) {
        self.serial = self.serial.max(version.unwrap_or_default());
    }

    fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    pub(crate) fn new_uid(&mut self) -> Uid {
        Uid::from(format!("{UID_PREFIX}{:012x}", self.next_serial()).as_str())
    }

    pub(crate) fn new_version(&mut self) -> String {
        self.next_serial().to_string()
    }

    /// Changes the store, and queues the watch event of the change.
    pub(crate) fn store(&mut self, event: WatchEvent) {
        self.objects.apply(event.clone());
        self.unsent.push(event);
    }

    pub(crate) fn pod(&self, uid: &Uid) -> Option<&Arc<Pod>> {
        self.objects.pods.get(uid)
    }

    /// Changes a pod's object; caches that share the object keep the unchanged one.
    pub(crate) fn change_pod(&mut self, uid: &Uid, change: impl FnOnce(&mut Pod)) {
        let version = self.new_version();
        let Some(stored) = self.objects.pods.get_mut(uid) else { return };
        let pod = Arc::make_mut(stored);
        change(pod);
        pod.metadata.resource_version = version;
        self.unsent.push(WatchEvent::Pod(Arc::clone(stored)));
        self.tell_drain(uid);
    }

    pub(crate) fn change_node(&mut self, name: &NodeName, change: impl FnOnce(&mut Node)) {
        let version = self.new_version();
        let Some(stored) = self.objects.nodes.get_mut(name) else { return };
        let node = Arc::make_mut(stored);
        change(node);
        node.metadata.resource_version = version;
        self.unsent.push(WatchEvent::Node(Arc::clone(stored)));
    }

    pub(crate) fn change_revision(&mut self, uid: &Uid, change: impl FnOnce(&mut ControllerRevision)) {
        let version = self.new_version();
        let Some(stored) = self.objects.revisions.get_mut(uid) else { return };
        let revision = Arc::make_mut(stored);
        change(revision);
        revision.metadata.resource_version = version;
        let event = WatchEvent::Revision(Arc::clone(stored));
        self.unsent.push(event);
        self.read_version(uid);
    }

    /// Reads the requirements and the behaviour of the pods of a revision.
    pub(crate) fn read_version(&mut self, uid: &Uid) {
        let Some(revision) = self.objects.revisions.get(uid) else { return };
        let key = &self.settings.controller.policy.unique_label_key;
        let hash = revision.metadata.labels.get(key).unwrap_or(&revision.metadata.name).to_owned();
        self.versions.insert(&hash, revision, self.settings.behaviour);
    }

    /// The pod as the history names it; `None` for pods that the history leaves out.
    pub(crate) fn identity(&self, uid: &Uid) -> Option<Arc<PodIdentity>> {
        self.runtimes.get(uid).and_then(|runtime| runtime.identity.clone())
    }

    pub(crate) fn record_pod(
        &mut self,
        by: Actor,
        uid: &Uid,
        change: impl FnOnce(Arc<PodIdentity>) -> Change,
    ) {
        if let Some(identity) = self.identity(uid) {
            self.record(by, change(identity));
        }
    }

    pub(crate) fn record_node(
        &mut self,
        by: Actor,
        name: &NodeName,
        change: impl FnOnce(NodeState) -> Change,
    ) {
        if let Some(node) = self.objects.nodes.get(name) {
            let state = NodeState::from_node(node);
            self.record(by, change(state));
        }
    }

    /// Whether the DaemonSet controls a pod or could adopt it: the pod has no controller and the selector matches.
    pub(crate) fn belongs_in_history(&self, pod: &Pod) -> bool {
        let controller = OwnerReference::controller_of(&pod.metadata.owner_references);
        let ours = self.objects.daemon_set.as_ref().map(|ds| ds.metadata.uid.as_str());
        let fits = controller == ours || (controller.is_none() && self.is_selected(pod));
        !pod.metadata.annotations.contains_key("kubernetes.io/config.mirror") && fits
    }

    /// Every pod counts as selected while there is no DaemonSet.
    fn is_selected(&self, pod: &Pod) -> bool {
        let selector = self.objects.daemon_set.as_ref().and_then(|ds| ds.spec.selector.as_ref());
        selector.is_none_or(|selector| {
            Selector::new(selector, "spec.selector")
                .is_ok_and(|selector| selector.matches_labels(&pod.metadata.labels))
        })
    }

    pub(crate) fn pod_ref(&self, uid: &Uid) -> Option<ObjectRef> {
        self.pod(uid).map(|pod| ObjectRef::from(&pod.metadata))
    }
}

/// Whether a pod only pulls images, for a DaemonSet. It has the hash label of a revision, and little of its template.
pub(crate) fn is_pull_pod(pod: &Pod) -> bool {
    pod.metadata.labels.contains_key(PULL_OWNER_LABEL)
}

/// `namespace/name`, which is unique among pods.
pub(crate) fn namespaced_name(namespace: &str, name: &str) -> String {
    format!("{namespace}/{name}")
}
