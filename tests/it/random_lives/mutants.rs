//! The checks on the actual state of the cluster find each error that is planted in the rollout: `.ci/run model-mutants`.

use super::steered::steered_lives;
use daemonset::mutants::{Mutant, with};
use std::ops::ControlFlow;

/// Runs steered lives with the error until a promise is broken. The audit's complaints do not count.
fn is_found(mutant: Mutant, promises: &[&str]) {
    const LIVES: u32 = 400;
    let mut found = None;
    with(Some(mutant), || {
        steered_lives(LIVES, |mut trial| {
            let mut broken = trial.broken();
            if promises.contains(&"unsettled")
                && let Err(unsettled) = trial.settle()
            {
                broken.push(format!("unsettled: {unsettled}"));
            }
            found = broken.into_iter().find(|complaint| {
                promises.iter().any(|promise| complaint.starts_with(&format!("{promise}:")))
            });
            if found.is_some() {
                println!("{mutant:?} is found: {found:?}");
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
    });
    assert!(found.is_some(), "{mutant:?} is not found in {LIVES} lives");
}

#[test]
fn a_wave_that_does_not_wait_is_found() {
    is_found(Mutant::WaveNotDone, &["marks"]);
}

#[test]
fn a_wave_without_approval_is_found() {
    is_found(Mutant::ApprovalIgnored, &["marks"]);
}

#[test]
fn an_ignored_pause_is_found() {
    is_found(Mutant::PauseIgnored, &["released"]);
}

#[test]
fn an_ignored_failure_is_found() {
    is_found(Mutant::FailureIgnored, &["released", "marks"]);
}

#[test]
fn a_forgotten_roll_back_is_found() {
    is_found(Mutant::RollBackForgotten, &["unsettled"]);
}

#[test]
fn a_verdict_that_is_not_marked_is_found() {
    is_found(Mutant::VerdictNotMarked, &["unsettled", "taken back"]);
}

#[test]
fn a_base_that_has_failed_is_found() {
    is_found(Mutant::FailedBase, &["failed"]);
}

#[test]
fn an_update_of_a_held_node_is_found() {
    is_found(Mutant::HeldNodeUpdated, &["released"]);
}

#[test]
fn a_node_that_is_taken_back_is_found() {
    is_found(Mutant::ReachedNodeTakenBack, &["taken back"]);
}

#[test]
fn a_wave_that_is_closed_again_is_found() {
    is_found(Mutant::WaveLowered, &["marks"]);
}

#[test]
fn a_rollout_that_is_completed_too_early_is_found() {
    is_found(Mutant::CompletedTooEarly, &["marks"]);
}
