//! Simulated clusters that start from a recording of a real one, with the same or another number of nodes.

use crate::cluster::Cluster;
use crate::environment::Environment;
use crate::environment::pod_lifecycle::is_finished;
use crate::event::{Actor, Change, Event, NodeState};
use crate::event_queue::{PodTransition, Timer};
use crate::requirements::Resources;
use crate::settings::Settings;
use crate::watch::{LAST_GIVEN, WatchEvent, comparable};
use daemonset::model::{DaemonSet, Node, NodeName, Pod, Uid};
use daemonset::{Memory, Recording, turns};
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Cluster {
    /// The cluster of a recording, at the recording's instant and with its policy and memory.
    ///
    /// The [history](Cluster::history) begins with the events that the objects give evidence of: nodes, pods and their
    /// readiness, at the times in the objects.
    pub fn from_recording(mut settings: Settings, seed: u64, recording: &Recording) -> Self {
        settings.controller.policy = recording.policy.clone();
        let mut cluster = Cluster::with_settings(settings, seed, recording.now);
        cluster.start_from(recording);
        cluster
    }
}

impl Environment {
    /// Loads the objects, and schedules the next event of each pod.
    pub(crate) fn load_recording(&mut self, recording: &Recording) {
        let earliest = earliest_creation(recording);
        let mut past = Past { now: self.now, events: Vec::new(), tells_images: false };
        self.objects.daemon_set = None;
        self.skip_used_serials(recording);
        self.store(WatchEvent::DaemonSet(Arc::new(recording.daemon_set.clone())));
        let ds = &recording.daemon_set;
        if let Some(behaviour) = self.settings.current_behaviour {
            self.versions.set_behaviour(ds.spec.template.clone(), behaviour);
        }
        past.record(
            ds.metadata.creation_timestamp.or(Some(earliest)),
            Actor::User,
            Change::DaemonSetChanged {
                generation: ds.metadata.generation,
                template_changed: true,
                spec: Box::new(ds.spec.clone()),
            },
        );
        for revision in &recording.revisions {
            self.store(WatchEvent::Revision(Arc::new(revision.clone())));
            self.read_version(&revision.metadata.uid);
        }
        for node in &recording.nodes {
            let mut node = node.clone();
            // Versions of nodes are compared with those that the simulation gives.
            let version = comparable(&node.metadata.resource_version);
            if self.settings.runtime.is_some() && version.is_some_and(|version| version > self.serial) {
                node.metadata.resource_version.clear();
            }
            self.add_node(Actor::Environment, node.clone(), Resources::UNLIMITED);
            past.record(Some(earliest), Actor::Environment, Change::NodeAdded(NodeState::from_node(&node)));
        }
        past.tells_images = recording.pods.iter().any(tells_images);
        for pod in &recording.pods {
            let uid = self.add_pod(Actor::Environment, pod.clone(), None);
            self.resume_pod(&uid, pod, &mut past);
        }
        for (node, free) in &recording.free {
            self.set_free(node, free);
        }
        let turn = turns::key(&recording.daemon_set);
        for node in &recording.nodes {
            let began = turns::request(node, &turn).and_then(|request| request.split_once(' '));
            if let Some(began) = began.and_then(|(_, at)| at.parse().ok()) {
                self.answer_turn(&node.metadata.name, &turn, began);
            }
        }
        self.schedule_garbage_collection_of_missing_nodes(recording);
        self.believe_in_owners(recording);
        past.events.sort_by_key(|event| event.t);
        self.history = past.events;
    }

    /// No new object gets a uid of the recording, and each gets a later resource version than all in it. The memory may know
    /// of pods that no list shows.
    fn skip_used_serials(&mut self, recording: &Recording) {
        for version in [recording.pods_version, recording.nodes_version] {
            self.skip_version(version.filter(|version| *version <= LAST_GIVEN));
        }
        for (uid, version) in uids_and_versions(recording) {
            self.skip_uid(uid);
            self.skip_version(comparable(version));
        }
        for (uid, version) in recording.memory.iter().flat_map(remembered) {
            self.skip_uid(uid);
            self.skip_version(version.filter(|version| *version <= LAST_GIVEN));
        }
    }

    /// Each DaemonSet exists that a pod names as its controller: a recording has one alone.
    fn believe_in_owners(&mut self, recording: &Recording) {
        let own = &recording.daemon_set.metadata.uid;
        for pod in &recording.pods {
            let owner = pod.metadata.owner_references.iter().find(|owner| owner.controller == Some(true));
            let Some(owner) = owner.filter(|owner| owner.kind == "DaemonSet" && owner.uid != *own) else {
                continue;
            };
            if self.other_daemon_sets.iter().all(|known| known.metadata.uid != owner.uid) {
                let mut other = DaemonSet::default();
                other.metadata.namespace.clone_from(&pod.metadata.namespace);
                other.metadata.name.clone_from(&owner.name);
                other.metadata.uid = owner.uid.clone();
                self.other_daemon_sets.push(other);
            }
        }
        let has_turn = |node: &Node| !node.metadata.annotations.is_empty();
        self.has_turns |= recording.nodes.iter().any(has_turn);
    }

    /// Pods are bound to these nodes, which do not exist. The garbage collector has noticed it at the recording's
    /// instant.
    fn schedule_garbage_collection_of_missing_nodes(&mut self, recording: &Recording) {
        let bound = recording.pods.iter().map(|pod| &pod.spec.node_name);
        let gone = |name: &&NodeName| !name.as_str().is_empty() && !self.objects.nodes.contains_key(*name);
        let gone: BTreeSet<NodeName> = bound.filter(gone).cloned().collect();
        for name in gone {
            self.schedule_garbage_collection(name);
        }
    }

    /// Derives a pod's state from its object, and schedules its next event.
    fn resume_pod(&mut self, uid: &Uid, pod: &Pod, past: &mut Past) {
        let created = pod.metadata.creation_timestamp;
        let ready = pod.readiness().filter(|condition| condition.is_true());
        if let Some(identity) = self.identity(uid) {
            past.record(created, Actor::Environment, Change::PodCreated(identity.clone()));
            if let Some(ready) = ready {
                past.record(
                    ready.last_transition_time.or(created),
                    Actor::Environment,
                    Change::PodReady(identity.clone()),
                );
            }
            if pod.metadata.deletion_timestamp.is_some() {
                past.record(None, Actor::Environment, Change::PodTerminating { pod: identity, reason: None });
            }
        }
        let bound = pod.is_bound();
        if let (Some(runtime), true) = (self.runtimes.get(uid), bound) {
            let revision = runtime.revision.clone();
            let node = runtime.node.clone();
            let all = !past.tells_images || ready.is_some();
            self.adopt_images(&node, &revision, pod, all);
            self.adopt_containers(uid);
        }
        let now = self.now;
        let finished = is_finished(pod);
        let Some(runtime) = self.runtimes.get_mut(uid) else { return };
        let up = self.kubelets.get(&runtime.node).is_some_and(|kubelet| kubelet.up);
        match (pod.metadata.deletion_timestamp, bound) {
            // No kubelet ends the pod; the node may come back.
            (Some(_), true) if !up => {}
            (Some(until), _) => {
                runtime.started = true;
                let timer =
                    Timer::Pod { uid: uid.clone(), epoch: runtime.epoch, transition: PodTransition::Stopped };
                self.queue.push(until.max(now), timer);
            }
            (None, false) => self.enqueue_for_scheduling(uid),
            (None, true) if finished => runtime.started = true,
            (None, true) if ready.is_some() => {
                runtime.started = true;
                self.plan_crash(uid);
            }
            (None, true) => self.start(uid),
        }
    }
}

/// The events before the start of the simulation.
struct Past {
    now: Timestamp,
    events: Vec<Event>,
    /// At least one kubelet has reported which containers have their image.
    tells_images: bool,
}

impl Past {
    /// Records an event at `t`, or now if `t` is unknown or in the future.
    fn record(&mut self, t: Option<Timestamp>, by: Actor, change: Change) {
        self.events.push(Event { t: t.map_or(self.now, |t| t.min(self.now)), by, change });
    }
}

/// Whether a kubelet has reported the state of the pod's containers.
fn tells_images(pod: &Pod) -> bool {
    pod.status.container_statuses.iter().any(|status| !status.name.is_empty())
}

/// The uid and the resource version of the DaemonSet, the pods and the revisions.
fn uids_and_versions(recording: &Recording) -> impl Iterator<Item = (&Uid, &str)> {
    let ds = &recording.daemon_set.metadata;
    let pods = recording.pods.iter().map(|pod| &pod.metadata);
    let revisions = recording.revisions.iter().map(|revision| &revision.metadata);
    std::iter::once((&ds.uid, ds.resource_version.as_str()))
        .chain(pods.map(|metadata| (&metadata.uid, metadata.resource_version.as_str())))
        .chain(revisions.map(|metadata| (&metadata.uid, metadata.resource_version.as_str())))
}

/// The uids of the pods that the memory knows of, with the versions of the outcomes.
fn remembered(memory: &Memory) -> impl Iterator<Item = (&Uid, Option<u64>)> {
    let creates = memory.creates().values();
    let creates = creates.filter_map(|create| Some((create.expected.uid.as_ref()?, create.version)));
    let deletes = memory.deletes().iter().map(|(uid, delete)| (uid, delete.version));
    creates.chain(deletes).chain(memory.deleted_by_update().values().map(|taken| (&taken.uid, None)))
}

/// The earliest creation time of the DaemonSet and the pods.
fn earliest_creation(recording: &Recording) -> Timestamp {
    let pods = recording.pods.iter().filter_map(|pod| pod.metadata.creation_timestamp);
    let ds = recording.daemon_set.metadata.creation_timestamp;
    pods.chain(ds).min().unwrap_or(recording.now).min(recording.now)
}

/// The same cluster with this many nodes: copies of its nodes and their pods under other names, or only the first
/// nodes. Pods without a node of the recording stay as they are.
pub fn resize(recording: &Recording, nodes: usize) -> Recording {
    let mut resized = recording.clone();
    resized.nodes.clear();
    resized.pods.clear();
    let known = |node: &str| recording.nodes.iter().any(|other| other.metadata.name.as_str() == node);
    let without_node =
        recording.pods.iter().filter(|pod| pod.target().is_none_or(|node| !known(node.as_str())));
    resized.pods.extend(without_node.cloned());
    let width = nodes.saturating_sub(1).to_string().len();
    for (number, original) in recording.nodes.iter().cycle().take(nodes).enumerate() {
        let is_copy = number >= recording.nodes.len();
        let mut node = original.clone();
        if is_copy {
            let name = unused_name(recording, &format!("node-{:0width$}", number + 1));
            node.metadata.labels.extend([("kubernetes.io/hostname", name.as_str())]);
            node.metadata.name = name.as_str().into();
            if let Some(free) = recording.free.get(&original.metadata.name) {
                resized.free.insert(node.metadata.name.clone(), free.clone());
            }
        }
        for pod in recording.pods.iter().filter(|pod| pod.target() == Some(&original.metadata.name)) {
            let mut pod = pod.clone();
            if is_copy {
                pod.metadata.name = format!("{}-{number}", pod.metadata.name);
                pod.metadata.uid = Uid::from(format!("{}-{number}", pod.metadata.uid).as_str());
                if let Some(affinity) = &mut pod.spec.affinity_node {
                    *affinity = node.metadata.name.clone();
                }
                if pod.is_bound() {
                    pod.spec.node_name = node.metadata.name.clone();
                }
            }
            resized.pods.push(pod);
        }
        resized.nodes.push(node);
    }
    resized
}

fn unused_name(recording: &Recording, name: &str) -> String {
    let taken = recording.nodes.iter().any(|node| node.metadata.name.as_str() == name);
    if taken { unused_name(recording, &format!("{name}x")) } else { name.to_owned() }
}
