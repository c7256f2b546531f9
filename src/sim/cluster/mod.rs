//! A simulated cluster, as its user drives it.

mod faults;
mod nodes;
mod user;

use super::controller::{Controller, Planner};
use super::event::Event;
use super::queue::Due;
use super::settings::Settings;
use super::world::World;
use crate::memory::Memory;
use crate::model::{ControllerRevision, DaemonSet, DaemonSetStatus, Node, Pod};
use crate::problem::InvalidSnapshot;
use crate::recording::Recording;
use crate::report::Plan;
use crate::snapshot::{Observed, Snapshot};
use jiff::{SignedDuration, Timestamp};
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
pub struct Timeout {
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
        self.send();
        self.controller.cache.relist(&self.world.objects);
        self.controller.remember(recording.memory.clone().unwrap_or_default());
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
        self.controller.memory()
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
        let (nodes, pods, revisions) = (self.nodes(), self.pods(), self.revisions());
        let observed = Observed { daemon_set, nodes, pods, revisions };
        let policy = &self.controller.settings.policy;
        let snapshot = Snapshot::new(observed, self.now()).policy(policy).check();
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
    pub fn decide_with(&mut self, brain: impl Planner + 'static) {
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
    pub fn run_until_quiet(&mut self, bound: SignedDuration) -> Result<Timestamp, Timeout> {
        let last = self.now().saturating_add(bound).unwrap_or(Timestamp::MAX);
        while let Some(at) = self.next_at() {
            if at > last {
                return Err(Timeout { at: last });
            }
            self.step();
        }
        Ok(self.now())
    }
}
