//! The model of turns finds each error that is planted in the core: `.ci/run model-mutants`.

use super::cases::{NOTHING, edited, in_place, pulls, turn, two_edits, two_on_one_node, two_processes};
use super::promises::Broken;
use super::state::Left;
use super::world::Boundary;
use super::{Checked, shortest_counterexample};
use daemonset::mutants::Mutant;

fn is_found(mutant: Mutant, boundary: Boundary, expected: Broken) {
    is_found_as(mutant, boundary, Some(expected));
}

/// The broken promise; `None` for a cluster that comes to no end.
fn is_found_as(mutant: Mutant, boundary: Boundary, expected: Option<Broken>) {
    let model = || {
        let mut model = Checked::new(boundary.clone());
        model.world.controller.mutant = Some(mutant);
        model.asks_for_ends = expected.is_none();
        model
    };
    let (found, moves) = shortest_counterexample(model).unwrap();
    println!("{mutant:?}: {found:?} after {} moves: {moves:?}", moves.len());
    assert_eq!(found, expected);
}

fn in_turn(left: Left) -> Boundary {
    edited(2, turn(), left)
}

#[test]
fn a_pod_that_is_taken_without_a_turn_is_found() {
    is_found(Mutant::TurnSkipped, in_turn(NOTHING), Broken::NotInTurn);
}

#[test]
fn an_ignored_gate_is_found() {
    is_found(Mutant::GateIgnored, in_turn(NOTHING), Broken::GateClosed);
}

#[test]
fn a_gate_that_an_old_answer_opens_is_found() {
    let left = Left { late_answers: 1, ..NOTHING };
    is_found(Mutant::AnyAnswerOpens, two_edits(1, turn(), left), Broken::GateClosed);
}

#[test]
fn a_turn_that_ends_too_early_is_found() {
    is_found(Mutant::TurnEndsEarly, in_turn(NOTHING), Broken::EndedTooEarly);
}

#[test]
fn one_turn_too_many_is_found() {
    let broken = Boundary { is_broken: true, ..in_turn(NOTHING) };
    is_found(Mutant::TurnLimitOffByOne, broken, Broken::TooManyTurns);
}

#[test]
fn forgotten_patches_are_found() {
    is_found(Mutant::PatchesForgotten, two_edits(1, turn(), NOTHING), Broken::NotInTurn);
}

#[test]
fn an_ignored_keep_is_found() {
    is_found(Mutant::KeepIgnored, in_turn(Left { policies: 1, ..NOTHING }), Broken::NotKept);
}

#[test]
fn a_cordon_that_is_left_behind_is_found() {
    is_found(Mutant::CordonLeft, in_turn(NOTHING), Broken::LeftCordoned);
}

#[test]
fn the_cordon_of_a_person_that_is_taken_back_is_found() {
    is_found(Mutant::PersonsCordonTaken, in_turn(Left { cordons: 1, ..NOTHING }), Broken::PersonsCordon);
}

#[test]
fn a_turn_that_keeps_a_lost_cordon_is_found() {
    is_found(Mutant::LostCordonKept, in_turn(Left { cordons: 1, ..NOTHING }), Broken::CordonNotLost);
}

#[test]
fn a_cordon_that_is_not_handed_over_is_found() {
    is_found(Mutant::CordonNotHandedOver, two_on_one_node(NOTHING), Broken::UncordonedInTurn);
}

#[test]
fn names_that_depend_on_the_template_are_found() {
    is_found(Mutant::NameByTemplate, two_processes(1), Broken::SecondPod);
}

#[test]
fn pods_that_count_with_their_old_containers_are_found() {
    is_found(Mutant::OldContainersCount, edited(2, in_place(), NOTHING), Broken::Budget);
}

#[test]
fn forgotten_changes_in_place_are_found() {
    is_found(Mutant::ChangesForgotten, edited(2, in_place(), NOTHING), Broken::Budget);
}

#[test]
fn a_pod_that_does_not_wait_for_images_is_found() {
    is_found(Mutant::PullNotAwaited, edited(2, pulls(), NOTHING), Broken::WithoutImages);
}

#[test]
fn one_pull_too_many_is_found() {
    is_found(Mutant::PullsOffByOne, edited(2, pulls(), NOTHING), Broken::TooManyPulls);
}

#[test]
fn forgotten_pulls_are_found() {
    let left = Left { deletions: 1, ..NOTHING };
    is_found(Mutant::PullsForgotten, edited(2, pulls(), left), Broken::TooManyPulls);
}

#[test]
fn pull_pods_that_stay_are_found() {
    is_found_as(Mutant::PullPodsLeft, edited(2, pulls(), NOTHING), None);
}
