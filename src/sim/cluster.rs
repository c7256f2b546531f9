//! A simulated cluster, as its user drives it.

use super::chance::Spread;
use super::controller::{Brain, Controller};
use super::event::{By, Change, Event};
use super::needs::{Needs, Resources};
use super::queue::Due;
use super::settings::{Behaviour, Settings};
use super::watch::{Kind, Seen};
use super::world::World;
use crate::check::TEMPLATE_GENERATION_ANNOTATION;
use crate::memory::Memory;
use crate::model::{ControllerRevision, DaemonSet, DaemonSetStatus, Labels, Node, NodeName, Pod, Taint, Uid};
use crate::problem::InvalidSnapshot;
use crate::recording::Recording;
use crate::report::Plan;
use crate::snapshot::Snapshot;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::sync::Arc;
use thiserror::Error;

/// A cluster with one DaemonSet, its controller, and a clock of its own.
///
/// The same seed, the same settings and the same calls give the same [history](Cluster::history), byte for byte.
#[derive(Debug)]
pub struct Cluster {
    world: World,
    controller: Controller,
}

/// A cluster that did not come to rest within the time given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("not quiet at {at}")]
pub struct NotQuiet {
    /// When the time was over.
    pub at: Timestamp,
}

impl Cluster {
    /// An empty cluster with the default settings, at the start of 2026.
    pub fn new(seed: u64) -> Self {
        Cluster::with(Settings::default(), seed, Timestamp::from_second(1_767_225_600).unwrap_or_default())
    }

    /// An empty cluster.
    pub fn with(settings: Settings, seed: u64, now: Timestamp) -> Self {
        let controller = settings.controller.clone();
        let mut world = World::new(settings, seed, now);
        if world.settings.churn.every.is_some() {
            world.queue.push(now, Due::Churn(0));
        }
        let controller = Controller::new(controller, &world);
        Cluster { world, controller }
    }

    /// Takes over the objects and the memory of a recording; the caches show them at once.
    pub(super) fn start_from(&mut self, recording: &Recording) {
        self.world.restore(recording);
        self.controller.memory = recording.memory.clone().unwrap_or_default();
        self.send();
        self.controller.cache.relist(&self.world.objects);
    }

    /// The clock.
    pub fn now(&self) -> Timestamp {
        self.world.now
    }

    /// All that has happened, in order.
    pub fn history(&self) -> &[Event] {
        &self.world.history
    }

    /// The DaemonSet as the API server has it.
    pub fn daemon_set(&self) -> Option<&DaemonSet> {
        self.world.objects.daemon_set.as_deref()
    }

    /// Its status as the API server has it.
    pub fn status(&self) -> DaemonSetStatus {
        self.daemon_set().map(|ds| ds.status.clone()).unwrap_or_default()
    }

    /// The nodes as the API server has them.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.world.objects.nodes.values().map(AsRef::as_ref)
    }

    /// The pods as the API server has them.
    pub fn pods(&self) -> impl Iterator<Item = &Pod> {
        self.world.objects.pods.values().map(AsRef::as_ref)
    }

    /// The revisions as the API server has them.
    pub fn revisions(&self) -> impl Iterator<Item = &ControllerRevision> {
        self.world.objects.revisions.values().map(AsRef::as_ref)
    }

    /// What the controller remembers.
    pub fn memory(&self) -> &Memory {
        &self.controller.memory
    }

    /// How often the controller has reconciled.
    pub fn reconciles(&self) -> u64 {
        self.controller.reconciles
    }

    /// Why the controller can't decide at the moment.
    pub fn invalid(&self) -> Option<&InvalidSnapshot> {
        self.controller.invalid.as_ref()
    }

    /// What a controller would decide that saw the cluster as it really is; none without a DaemonSet.
    ///
    /// # Errors
    /// As [`SnapshotBuilder::check`](crate::SnapshotBuilder::check).
    pub fn plan(&self) -> Option<Result<Plan, InvalidSnapshot>> {
        let daemon_set = self.daemon_set()?;
        let snapshot = Snapshot::new(daemon_set, self.now())
            .nodes(self.nodes())
            .pods(self.pods())
            .revisions(self.revisions())
            .policy(&self.controller.settings.policy)
            .check();
        Some(snapshot.map(|snapshot| crate::reconcile::plan(&snapshot)))
    }

    /// Whether `kubectl rollout status` would say that the rollout is done.
    pub fn is_rolled_out(&self) -> bool {
        self.daemon_set().is_some_and(|ds| {
            let DaemonSet { metadata, status, .. } = ds;
            let desired = status.desired_number_scheduled;
            status.observed_generation >= metadata.generation
                && status.updated_number_scheduled >= desired
                && status.number_available >= desired
        })
    }

    /// Lets another brain decide.
    pub fn decide_with(&mut self, brain: impl Brain + 'static) {
        self.controller.brain = Some(Box::new(brain));
    }
}

/// Time.
impl Cluster {
    /// When something happens next; none when nothing ever will.
    pub fn next_at(&self) -> Option<Timestamp> {
        [self.world.queue.next_at(), self.controller.next_sync()].into_iter().flatten().min()
    }

    /// Lets the next thing happen, and says when that was.
    pub fn step(&mut self) -> Option<Timestamp> {
        let at = self.next_at()?.max(self.world.now);
        self.world.now = at;
        // What is due in the world comes first: the controller then sees all that it can see.
        if self.world.queue.next_at().is_some_and(|due| due <= at) {
            if let Some((_, due)) = self.world.queue.pop() {
                self.happen(due);
            }
        } else {
            self.controller.sync(&mut self.world);
        }
        self.send();
        Some(at)
    }

    fn happen(&mut self, due: Due) {
        match due {
            Due::Schedule(uid) => self.world.schedule(&uid),
            Due::Pod { uid, turn, step } => self.world.pod_step(&uid, turn, step),
            Due::CollectGarbage(node) => self.world.collect_garbage(&node),
            Due::NodeUp { node, turn } => self.world.node_up(&node, turn),
            Due::Churn(time) => self.world.churn(time),
        }
    }

    /// Sends what has changed on its way to the caches.
    fn send(&mut self) {
        for seen in self.world.outbox.drain(..) {
            self.controller.cache.send(self.world.now, seen);
        }
    }

    /// Lets all happen that is due until then, and sets the clock.
    pub fn run_until(&mut self, until: Timestamp) {
        while self.next_at().is_some_and(|at| at <= until) {
            self.step();
        }
        self.world.now = self.world.now.max(until);
    }

    /// Lets so much time pass.
    pub fn run_for(&mut self, duration: SignedDuration) {
        self.run_until(self.now().saturating_add(duration).unwrap_or(Timestamp::MAX));
    }

    /// Lets things happen until nothing is left to happen.
    ///
    /// # Errors
    /// When that takes longer than `bound`.
    pub fn run_until_quiet(&mut self, bound: SignedDuration) -> Result<Timestamp, NotQuiet> {
        let last = self.now().saturating_add(bound).unwrap_or(Timestamp::MAX);
        while let Some(at) = self.next_at() {
            if at > last {
                return Err(NotQuiet { at: last });
            }
            self.step();
        }
        Ok(self.now())
    }
}

/// What a person does with the DaemonSet and its pods.
impl Cluster {
    /// Creates the DaemonSet as the API server does: uid, generation and template generation begin.
    pub fn install(&mut self, mut daemon_set: DaemonSet) {
        let metadata = &mut daemon_set.metadata;
        if metadata.uid.as_str().is_empty() {
            metadata.uid = self.world.new_uid();
        }
        metadata.generation = 1;
        metadata.creation_timestamp = Some(self.world.now);
        if !metadata.annotations.contains_key(TEMPLATE_GENERATION_ANNOTATION) {
            metadata.annotations = metadata.annotations.with(TEMPLATE_GENERATION_ANNOTATION, "1");
        }
        self.put(daemon_set, TemplateChange::New);
    }

    /// Changes the DaemonSet as the API server lets a person do: a changed spec raises the generation, a changed template
    /// the template generation; the status stays.
    pub fn edit(&mut self, edit: impl FnOnce(&mut DaemonSet)) {
        let Some(stored) = self.daemon_set().cloned() else { return };
        let mut daemon_set = stored.clone();
        edit(&mut daemon_set);
        daemon_set.status = stored.status.clone();
        daemon_set.metadata.uid = stored.metadata.uid.clone();
        let mut change = TemplateChange::Same;
        if daemon_set.spec != stored.spec {
            daemon_set.metadata.generation = stored.metadata.generation + 1;
        }
        if daemon_set.spec.template != stored.spec.template {
            change = TemplateChange::New;
            let annotations = &mut daemon_set.metadata.annotations;
            let generation =
                annotations.get(TEMPLATE_GENERATION_ANNOTATION).and_then(|text| text.parse::<i64>().ok());
            if let Some(generation) = generation {
                *annotations =
                    annotations.with(TEMPLATE_GENERATION_ANNOTATION, &(generation + 1).to_string());
            }
        }
        if daemon_set != stored {
            self.put(daemon_set, change);
        }
    }

    /// Edits the template, and says how pods of the new version will behave.
    pub fn release(&mut self, behaviour: Behaviour, edit: impl FnOnce(&mut Value)) {
        let Some(mut template) = self.daemon_set().map(|ds| ds.spec.template.clone()) else { return };
        edit(&mut template);
        self.behave(&template, behaviour);
        self.edit(|ds| ds.spec.template = template);
    }

    /// Says how pods of a template behave that are created from now on.
    pub fn behave(&mut self, template: &Value, behaviour: Behaviour) {
        self.world.versions.expect(template.clone(), behaviour);
        let known: Vec<Uid> = self.world.objects.revisions.keys().cloned().collect();
        for uid in known {
            self.world.learn_version(&uid);
        }
    }

    fn put(&mut self, mut daemon_set: DaemonSet, change: TemplateChange) {
        daemon_set.metadata.resource_version = self.world.new_version();
        let told = Change::DaemonSetChanged {
            generation: daemon_set.metadata.generation,
            template_changed: change == TemplateChange::New,
            spec: Box::new(daemon_set.spec.clone()),
        };
        self.world.store(Seen::DaemonSet(Arc::new(daemon_set)));
        self.world.tell(By::User, told);
        self.send();
    }

    /// Puts a pod into the cluster, as whoever owns it does; it is scheduled if it is not bound.
    pub fn add_pod(&mut self, manifest: &Value) -> Result<Uid, serde_json::Error> {
        let mut pod: Pod = serde_json::from_value(manifest.clone())?;
        pod.metadata.creation_timestamp.get_or_insert(self.world.now);
        let started = !pod.status.phase.is_empty();
        if !started {
            pod.status.phase = "Pending".to_owned();
        }
        let bound = pod.is_bound();
        let uid = self.world.add_pod(By::User, pod, Some(Needs::of(manifest)));
        match (bound, started) {
            (false, _) => self.world.schedule_soon(&uid),
            (true, false) => self.world.start(&uid),
            (true, true) => self.world.take_up(&uid),
        }
        self.send();
        Ok(uid)
    }

    /// Deletes a pod, with its grace period.
    pub fn delete_pod(&mut self, uid: &Uid) {
        self.world.delete_pod(By::User, uid, None);
        self.send();
    }

    /// Evicts a pod as a kubelet does that is short of something: it ends as Failed.
    pub fn fail_pod(&mut self, uid: &Uid) {
        self.world.fail(uid);
        self.send();
    }

    /// Ends a pod's readiness; it crashed by itself, and the kubelet starts it again.
    pub fn crash_pod(&mut self, uid: &Uid) {
        self.world.crash_pod(uid);
        self.send();
    }

    /// Takes the finalizers from a pod.
    pub fn finalize_pod(&mut self, uid: &Uid) {
        self.world.finalize(uid);
        self.send();
    }
}

/// Whether an edit touched the template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TemplateChange {
    New,
    Same,
}

/// What happens to nodes.
impl Cluster {
    /// A node joins that is Ready, with room for everybody.
    pub fn add_node(&mut self, name: &str, labels: Labels) {
        let mut node = Node::default();
        node.metadata.name = name.into();
        node.metadata.labels = labels;
        self.add_node_with(node, Resources::UNLIMITED);
    }

    /// A node joins as it is, with so much room.
    pub fn add_node_with(&mut self, node: Node, capacity: Resources) {
        self.world.add_node(By::World, node, capacity);
        self.send();
    }

    /// A node leaves.
    pub fn remove_node(&mut self, node: &str) {
        self.on_node(node, |world, name| world.remove_node(By::User, name));
    }

    /// A node's kubelet is not heard of any more.
    pub fn take_down(&mut self, node: &str) {
        self.on_node(node, |world, name| world.take_down(By::World, name));
    }

    /// A node's kubelet is back.
    pub fn bring_up(&mut self, node: &str) {
        self.on_node(node, |world, name| world.bring_up(By::World, name));
    }

    /// Sets a taint.
    pub fn taint(&mut self, node: &str, key: &str, effect: &str) {
        let taint = Taint { key: key.to_owned(), value: String::new(), effect: effect.to_owned() };
        self.on_node(node, |world, name| world.add_taint(By::User, name, taint));
    }

    /// Takes all taints of a key away.
    pub fn untaint(&mut self, node: &str, key: &str) {
        self.on_node(node, |world, name| world.remove_taint(By::User, name, key));
    }

    /// `kubectl cordon`.
    pub fn cordon(&mut self, node: &str) {
        self.on_node(node, |world, name| world.cordon(By::User, name));
    }

    /// `kubectl uncordon`.
    pub fn uncordon(&mut self, node: &str) {
        self.on_node(node, |world, name| world.uncordon(By::User, name));
    }

    /// `kubectl drain --ignore-daemonsets`: cordons, and deletes the pods that are not the DaemonSet's.
    pub fn drain(&mut self, node: &str) {
        self.on_node(node, |world, name| {
            world.cordon(By::User, name);
            let pods = world.machines.get(name).map(|machine| machine.pods.clone()).unwrap_or_default();
            for uid in pods
                .iter()
                .filter(|uid| world.lives.get(*uid).is_some_and(|life| !life.told))
                .cloned()
                .collect::<Vec<_>>()
            {
                world.delete_pod(By::User, &uid, None);
            }
        });
    }

    /// Sets a label.
    pub fn label_node(&mut self, node: &str, key: &str, value: &str) {
        self.on_node(node, |world, name| world.label_node(By::User, name, key, value));
    }

    fn on_node(&mut self, node: &str, happens: impl FnOnce(&mut World, &NodeName)) {
        happens(&mut self.world, &NodeName::from(node));
        self.send();
    }
}

/// What goes wrong with the controller.
impl Cluster {
    /// It crashes once it has executed so many actions of a plan; a plan with fewer is executed.
    pub fn crash_after(&mut self, actions: u32) {
        self.controller.crash_after = Some(actions);
    }

    /// It crashes now.
    pub fn crash(&mut self) {
        self.controller.crash(0, &mut self.world);
    }

    /// Its memory is lost, but not its caches.
    pub fn lose_memory(&mut self) {
        self.controller.memory = Memory::default();
    }

    /// How far behind a cache is from now on.
    pub fn lag(&mut self, kind: Kind, lag: Spread) {
        self.controller.cache.set_lag(kind, lag);
    }

    /// How far a cache is behind: for how long there has been a change that it does not show.
    pub fn behind(&self, kind: Kind) -> SignedDuration {
        let since = self.controller.cache.behind_since(kind);
        since.map_or(SignedDuration::ZERO, |since| self.now().duration_since(since))
    }

    /// A cache sees nothing new until it is [thawed](Cluster::thaw).
    pub fn freeze(&mut self, kind: Kind) {
        self.controller.cache.freeze(kind, true);
    }

    /// A frozen cache sees again what it has missed.
    pub fn thaw(&mut self, kind: Kind) {
        self.controller.cache.freeze(kind, false);
    }

    /// Keeps what caches are sent, for [`relist_from_the_past`](Cluster::relist_from_the_past). Call it first of all.
    pub fn keep_log(&mut self) {
        self.controller.cache.keep_log();
    }

    /// The caches list from an API server that is so far behind, and watch on from there: they go back in time.
    pub fn relist_from_the_past(&mut self, behind: SignedDuration) {
        let now = self.now();
        let shown_until = now.saturating_sub(behind).unwrap_or(now);
        self.controller.cache.relist_from_the_past(now, shown_until);
        self.controller.wake(now);
    }

    /// Changes the controller's settings, but for those of its caches.
    pub fn set_controller(&mut self, change: impl FnOnce(&mut super::ControllerSettings)) {
        change(&mut self.controller.settings);
    }
}
