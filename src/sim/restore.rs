//! Starting from a real cluster: a recording becomes a simulated one, as it is or grown.

use super::cluster::Cluster;
use super::event::{Actor, Change, Event, NodeState};
use super::kubelet::is_finished;
use super::needs::Resources;
use super::queue::{Due, PodStep};
use super::settings::Settings;
use super::watch::Seen;
use super::world::World;
use crate::model::{NodeName, Pod, Uid};
use crate::recording::Recording;
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Cluster {
    /// The cluster of a recording at its instant; policy and memory are the recording's.
    ///
    /// Its [history](Cluster::history) begins with how it came to be, as far as the objects tell: nodes, pods and their
    /// readiness, at the times that they give.
    pub fn restore(mut settings: Settings, seed: u64, recording: &Recording) -> Self {
        settings.controller.policy = recording.policy.clone();
        let mut cluster = Cluster::with(settings, seed, recording.now);
        cluster.start_from(recording);
        cluster
    }
}

impl World {
    /// Takes over the objects, and sends the pods on from where they are.
    pub(super) fn restore(&mut self, recording: &Recording) {
        let beginning = beginning(recording);
        let mut past = Past { now: self.now, events: Vec::new() };
        self.objects.daemon_set = None;
        self.go_on_after(known(recording));
        self.store(Seen::DaemonSet(Arc::new(recording.daemon_set.clone())));
        let ds = &recording.daemon_set;
        past.tell(
            ds.metadata.creation_timestamp.or(Some(beginning)),
            Actor::User,
            Change::DaemonSetChanged {
                generation: ds.metadata.generation,
                template_changed: true,
                spec: Box::new(ds.spec.clone()),
            },
        );
        for revision in &recording.revisions {
            self.store(Seen::Revision(Arc::new(revision.clone())));
            self.learn_version(&revision.metadata.uid);
        }
        for node in &recording.nodes {
            self.add_node(Actor::World, node.clone(), Resources::UNLIMITED);
            past.tell(Some(beginning), Actor::World, Change::NodeAdded(NodeState::of(node)));
        }
        for pod in &recording.pods {
            let uid = self.add_pod(Actor::World, pod.clone(), None);
            self.take_over(&uid, pod, &mut past);
        }
        self.expect_garbage_of(recording);
        past.events.sort_by_key(|event| event.t);
        self.history = past.events;
    }

    /// Nodes that pods are bound to, and that are gone: the garbage collector has seen that just now.
    fn expect_garbage_of(&mut self, recording: &Recording) {
        let bound = recording.pods.iter().map(|pod| &pod.spec.node_name);
        let gone = |name: &&NodeName| !name.as_str().is_empty() && !self.objects.nodes.contains_key(*name);
        let gone: BTreeSet<NodeName> = bound.filter(gone).cloned().collect();
        for name in gone {
            self.expect_garbage(name);
        }
    }

    /// Where a pod is in its life, and what comes next.
    fn take_over(&mut self, uid: &Uid, pod: &Pod, past: &mut Past) {
        let created = pod.metadata.creation_timestamp;
        let ready = pod.readiness().filter(|condition| condition.is_true());
        if let Some(identity) = self.identity(uid) {
            past.tell(created, Actor::World, Change::PodCreated(identity.clone()));
            if let Some(ready) = ready {
                past.tell(
                    ready.last_transition_time.or(created),
                    Actor::World,
                    Change::PodReady(identity.clone()),
                );
            }
            if pod.metadata.deletion_timestamp.is_some() {
                past.tell(None, Actor::World, Change::PodTerminating { pod: identity, reason: None });
            }
        }
        let bound = pod.is_bound();
        if let (Some(life), true) = (self.lives.get(uid), bound) {
            let revision = life.revision.clone();
            if let Some(machine) = self.machines.get_mut(&life.node) {
                machine.pulled.insert(revision);
            }
        }
        let now = self.now;
        let finished = is_finished(pod);
        let Some(life) = self.lives.get_mut(uid) else { return };
        let up = self.machines.get(&life.node).is_some_and(|machine| machine.up);
        match (pod.metadata.deletion_timestamp, bound) {
            // Nobody ends it there; the node may come back.
            (Some(_), true) if !up => {}
            (Some(until), _) => {
                life.started = true;
                let due = Due::Pod { uid: uid.clone(), turn: life.turn, step: PodStep::Stopped };
                self.queue.push(until.max(now), due);
            }
            (None, false) => self.schedule_soon(uid),
            (None, true) if finished => life.started = true,
            (None, true) if ready.is_some() => {
                life.started = true;
                self.plan_crash(uid);
            }
            (None, true) => self.start(uid),
        }
    }
}

/// What happened before the simulation starts.
struct Past {
    now: Timestamp,
    events: Vec<Event>,
}

impl Past {
    /// At its time, or now where nothing tells it; never in the future.
    fn tell(&mut self, t: Option<Timestamp>, by: Actor, change: Change) {
        self.events.push(Event { t: t.map_or(self.now, |t| t.min(self.now)), by, change });
    }
}

/// Uid and resource version of every object that has them.
fn known(recording: &Recording) -> impl Iterator<Item = (&Uid, &str)> + Clone {
    let ds = &recording.daemon_set.metadata;
    let pods = recording.pods.iter().map(|pod| &pod.metadata);
    let revisions = recording.revisions.iter().map(|revision| &revision.metadata);
    std::iter::once((&ds.uid, ds.resource_version.as_str()))
        .chain(pods.map(|metadata| (&metadata.uid, metadata.resource_version.as_str())))
        .chain(revisions.map(|metadata| (&metadata.uid, metadata.resource_version.as_str())))
}

/// The oldest time that the objects tell.
fn beginning(recording: &Recording) -> Timestamp {
    let pods = recording.pods.iter().filter_map(|pod| pod.metadata.creation_timestamp);
    let ds = recording.daemon_set.metadata.creation_timestamp;
    pods.chain(ds).min().unwrap_or(recording.now).min(recording.now)
}

/// The same cluster with this many nodes: its nodes and their pods again and again under other names, or only the first
/// ones. Pods that are for no node stay as they are.
pub fn resize(recording: &Recording, nodes: usize) -> Recording {
    let mut resized = Recording { nodes: Vec::new(), pods: Vec::new(), ..recording.clone() };
    let known = |node: &str| recording.nodes.iter().any(|other| other.metadata.name.as_str() == node);
    let elsewhere = recording.pods.iter().filter(|pod| pod.target().is_none_or(|node| !known(node.as_str())));
    resized.pods.extend(elsewhere.cloned());
    let width = nodes.saturating_sub(1).to_string().len();
    for (number, original) in recording.nodes.iter().cycle().take(nodes).enumerate() {
        let again = number >= recording.nodes.len();
        let mut node = original.clone();
        if again {
            let name = unused_name(recording, &format!("node-{:0width$}", number + 1));
            node.metadata.labels.extend([("kubernetes.io/hostname", name.as_str())]);
            node.metadata.name = name.as_str().into();
        }
        for pod in recording.pods.iter().filter(|pod| pod.target() == Some(&original.metadata.name)) {
            let mut pod = pod.clone();
            if again {
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
