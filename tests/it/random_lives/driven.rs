//! Random lives beside Kubernetes' own controller, which creates the pods while this one drives the update.

use super::trial::Trial;
use super::{LIVES, lives_that, missing, things};
use std::collections::BTreeSet;

fn driven_lives() -> impl Iterator<Item = Trial> {
    lives_that(|life| life.beginning.policy.drives, Trial::begin_with_notes)
}

#[test]
fn the_driven_lives_reach_everything() {
    let reached = |trial: &Trial| {
        let reached = trial.rollouts.reached.iter().map(|&thing| thing.to_owned());
        things(trial).into_iter().chain(reached).collect::<BTreeSet<String>>()
    };
    let missing = missing(EVERYTHING, driven_lives(), reached);
    assert!(missing.is_empty(), "never reached in {LIVES} lives: {missing:?}");
}

/// Events, marks and states that some driven life must have.
const EVERYTHING: &[&str] = &[
    "ControllerCrashed by world",
    "OtherControllerCrashed by world",
    "PodCreated by otherController",
    "PodTerminating by controller OutdatedAvailable",
    "PodTerminating by controller OutdatedNotReady",
    "PodTerminating by otherController FailedPod",
    "PodTerminating by otherController NodeExcluded",
    "a takedown that spends the budget",
    "held node lost under drive",
    "later wave opened",
    "wave opened after approval",
    "too many failures",
    "deadline exceeded",
    "completed",
];

/// The driver leaves creates, claims, the history and the status to the other controller.
#[test]
fn a_driver_only_deletes_for_an_update_and_marks() {
    for trial in driven_lives().take(40) {
        let by_driver = things(&trial)
            .into_iter()
            .filter(|thing| thing.ends_with(" by controller") || thing.contains(" by controller "));
        let updates = ["Outdated", "Reconciled by", "RolloutMoved by"];
        let others: Vec<String> =
            by_driver.filter(|thing| !updates.iter().any(|update| thing.contains(update))).collect();
        assert!(others.is_empty(), "{others:?}");
    }
}
