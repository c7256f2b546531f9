//! The state of the model: the objects in the API server and in the caches, and the effects of single events on them.

use super::controller::Step;
use super::memory::visit_instants;
use super::objects::{Changed, Instant, Node, Objects, Pod, PodEvent, PodId, Pull, Request, Watched};
use super::promises::Broken;
use crate::model_check::controller::Remembered;
use crate::model_check::objects::Phase;
use daemonset::{Memory, TurnReason};
use std::collections::BTreeSet;

/// A DaemonSet with its revisions, which every cache shows at once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DaemonSet {
    pub version: u8,
    pub turn: TurnChoice,
    /// The number of each version's revision, where there is one.
    pub numbers: Vec<Option<u8>>,
}

/// The policy of turns, where the boundary has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TurnChoice {
    Take,
    Keep,
    Absent,
}

/// A process that plans for all DaemonSets, from one cache.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Process {
    pub watched: Watched,
    /// Of each DaemonSet. The versions of nodes in it count from the one that the cache shows.
    pub memories: Vec<Remembered>,
}

/// The version of the list of nodes in each cache; a later one shows the events that follow.
pub const SHOWN: u64 = 100;

/// Facts about a node that no object has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Truth {
    /// A person cordoned it while it was schedulable, and no turn said that it had cordoned it.
    pub cordoned_by_person: bool,
    /// Of each DaemonSet: the update took an available pod there, and none has been available since.
    pub down: [bool; 2],
    /// The request of the turn before, which a late answer repeats.
    pub before: [Option<Request>; 2],
    /// The versions whose image is on it, or whose pull has taken too long.
    pub pulled: u8,
}

/// How often each event may still happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Left {
    pub edits: u8,
    pub policies: u8,
    pub cordons: u8,
    pub crashes: u8,
    pub lost: u8,
    pub refused: u8,
    pub late_answers: u8,
    pub late_pulls: u8,
    pub outages: u8,
    /// Of a daemon pod, by a person.
    pub deletions: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct State {
    /// The objects in the API server.
    pub real: Objects,
    pub processes: Vec<Process>,
    pub daemon_sets: Vec<DaemonSet>,
    pub truths: Vec<Truth>,
    pub left: Left,
    /// The instant of the next plan: after each one that a plan has written.
    pub now: Instant,
    pub broken: Option<Broken>,
}

/// The answer of the API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Done,
    Created(PodId),
    /// The node has changed since the cache showed it.
    Conflict,
    /// A pod has the name.
    AlreadyExists,
}

impl State {
    pub fn truth(&self, node: u8) -> &Truth {
        &self.truths[usize::from(node)]
    }

    pub fn truth_mut(&mut self, node: u8) -> &mut Truth {
        &mut self.truths[usize::from(node)]
    }

    pub fn node_numbers(&self) -> impl Iterator<Item = u8> + use<> {
        0..u8::try_from(self.truths.len()).unwrap()
    }

    /// Somebody writes a node.
    pub fn change_node(&mut self, node: u8, change: impl FnOnce(&mut Node)) {
        let stored = &mut self.real.nodes[usize::from(node)];
        change(stored);
        let stored = *stored;
        for process in &mut self.processes {
            process.watched.undelivered.nodes.push_back((node, stored));
        }
    }

    pub fn put_pod(&mut self, pod: Pod) {
        self.real.put_pod(pod);
        self.tell(PodEvent::Is(pod));
        if pod.is_available() && pod.pull.is_none() {
            self.truth_mut(pod.id.node).down[usize::from(pod.id.ds)] = false;
        }
    }

    pub fn change_pod(&mut self, id: PodId, change: impl FnOnce(&mut Pod)) {
        if let Some(mut pod) = self.real.pod(id).copied() {
            change(&mut pod);
            self.put_pod(pod);
        }
    }

    pub fn remove_pod(&mut self, id: PodId) {
        self.real.remove_pod(id);
        self.tell(PodEvent::Gone(id));
    }

    fn tell(&mut self, event: PodEvent) {
        for process in &mut self.processes {
            process.watched.undelivered.pods.push_back(event);
        }
    }

    /// A new process starts with a list, and remembers nothing.
    pub fn restart(&mut self, process: usize) {
        let Process { watched, memories } = &mut self.processes[process];
        *watched = Watched { cache: self.real.clone(), ..Watched::default() };
        memories.iter_mut().for_each(|memory| *memory = Remembered::new(Memory::default()));
    }

    /// The answer to a step of a process.
    pub fn answer(&self, process: usize, step: &Step) -> Answer {
        match *step {
            Step::Patch { node, .. } if !self.processes[process].watched.has_newest(node) => Answer::Conflict,
            Step::Create { name: taken @ Some(_), .. }
                if self.real.pods.iter().any(|pod| pod.name == taken) =>
            {
                Answer::AlreadyExists
            }
            Step::Create { ds, node, .. } => Answer::Created(self.unknown_id(ds, node)),
            _ => Answer::Done,
        }
    }

    /// The API server executes a step that it accepts. `now` is the instant of the plan.
    pub fn take(&mut self, step: &Step, now: Instant) {
        if let Step::ChangeInPlace { .. } | Step::Patch { .. } = step {
            self.now = now + 2;
        }
        match *step {
            Step::CreateRevision { ds, version, number } | Step::Renumber { ds, version, number } => {
                self.daemon_sets[usize::from(ds)].numbers[usize::from(version)] = Some(number);
            }
            Step::Create { ds, node, version, name, pulls } => {
                let id = self.unknown_id(ds, node);
                let pull = pulls.then_some(Pull::Pulling);
                let birth = self.now - 1;
                self.put_pod(Pod { id, name, version, phase: Phase::Starting, birth, changed: None, pull });
            }
            Step::Delete { id, .. } => {
                self.note_taken(id);
                // A pull pod has no grace period.
                if self.real.pod(id).is_some_and(|pod| pod.pull.is_some()) {
                    self.remove_pod(id);
                } else if self.real.pod(id).is_some_and(|pod| pod.phase != Phase::Terminating) {
                    self.change_pod(id, |pod| pod.phase = Phase::Terminating);
                }
            }
            Step::ChangeInPlace { id, version } => {
                self.note_taken(id);
                self.change_pod(id, |pod| {
                    // Containers that have not started since an earlier change are still those before it.
                    let of = pod.changed.filter(|changed| !changed.has_started);
                    let from = of.map_or(pod.version, |changed| changed.from);
                    pod.changed = Some(Changed { at: now, from, has_started: false });
                    pod.version = version;
                });
            }
            Step::Patch { node, unschedulable, turns, gates_go, reason, ds } => {
                if reason == TurnReason::TurnEnds && self.left.late_answers > 0 {
                    let ended = self.real.nodes[usize::from(node)].turning(ds).turn;
                    self.truth_mut(node).before[usize::from(ds)] = ended.map(|turn| turn.request);
                }
                self.change_node(node, |stored| {
                    stored.unschedulable = unschedulable.unwrap_or(stored.unschedulable);
                    for (of, (turn, gate_goes)) in stored.of.iter_mut().zip(turns.into_iter().zip(gates_go)) {
                        of.turn = turn.unwrap_or(of.turn);
                        of.gate = of.gate.filter(|_| !gate_goes);
                    }
                });
            }
        }
    }

    fn note_taken(&mut self, id: PodId) {
        if self.takes_down(id) {
            self.truth_mut(id.node).down[usize::from(id.ds)] = true;
        }
    }

    /// Whether the loss of this pod leaves its node without an available one.
    pub fn takes_down(&self, id: PodId) -> bool {
        let others = self.real.daemons(id.ds, id.node).any(|pod| pod.id != id && pod.is_available());
        self.real.pod(id).is_some_and(|pod| pod.is_available() && pod.pull.is_none()) && !others
    }

    fn unknown_id(&self, ds: u8, node: u8) -> PodId {
        let is_known = |id: PodId| {
            self.real.pod(id).is_some()
                || self.processes.iter().any(|Process { watched, memories }| {
                    let is_of = |event: &PodEvent| match event {
                        PodEvent::Is(pod) => pod.id == id,
                        PodEvent::Gone(gone) => *gone == id,
                    };
                    watched.cache.pod(id).is_some()
                        || watched.undelivered.pods.iter().any(is_of)
                        || memories.iter().any(|memory| memory.mentions(&id.uid()))
                })
        };
        (0..).map(|serial| PodId { ds, node, serial }).find(|id| !is_known(*id)).unwrap()
    }

    /// Numbers all instants anew, in their order: states that differ by more than that would be without end.
    pub fn with_short_instants(mut self) -> Self {
        let mut known = BTreeSet::new();
        self.written(&mut |at| _ = known.insert(*at));
        let rank = |at: Instant| u8::try_from(known.range(..at).count()).unwrap();
        if !known.iter().zip(1..).all(|(at, number)| *at == 2 * number) {
            self.written(&mut |at| *at = 2 * (rank(*at) + 1));
        }
        self.now = u8::try_from(2 * known.len() + 2).unwrap();
        // The order of births among each other means nothing.
        let mut real = Watched { cache: std::mem::take(&mut self.real), ..Watched::default() };
        let processes = self.processes.iter_mut().map(|process| &mut process.watched);
        for watched in processes.chain([&mut real]) {
            watched.births(|birth| *birth = 2 * rank(*birth) + 1);
        }
        self.real = real.cache;
        self
    }

    fn written(&mut self, visit: &mut impl FnMut(&mut Instant)) {
        let mut real = Watched { cache: std::mem::take(&mut self.real), ..Watched::default() };
        real.instants(visit);
        self.real = real.cache;
        for process in &mut self.processes {
            process.watched.instants(visit);
            process.memories.iter_mut().for_each(|memory| visit_instants(memory, visit));
        }
        let before = self.truths.iter_mut().flat_map(|truth| &mut truth.before).flatten();
        before.for_each(|request| visit(&mut request.at));
    }
}
