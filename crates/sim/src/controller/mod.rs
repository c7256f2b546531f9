//! A DaemonSet controller of a simulated cluster: caches, memory, decisions, and an executor that may crash.

mod drains;
mod leftovers;
mod steered_rollout;

use crate::controller::drains::{Asked, waiting};
use crate::controller::steered_rollout::SteeredRollout;
use crate::environment::Environment;
use crate::environment::api_server::ApiError;
use crate::event::{Actor, Change, Reconciled};
use crate::event_queue::later;
use crate::random::Purpose;
use crate::settings::ControllerSettings;
use crate::watch::Cache;
use daemonset::model::{DaemonSet, NodeName};
use daemonset::policy::{FitPolicy, PodNames};
use daemonset::{
    Action, ActionOutcome, CreateReason, DeleteReason, InvalidInput, Memory, NodeView, Observed, ObservedAt,
    Plan, PlanError, Policy, Recorded, Snapshot,
};
use daemonset_incremental::internal::difference;
use daemonset_incremental::{NeedsLists, Tracker};
use fastrand::Rng;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::fmt;

/// Decides the actions of the simulated controller. The default is [`reconcile`](daemonset::reconcile()); a
/// simulation can set another planner with [`Cluster::set_planner`](crate::Cluster::set_planner).
pub trait Planner {
    /// The actions for this snapshot, in order.
    fn plan(&mut self, snapshot: &Snapshot<'_>) -> Vec<Action>;

    /// Called with the outcome of each executed action.
    fn record(&mut self, action: &Action, outcome: &ActionOutcome) {
        let _ = (action, outcome);
    }

    /// Called when the controller crashes: a planner loses its state then.
    fn reset(&mut self) {}
}

impl<F: FnMut(&Snapshot<'_>) -> Vec<Action>> Planner for F {
    fn plan(&mut self, snapshot: &Snapshot<'_>) -> Vec<Action> {
        self(snapshot)
    }
}

/// Which of the controllers of a cluster one is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ControllerRole {
    /// The one that is simulated: alone in its cluster, or driving the update.
    Main,
    /// Kubernetes' own, beside one that drives.
    Other,
}

impl ControllerRole {
    fn actor(self) -> Actor {
        match self {
            ControllerRole::Main => Actor::Controller,
            ControllerRole::Other => Actor::OtherController,
        }
    }

    /// The subject of its random streams: the two have luck of their own.
    fn subject(self) -> [&'static str; 2] {
        match self {
            ControllerRole::Main => ["", ""],
            ControllerRole::Other => ["", "other"],
        }
    }
}

pub(crate) struct SimulatedController {
    role: ControllerRole,
    pub(crate) settings: ControllerSettings,
    pub(crate) cache: Cache,
    /// The driver of the DaemonSet in the cache.
    pub(crate) tracker: Tracker,
    /// The drains of nodes in turn.
    pub(crate) drains: BTreeMap<NodeName, Asked>,
    /// When it looks for turns of nobody; `None` at its start.
    pub(crate) leftovers_at: Option<Timestamp>,
    /// Whether there may be any.
    pub(crate) has_leftovers: bool,
    pub(crate) planner: Option<Box<dyn Planner>>,
    /// The controller crashes once it has executed this many actions of a plan.
    pub(crate) crash_after: Option<u32>,
    /// Why the last snapshot was invalid.
    pub(crate) invalid: Option<InvalidInput>,
    /// The first difference between a plan from changes and the plan of all objects; looked for where another planner
    /// needs all objects anyway.
    pub(crate) difference: Option<String>,
    pub(crate) reconciles: u64,
    /// The rollout that the policy steers, as the last plan had it.
    pub(crate) rollout: SteeredRollout,
    rng: Rng,
    /// When the controller reconciles again even if no cache changes.
    wake_up: Option<Timestamp>,
    /// The end of the pause after the last reconcile.
    not_before: Timestamp,
    down: bool,
}

impl fmt::Debug for SimulatedController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller")
            .field("memory", self.memory())
            .field("wake_up", &self.wake_up)
            .finish_non_exhaustive()
    }
}

/// The result of one look at the caches.
struct Reconcile {
    actions: Vec<Action>,
    /// The event of the reconcile, before the execution.
    reconciled: Reconciled,
    /// The rollout that the policy steers, if it has moved.
    moved: Option<Change>,
    /// The nodes to drain.
    drains: Vec<NodeName>,
}

/// How the execution of a plan ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Executed,
    /// The API server refused an action, or its answer was lost.
    Stopped,
    /// The controller crashed after this many actions.
    Crashed(u32),
}

impl SimulatedController {
    pub(crate) fn new(role: ControllerRole, settings: ControllerSettings, environment: &Environment) -> Self {
        let rng = environment.random.stream(Purpose::Watch, role.subject(), 0);
        SimulatedController {
            role,
            cache: Cache::new(settings.watch_lag, rng),
            tracker: Tracker::new("", settings.policy.clone()),
            drains: BTreeMap::new(),
            leftovers_at: None,
            has_leftovers: false,
            planner: None,
            crash_after: None,
            invalid: None,
            difference: None,
            reconciles: 0,
            rollout: SteeredRollout::default(),
            rng: environment.random.stream(Purpose::Request, role.subject(), 0),
            wake_up: Some(environment.now),
            not_before: environment.now,
            down: false,
            settings,
        }
    }

    /// Kubernetes' own controller beside this one, which starts now. It has the same faults and knows no policy.
    pub(crate) fn other(&self, environment: &Environment) -> Self {
        let settings = ControllerSettings {
            policy: Policy::default(),
            reads_annotations: false,
            ..self.settings.clone()
        };
        let mut other = SimulatedController::new(ControllerRole::Other, settings, environment);
        other.cache.relist(&environment.objects);
        other
    }

    /// Whether it only drives the update, by the policy of its last plan.
    pub(crate) fn drives(&self) -> bool {
        self.tracker.policy().external_controller.is_some()
    }

    pub(crate) fn memory(&self) -> &Memory {
        self.tracker.memory()
    }

    /// Changes the settings; the policy holds from the next plan on.
    pub(crate) fn configure(&mut self, change: impl FnOnce(&mut ControllerSettings)) {
        change(&mut self.settings);
        self.tracker.set_policy(self.settings.policy.clone());
    }

    /// Replaces the memory of the DaemonSet in the cache.
    pub(crate) fn set_memory(&mut self, memory: Memory) {
        let (uid, kind) = match &self.cache.objects.daemon_set {
            Some(daemon_set) => (daemon_set.metadata.uid.clone(), daemon_set.owner.clone()),
            None => Default::default(),
        };
        self.tracker = Tracker::with_memory(uid, self.settings.policy.clone(), memory).with_kind(kind);
    }

    /// The instant of the next reconcile, if no other event comes first.
    pub(crate) fn next_sync(&self) -> Option<Timestamp> {
        let wake_up = if self.down {
            self.wake_up
        } else {
            let leftovers = self.next_look_for_leftovers();
            [self.wake_up, self.cache.next_due(), leftovers].into_iter().flatten().min()
        };
        wake_up.map(|at| at.max(self.not_before))
    }

    /// Updates the caches, makes a plan and executes it.
    pub(crate) fn sync(&mut self, environment: &mut Environment) {
        let now = environment.now;
        if self.down {
            self.down = false;
            self.cache.relist(&environment.objects);
        }
        let tracker = &mut self.tracker;
        self.cache.deliver_due(now, |change| {
            // The next plan asks for lists, too.
            let _: Result<(), NeedsLists> = tracker.apply(change);
        });
        if self.cache.take_relisted() {
            tracker.forget_objects();
        }
        self.wake_up = None;
        self.not_before = later(now, self.settings.pause);
        if self.role == ControllerRole::Main {
            self.end_leftovers(environment);
        }
        let Some(Reconcile { actions, mut reconciled, moved, drains }) = self.decide(environment) else {
            return;
        };
        if let Some(moved) = moved {
            environment.rollout_moved(moved);
        }
        let ending = self.execute(&actions, &mut reconciled, environment);
        let requeue = actions.iter().find_map(|action| match action {
            Action::Requeue { at, .. } => Some(*at),
            _ => None,
        });
        match ending {
            Ending::Executed => self.wake_up = requeue,
            Ending::Stopped => self.wake_up = Some(self.not_before),
            Ending::Crashed(after_actions) => {
                self.crash(after_actions, environment);
                return;
            }
        }
        if self.role == ControllerRole::Main {
            self.follow_drains(drains, environment);
        }
        reconciled.requeue = self.wake_up;
        match self.role {
            ControllerRole::Main => {
                environment.record(Actor::Controller, Change::Reconciled(Box::new(reconciled)))
            }
            // Its budget and its view of the rollout are none.
            ControllerRole::Other => {}
        }
    }

    fn decide(&mut self, environment: &Environment) -> Option<Reconcile> {
        let now = environment.now;
        let objects = &self.cache.objects;
        let daemon_set = objects.daemon_set.as_ref()?;
        let policy = self.settings.policy_for(daemon_set);
        self.tracker.set_policy(policy.clone());
        let free = environment.free(&policy, objects);
        let nodes = objects.nodes.values().map(|node| {
            let view = NodeView::from(&**node);
            free.get(&node.metadata.name).map_or(view, |free| view.free(free))
        });
        let observed = Observed {
            daemon_set,
            nodes,
            pods: objects.pods.values().map(AsRef::as_ref),
            revisions: objects.revisions.values().map(AsRef::as_ref),
        };
        // Before the memory is copied: that of another DaemonSet is refused.
        if !self.settings.remembers || *self.tracker.uid() != daemon_set.metadata.uid {
            let DaemonSet { metadata, owner, .. } = &**daemon_set;
            self.tracker = Tracker::new(metadata.uid.clone(), policy.clone()).with_kind(owner.clone());
        }
        let mut at = ObservedAt::new(now);
        if self.settings.knows_versions {
            at.pods_version = self.cache.pods_version();
            // Without a runtime nodes have no versions of their own.
            at.nodes_version = self.cache.nodes_version().filter(|_| environment.settings.runtime.is_some());
        }
        let before = self.planner.is_some().then(|| self.tracker.memory().clone());
        if policy.fit != FitPolicy::Ignore {
            // The change of a node does not tell what is free there, and no watch tells of that.
            for node in observed.nodes.clone() {
                let _: Result<(), NeedsLists> = self.tracker.apply(daemonset_incremental::Change::Node(node));
            }
        }
        let plan = match self.tracker.plan(at).or_else(|_| self.tracker.list(observed.clone(), at)) {
            Ok(plan) => plan,
            Err(PlanError::Snapshot(invalid)) => {
                self.invalid = Some(invalid);
                return None;
            }
            Err(error) => {
                self.difference = self.difference.take().or(Some(error.to_string()));
                return None;
            }
        };
        self.invalid = None;
        self.reconciles += 1;
        let reconciled = reconciled(self.reconciles, &plan);
        let drains = if policy.drain.is_some() { waiting(&self.tracker, &plan) } else { Vec::new() };
        let generation = daemon_set.metadata.generation;
        let moved = self.rollout.see(&plan, generation, |node| objects.nodes.contains_key(node));
        let actions = match (&mut self.planner, before) {
            (Some(planner), Some(memory)) => {
                let snapshot = Snapshot::builder(observed, at).memory(&memory).policy(&policy);
                // The plan from changes lists the objects only now and then.
                let snapshot = snapshot.check().map_err(|invalid| self.invalid = Some(invalid)).ok()?;
                let difference = difference(&plan, &daemonset::plan(&snapshot));
                self.difference = self.difference.take().or(difference);
                planner.plan(&snapshot)
            }
            _ => plan.actions,
        };
        let actions = match self.role {
            ControllerRole::Main => actions,
            ControllerRole::Other => actions.into_iter().filter(is_known_to_kubernetes).collect(),
        };
        Some(Reconcile { actions, reconciled, moved, drains })
    }

    fn execute(
        &mut self,
        actions: &[Action],
        reconciled: &mut Reconciled,
        environment: &mut Environment,
    ) -> Ending {
        reconciled.planned = count(actions.len());
        for (done, action) in (0..).zip(actions) {
            let crash_requested = self.crash_after.is_some_and(|after| after <= done);
            if crash_requested || self.settings.crash.sample(&mut self.rng) {
                self.crash_after = None;
                return Ending::Crashed(done);
            }
            let outcome = self.request(action, environment);
            let recorded = self.tracker.record(action, &outcome, environment.now);
            if let Some(planner) = &mut self.planner {
                planner.record(action, &outcome);
            }
            match (&outcome, action) {
                (ActionOutcome::Rejected | ActionOutcome::Unknown, _) => reconciled.refused += 1,
                (ActionOutcome::Created(_), _) => reconciled.created += 1,
                (ActionOutcome::Done | ActionOutcome::Changed(_), Action::DeletePod { .. }) => {
                    reconciled.deleted += 1
                }
                _ => {}
            }
            match recorded {
                Recorded::PlanContinues => {}
                Recorded::PlanEnds => return Ending::Stopped,
                // Another planner's actions are of no plan of the tracker.
                Recorded::Unexpected(_) if self.planner.is_some() => {
                    if matches!(outcome, ActionOutcome::Rejected | ActionOutcome::Unknown) {
                        return Ending::Stopped;
                    }
                }
                Recorded::Unexpected(action) => {
                    self.difference = self.difference.take().or(Some(action.to_string()));
                }
            }
        }
        Ending::Executed
    }

    fn request(&mut self, action: &Action, environment: &mut Environment) -> ActionOutcome {
        let is_request = !matches!(action, Action::Requeue { .. } | Action::RecordEvent { .. });
        if is_request && self.is_refused() {
            return ActionOutcome::Rejected;
        }
        match environment.execute(action, self.role.actor()) {
            Ok(_) if is_request && self.settings.answer_lost.sample(&mut self.rng) => ActionOutcome::Unknown,
            Ok(outcome) => outcome,
            Err(error) => refusal(action, error, self.tracker.policy().pod_names),
        }
    }

    /// Whether the API server refuses this request, by chance.
    pub(crate) fn is_refused(&mut self) -> bool {
        self.settings.refused.sample(&mut self.rng)
    }

    /// Crashes, and restarts after a delay with fresh lists.
    pub(crate) fn crash(&mut self, after_actions: u32, environment: &mut Environment) {
        let memory_kept = self.settings.memory_survives;
        if !memory_kept {
            self.set_memory(Memory::default());
        }
        if let Some(planner) = &mut self.planner {
            planner.reset();
        }
        self.down = true;
        self.drains.clear();
        self.leftovers_at = None;
        self.wake_up = Some(later(environment.now, self.settings.restart));
        let crashed = match self.role {
            ControllerRole::Main => Change::ControllerCrashed { after_actions, memory_kept },
            ControllerRole::Other => Change::OtherControllerCrashed { after_actions },
        };
        environment.record(Actor::Environment, crashed);
    }

    /// Whether it has crashed and not yet restarted: then it may have missed a change of the rollout.
    pub(crate) fn is_down(&self) -> bool {
        self.down
    }

    /// Reconciles as soon as the pause allows.
    pub(crate) fn wake(&mut self, now: Timestamp) {
        if !self.down {
            self.wake_up = Some(now);
        }
    }
}

/// Kubernetes' own controller knows neither turns nor pull pods: it ends none of them.
fn is_known_to_kubernetes(action: &Action) -> bool {
    match action {
        Action::PatchNode { .. } => false,
        Action::DeletePod { reason, .. } => *reason != DeleteReason::PullDone,
        _ => true,
    }
}

/// The outcome of an action that the API server refuses.
fn refusal(action: &Action, error: ApiError, names: PodNames) -> ActionOutcome {
    match (action, error) {
        (Action::RestoreTemplate { .. }, ApiError::Conflict)
        | (
            Action::PatchNode { .. } | Action::UpdatePodInPlace { .. },
            ApiError::Conflict | ApiError::NotFound,
        ) => ActionOutcome::Conflict,
        (Action::CreatePod { reason, .. }, ApiError::AlreadyExists)
            if *reason == CreateReason::PullImages || names == PodNames::OnePerNode =>
        {
            ActionOutcome::AlreadyExists
        }
        _ => ActionOutcome::Rejected,
    }
}

/// The event of a reconcile whose plan has not been executed yet.
fn reconciled(number: u64, plan: &Plan) -> Reconciled {
    let revision = plan.report.current_revision.as_ref().map(|revision| revision.hash.clone());
    let (revision, budget) = (revision.unwrap_or_default(), plan.report.budget.unwrap_or_default());
    Reconciled { number, revision, budget, created: 0, deleted: 0, planned: 0, refused: 0, requeue: None }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
