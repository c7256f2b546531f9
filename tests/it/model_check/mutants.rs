//! The model check finds each error that is planted in the core: `RUSTFLAGS="--cfg daemonset_mutants" cargo test --test
//! it --target-dir target/mutants model`.

use super::objects::Strategy::{self, Replace, Surge};
use super::promises::Broken;
use super::world::{Boundary, Steering};
use super::{Checked, shortest_counterexample, steered, two_nodes, undone};
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

fn is_found_while_steered(mutant: Mutant, steering: Steering, expected: Broken) {
    is_found_within(mutant, steered(steering, Replace(1)), expected);
}

#[test]
fn a_wave_that_does_not_wait_is_found() {
    is_found_while_steered(Mutant::WaveNotDone, Steering::Pause, Broken::WaveTooEarly);
}

#[test]
fn a_wave_without_approval_is_found() {
    is_found_while_steered(Mutant::ApprovalIgnored, Steering::Pause, Broken::WaveTooEarly);
}

#[test]
fn an_ignored_pause_is_found() {
    is_found_while_steered(Mutant::PauseIgnored, Steering::Pause, Broken::PauseIgnored);
}

#[test]
fn an_ignored_failure_is_found() {
    is_found_while_steered(Mutant::FailureIgnored, Steering::RollBack, Broken::FailureSpreads);
}

#[test]
fn an_update_of_a_held_node_is_found() {
    is_found_while_steered(Mutant::HeldNodeUpdated, Steering::Pause, Broken::WaveTooEarly);
}

#[test]
fn a_wave_that_is_closed_again_is_found() {
    is_found_while_steered(Mutant::WaveLowered, Steering::Pause, Broken::WaveClosed);
}

#[test]
fn a_rollout_that_is_completed_too_early_is_found() {
    is_found_while_steered(Mutant::CompletedTooEarly, Steering::Pause, Broken::PauseIgnored);
}

#[test]
fn a_version_that_is_undone_again_and_again_is_found() {
    is_found_within(Mutant::UndoneAgain, undone(), Broken::UndoneTwice);
}

#[test]
fn an_undo_of_a_changed_daemon_set_is_found() {
    is_found_within(Mutant::ChangeUndone, undone(), Broken::WrongRestore);
}

#[test]
fn a_restored_template_that_holds_up_nothing_is_found() {
    is_found_within(Mutant::RestoreNotAwaited, undone(), Broken::NotAwaited);
}

/// A known limit: a plan knows a mark only once the cache shows it. With a watch of revisions that lags behind the one of pods,
/// the verdict is forgotten with the pods that were its evidence, and the version that has failed comes back for a while.
#[test]
fn a_cache_without_the_marks_that_were_just_set_is_found() {
    let boundary = Boundary { marks_lag: true, ..steered(Steering::RollBack, Replace(1)) };
    let (name, _) = shortest_counterexample(|| Checked::new(boundary.clone())).unwrap();
    assert!(Broken::ALL.contains(&(Broken::FailureSpreads, name)), "{name}");
}
