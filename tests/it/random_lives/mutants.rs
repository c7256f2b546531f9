//! The checks on the actual state of the cluster find each error that is planted in the rollout: `.ci/run model-mutants`.

use super::LIVES;
use super::steered::steered_life;
use super::trial::Trial;
use daemonset::mutants::{Mutant, with};

/// Runs steered lives with the error until a promise is broken. The audit's complaints do not count.
fn is_found(mutant: Mutant, promises: &[&str]) {
    let broken = |mut trial: Trial| {
        let mut broken = trial.broken();
        if promises.contains(&"unsettled")
            && let Err(unsettled) = trial.settle()
        {
            broken.push(format!("unsettled: {unsettled}"));
        }
        let counts =
            |complaint: &String| promises.iter().any(|promise| complaint.starts_with(&format!("{promise}:")));
        broken.into_iter().find(counts)
    };
    let found = with(Some(mutant), || (0..LIVES).map(steered_life).find_map(broken));
    println!("{mutant:?} is found: {found:?}");
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
fn a_stable_revision_that_has_failed_is_found() {
    is_found(Mutant::FailedStableRevision, &["failed"]);
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
