//! The world of the model: an API server, a watch that lags, a controller that crashes, and whoever else does something.
//!
//! Each move of the world is one transition. The controller executes a plan in one move, but may crash, be refused or
//! miss an answer at any of its steps.

use super::controller::{Controller, Remembered, Step};
use super::objects::{Objects, Phase, Pod, PodEvent, PodId, Revision, Spec, Strategy, Undelivered};
use super::promises::{Broken, Promises};
use daemonset::model::ObjectRef;
use daemonset::{ActionOutcome, Memory};

/// What may happen, and how often.
#[derive(Debug, Clone)]
pub struct Boundary {
    pub nodes: u8,
    /// Pods are Ready for a while before they are available.
    pub young: bool,
    pub strategies: Vec<Strategy>,
    /// Edits of the template, reverts and switches of the strategy.
    pub user_moves: u8,
    /// Pods that go down by themselves.
    pub failures: u8,
    /// Refused actions and lost answers, besides crashes.
    pub bad_answers: bool,
    /// Outdated pods that are not Ready wait for the budget.
    pub unready_within_budget: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// What the API server has.
    pub real: Objects,
    /// What the controller sees.
    pub cache: Objects,
    pub undelivered: Undelivered,
    pub memory: Remembered,
    /// By node: a delete of ours hit an available pod there, and no pod has been available since.
    pub down: Vec<bool>,
    pub user_moves: u8,
    pub failures: u8,
    pub broken: Option<Broken>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    DeliverPod,
    DeliverSpec,
    DeliverRevision,
    /// Reconcile and execute the whole plan.
    Reconcile,
    /// Execute so many steps and crash: memory is lost, and the new process lists anew.
    Crash(u8),
    /// Execute so many steps; the next one is refused.
    Refused(u8),
    /// Execute so many steps; the answer to the last one is lost.
    AnswerLost(u8),
    BecomesReady(PodId),
    BecomesAvailable(PodId),
    IsGone(PodId),
    GoesDown(PodId),
    Edit,
    Revert,
    Switch(Strategy),
}

/// How far a plan is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cut {
    steps: usize,
    last_answer_lost: bool,
}

pub struct World {
    pub boundary: Boundary,
    pub controller: Controller,
}

impl World {
    pub fn first(&self) -> State {
        let available = |node| Pod { id: PodId { node, serial: 0 }, version: 0, phase: Phase::Available };
        let real = Objects {
            pods: (0..self.boundary.nodes).map(available).collect(),
            spec: Spec { version: 0, strategy: self.boundary.strategies[0] },
            revisions: vec![Revision { version: 0, number: 1 }],
        };
        State {
            cache: real.clone(),
            real,
            undelivered: Undelivered::default(),
            memory: Remembered::new(Memory::default()),
            down: vec![false; usize::from(self.boundary.nodes)],
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
            if state.failures > 0 && pod.phase.is_ready() {
                moves.push(Move::GoesDown(pod.id));
            }
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

    fn deliveries(&self, state: &State, moves: &mut Vec<Move>) {
        let Undelivered { pods, specs, revisions } = &state.undelivered;
        moves.extend((!pods.is_empty()).then_some(Move::DeliverPod));
        moves.extend((!specs.is_empty()).then_some(Move::DeliverSpec));
        moves.extend((!revisions.is_empty()).then_some(Move::DeliverRevision));
    }

    fn reconciles(&self, state: &State, moves: &mut Vec<Move>) {
        let reconciled = self.controller.reconcile(&state.cache, &state.memory);
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
            Phase::Available => None,
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
            Move::DeliverSpec => state.cache.spec = state.undelivered.specs.remove(0),
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
                state.restart();
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
            Move::Edit => state.user(|spec| spec.version += 1),
            Move::Revert => state.user(|spec| spec.version -= 1),
            Move::Switch(strategy) => state.user(|spec| spec.strategy = strategy),
        }
        state
    }

    fn execute(&self, state: &mut State, cut: Cut) {
        let reconciled = self.controller.reconcile(&state.cache, &state.memory);
        let mut memory = reconciled.memory.memory().clone();
        let last = cut.steps.min(reconciled.steps.len());
        for (position, (step, action)) in reconciled.steps.iter().take(last).enumerate() {
            if state.broken.is_none() {
                state.broken = Promises::new(state).broken_by(*step);
            }
            let lost = cut.last_answer_lost && position + 1 == last;
            let outcome = state.take(*step);
            if outcome == ActionOutcome::Rejected {
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

    /// Every event delivered, every plan executed, every pod as far as it can get: the world left in peace.
    pub fn in_peace(&self, state: &State) -> State {
        let mut state = state.clone();
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

impl State {
    /// Nothing more will happen by itself.
    pub fn is_complete(&self) -> bool {
        let good = |pod: &Pod| pod.phase == Phase::Available && pod.version == self.real.spec.version;
        let alone = (0_u8..).zip(&self.down).all(|(node, _)| self.real.pods_of(node).count() == 1);
        self.undelivered.is_empty() && alone && self.real.pods.iter().all(good)
    }

    pub fn has_a_doubled_node(&self) -> bool {
        (0_u8..).zip(&self.down).any(|(node, _)| self.real.pods_of(node).count() > 1)
    }

    /// A new process has no memory, and begins with a list: its cache is fresh.
    fn restart(&mut self) {
        self.memory = Remembered::new(Memory::default());
        self.cache.clone_from(&self.real);
        self.undelivered = Undelivered::default();
    }

    fn user(&mut self, change: impl FnOnce(&mut Spec)) {
        self.user_moves -= 1;
        change(&mut self.real.spec);
        self.undelivered.specs.push(self.real.spec);
    }

    fn pod_is(&mut self, id: PodId, phase: Phase) {
        let Some(pod) = self.real.pod(id) else { return };
        let pod = Pod { phase, ..*pod };
        self.real.put_pod(pod);
        self.undelivered.pods.push(PodEvent::Is(pod));
        self.note_availability(pod);
    }

    /// Time passes for the real pod, for its picture in the cache and for those on their way there.
    fn grows_old(&mut self, id: PodId) {
        let grow = |pod: &mut Pod| {
            if pod.id == id && pod.phase == Phase::Young {
                pod.phase = Phase::Available;
            }
        };
        self.real.pods.iter_mut().for_each(grow);
        self.cache.pods.iter_mut().for_each(grow);
        for event in &mut self.undelivered.pods {
            if let PodEvent::Is(pod) = event {
                grow(pod);
            }
        }
        if let Some(pod) = self.real.pod(id).copied() {
            self.note_availability(pod);
        }
    }

    fn note_availability(&mut self, pod: Pod) {
        if pod.phase == Phase::Available {
            self.down[usize::from(pod.id.node)] = false;
        }
    }

    /// The API server does what it is asked.
    fn take(&mut self, step: Step) -> ActionOutcome {
        match step {
            Step::CreateRevision { version, number } => {
                if self.real.revisions.iter().any(|revision| revision.version == version) {
                    return ActionOutcome::Rejected;
                }
                self.revision_is(Revision { version, number })
            }
            Step::Renumber { version, number } => {
                let seen = self.cache.revisions.iter().find(|revision| revision.version == version);
                if !self.real.revisions.iter().any(|revision| Some(revision) == seen) {
                    return ActionOutcome::Rejected;
                }
                self.revision_is(Revision { version, number })
            }
            Step::Delete(id) => {
                if Promises::takes_down(self, id) {
                    self.down[usize::from(id.node)] = true;
                }
                if self.real.pod(id).is_some_and(|pod| pod.phase != Phase::Terminating) {
                    self.pod_is(id, Phase::Terminating);
                }
                ActionOutcome::Done
            }
            Step::Create { node, version, .. } => {
                let id = self.unknown_id(node);
                let pod = Pod { id, version, phase: Phase::Starting };
                self.real.put_pod(pod);
                self.undelivered.pods.push(PodEvent::Is(pod));
                ActionOutcome::Created(ObjectRef {
                    namespace: "ns".to_owned(),
                    name: id.name(),
                    uid: id.name().into(),
                    resource_version: String::new(),
                })
            }
        }
    }

    fn revision_is(&mut self, revision: Revision) -> ActionOutcome {
        self.real.put_revision(revision);
        self.undelivered.revisions.push(revision);
        ActionOutcome::Done
    }

    /// The first serial of which nothing in the world knows: so the number of states stays finite.
    fn unknown_id(&self, node: u8) -> PodId {
        let known = |id: PodId| {
            self.real.pod(id).is_some()
                || self.cache.pod(id).is_some()
                || self.undelivered.pods.iter().any(|event| event.id() == id)
                || self.memory.knows(id)
        };
        (0..).map(|serial| PodId { node, serial }).find(|id| !known(*id)).unwrap()
    }
}
