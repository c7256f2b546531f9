//! Every order of events in a small cluster whose nodes take turns, pull images, or have pods that are changed in their place.
//!
//! Caches of pods and of nodes lag, each for itself. The model leaves out, besides what the model of updates does:
//!
//! - **A cache of DaemonSets and revisions that lags**: that model has it.
//! - **Time**, except that everything in flight may expire once a cache shows all changes. `onTimeout` is for the random lives.
//! - **Drive, waves, node lifecycle, and pods that do not fit**: the properties and the lives cover them.

mod cases;
mod controller;
mod execution;
mod memory;
mod moves;
#[cfg(daemonset_mutants)]
mod mutants;
mod objects;
mod peace;
mod promises;
mod real;
mod state;
mod words;
mod world;

use super::controller::fingerprint;
use moves::Move;
use promises::Broken;
use state::State;
use stateright::{Checker, HasDiscoveries, Model, Property};
use std::collections::BTreeSet;
use std::sync::Mutex;
use world::{Boundary, World};

struct Checked {
    world: World,
    /// Whether each state must come to an end.
    asks_for_ends: bool,
    /// Fingerprints of states from which an undisturbed run leads to a complete rollout.
    good: Mutex<BTreeSet<u64>>,
}

const KEPT: &str = "every promise is kept";
const END: &str = "always an end, once there is peace";

impl Checked {
    fn new(boundary: Boundary) -> Self {
        Checked { world: World::new(boundary), asks_for_ends: true, good: Mutex::default() }
    }

    fn comes_to_an_end(&self, state: &State) -> bool {
        let mut good = self.good.lock().unwrap();
        let (mut path, mut state) = (Vec::new(), state.clone());
        for _ in 0..60 {
            let here = fingerprint(&state);
            if self.world.is_complete(&state) || good.contains(&here) {
                good.extend(path);
                return true;
            }
            path.push(here);
            state = self.world.in_peace(&state);
        }
        false
    }
}

impl Model for Checked {
    type State = State;
    type Action = Move;

    fn init_states(&self) -> Vec<State> {
        vec![self.world.first()]
    }

    fn actions(&self, state: &State, moves: &mut Vec<Move>) {
        self.world.moves(state, moves);
    }

    fn next_state(&self, last: &State, next: Move) -> Option<State> {
        Some(self.world.after(last, next))
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always(KEPT, |_, state: &State| state.broken.is_none()),
            Property::always(END, |checked: &Checked, state: &State| {
                !checked.asks_for_ends || checked.comes_to_an_end(state)
            }),
        ]
    }
}

/// Explores all states within the boundary. A minimum number of states, and of each thing that happens in them, proves that the model
/// still covers them.
fn explore(name: &str, boundary: Boundary, floor: usize, things: &[(&str, usize)]) {
    let model = || Checked::new(boundary.clone());
    let checker = model().checker().finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    let world = &checker.model().world;
    println!(
        "{name}: {} unique states of {} generated, {} deep, {} different snapshots",
        checker.unique_state_count(),
        checker.state_count(),
        checker.max_depth(),
        world.controller.plans(),
    );
    if !checker.discoveries().is_empty() {
        panic!("{name}: {:#?}", shortest_counterexample(model));
    }
    let reach = world.reach.lock().unwrap();
    println!("{reach:#?}");
    assert!(checker.unique_state_count() >= floor, "{name}: only {} states", checker.unique_state_count());
    for (thing, least) in things {
        let times = reach.get(thing).copied().unwrap_or(0);
        assert!(times >= *least, "{name}: \"{thing}\" happens {times} times, not {least}");
    }
}

/// The broken promise, `None` for a cluster that comes to no end, and the moves that lead there. The search must not go deeper than
/// necessary.
fn shortest_counterexample(model: impl Fn() -> Checked) -> Option<(Option<Broken>, Vec<Move>)> {
    (2..60).find_map(|depth| {
        let checker = model().checker().target_max_depth(depth);
        let checker = checker.finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
        let (_, path) = checker.discoveries().into_iter().next()?;
        Some((path.last_state().broken, path.into_actions()))
    })
}
