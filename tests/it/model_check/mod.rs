//! Explores every order of events in a small cluster: a stale cache, crashes at any step, lost memory, and a user who
//! does not wait.
//!
//! The controller is the crate's own `reconcile` and `Memory`. Its cache holds the delivered watch events: a prefix of
//! all changes, for each kind of objects independently. The model leaves out:
//!
//! - **Memory lost while the cache stays stale.** A crashing process loses both, and the next one starts with a list. A
//!   caller that drops its Memory and keeps its cache repeats deletes that the cache does not show yet.
//! - **Time**, except for pods that become available: actions in flight never expire, nor do undos. The README gives the limit: five
//!   minutes of a watch that delivers nothing.
//! - **Readiness that the cache does not show.** An outdated pod that is not Ready is deleted without a budget, even if
//!   it has become Ready in the meantime and no cache shows it yet. Such a delete breaks no promise, but its node
//!   counts as down for later deletes. Pods that go down by themselves do not count either.
//! - **Marks that the cache lacks**, where a person steers the rollout: the cache shows a mark that the controller has set. A known
//!   limit, which a test in `mutants.rs` shows.
//! - **Nodes** that join, leave or change their taints (but for a taint of the daemon's absence), failed pods and their back-off, pods that others delete or own,
//!   and template generations: the properties and the stories cover them.
//!
//! `cargo test --test it model -- --nocapture` prints the number of states. `mutants.rs` proves that the model check
//! finds planted errors.

mod controller;
#[cfg(daemonset_mutants)]
mod mutants;
mod objects;
mod promises;
mod state;
mod turns;
mod world;

use controller::{Controller, fingerprint};
use daemonset::policy::UnreadyPolicy;
use objects::Strategy::{self, Replace, Surge};
use promises::Broken;
use state::State;
use stateright::{Checker, HasDiscoveries, Model, Property};
use std::collections::BTreeSet;
use std::sync::Mutex;
use world::{Boundary, Move, Steering, World};

struct Checked {
    world: World,
    /// The number of states from which an undisturbed run leads to a complete rollout.
    good: Mutex<BTreeSet<u64>>,
}

impl Checked {
    fn new(boundary: Boundary) -> Self {
        let unready =
            if boundary.unready_within_budget { UnreadyPolicy::WithinBudget } else { UnreadyPolicy::AtOnce };
        let min_ready = if boundary.young { 60 } else { 0 };
        let versions = if boundary.steering.is_some() { 2 } else { boundary.user_moves + 1 };
        let controller = Controller::new(boundary.nodes, versions, min_ready, unready);
        let controller = controller.steered(boundary.steering);
        Checked { world: World { boundary, controller }, good: Mutex::default() }
    }

    /// Whether this name belongs to a condition that must never hold.
    fn forbids(&self, property: &'static str) -> bool {
        self.property(property).expectation.discovery_is_failure()
    }

    fn comes_to_an_end(&self, state: &State) -> bool {
        let mut good = self.good.lock().unwrap();
        let mut path = Vec::new();
        let mut state = state.clone();
        for _ in 0..100 {
            let rolls_back = self.world.boundary.steering == Some(Steering::RollBack);
            if !(state.is_complete() || (rolls_back && state.is_rolled_back()) || self.stays_failed(&state)) {
                let here = fingerprint(&state);
                if !good.contains(&here) {
                    path.push(here);
                    state = self.world.in_peace(&state);
                    continue;
                }
            }
            good.extend(path);
            return true;
        }
        false
    }

    /// Whether a version that was undone before, or can't be, stays where it is.
    fn stays_failed(&self, state: &State) -> bool {
        let undoes = self.world.boundary.steering == Some(Steering::Undo);
        // Without its mark a version that is put back while all its pods are there is a settled fleet, whatever its pods do.
        let is_settled = state.allowed > 0 && state.real.marks(state.real.spec.version).completed;
        let stays = undoes && (is_settled || state.real.stays_failed());
        stays && self.world.in_peace(state).real == state.real
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
        let mut properties = vec![
            Property::always(Broken::ALL[0].1, |_, state: &State| state.broken != Some(Broken::ALL[0].0)),
            Property::always(Broken::ALL[1].1, |_, state: &State| state.broken != Some(Broken::ALL[1].0)),
            Property::always(Broken::ALL[2].1, |_, state: &State| state.broken != Some(Broken::ALL[2].0)),
            Property::always(Broken::ALL[3].1, |_, state: &State| state.broken != Some(Broken::ALL[3].0)),
            Property::always(Broken::ALL[4].1, |_, state: &State| state.broken != Some(Broken::ALL[4].0)),
            Property::always(Broken::ALL[5].1, |_, state: &State| state.broken != Some(Broken::ALL[5].0)),
            Property::always(Broken::ALL[6].1, |_, state: &State| state.broken != Some(Broken::ALL[6].0)),
            Property::always(Broken::ALL[7].1, |_, state: &State| state.broken != Some(Broken::ALL[7].0)),
            Property::always(Broken::ALL[8].1, |_, state: &State| state.broken != Some(Broken::ALL[8].0)),
            Property::always(Broken::ALL[9].1, |_, state: &State| state.broken != Some(Broken::ALL[9].0)),
            Property::always(Broken::ALL[10].1, |_, state: &State| state.broken != Some(Broken::ALL[10].0)),
            Property::always(Broken::ALL[11].1, |_, state: &State| state.broken != Some(Broken::ALL[11].0)),
            Property::always(Broken::ALL[12].1, |_, state: &State| state.broken != Some(Broken::ALL[12].0)),
            Property::always(Broken::ALL[13].1, |_, state: &State| state.broken != Some(Broken::ALL[13].0)),
            Property::always("always an end, once there is peace", Checked::comes_to_an_end),
            Property::sometimes("a rollout completes", |_, s: &State| {
                s.is_complete() && s.real.spec.version > 0
            }),
            Property::sometimes("the cache is four events behind", |_, s: &State| s.undelivered.len() >= 4),
            Property::sometimes("two nodes are down by our hand", |_, s: &State| {
                s.down.iter().filter(|down| **down).count() > 1
            }),
            Property::sometimes("a version is rolled back", |_, s: &State| s.is_rolled_back()),
            Property::sometimes("an undo begins", |_, s: &State| {
                s.undone == 0 && s.real.marks(1).undone.is_some()
            }),
            Property::sometimes("a template is restored", |_, s: &State| s.awaits_template),
            Property::sometimes("a restored template is complete", |_, s: &State| {
                s.is_complete() && s.real.spec.version == 0 && s.undone > 0
            }),
            Property::sometimes("a template is put back, and stays", |_, s: &State| {
                s.undone > 0 && s.real.stays_failed() && !s.awaits_template
            }),
            Property::sometimes("a wave waits for its approval", |_, s: &State| {
                s.canary_done && !s.real.spec.approved
            }),
            Property::sometimes("a node has two pods", |_, s: &State| s.has_a_surging_node()),
            Property::sometimes("a node stays without a pod, by our hand", |checked: &Checked, s: &State| {
                let is_lost = |(node, down): (u8, &bool)| *down && s.real.pods_of(node).next().is_none();
                let at_rest = s.undelivered.is_empty() && checked.world.in_peace(s).real == s.real;
                at_rest && (0..).zip(&s.down).any(is_lost)
            }),
        ];
        let strategies = &self.world.boundary.strategies;
        let surges = strategies.iter().any(|strategy| matches!(strategy, Surge(_)));
        let taints_absence = self.world.boundary.taints_absence;
        let two_down = strategies.contains(&Replace(2));
        let steering = self.world.boundary.steering;
        properties.retain(|property| match property.name {
            "a version is rolled back" => steering == Some(Steering::RollBack),
            // Where versions are undone, each wave is approved from the beginning.
            "a wave waits for its approval" => steering.is_some_and(|steering| steering != Steering::Undo),
            "an undo begins"
            | "a template is restored"
            | "a restored template is complete"
            | "a template is put back, and stays" => steering == Some(Steering::Undo),
            // A version that has failed stays where it is until a person decides.
            "always an end, once there is peace" if steering == Some(Steering::Pause) => false,
            "a node has two pods" => surges,
            "two nodes are down by our hand" => two_down,
            // No pod comes back to a node that the update took down.
            "always an end, once there is peace" | "a rollout completes" => !taints_absence,
            "a node stays without a pod, by our hand" => taints_absence,
            _ => true,
        });
        properties
    }
}

/// Explores all states within the boundary. A minimum number of states proves that the model still covers them.
fn explore(name: &str, boundary: Boundary, floor: usize) {
    let model = || Checked::new(boundary.clone());
    let checker = model().checker().finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
    println!(
        "{name}: {} unique states of {} generated, {} deep, {} different snapshots",
        checker.unique_state_count(),
        checker.state_count(),
        checker.max_depth(),
        checker.model().world.controller.plans(),
    );
    if checker.discoveries().keys().any(|property| checker.model().forbids(property)) {
        panic!("{name}: {:#?}", shortest_counterexample(model));
    }
    checker.assert_properties();
    assert!(checker.unique_state_count() >= floor, "{name}: only {} states", checker.unique_state_count());
}

/// The checker keeps the last path that it finds, so that the search must not go deeper than necessary.
fn shortest_counterexample(model: impl Fn() -> Checked) -> Option<(&'static str, Vec<Move>)> {
    (2..60).find_map(|depth| {
        let checker = model().checker().target_max_depth(depth);
        let checker = checker.finish_when(HasDiscoveries::AnyFailures).spawn_bfs().join();
        let mut found = checker.discoveries().into_iter();
        let (name, path) = found.find(|(name, _)| checker.model().forbids(name))?;
        Some((name, path.into_actions()))
    })
}

/// Two nodes, two edits by the user, and answers that are lost or refused.
fn two_nodes(strategies: &[Strategy]) -> Boundary {
    Boundary {
        nodes: 2,
        young: false,
        strategies: strategies.to_vec(),
        user_moves: 2,
        failures: 0,
        bad_answers: true,
        unready_within_budget: false,
        taints_absence: false,
        steering: None,
        marks_lag: false,
    }
}

/// Three nodes, one edit by the user, and a pod that goes down by itself.
fn three_nodes(strategies: &[Strategy]) -> Boundary {
    Boundary { nodes: 3, user_moves: 1, failures: 1, ..two_nodes(strategies) }
}

#[test]
fn the_promises_hold_while_replacing() {
    explore("replace, 2 nodes", two_nodes(&[Replace(1)]), 2_000);
    explore("replace, 3 nodes", three_nodes(&[Replace(1)]), 10_000);
}

#[test]
fn the_promises_hold_while_replacing_pods_that_are_not_yet_available() {
    let young = Boundary { young: true, ..two_nodes(&[Replace(1)]) };
    explore("replace, young pods", young.clone(), 3_000);
    let within = Boundary { user_moves: 1, failures: 1, unready_within_budget: true, ..young };
    explore("replace, unready within the budget", within, 3_000);
}

#[test]
fn the_promises_hold_while_surging() {
    explore("surge, 2 nodes", two_nodes(&[Surge(1)]), 1_000);
    explore("surge, young pods", Boundary { young: true, ..two_nodes(&[Surge(1)]) }, 1_500);
    explore("surge, a failure", Boundary { nodes: 2, ..three_nodes(&[Surge(1)]) }, 10_000);
    explore("surge, 3 nodes", Boundary { failures: 0, ..three_nodes(&[Surge(2)]) }, 100);
}

/// Many edits on a single node, which three nodes do not allow in the time of a test.
#[test]
fn the_promises_hold_for_many_edits_on_one_node() {
    let one = |boundary| Boundary { nodes: 1, ..boundary };
    let both = one(two_nodes(&[Replace(1), Surge(1)]));
    explore("surge, 1 node, a failure", Boundary { failures: 1, ..one(two_nodes(&[Surge(1)])) }, 20_000);
    explore("both, 1 node, a failure", Boundary { failures: 1, ..both.clone() }, 4_000);
    explore("both, 1 node, 3 moves", Boundary { user_moves: 3, ..both }, 10_000);
}

#[test]
fn the_promises_hold_while_switching_the_strategy() {
    explore("from replace to surge", two_nodes(&[Replace(1), Surge(1)]), 3_000);
    explore("from surge to replace", two_nodes(&[Surge(1), Replace(1)]), 2_000);
}

#[test]
fn the_promises_hold_while_switching_the_limit() {
    let limits = Boundary { bad_answers: false, ..two_nodes(&[Replace(2), Replace(1)]) };
    explore("maxUnavailable 2 and 1", limits, 15_000);
}

/// A taint that appears because the daemon is away must not let the update go on to the next node.
#[test]
fn the_promises_hold_while_nodes_are_tainted_for_the_daemons_absence() {
    let taints = |boundary: Boundary| Boundary { taints_absence: true, ..boundary };
    explore("absence taints, 2 nodes", taints(two_nodes(&[Replace(1)])), 150);
    explore("absence taints, 3 nodes", taints(three_nodes(&[Replace(1)])), 400);
    let limits = Boundary { bad_answers: false, ..three_nodes(&[Replace(2), Replace(1)]) };
    explore("absence taints, maxUnavailable 2 and 1", taints(limits), 1_000);
}

/// Releases version 1 with a canary, and steers it.
fn steered(steering: Steering, strategy: Strategy) -> Boundary {
    Boundary {
        user_moves: 3,
        failures: 1,
        bad_answers: false,
        steering: Some(steering),
        ..two_nodes(&[strategy])
    }
}

#[test]
fn the_promises_hold_while_a_person_steers_the_rollout() {
    explore("steered, rolled back", steered(Steering::RollBack, Replace(1)), 7_000);
    explore("steered, stopped", steered(Steering::Pause, Replace(1)), 3_000);
    explore("steered, surge", steered(Steering::RollBack, Surge(1)), 2_000);
}

/// Version 1 fails, and is undone; others write the DaemonSet and edit marks meanwhile.
fn undone() -> Boundary {
    Boundary { bad_answers: true, ..steered(Steering::Undo, Replace(2)) }
}

#[test]
fn the_promises_hold_while_a_failed_version_is_undone() {
    explore("undone", Boundary { user_moves: 2, bad_answers: false, ..undone() }, 20_000);
}

#[test]
#[ignore = "takes minutes: cargo test --release --test it model -- --ignored --nocapture"]
fn the_promises_hold_within_a_larger_boundary() {
    let fails = |boundary: Boundary| Boundary { failures: 1, ..boundary };
    let young = |boundary: Boundary| Boundary { young: true, ..boundary };
    let three = |boundary: Boundary| Boundary { nodes: 3, ..boundary };
    explore("undone, 3 moves", undone(), 400_000);
    explore("replace, young pods, a failure", fails(young(two_nodes(&[Replace(1)]))), 200_000);
    explore("maxUnavailable 2 and 1, 3 nodes", three(two_nodes(&[Replace(2), Replace(1)])), 200_000);
    explore("surge, a failure", fails(two_nodes(&[Surge(1)])), 700_000);
    explore("surge, 3 nodes", three(two_nodes(&[Surge(2)])), 80_000);
    explore("from surge to replace, a failure", fails(two_nodes(&[Surge(1), Replace(1)])), 700_000);
    explore("from surge to replace, 3 nodes", three(two_nodes(&[Surge(1), Replace(2)])), 15_000);
}
