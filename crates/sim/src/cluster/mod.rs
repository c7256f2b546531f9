//! The public handle of a simulated cluster: its objects, its clock, and everything that a user can do to it.

mod faults;
mod from_recording;
mod nodes;
mod rollout;
mod user;
mod workloads;

pub use faults::Faults;
pub use from_recording::resize;
pub use rollout::RolloutEnd;

use crate::controller::{ControllerRole, Planner, SimulatedController};
use crate::environment::Environment;
use crate::event::Event;
use crate::event_queue::Timer;
use crate::settings::Settings;
use daemonset::model::{ControllerRevision, DaemonSet, DaemonSetStatus, Node, Pod};
use daemonset::{InvalidInput, Memory, NodeView, Observed, Plan, Recording, Snapshot};
use jiff::{SignedDuration, Timestamp};
use thiserror::Error;

/// A cluster with one DaemonSet, its controller, and a clock of its own.
///
/// While the controller only drives the update ([`Policy::external_controller`](field@daemonset::Policy::external_controller)), Kubernetes' own controller is
/// there beside it, with caches and faults of its own: it creates the pods, claims, keeps the history and writes the status.
///
/// The same seed, the same settings and the same calls give the same [history](Cluster::history), byte for byte.
#[derive(Debug)]
pub struct Cluster {
    environment: Environment,
    controller: SimulatedController,
    /// Kubernetes' own controller, while the one above only drives the update.
    other: Option<SimulatedController>,
}

/// The cluster did not become quiet within the given time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("not quiet at {at}")]
#[non_exhaustive]
pub struct Timeout {
    /// When the time was up.
    pub at: Timestamp,
}

impl Cluster {
    /// An empty cluster with the default settings. Its clock starts at 2026-01-01T00:00:00Z.
    pub fn new(seed: u64) -> Self {
        Cluster::with_settings(
            Settings::default(),
            seed,
            Timestamp::from_second(1_767_225_600).unwrap_or_default(),
        )
    }

    /// An empty cluster with these settings, whose clock starts at `now`.
    pub fn with_settings(settings: Settings, seed: u64, now: Timestamp) -> Self {
        let controller = settings.controller.clone();
        let mut environment = Environment::new(settings, seed, now);
        if environment.settings.churn.every.is_some() {
            environment.queue.push(now, Timer::Churn(0));
        }
        let controller = SimulatedController::new(ControllerRole::Main, controller, &environment);
        Cluster { environment, controller, other: None }
    }

    /// Loads the objects and the memory of a recording; the caches show the objects at once.
    pub(crate) fn start_from(&mut self, recording: &Recording) {
        self.environment.load_recording(recording);
        self.send();
        self.controller.cache.relist(&self.environment.objects);
        self.controller.cache.lists_at(recording.pods_version, recording.nodes_version);
        self.controller.set_memory(recording.memory.clone().unwrap_or_default());
    }

    /// The current instant of the simulation.
    pub fn now(&self) -> Timestamp {
        self.environment.now
    }

    /// All events so far, in order.
    pub fn history(&self) -> &[Event] {
        &self.environment.history
    }

    /// The DaemonSet as the API server stores it.
    pub fn daemon_set(&self) -> Option<&DaemonSet> {
        self.environment.objects.daemon_set.as_deref()
    }

    /// The DaemonSet's status as the API server stores it.
    pub fn status(&self) -> DaemonSetStatus {
        self.daemon_set().map(|ds| ds.status.clone()).unwrap_or_default()
    }

    /// The nodes as the API server stores them.
    pub fn nodes(&self) -> impl Iterator<Item = &Node> {
        self.environment.objects.nodes.values().map(AsRef::as_ref)
    }

    /// The pods as the API server stores them.
    pub fn pods(&self) -> impl Iterator<Item = &Pod> {
        self.environment.objects.pods.values().map(AsRef::as_ref)
    }

    /// The revisions as the API server stores them.
    pub fn revisions(&self) -> impl Iterator<Item = &ControllerRevision> {
        self.environment.objects.revisions.values().map(AsRef::as_ref)
    }

    /// The controller's memory.
    pub fn memory(&self) -> &Memory {
        self.controller.memory()
    }

    /// The first difference between a plan from applied changes and the plan of all objects. They are compared at each
    /// reconcile of a controller with another [`Planner`](crate::Planner).
    pub fn difference(&self) -> Option<&str> {
        self.controller.difference.as_deref()
    }

    /// How often the controller has reconciled.
    pub fn reconciles(&self) -> u64 {
        self.controller.reconciles
    }

    /// Why the controller's last snapshot was invalid; `None` if it was valid.
    pub fn invalid_snapshot(&self) -> Option<&InvalidInput> {
        self.controller.invalid.as_ref()
    }

    /// The plan for the actual state of the cluster, without the lag of the caches, by the controller's memory; `None` without
    /// a DaemonSet.
    ///
    /// # Errors
    /// As [`SnapshotBuilder::check`](daemonset::SnapshotBuilder::check).
    pub fn plan(&self) -> Option<Result<Plan, InvalidInput>> {
        let daemon_set = self.daemon_set()?;
        let policy = self.controller.settings.policy_for(daemon_set);
        let free = self.environment.free(&policy, &self.environment.objects);
        let nodes = self.nodes().map(|node| {
            let view = NodeView::from(node);
            free.get(&node.metadata.name).map_or(view, |free| view.free(free))
        });
        let (pods, revisions) = (self.pods(), self.revisions());
        let observed = Observed { daemon_set, nodes, pods, revisions };
        let snapshot = Snapshot::builder(observed, self.now()).policy(&policy).memory(self.memory()).check();
        Some(snapshot.map(|snapshot| daemonset::plan(&snapshot)))
    }

    /// Whether `kubectl rollout status` would report the rollout as complete.
    pub fn is_rolled_out(&self) -> bool {
        self.daemon_set().is_some_and(|ds| {
            let DaemonSet { metadata, status, .. } = ds;
            let desired = status.desired_number_scheduled;
            status.observed_generation >= metadata.generation
                && status.updated_number_scheduled >= desired
                && status.number_available >= desired
        })
    }

    /// Whether its nodes know images, or have had turns.
    pub(crate) fn knows_turns(&self) -> bool {
        self.environment.settings.runtime.is_some() || self.environment.has_turns
    }

    /// Replaces the planner of the controller.
    pub fn set_planner(&mut self, planner: impl Planner + 'static) {
        self.controller.planner = Some(Box::new(planner));
    }
}

/// The clock.
impl Cluster {
    /// The instant of the next event; `None` if no event is scheduled.
    pub fn next_at(&self) -> Option<Timestamp> {
        [self.environment.queue.next_at(), self.next_sync()].into_iter().flatten().min()
    }

    /// The next reconcile of one of the controllers.
    fn next_sync(&self) -> Option<Timestamp> {
        let other = self.other.as_ref().and_then(SimulatedController::next_sync);
        [self.controller.next_sync(), other].into_iter().flatten().min()
    }

    /// Advances the clock to the next event, processes it, and returns its instant.
    pub fn step(&mut self) -> Option<Timestamp> {
        let at = self.next_at()?.max(self.environment.now);
        self.environment.now = at;
        // Events of the environment come before a reconcile of the same instant, so that the controller sees them.
        if self.environment.queue.next_at().is_some_and(|due| due <= at) {
            if let Some((_, timer)) = self.environment.queue.pop() {
                self.fire(timer);
            }
        } else {
            self.sync(at);
        }
        self.send();
        self.staff();
        Some(at)
    }

    /// One of the controllers reconciles.
    fn sync(&mut self, at: Timestamp) {
        let is_due = |controller: &SimulatedController| controller.next_sync().is_some_and(|due| due <= at);
        match &mut self.other {
            Some(other) if !is_due(&self.controller) => other.sync(&mut self.environment),
            Some(_) | None => self.controller.sync(&mut self.environment),
        }
    }

    /// Kubernetes' own controller is there as long as the other one only drives. It begins with fresh lists.
    fn staff(&mut self) {
        match (self.controller.drives(), &self.other) {
            (true, None) => self.other = Some(self.controller.other(&self.environment)),
            (false, Some(_)) => self.other = None,
            (true, Some(_)) | (false, None) => {}
        }
    }

    fn fire(&mut self, timer: Timer) {
        match timer {
            Timer::SchedulePod(uid) => self.environment.schedule(&uid),
            Timer::Pod { uid, epoch, transition } => {
                self.environment.apply_transition(&uid, epoch, transition)
            }
            Timer::CollectGarbage(node) => self.environment.collect_garbage(&node),
            Timer::NodeReady { node, epoch } => self.environment.node_ready(&node, epoch),
            Timer::Churn(number) => self.environment.churn(number),
            Timer::Steer(steering) => self.steer(steering),
            Timer::ImagePulled { node, image } => self.environment.image_pulled(&node, image),
            Timer::OpenGate { node, gate, turn, request } => {
                self.environment.gate_answered(&node, &gate, (&turn, &request));
            }
            Timer::Drain(node) => self.controller.look_at_drain(&node, &mut self.environment),
            Timer::Replicate(number) => self.environment.replicate(number),
            Timer::ReportImages(node) => self.environment.report_images(&node),
        }
    }

    /// Sends all changes to the caches, which see them after their lag.
    fn send(&mut self) {
        for event in self.environment.unsent.drain(..) {
            if let Some(other) = &mut self.other {
                other.cache.send(self.environment.now, event.clone());
            }
            self.controller.cache.send(self.environment.now, event);
        }
    }

    /// Processes all events up to and including `until`, and sets the clock to it.
    pub fn run_until(&mut self, until: Timestamp) {
        while self.next_at().is_some_and(|at| at <= until) {
            self.step();
        }
        self.environment.now = self.environment.now.max(until);
    }

    /// Processes the events of this span of time.
    pub fn run_for(&mut self, duration: SignedDuration) {
        self.run_until(self.now().saturating_add(duration).unwrap_or(Timestamp::MAX));
    }

    /// Processes events until none is left, and returns the instant of the last one.
    ///
    /// # Errors
    /// [`Timeout`] if events remain after `bound`.
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
