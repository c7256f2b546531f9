//! The execution of a plan, up to a crash, a refusal or a lost answer.

use super::controller::Step;
use super::memory::time;
use super::promises::{broken_after, broken_by};
use super::state::{Answer, SHOWN, State};
use super::world::{Actor, World};
use crate::model_check::controller::Remembered;
use crate::support::now;
use daemonset::model::ObjectRef;
use daemonset::{Action, ActionOutcome, Memory, TurnReason};

/// How much of a plan is executed. The number is that of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    Never,
    Before(usize),
    Refused(usize),
    AnswerLost(usize),
    RequestLost(usize),
}

impl World {
    pub fn execute(&self, state: &mut State, actor: Actor, cut: Cut) {
        let Actor { process, ds } = actor;
        let reconciled = self.reconciled(state, actor);
        let now_of_plan = state.now;
        let shows_all = state.processes[process].watched.undelivered.nodes.is_empty()
            && reconciled.memory.memory().turns().patches.is_empty();
        let mut memory = reconciled.memory.memory().clone();
        let (mut has_ended, mut all_turns_ended) = (false, true);
        for (position, (step, action)) in reconciled.steps.iter().enumerate() {
            if cut == Cut::Before(position) {
                break;
            }
            let begins = matches!(step, Step::Patch { reason: TurnReason::TurnBegins, .. });
            // A turn may begin in the room of one whose end is not done.
            if (has_ended && !action.stands_alone()) || (begins && !all_turns_ended) {
                continue;
            }
            let outcome = match cut {
                Cut::Refused(refused) if refused == position => {
                    self.refuse(state, step);
                    ActionOutcome::Rejected
                }
                Cut::RequestLost(lost) if lost == position => ActionOutcome::Unknown,
                _ => self.take(state, process, step, now_of_plan),
            };
            let is_lost = matches!(cut, Cut::AnswerLost(lost) | Cut::RequestLost(lost) if lost == position);
            if is_lost && matches!(step, Step::Patch { .. }) {
                self.see("the answer to a patch of a node is lost");
            }
            let outcome = if is_lost { ActionOutcome::Unknown } else { outcome };
            let is_done = matches!(
                outcome,
                ActionOutcome::Done | ActionOutcome::Changed(_) | ActionOutcome::Created(_)
            );
            all_turns_ended &= is_done || !matches!(step, Step::Patch { reason: TurnReason::TurnEnds, .. });
            has_ended |= matches!(outcome, ActionOutcome::Rejected | ActionOutcome::Conflict);
            // Of all other instants the age alone matters, and it never does.
            let at = if let Action::PatchNode { .. } = action { time(now_of_plan) } else { now() };
            memory.record(action, &outcome, at);
            if is_lost {
                break;
            }
        }
        if cut == Cut::Never && shows_all {
            state.broken = state.broken.or_else(|| broken_after(state, ds));
        }
        let memory = if self.boundary.remembers { memory } else { Memory::default() };
        state.processes[process].memories[usize::from(ds)] = Remembered::new(memory);
    }

    fn refuse(&self, state: &mut State, step: &Step) {
        match *step {
            // Nobody waits for images that can't be pulled.
            Step::Create { node, version, pulls: true, .. } => {
                self.see("a pull pod is refused");
                state.truth_mut(node).pulled |= 1 << version;
            }
            Step::ChangeInPlace { .. } => self.see("a change in place is refused"),
            Step::Patch { .. } => self.see("a patch of a node is refused"),
            Step::CreateRevision { .. }
            | Step::Renumber { .. }
            | Step::Delete { .. }
            | Step::Create { .. } => {}
        }
    }

    /// The API server's part of a step.
    fn take(&self, state: &mut State, process: usize, step: &Step, now: u8) -> ActionOutcome {
        let answer = state.answer(process, step);
        self.see(words(state, step, answer));
        if matches!(answer, Answer::Done | Answer::Created(_)) {
            let broken = || broken_by(state, process, step, &self.boundary);
            state.broken = state.broken.or_else(broken);
            state.take(step, now);
        }
        match (answer, step) {
            (Answer::Conflict, _) => ActionOutcome::Conflict,
            (Answer::AlreadyExists, _) => ActionOutcome::AlreadyExists,
            (Answer::Created(id), _) => ActionOutcome::Created(object(&id.uid(), String::new())),
            (Answer::Done, Step::Patch { .. }) => {
                let unseen = state.processes[process].watched.undelivered.nodes.len() as u64;
                ActionOutcome::Changed(object("", (SHOWN + unseen).to_string()))
            }
            (Answer::Done, _) => ActionOutcome::Done,
        }
    }
}

fn object(uid: &str, resource_version: String) -> ObjectRef {
    ObjectRef { uid: uid.into(), resource_version, ..ObjectRef::default() }
}

/// The name of a step, for the reach of the model.
fn words(state: &State, step: &Step, answer: Answer) -> &'static str {
    match (answer, step) {
        (Answer::Conflict, _) => "a node has changed before its patch",
        (Answer::AlreadyExists, _) => "the name of a pod is taken",
        (_, Step::CreateRevision { .. }) => "a revision is created",
        (_, Step::Renumber { .. }) => "a revision is renumbered",
        (_, Step::Create { pulls: true, .. }) => "a pull pod is created",
        (_, Step::Create { .. }) => "a pod is created",
        (_, Step::Delete { id, .. }) if state.real.pod(*id).is_some_and(|pod| pod.pull.is_some()) => {
            "a pull pod is deleted"
        }
        (_, Step::Delete { .. }) => "a pod is deleted",
        (_, Step::ChangeInPlace { .. }) => "a pod is changed in place",
        (_, Step::Patch { ds, node, reason, turns, .. }) => {
            let is_handed_over = (0..).zip(turns).any(|(of, turn)| of != *ds && turn.is_some());
            let has_pod = state.real.daemons(*ds, *node).next().is_some();
            match reason {
                TurnReason::TurnBegins if has_pod => "a turn begins",
                TurnReason::TurnBegins => "a turn begins on a node without a pod",
                TurnReason::TurnEnds if is_handed_over => "a cordon is handed over",
                TurnReason::TurnEnds => "a turn ends",
                _ => "a turn loses its cordon",
            }
        }
    }
}
