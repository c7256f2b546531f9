//! The controller of the model: it calls the crate's own `reconcile` and `Memory` with real objects.

use super::memory::time;
use super::objects::{Instant, Objects, PodId};
use super::real::Real;
use super::state::{DaemonSet, SHOWN, TurnChoice};
use super::words;
use crate::model_check::controller::{Remembered, fingerprint};
use daemonset::{Action, Recording, TurnReason, reconcile};
use jiff::SignedDuration;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

/// One action of a plan that changes something in the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    CreateRevision {
        ds: u8,
        version: u8,
        number: u8,
    },
    Renumber {
        ds: u8,
        version: u8,
        number: u8,
    },
    Delete {
        id: PodId,
        /// The update takes the pod.
        takes: bool,
    },
    Create {
        ds: u8,
        node: u8,
        version: u8,
        name: Option<u8>,
        pulls: bool,
    },
    ChangeInPlace {
        id: PodId,
        version: u8,
    },
    /// With the version of the node as a precondition.
    Patch {
        /// Whose turn it is.
        ds: u8,
        node: u8,
        reason: TurnReason,
        unschedulable: Option<bool>,
        turns: words::TurnChanges,
        /// The answers that are removed.
        gates_go: [bool; 2],
    },
}

/// The result of one reconcile.
#[derive(Debug)]
pub struct Reconciled {
    /// The memory after it has observed the snapshot.
    pub memory: Remembered,
    /// The steps, each with its action.
    pub steps: Vec<(Step, Action)>,
}

/// Everything that a plan depends on.
#[derive(Debug, Clone, Copy)]
pub struct Seen<'s> {
    pub ds: u8,
    pub daemon_set: &'s DaemonSet,
    pub cache: &'s Objects,
    pub memory: &'s Remembered,
    pub now: Instant,
}

/// Turns the model's objects into real ones, and plans for them.
pub struct Controller {
    pub real: Real,
    /// Plans by the fingerprint of all that they depend on.
    plans: Mutex<BTreeMap<u64, Arc<Reconciled>>>,
    #[cfg(daemonset_mutants)]
    pub mutant: Option<daemonset::mutants::Mutant>,
}

impl Controller {
    pub fn new(real: Real) -> Self {
        Controller {
            real,
            plans: Mutex::default(),
            #[cfg(daemonset_mutants)]
            mutant: None,
        }
    }

    pub fn reconcile(&self, seen: Seen<'_>) -> Arc<Reconciled> {
        let Seen { ds, daemon_set, cache, memory, now } = seen;
        let pods: Vec<_> = cache.pods.iter().filter(|pod| pod.id.ds == ds).collect();
        let key = fingerprint(&(ds, daemon_set, &cache.nodes, pods, memory, now));
        if let Some(known) = self.plans.lock().unwrap().get(&key) {
            return Arc::clone(known);
        }
        #[cfg(not(daemonset_mutants))]
        let planned = self.plan(seen);
        #[cfg(daemonset_mutants)]
        let planned = daemonset::mutants::with(self.mutant, || self.plan(seen));
        let planned = Arc::new(planned);
        self.plans.lock().unwrap().insert(key, Arc::clone(&planned));
        planned
    }

    /// The number of different snapshots that were planned.
    pub fn plans(&self) -> usize {
        self.plans.lock().unwrap().len()
    }

    /// The memory after everything in flight has expired.
    pub fn expired(&self, seen: Seen<'_>) -> Remembered {
        let mut recording = self.recording(seen);
        recording.now += SignedDuration::from_secs(400);
        Remembered::new(observed(&recording))
    }

    fn plan(&self, seen: Seen<'_>) -> Reconciled {
        let recording = self.recording(seen);
        let actions = reconcile(&recording.snapshot().unwrap());
        let step = |action: Action| Some((words::step(&self.real, seen.ds, &action)?, action));
        let steps = actions.into_iter().filter_map(step).collect();
        Reconciled { memory: Remembered::new(observed(&recording)), steps }
    }

    fn recording(&self, seen: Seen<'_>) -> Recording {
        let Seen { ds, daemon_set, cache, memory, now } = seen;
        let mut recording = Recording::new(self.real.daemon_set(ds, daemon_set.version), time(now));
        recording.nodes_version = Some(SHOWN);
        let nodes = (0..).zip(&cache.nodes);
        recording.nodes = nodes.map(|(number, node)| self.real.node(number, node)).collect();
        // Those of others are foreign, and change nothing.
        let pods = cache.pods.iter().filter(|pod| pod.id.ds == ds);
        recording.pods = pods.map(|pod| self.real.pod(pod)).collect();
        let numbers = (0..).zip(&daemon_set.numbers);
        let revisions = numbers.filter_map(|(version, number)| Some((version, (*number)?)));
        recording.revisions =
            revisions.map(|(version, number)| self.real.revision(ds, version, number)).collect();
        recording.policy = self.real.policy.clone();
        recording.policy.turn = match daemon_set.turn {
            TurnChoice::Take => recording.policy.turn,
            TurnChoice::Keep => Some(daemonset::policy::TurnMode::Keep),
            TurnChoice::Absent => None,
        };
        recording.memory = Some(memory.memory().clone());
        recording
    }
}

fn observed(recording: &Recording) -> daemonset::Memory {
    let mut memory = recording.memory.clone().unwrap();
    memory.observe(&recording.snapshot().unwrap());
    memory
}
