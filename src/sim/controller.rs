//! The DaemonSet controller of a simulated cluster: caches, memory, decisions, and an executor that may crash.

use super::chance::Purpose;
use super::event::{Actor, Change, Reconciled};
use super::kubelet::later;
use super::settings::ControllerSettings;
use super::watch::Cache;
use super::world::World;
use crate::action::Action;
use crate::memory::{ActionOutcome, Memory};
use crate::problem::InvalidSnapshot;
use crate::reconcile::actions::actions;
use crate::reconcile::budget::Budget;
use crate::reconcile::steps::Decision;
use crate::reconcile::steps::decide;
use crate::snapshot::Snapshot;
use fastrand::Rng;
use jiff::Timestamp;
use std::fmt;

/// Decides what a controller does: this crate's [`reconcile`](crate::reconcile), unless a simulation is told otherwise.
pub trait Planner {
    /// What is to be done.
    fn decide(&mut self, snapshot: &Snapshot<'_>) -> Vec<Action>;

    /// What came of an action.
    fn learn(&mut self, action: &Action, outcome: &ActionOutcome) {
        let _ = (action, outcome);
    }

    /// The controller died and starts again.
    fn forget(&mut self) {}
}

impl<F: FnMut(&Snapshot<'_>) -> Vec<Action>> Planner for F {
    fn decide(&mut self, snapshot: &Snapshot<'_>) -> Vec<Action> {
        self(snapshot)
    }
}

pub(super) struct Controller {
    pub(super) settings: ControllerSettings,
    pub(super) cache: Cache,
    pub(super) memory: Memory,
    pub(super) brain: Option<Box<dyn Planner>>,
    /// It crashes once it has executed so many actions of a plan.
    pub(super) crash_after: Option<u32>,
    /// Why it could not decide when it tried last.
    pub(super) invalid: Option<InvalidSnapshot>,
    pub(super) reconciles: u64,
    rng: Rng,
    /// When it wants to look again, whatever it sees.
    wake_up: Option<Timestamp>,
    not_before: Timestamp,
    down: bool,
}

impl fmt::Debug for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller")
            .field("memory", &self.memory)
            .field("wake_up", &self.wake_up)
            .finish_non_exhaustive()
    }
}

/// How the execution of a plan ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Executed,
    /// An action was refused, or its answer was lost.
    Stopped,
    /// The controller died after so many actions.
    Crashed(u32),
}

impl Controller {
    pub(super) fn new(settings: ControllerSettings, world: &World) -> Self {
        let rng = world.chance.of(Purpose::Watch, ["", ""], 0);
        Controller {
            cache: Cache::new(settings.watch_lag, rng),
            memory: Memory::default(),
            brain: None,
            crash_after: None,
            invalid: None,
            reconciles: 0,
            rng: world.chance.of(Purpose::Request, ["", ""], 0),
            wake_up: Some(world.now),
            not_before: world.now,
            down: false,
            settings,
        }
    }

    /// When it reconciles next, if nothing else happens.
    pub(super) fn next_sync(&self) -> Option<Timestamp> {
        let wake_up = if self.down {
            self.wake_up
        } else {
            [self.wake_up, self.cache.next_due()].into_iter().flatten().min()
        };
        wake_up.map(|at| at.max(self.not_before))
    }

    /// Looks at its caches, decides and executes.
    pub(super) fn sync(&mut self, world: &mut World) {
        let now = world.now;
        if self.down {
            self.down = false;
            self.cache.relist(&world.objects);
        }
        self.cache.catch_up(now);
        self.wake_up = None;
        self.not_before = later(now, self.settings.pause);
        let Some((actions, mut told)) = self.decide(now) else { return };
        let ending = self.execute(&actions, &mut told, world);
        let requeue = actions.iter().find_map(|action| match action {
            Action::Requeue { at, .. } => Some(*at),
            _ => None,
        });
        match ending {
            Ending::Executed => self.wake_up = requeue,
            Ending::Stopped => self.wake_up = Some(self.not_before),
            Ending::Crashed(after_actions) => {
                self.crash(after_actions, world);
                return;
            }
        }
        told.requeue = self.wake_up;
        world.tell(Actor::Controller, Change::Reconciled(told));
    }

    fn decide(&mut self, now: Timestamp) -> Option<(Vec<Action>, Reconciled)> {
        let objects = &self.cache.objects;
        let daemon_set = objects.daemon_set.as_ref()?;
        let mut builder = Snapshot::new(daemon_set, now)
            .nodes(objects.nodes.values().map(AsRef::as_ref))
            .pods(objects.pods.values().map(AsRef::as_ref))
            .revisions(objects.revisions.values().map(AsRef::as_ref))
            .policy(&self.settings.policy);
        if self.settings.remembers {
            builder = builder.memory(&self.memory);
        }
        let snapshot = match builder.check() {
            Ok(snapshot) => snapshot,
            Err(invalid) => {
                self.invalid = Some(invalid);
                return None;
            }
        };
        self.invalid = None;
        self.memory.observe(&snapshot);
        self.reconciles += 1;
        let decision = decide(&snapshot);
        let told = told(self.reconciles, &decision);
        let actions = match &mut self.brain {
            Some(brain) => brain.decide(&snapshot),
            None => actions(&snapshot, &decision),
        };
        Some((actions, told))
    }

    fn execute(&mut self, actions: &[Action], told: &mut Reconciled, world: &mut World) -> Ending {
        told.planned = count(actions.len());
        for (done, action) in (0..).zip(actions) {
            let told_to_crash = self.crash_after.is_some_and(|after| after <= done);
            if told_to_crash || self.settings.crash.strike(&mut self.rng) {
                self.crash_after = None;
                return Ending::Crashed(done);
            }
            let outcome = self.request(action, world);
            self.memory.record(action, &outcome, world.now);
            if let Some(brain) = &mut self.brain {
                brain.learn(action, &outcome);
            }
            match (&outcome, action) {
                (ActionOutcome::Rejected | ActionOutcome::Unknown, _) => {
                    told.refused += 1;
                    return Ending::Stopped;
                }
                (ActionOutcome::Created(_), _) => told.created += 1,
                (ActionOutcome::Done, Action::DeletePod { .. }) => told.deleted += 1,
                (ActionOutcome::Done, _) => {}
            }
        }
        Ending::Executed
    }

    fn request(&mut self, action: &Action, world: &mut World) -> ActionOutcome {
        let is_request = !matches!(action, Action::Requeue { .. } | Action::RecordEvent { .. });
        if is_request && self.settings.refused.strike(&mut self.rng) {
            return ActionOutcome::Rejected;
        }
        match world.execute(action) {
            Ok(_) if is_request && self.settings.answer_lost.strike(&mut self.rng) => ActionOutcome::Unknown,
            Ok(outcome) => outcome,
            Err(_) => ActionOutcome::Rejected,
        }
    }

    /// Dies, and is back after a while with fresh lists.
    pub(super) fn crash(&mut self, after_actions: u32, world: &mut World) {
        let memory_kept = self.settings.memory_survives;
        if !memory_kept {
            self.memory = Memory::default();
        }
        if let Some(brain) = &mut self.brain {
            brain.forget();
        }
        self.down = true;
        self.wake_up = Some(later(world.now, self.settings.restart));
        world.tell(Actor::World, Change::ControllerCrashed { after_actions, memory_kept });
    }

    /// Looks again as soon as it may.
    pub(super) fn wake(&mut self, now: Timestamp) {
        if !self.down {
            self.wake_up = Some(now);
        }
    }
}

fn told(number: u64, decision: &Decision<'_>) -> Reconciled {
    let (revision, budget) = match decision {
        Decision::Synced(sync) => (sync.history.current_hash().to_owned(), sync.budget),
        Decision::SelectingAll | Decision::BeingDeleted | Decision::NameCollision(_) => {
            (String::new(), Budget::default())
        }
    };
    Reconciled { number, revision, budget, created: 0, deleted: 0, planned: 0, refused: 0, requeue: None }
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
