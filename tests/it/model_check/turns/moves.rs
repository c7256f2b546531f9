//! The events that may happen in a state.

use super::objects::{Pod, PodId, Pull, Turning};
use super::state::{State, TurnChoice};
use super::world::{Actor, World};
use crate::model_check::objects::Phase;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Move {
    /// A cache gets the next watch event of its pods.
    DeliverPod(usize),
    DeliverNode(usize),
    /// A process plans for a DaemonSet, and executes the whole plan.
    Reconcile(Actor),
    /// It executes this many steps and crashes: the memory is lost, and the new process lists again.
    Crash(Actor, u8),
    /// It executes this many steps; the next one is refused, and the rest is what stands alone.
    Refused(Actor, u8),
    /// It executes this many steps, the last one without an answer.
    AnswerLost(Actor, u8),
    /// As above, but the last request has not come to the API server.
    RequestLost(Actor, u8),
    /// So long that nothing is in flight any more.
    TimePasses(usize),
    BecomesReady(PodId),
    IsGone(PodId),
    /// The new containers of a pod that was changed in its place have started.
    Restarts(PodId),
    Pulled(PodId),
    PullIsLate(PodId),
    Opens {
        ds: u8,
        node: u8,
    },
    /// The gate gets the answer to the turn before.
    OpensLate {
        ds: u8,
        node: u8,
    },
    Cordon(u8),
    Uncordon(u8),
    /// By a person.
    IsDeleted(PodId),
    GoesAway(u8),
    ComesBack(u8),
    Edit(u8),
    Revert(u8),
    Choose(u8, TurnChoice),
}

impl World {
    pub fn moves(&self, state: &State, moves: &mut Vec<Move>) {
        if state.broken.is_some() {
            return;
        }
        for process in 0..state.processes.len() {
            moves.extend(deliveries(state, process));
            moves.extend(self.time_passes(state, process));
        }
        self.actors().for_each(|actor| self.reconciles(state, actor, moves));
        moves.extend(progress(state));
        if state.left.late_pulls > 0 {
            let pulling = state.real.pulls().filter(|(_, pull)| *pull == Pull::Pulling);
            moves.extend(pulling.map(|(pod, _)| Move::PullIsLate(pod.id)));
        }
        if state.left.deletions > 0 {
            let daemons = state.real.pods.iter().filter(|pod| pod.pull.is_none());
            let live = daemons.filter(|pod| pod.phase != Phase::Terminating);
            moves.extend(live.map(|pod| Move::IsDeleted(pod.id)));
        }
        state.node_numbers().for_each(|node| of_persons(state, node, moves));
        for (ds, daemon_set) in (0..).zip(&state.daemon_sets) {
            if state.left.edits > 0 {
                let newest = u8::try_from(daemon_set.numbers.len()).unwrap() - 1;
                moves.extend((daemon_set.version < newest).then_some(Move::Edit(ds)));
                moves.extend((daemon_set.version > 0).then_some(Move::Revert(ds)));
            }
            if state.left.policies > 0 {
                let others = [TurnChoice::Take, TurnChoice::Keep, TurnChoice::Absent];
                let others = others.into_iter().filter(|choice| *choice != daemon_set.turn);
                moves.extend(others.map(|choice| Move::Choose(ds, choice)));
            }
        }
    }

    fn reconciles(&self, state: &State, actor: Actor, moves: &mut Vec<Move>) {
        let reconciled = self.reconciled(state, actor);
        let steps = u8::try_from(reconciled.steps.len()).unwrap();
        let Actor { process, ds } = actor;
        let memory = &state.processes[process].memories[usize::from(ds)];
        if steps > 0 || reconciled.memory != *memory {
            moves.push(Move::Reconcile(actor));
        }
        if state.left.crashes > 0 && (steps > 0 || !memory.is_empty()) {
            moves.extend((0..=steps).map(|steps| Move::Crash(actor, steps)));
        }
        if state.left.refused > 0 {
            moves.extend((0..steps).map(|steps| Move::Refused(actor, steps)));
        }
        if state.left.lost > 0 {
            moves.extend((1..=steps).map(|steps| Move::AnswerLost(actor, steps)));
            moves.extend((1..=steps).map(|steps| Move::RequestLost(actor, steps)));
        }
    }

    /// Everything in flight has expired, unless a cache may still show it.
    pub fn time_passes(&self, state: &State, process: usize) -> Option<Move> {
        let mut actors = self.actors().filter(|actor| actor.process == process);
        // The next plan forgets all that the cache shows.
        let mut waits =
            || actors.any(|actor| super::memory::waits(self.reconciled(state, actor).memory.memory()));
        let has_all = state.processes[process].watched.undelivered.is_empty();
        (has_all && waits()).then_some(Move::TimePasses(process))
    }
}

pub fn deliveries(state: &State, process: usize) -> impl Iterator<Item = Move> + use<> {
    let undelivered = &state.processes[process].watched.undelivered;
    let pod = (!undelivered.pods.is_empty()).then_some(Move::DeliverPod(process));
    pod.into_iter().chain((!undelivered.nodes.is_empty()).then_some(Move::DeliverNode(process)))
}

/// The events that must come at last: of kubelets, nodes and gates.
pub fn progress(state: &State) -> Vec<Move> {
    let mut moves: Vec<Move> = state.real.pods.iter().filter_map(|pod| progress_of(state, pod)).collect();
    for node in state.node_numbers() {
        let stored = &state.real.nodes[usize::from(node)];
        moves.extend(stored.unreachable.then_some(Move::ComesBack(node)));
        let is_asked = |of: &Turning| of.turn.is_some_and(|turn| of.gate != Some(turn.request));
        let closed = (0..).zip(&stored.of).filter(|(_, of)| is_asked(of));
        moves.extend(closed.map(|(ds, _)| Move::Opens { ds, node }));
    }
    moves
}

fn progress_of(state: &State, pod: &Pod) -> Option<Move> {
    let is_down = state.real.nodes[usize::from(pod.id.node)].unreachable;
    match pod {
        _ if is_down => None,
        Pod { pull: Some(pull), .. } => (*pull == Pull::Pulling).then_some(Move::Pulled(pod.id)),
        Pod { phase: Phase::Terminating, .. } => Some(Move::IsGone(pod.id)),
        Pod { changed: Some(changed), .. } if !changed.has_started => Some(Move::Restarts(pod.id)),
        Pod { phase: Phase::Available | Phase::Failing, .. } => None,
        Pod { .. } => Some(Move::BecomesReady(pod.id)),
    }
}

fn of_persons(state: &State, node: u8, moves: &mut Vec<Move>) {
    let stored = &state.real.nodes[usize::from(node)];
    if state.left.cordons > 0 {
        moves.push(if stored.unschedulable { Move::Uncordon(node) } else { Move::Cordon(node) });
    }
    if state.left.outages > 0 && !stored.unreachable {
        moves.push(Move::GoesAway(node));
    }
    if state.left.late_answers > 0 {
        // An answer that is there may have been read, and does its work though a late one replaces it.
        let is_closed = |of: &Turning| of.turn.is_none_or(|turn| of.gate != Some(turn.request));
        let before = (0..).zip(state.truth(node).before).zip(&stored.of);
        let before = before.filter(|((_, before), of)| before.is_some() && is_closed(of));
        moves.extend(before.map(|((ds, _), _)| Move::OpensLate { ds, node }));
    }
}
