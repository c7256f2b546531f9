//! The model check finds each error that is planted in the core: `RUSTFLAGS="--cfg daemonset_mutants" cargo test --test
//! it --target-dir target/mutants model`.

use super::objects::Strategy::{self, Replace, Surge};
use super::promises::Broken;
use super::world::Boundary;
use super::{Checked, shortest_counterexample, two_nodes};
use daemonset::mutants::Mutant;

fn is_found(mutant: Mutant, strategy: Strategy, expected: Broken) {
    is_found_within(mutant, two_nodes(&[strategy]), expected);
}

fn is_found_within(mutant: Mutant, boundary: Boundary, expected: Broken) {
    let model = || {
        let mut model = Checked::new(boundary.clone());
        model.world.controller.mutant = Some(mutant);
        model
    };
    let (name, moves) = shortest_counterexample(model).unwrap();
    println!("{mutant:?}: \"{name}\" is broken after {} moves: {moves:?}", moves.len());
    assert!(Broken::ALL.contains(&(expected, name)));
}

#[test]
fn a_budget_that_is_off_by_one_is_found() {
    is_found(Mutant::BudgetOffByOne, Replace(1), Broken::Budget);
}

#[test]
fn forgotten_taken_nodes_are_found() {
    let boundary = Boundary { taints_absence: true, ..two_nodes(&[Replace(1)]) };
    is_found_within(Mutant::TakenForgotten, boundary, Broken::Budget);
}

#[test]
fn forgotten_deletes_are_found() {
    is_found(Mutant::DeletesForgotten, Replace(1), Broken::DeletedTwice);
}

#[test]
fn forgotten_creates_are_found() {
    is_found(Mutant::CreatesForgotten, Replace(1), Broken::SecondPod);
}

#[test]
fn a_surge_that_does_not_wait_is_found() {
    is_found(Mutant::SurgeWithoutWaiting, Surge(1), Broken::DownUnderSurge);
}
