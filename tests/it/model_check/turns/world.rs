//! The state machine of the model: an API server, watches that lag, processes that crash, persons, kubelets, and the
//! opener of gates.

use super::controller::{Controller, Reconciled, Seen, Step};
use super::execution::Cut;
use super::memory::show_node;
use super::moves::Move;
use super::objects::{Node, Objects, Pod, PodEvent, PodId, Pull, Watched};
use super::promises::broken_in;
use super::real::Real;
use super::state::{DaemonSet, Left, Process, State, Truth, TurnChoice};
use crate::model_check::controller::Remembered;
use crate::model_check::objects::Phase;
use daemonset::model::IntOrString;
use daemonset::policy::TurnMode;
use daemonset::{Memory, Policy};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// The events that may happen, and how often.
#[derive(Debug, Clone)]
pub struct Boundary {
    pub nodes: u8,
    pub daemon_sets: u8,
    /// Processes that act at once, each for all DaemonSets.
    pub processes: usize,
    /// Whether a process remembers its actions.
    pub remembers: bool,
    /// maxUnavailable.
    pub limit: u8,
    pub policy: Policy,
    /// Every template has been edited, and no controller has seen it: the order of the edits is then of no interest.
    pub is_edited: bool,
    /// The pods of the first version never become Ready.
    pub is_broken: bool,
    pub left: Left,
}

impl Boundary {
    pub fn has_turns(&self) -> bool {
        matches!(self.policy.turn, Some(TurnMode::Take(_)))
    }

    /// How many nodes may pull at a time.
    pub fn parallel(&self) -> Option<usize> {
        match self.policy.pull.as_ref()?.parallel {
            IntOrString::Int(parallel) => Some(parallel as usize),
            IntOrString::Percent(_) => panic!("a number of nodes"),
        }
    }
}

/// A process that plans for one of its DaemonSets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Actor {
    pub process: usize,
    pub ds: u8,
}

pub struct World {
    pub boundary: Boundary,
    pub controller: Controller,
    /// How often each thing has happened, in all orders of events.
    pub reach: Mutex<BTreeMap<&'static str, usize>>,
}

impl World {
    pub fn new(boundary: Boundary) -> Self {
        let versions = 2;
        let controller = Controller::new(Real::new(boundary.policy.clone(), boundary.limit, versions));
        World { boundary, controller, reach: Mutex::default() }
    }

    pub fn first(&self) -> State {
        let Boundary { nodes, daemon_sets, processes, left, .. } = self.boundary;
        let numbers = || (0..daemon_sets).flat_map(|ds| (0..nodes).map(move |node| (ds, node)));
        let pods = numbers().map(|(ds, node)| Pod {
            id: PodId { ds, node, serial: 0 },
            name: None,
            version: 0,
            phase: if self.boundary.is_broken { Phase::Failing } else { Phase::Available },
            birth: 1,
            changed: None,
            pull: None,
        });
        let real = Objects { nodes: vec![Node::default(); nodes.into()], pods: pods.collect() };
        let turn = if self.boundary.has_turns() { TurnChoice::Take } else { TurnChoice::Absent };
        let memories = vec![Remembered::new(Memory::default()); daemon_sets.into()];
        let mut state = State {
            real: Objects::default(),
            processes: vec![Process { watched: Watched::default(), memories }; processes],
            daemon_sets: vec![
                DaemonSet {
                    version: self.boundary.is_edited.into(),
                    turn,
                    numbers: vec![Some(1), None]
                };
                daemon_sets.into()
            ],
            truths: vec![Truth { pulled: 1, ..Truth::default() }; nodes.into()],
            left,
            now: 2,
            broken: None,
        };
        self.begin_with(&mut state, real);
        state
    }

    /// All objects are as if the controller had made them.
    fn begin_with(&self, state: &mut State, mut real: Objects) {
        let empty = Objects { nodes: real.nodes.clone(), pods: Vec::new() };
        state.processes.iter_mut().for_each(|process| process.watched.cache.clone_from(&empty));
        for actor in self.actors().filter(|actor| actor.process == 0) {
            for (step, _) in &self.reconciled(state, actor).steps {
                let Step::Create { ds, node, name, .. } = *step else { continue };
                let made = real.pods.iter_mut().filter(|pod| pod.id.ds == ds && pod.id.node == node);
                made.for_each(|pod| pod.name = name);
            }
        }
        state.processes.iter_mut().for_each(|process| process.watched.cache.clone_from(&real));
        state.real = real;
    }

    pub fn actors(&self) -> impl Iterator<Item = Actor> + use<> {
        let (processes, daemon_sets) = (self.boundary.processes, self.boundary.daemon_sets);
        (0..processes).flat_map(move |process| (0..daemon_sets).map(move |ds| Actor { process, ds }))
    }

    pub fn see(&self, thing: &'static str) {
        *self.reach.lock().unwrap().entry(thing).or_default() += 1;
    }

    pub fn after(&self, last: &State, next: Move) -> State {
        let mut state = last.clone();
        match next {
            Move::DeliverPod(process) => {
                let Watched { cache, undelivered } = &mut state.processes[process].watched;
                match undelivered.pods.pop_front().unwrap() {
                    PodEvent::Is(pod) => cache.put_pod(pod),
                    PodEvent::Gone(id) => cache.remove_pod(id),
                }
            }
            Move::DeliverNode(process) => {
                let Process { watched, memories } = &mut state.processes[process];
                let (node, stored) = watched.undelivered.nodes.pop_front().unwrap();
                watched.cache.nodes[usize::from(node)] = stored;
                memories.iter_mut().for_each(show_node);
            }
            Move::Reconcile(actor) => self.execute(&mut state, actor, Cut::Never),
            Move::Crash(actor, steps) => {
                state.left.crashes -= 1;
                self.execute(&mut state, actor, Cut::Before(steps.into()));
                state.restart(actor.process);
                self.see("a process crashes");
            }
            Move::Refused(actor, steps) => {
                state.left.refused -= 1;
                self.execute(&mut state, actor, Cut::Refused(steps.into()));
            }
            Move::AnswerLost(actor, steps) => {
                state.left.lost -= 1;
                self.execute(&mut state, actor, Cut::AnswerLost(usize::from(steps) - 1));
            }
            Move::RequestLost(actor, steps) => {
                state.left.lost -= 1;
                self.execute(&mut state, actor, Cut::RequestLost(usize::from(steps) - 1));
            }
            Move::TimePasses(process) => {
                for ds in 0..self.boundary.daemon_sets {
                    let expired = self.controller.expired(seen(&state, Actor { process, ds }));
                    state.processes[process].memories[usize::from(ds)] = expired;
                }
                self.see("an action in flight expires");
            }
            Move::BecomesReady(id) => state.change_pod(id, |pod| pod.phase = Phase::Available),
            Move::IsGone(id) => state.remove_pod(id),
            Move::Restarts(id) => state.change_pod(id, |pod| {
                pod.phase = Phase::Starting;
                pod.changed.iter_mut().for_each(|changed| changed.has_started = true);
            }),
            Move::Pulled(id) => self.pulls(&mut state, id, Pull::Done),
            Move::PullIsLate(id) => {
                state.left.late_pulls -= 1;
                self.pulls(&mut state, id, Pull::Late);
            }
            Move::Opens { ds, node } => state.change_node(node, |stored| {
                let of = stored.turning_mut(ds);
                of.gate = of.turn.map(|turn| turn.request);
            }),
            Move::OpensLate { ds, node } => {
                self.see("a gate gets a late answer");
                state.left.late_answers -= 1;
                let before = state.truth_mut(node).before[usize::from(ds)].take();
                state.change_node(node, |stored| stored.turning_mut(ds).gate = before);
            }
            Move::Cordon(node) => {
                state.left.cordons -= 1;
                // A turn that says so takes it back, since it can't tell.
                let is_theirs = !state.real.nodes[usize::from(node)].is_cordoned_by_a_turn();
                state.truth_mut(node).cordoned_by_person = is_theirs;
                state.change_node(node, |stored| stored.unschedulable = true);
            }
            Move::Uncordon(node) => {
                if state.real.nodes[usize::from(node)].is_cordoned_by_a_turn() {
                    self.see("a person uncordons a node in turn");
                }
                state.left.cordons -= 1;
                state.truth_mut(node).cordoned_by_person = false;
                state.change_node(node, |stored| stored.unschedulable = false);
            }
            Move::GoesAway(node) => {
                if state.real.nodes[usize::from(node)].of.iter().any(|of| of.turn.is_some()) {
                    self.see("a node in turn goes away");
                }
                state.left.outages -= 1;
                state.change_node(node, |stored| stored.unreachable = true);
                let pods = state.real.pods.iter().filter(|pod| pod.id.node == node && pod.phase.is_ready());
                let pods: Vec<PodId> = pods.map(|pod| pod.id).collect();
                pods.into_iter().for_each(|id| state.change_pod(id, |pod| pod.phase = Phase::Crashed));
            }
            Move::IsDeleted(id) => {
                state.left.deletions -= 1;
                state.change_pod(id, |pod| pod.phase = Phase::Terminating);
            }
            Move::ComesBack(node) => state.change_node(node, |stored| stored.unreachable = false),
            Move::Edit(ds) => {
                state.left.edits -= 1;
                state.daemon_sets[usize::from(ds)].version += 1;
            }
            Move::Revert(ds) => {
                state.left.edits -= 1;
                state.daemon_sets[usize::from(ds)].version -= 1;
            }
            Move::Choose(ds, choice) => {
                state.left.policies -= 1;
                state.daemon_sets[usize::from(ds)].turn = choice;
            }
        }
        state.broken = state.broken.or_else(|| broken_in(&state));
        state.with_short_instants()
    }

    fn pulls(&self, state: &mut State, id: PodId, pull: Pull) {
        let Some(version) = state.real.pod(id).map(|pod| pod.version) else { return };
        state.truth_mut(id.node).pulled |= 1 << version;
        state.change_pod(id, |pod| pod.pull = Some(pull));
    }

    pub fn reconciled(&self, state: &State, actor: Actor) -> Arc<Reconciled> {
        self.controller.reconcile(seen(state, actor))
    }
}

fn seen(state: &State, Actor { process, ds }: Actor) -> Seen<'_> {
    let Process { watched, memories } = &state.processes[process];
    Seen {
        ds,
        daemon_set: &state.daemon_sets[usize::from(ds)],
        cache: &watched.cache,
        memory: &memories[usize::from(ds)],
        now: state.now,
    }
}
