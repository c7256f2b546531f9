//! The lives with turns find each error that is planted in turns: `.ci/run model-mutants`.

use super::beginning::Beginning;
use super::turning_life;
use crate::random_lives::LIVES;
use daemonset::mutants::{Mutant, with};

fn is_found(mutant: Mutant, promises: &[&str]) {
    is_found_in(mutant, promises, |_| true);
}

/// Lives with the error, of those that begin so, until one breaks the promise. The audit's complaints do not count.
fn is_found_in(mutant: Mutant, promises: &[&str], fits: fn(&Beginning) -> bool) {
    let counts = |complaint: &String| promises.iter().any(|promise| complaint.starts_with(promise));
    let found = with(Some(mutant), || {
        (0..LIVES).find_map(|number| {
            let mut life = turning_life(fits, number)?;
            let mut broken = life.broken();
            if !broken.iter().any(counts) {
                broken.extend(life.settle().err().map(|unsettled| format!("unsettled: {unsettled}")));
                broken.extend(life.broken());
            }
            broken.into_iter().find(counts).map(|found| (number, found))
        })
    });
    println!("{mutant:?} is found: {found:?}");
    assert!(found.is_some(), "{mutant:?} is not found in {LIVES} lives");
}

#[test]
fn a_pod_that_is_taken_without_a_turn_is_found() {
    is_found(Mutant::TurnSkipped, &["not in turn"]);
}

#[test]
fn an_ignored_keep_is_found() {
    is_found(Mutant::KeepIgnored, &["kept"]);
}

#[test]
fn an_ignored_gate_is_found() {
    is_found(Mutant::GateIgnored, &["gates"]);
}

#[test]
fn a_gate_that_another_answer_opens_is_found() {
    is_found(Mutant::AnyAnswerOpens, &["gates"]);
}

#[test]
fn a_turn_that_ends_too_early_is_found() {
    is_found(Mutant::TurnEndsEarly, &["end"]);
}

#[test]
fn one_turn_too_many_is_found() {
    is_found(Mutant::TurnLimitOffByOne, &["turn limit"]);
}

#[test]
fn a_cordon_that_is_left_behind_is_found() {
    is_found(Mutant::CordonLeft, &["cordon: left"]);
}

#[test]
fn a_cordon_that_is_not_handed_over_is_found() {
    is_found(Mutant::CordonNotHandedOver, &["cordon: other"]);
}

#[test]
fn the_cordon_of_a_person_that_is_taken_back_is_found() {
    is_found(Mutant::PersonsCordonTaken, &["cordon: of a person"]);
}

#[test]
fn a_turn_that_keeps_a_lost_cordon_is_found() {
    is_found(Mutant::LostCordonKept, &["cordon: the turn"]);
}

#[test]
fn forgotten_patches_are_found() {
    is_found(Mutant::PatchesForgotten, &["not in turn", "turn limit"]);
}

#[test]
fn names_that_depend_on_the_template_are_found() {
    let fits = |beginning: &Beginning| beginning.forgets && beginning.choices.one_per_node;
    is_found_in(Mutant::NameByTemplate, &["one per node"], fits);
}

#[test]
fn pods_that_count_with_their_old_containers_are_found() {
    is_found(Mutant::OldContainersCount, &["taken", "end", "in place"]);
}

#[test]
fn forgotten_changes_in_place_are_found() {
    is_found_in(Mutant::ChangesForgotten, &["taken"], |beginning| beginning.choices.in_place);
}

#[test]
fn a_pod_that_does_not_wait_for_images_is_found() {
    is_found(Mutant::PullNotAwaited, &["images"]);
}

#[test]
fn one_pull_too_many_is_found() {
    is_found(Mutant::PullsOffByOne, &["pulls"]);
}

#[test]
fn forgotten_pulls_are_found() {
    is_found_in(Mutant::PullsForgotten, &["pulls"], |beginning| beginning.choices.pull.is_some());
}

#[test]
fn pull_pods_that_stay_are_found() {
    is_found(Mutant::PullPodsLeft, &["unsettled"]);
}
