//! The state machine of the model: an API server, a watch that lags, a controller that crashes, a user, and other
//! actors.
//!
//! Each event is one transition. The controller executes a plan in one transition, but it may crash, be refused or lose
//! an answer at any step of the plan.

use super::controller::{Controller, Reconciled, Remembered};
use super::objects::{
    Mark, Marks, Objects, Phase, Pod, PodEvent, PodId, Revision, Spec, Strategy, Undelivered,
};
use super::promises::Promises;
use super::state::State;
use daemonset::{ActionOutcome, Memory};
use std::sync::Arc;

/// The events that may happen, and how often.
#[derive(Debug, Clone)]
pub struct Boundary {
    pub nodes: u8,
    /// Whether pods are Ready for a while before they are available.
    pub young: bool,
    pub strategies: Vec<Strategy>,
    /// The number of edits of the template, reverts, and switches of the strategy.
    pub user_moves: u8,
    /// The number of pods that go down by themselves.
    pub failures: u8,
    /// Whether actions may be refused and answers lost, in addition to crashes.
    pub bad_answers: bool,
    /// Whether outdated pods that are not Ready wait for the budget.
    pub unready_within_budget: bool,
    /// Whether a node is tainted at once while no Ready pod is there. The memory then survives crashes: nothing else knows
    /// which nodes the update has taken down.
    pub taints_absence: bool,
    /// Rollouts are steered: a canary, then all other nodes once a person has approved. The user releases one version,
    /// approves, pauses and edits marks.
    pub steering: Option<Steering>,
    /// The cache may lack the marks that the controller has set itself.
    pub marks_lag: bool,
}

/// The policy for a version that has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Steering {
    Pause,
    RollBack,
    /// A tool may put the template back, and a person may touch the DaemonSet or allow one more try.
    Undo,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    DeliverPod,
    DeliverSpec,
    DeliverRevision,
    /// Reconcile and execute the whole plan.
    Reconcile,
    /// Execute this many steps and crash: the memory is lost, and the new process lists again.
    Crash(u8),
    /// Execute this many steps; the next one is refused.
    Refused(u8),
    /// Execute this many steps; the answer to the last one is lost.
    AnswerLost(u8),
    BecomesReady(PodId),
    BecomesAvailable(PodId),
    IsGone(PodId),
    GoesDown(PodId),
    Edit,
    Revert,
    Switch(Strategy),
    /// The containers of this pod restart too often.
    Fails(PodId),
    Approve,
    Pause(bool),
    /// The mark `wave` of version 1 is removed by hand.
    LoseWave,
    /// Version 1 is put back after it was undone.
    PutBack,
    /// Another part of the spec changes.
    Touch,
    /// The mark `undone` of version 1 is removed by hand.
    AllowAgain,
    /// A person marks version 0 as failed.
    OldFails,
}

/// How much of a plan is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cut {
    steps: usize,
    last_answer_lost: bool,
}

/// The generation of the DaemonSet at the start.
const FIRST: u8 = 2;

pub struct World {
    pub boundary: Boundary,
    pub controller: Controller,
}

impl World {
    pub fn first(&self) -> State {
        let available = |node| Pod { id: PodId { node, serial: 0 }, version: 0, phase: Phase::Available };
        let real = Objects {
            pods: (0..self.boundary.nodes).map(available).collect(),
            spec: Spec {
                version: 0,
                strategy: self.boundary.strategies[0],
                paused: false,
                approved: self.boundary.steering == Some(Steering::Undo),
                generation: FIRST,
                writes: 0,
            },
            revisions: vec![Revision {
                version: 0,
                number: 1,
                marks: Marks {
                    started: self.boundary.steering.is_some(),
                    completed: self.boundary.steering.is_some(),
                    ..Marks::default()
                },
            }],
        };
        State {
            cache: real.clone(),
            real,
            undelivered: Undelivered::default(),
            memory: Remembered::new(Memory::default()),
            down: vec![false; usize::from(self.boundary.nodes)],
            canary_done: false,
            undone: 0,
            allowed: 0,
            awaits_template: false,
            user_moves: self.boundary.user_moves,
            failures: self.boundary.failures,
            broken: None,
        }
    }

    pub fn moves(&self, state: &State, moves: &mut Vec<Move>) {
        if state.broken.is_some() {
            return;
        }
        self.deliveries(state, moves);
        self.reconciles(state, moves);
        for pod in &state.real.pods {
            moves.extend(self.progress(pod));
            if state.failures > 0 && pod.phase.is_ready() && self.boundary.steering.is_none() {
                moves.push(Move::GoesDown(pod.id));
            }
        }
        if self.boundary.steering == Some(Steering::Undo) {
            undoes(state, moves);
            return fails(state, moves);
        }
        if self.boundary.steering.is_some() {
            return steers(state, moves);
        }
        if state.user_moves > 0 {
            moves.push(Move::Edit);
            if state.real.spec.version > 0 {
                moves.push(Move::Revert);
            }
            let others = self.boundary.strategies.iter().filter(|s| **s != state.real.spec.strategy);
            moves.extend(others.map(|strategy| Move::Switch(*strategy)));
        }
    }

    /// Lets a person open everything.
    fn opened(&self, mut state: State) -> State {
        let Spec { paused, approved, .. } = state.real.spec;
        if self.boundary.steering.is_some() && (paused || !approved) {
            state.write(|spec| *spec = Spec { paused: false, approved: true, ..*spec });
        }
        state
    }

    fn deliveries(&self, state: &State, moves: &mut Vec<Move>) {
        let Undelivered { pods, specs, revisions } = &state.undelivered;
        moves.extend((!pods.is_empty()).then_some(Move::DeliverPod));
        moves.extend((!specs.is_empty()).then_some(Move::DeliverSpec));
        moves.extend((!revisions.is_empty()).then_some(Move::DeliverRevision));
    }

    fn reconciles(&self, state: &State, moves: &mut Vec<Move>) {
        let reconciled = self.reconciled(state);
        let steps = u8::try_from(reconciled.steps.len()).unwrap();
        if steps > 0 || reconciled.memory != state.memory {
            moves.push(Move::Reconcile);
        }
        if steps > 0 || !state.undelivered.is_empty() || !state.memory.is_empty() {
            moves.extend((0..=steps).map(Move::Crash));
        }
        if self.boundary.bad_answers {
            moves.extend((1..steps).map(Move::Refused));
            moves.extend((1..=steps).map(Move::AnswerLost));
        }
    }

    fn progress(&self, pod: &Pod) -> Option<Move> {
        match pod.phase {
            Phase::Starting | Phase::Crashed => Some(Move::BecomesReady(pod.id)),
            Phase::Young => Some(Move::BecomesAvailable(pod.id)),
            Phase::Available | Phase::Failing => None,
            Phase::Terminating => Some(Move::IsGone(pod.id)),
        }
    }

    pub fn after(&self, last: &State, next: Move) -> State {
        let mut state = last.clone();
        match next {
            Move::DeliverPod => match state.undelivered.pods.remove(0) {
                PodEvent::Is(pod) => state.cache.put_pod(pod),
                PodEvent::Gone(id) => state.cache.remove_pod(id),
            },
            Move::DeliverSpec => {
                state.cache.spec = state.undelivered.specs.remove(0);
                // The write of the restore was one of those before the last.
                state.awaits_template &= state.cache.spec.version == 1 && !state.undelivered.specs.is_empty();
            }
            Move::DeliverRevision => {
                let revision = state.undelivered.revisions.remove(0);
                state.cache.put_revision(revision);
            }
            Move::Reconcile => self.execute(&mut state, Cut { steps: usize::MAX, last_answer_lost: false }),
            Move::Refused(steps) => {
                self.execute(&mut state, Cut { steps: steps.into(), last_answer_lost: false });
            }
            Move::AnswerLost(steps) => {
                self.execute(&mut state, Cut { steps: steps.into(), last_answer_lost: true });
            }
            Move::Crash(steps) => {
                self.execute(&mut state, Cut { steps: steps.into(), last_answer_lost: false });
                state.restart(self.boundary.taints_absence);
            }
            Move::BecomesReady(id) => {
                state.pod_is(id, if self.boundary.young { Phase::Young } else { Phase::Available });
            }
            Move::BecomesAvailable(id) => state.grows_old(id),
            Move::IsGone(id) => {
                state.real.remove_pod(id);
                state.undelivered.pods.push(PodEvent::Gone(id));
            }
            Move::GoesDown(id) => {
                state.failures -= 1;
                state.pod_is(id, Phase::Crashed);
            }
            Move::Edit if self.boundary.steering == Some(Steering::Undo) => {
                state.user(|spec| raised(spec, |spec| spec.version = 1));
            }
            Move::Edit => state.user(|spec| spec.version += 1),
            Move::Revert => state.user(|spec| spec.version -= 1),
            Move::Switch(strategy) => state.user(|spec| spec.strategy = strategy),
            Move::Approve => state.user(|spec| spec.approved = true),
            Move::Pause(paused) => state.user(|spec| spec.paused = paused),
            Move::Fails(id) => {
                state.failures -= 1;
                state.pod_is(id, Phase::Failing);
            }
            Move::LoseWave => {
                state.user_moves -= 1;
                state.mark(1, Mark::Wave(None));
            }
            Move::PutBack => state.user(|spec| raised(spec, |spec| spec.version = 1)),
            Move::Touch => state.user(|spec| raised(spec, |_| ())),
            Move::AllowAgain => {
                state.user_moves -= 1;
                state.allowed += 1;
                state.mark(1, Mark::Undone(None));
            }
            Move::OldFails => {
                state.user_moves -= 1;
                state.mark(0, Mark::Failed);
            }
        }
        state
    }

    /// The list of nodes is always fresh, and so are their taints, while the pods may be stale.
    fn reconciled(&self, state: &State) -> Arc<Reconciled> {
        let tainted = |node: &u8| self.boundary.taints_absence && state.is_absent(*node);
        let tainted: Vec<u8> = (0..self.boundary.nodes).filter(tainted).collect();
        self.controller.reconcile(&state.cache, &tainted, &state.memory)
    }

    fn execute(&self, state: &mut State, cut: Cut) {
        let reconciled = self.reconciled(state);
        let mut memory = reconciled.memory.memory().clone();
        let last = cut.steps.min(reconciled.steps.len());
        for (position, (step, action)) in reconciled.steps.iter().take(last).enumerate() {
            if state.broken.is_none() {
                state.broken = Promises::new(state, self.boundary.steering.is_some()).broken_by(*step);
            }
            let lost = cut.last_answer_lost && position + 1 == last;
            let outcome = state.take(*step, self.boundary.marks_lag);
            if matches!(outcome, ActionOutcome::Rejected | ActionOutcome::Conflict) {
                break;
            }
            memory.record(
                action,
                if lost { &ActionOutcome::Unknown } else { &outcome },
                crate::support::now(),
            );
        }
        state.memory = Remembered::new(memory);
    }

    /// One round without disturbances: every watch event delivered, one whole plan executed, every pod as far as it can
    /// get.
    pub fn in_peace(&self, state: &State) -> State {
        let mut state = self.opened(state.clone());
        while !state.undelivered.is_empty() {
            let mut moves = Vec::new();
            self.deliveries(&state, &mut moves);
            state = self.after(&state, moves[0]);
        }
        let state = self.after(&state, Move::Reconcile);
        let progress: Vec<_> = state.real.pods.iter().filter_map(|pod| self.progress(pod)).collect();
        progress.into_iter().fold(state, |state, next| self.after(&state, next))
    }
}

/// The failure of a new pod.
fn fails(state: &State, moves: &mut Vec<Move>) {
    let new = state.real.pods.iter().filter(|pod| pod.version == 1);
    let fails = new.filter(|pod| pod.phase == Phase::Starting && state.failures > 0);
    moves.extend(fails.map(|pod| Move::Fails(pod.id)));
}

/// The template changes, or another part of the spec.
fn raised(spec: &mut Spec, change: impl FnOnce(&mut Spec)) {
    change(spec);
    spec.generation += 1;
    spec.writes += 1;
}

/// The moves of others before, during and after an undo.
fn undoes(state: &State, moves: &mut Vec<Move>) {
    if state.user_moves == 0 {
        return;
    }
    let Spec { version, generation, .. } = state.real.spec;
    match (version, generation) {
        (0, FIRST) => moves.push(Move::Edit),
        (0, _) => moves.push(Move::PutBack),
        (_, _) => {
            moves.push(Move::Touch);
            moves.extend(state.real.marks(1).undone.map(|_| Move::AllowAgain));
            moves.extend((!state.real.marks(0).failed).then_some(Move::OldFails));
        }
    }
}

/// The moves of a person who steers, and the failure of a new pod.
fn steers(state: &State, moves: &mut Vec<Move>) {
    fails(state, moves);
    if state.user_moves == 0 {
        return;
    }
    let spec = state.real.spec;
    if spec.version == 0 {
        moves.push(Move::Edit);
        return;
    }
    moves.extend((!spec.approved).then_some(Move::Approve));
    moves.push(Move::Pause(!spec.paused));
    moves.extend(state.real.marks(1).wave.map(|_| Move::LoseWave));
}
