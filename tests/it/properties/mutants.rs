//! The audit finds errors that are planted in the goals of a rollout: it derives the goals itself.

use super::rollout::steered;
use daemonset::mutants::{Mutant, with};
use daemonset::plan;
use daemonset_audit::audit;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

/// The audit finds one of these rules broken by plans with the error.
fn is_found(mutant: Mutant, rules: &[&str]) {
    let config = Config { failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    for number in 0..5_000 {
        let recording = steered().new_tree(&mut runner).unwrap().current();
        let snapshot = recording.snapshot().unwrap();
        let plan = with(Some(mutant), || plan(&snapshot));
        for violation in audit(&snapshot, &plan.actions) {
            let kind = serde_json::to_value(&violation.kind).unwrap();
            if rules.contains(&kind["type"].as_str().unwrap()) {
                println!("{mutant:?} is found in plan {number}: {violation}");
                return;
            }
        }
    }
    panic!("{mutant:?} is not found");
}

#[test]
fn the_audit_finds_each_error_in_the_goals() {
    is_found(Mutant::WaveNotDone, &["WaveNotDue"]);
    is_found(Mutant::ApprovalIgnored, &["WaveNotDue"]);
    is_found(Mutant::PauseIgnored, &["NotReleased"]);
    is_found(Mutant::FailureIgnored, &["NotReleased"]);
    is_found(Mutant::FailedStableRevision, &["FailedRevisionCreated"]);
    is_found(Mutant::HeldNodeUpdated, &["NotReleased"]);
    is_found(Mutant::ReachedNodeTakenBack, &["NeededPodDeleted"]);
    is_found(Mutant::WaveLowered, &["WrongMark"]);
    is_found(Mutant::CompletedTooEarly, &["WrongMark"]);
    is_found(Mutant::SettledMidway, &["WrongMark", "NotReleased"]);
}
