//! The end that a cluster comes to without disturbances.

use super::moves::{Move, deliveries, progress};
use super::objects::Pod;
use super::state::{DaemonSet, State, TurnChoice};
use super::world::World;

impl World {
    /// One round without disturbances: every watch event delivered, whole plans executed, and every kubelet, node and gate
    /// as far as it can get.
    pub fn in_peace(&self, state: &State) -> State {
        let mut state = state.clone();
        if self.boundary.has_turns() {
            state.daemon_sets.iter_mut().for_each(|ds| ds.turn = TurnChoice::Take);
        }
        for actor in self.actors() {
            state = self.delivered(state);
            state = self.after(&state, Move::Reconcile(actor));
        }
        state = self.delivered(state);
        for process in 0..state.processes.len() {
            let passes = self.time_passes(&state, process);
            state = passes.map_or(state.clone(), |passes| self.after(&state, passes));
        }
        progress(&state).into_iter().fold(state, |state, next| self.after(&state, next))
    }

    fn delivered(&self, mut state: State) -> State {
        for process in 0..state.processes.len() {
            while let Some(next) = deliveries(&state, process).next() {
                state = self.after(&state, next);
            }
        }
        state
    }

    /// Whether nothing is left to do: each node has the newest pods, and is as persons want it.
    pub fn is_complete(&self, state: &State) -> bool {
        let is_good = |pod: &Pod, ds: &DaemonSet| pod.is_available() && pod.version == ds.version;
        let has_good = |ds: u8, node: u8| {
            let pods: Vec<&Pod> = state.real.daemons(ds, node).collect();
            matches!(pods[..], [pod] if is_good(pod, &state.daemon_sets[usize::from(ds)]))
        };
        let is_settled = |node: u8| {
            let stored = &state.real.nodes[usize::from(node)];
            stored.of.iter().all(|of| of.turn.is_none())
                && stored.unschedulable == state.truth(node).cordoned_by_person
                && (0..self.boundary.daemon_sets).all(|ds| has_good(ds, node))
        };
        state.processes.iter().all(|process| process.watched.undelivered.is_empty())
            && state.real.pulls().next().is_none()
            && state.node_numbers().all(is_settled)
    }
}
