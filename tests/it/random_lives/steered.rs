//! Random rollout policies, and lives in which people steer: approve, pause, edit marks and policies.

use super::commands::Command;
use super::steering::{FailureChoice, MarkEdit, Steering, UpTo, WaveChoice};
use super::trial::Trial;
use super::{Life, assert_reach, life_that};
use daemonset::policy::FailureAction;
use proptest::prelude::*;
use proptest::sample::select;

pub fn steering() -> impl Strategy<Value = Steering> {
    let wave = || prop::option::weighted(0.7, wave());
    ((wave(), wave(), wave()), prop::bool::weighted(0.1), prop::option::weighted(0.7, failure()))
        .prop_map(|((a, b, c), paused, on_failure)| Steering { waves: [a, b, c], paused, on_failure })
}

fn wave() -> impl Strategy<Value = WaveChoice> {
    let up_to = prop_oneof![
        2 => Just(None),
        4 => (0_u8..4).prop_map(|nodes| Some(UpTo::Nodes(nodes))),
        1 => Just(Some(UpTo::Percent(34))),
    ];
    let ssd = prop_oneof![5 => Just(None), 2 => any::<bool>().prop_map(Some)];
    (ssd, up_to, select(vec![0_u8, 0, 10, 60]), prop::bool::weighted(0.3))
        .prop_map(|(ssd, up_to, bake, approval)| WaveChoice { ssd, up_to, bake, approval })
}

fn failure() -> impl Strategy<Value = FailureChoice> {
    let deadline = select(vec![None, None, Some(60), Some(300)]);
    let containers = (select(vec![None, Some(0), Some(2)]), select(vec![None, Some(0), Some(20)]));
    let action = select(vec![FailureAction::Pause, FailureAction::RollBack, FailureAction::Undo]);
    (action, select(vec![0_u8, 0, 1]), select(vec![40_u8, 90]), deadline, containers).prop_map(
        |(action, max_failures, available_within, deadline, (restarts, waiting))| FailureChoice {
            action,
            max_failures,
            available_within,
            deadline,
            restarts,
            waiting,
        },
    )
}

/// Commands of a person who steers the rollout.
pub fn steers() -> BoxedStrategy<Command> {
    let mark = select(vec![0_u8, 1, 1, 2, 2, 3, 4, 5]);
    let edit = prop_oneof![
        3 => Just(MarkEdit::Remove),
        1 => Just(MarkEdit::Garbage),
        1 => Just(MarkEdit::OfAnotherNumber),
        2 => any::<u8>().prop_map(|rest| MarkEdit::Set { rest }),
    ];
    prop_oneof![
        2 => prop::option::weighted(0.9, steering()).prop_map(Command::Steer),
        3 => any::<bool>().prop_map(|paused| Command::Pause { paused }),
        1 => Just(Command::PutBack),
        3 => (0_u8..4).prop_map(|waves| Command::Approve { waves }),
        4 => (any::<u8>(), mark, edit)
            .prop_map(|(revision, mark, edit)| Command::Mark { revision, mark, edit }),
    ]
    .boxed()
}

/// The random life with this number of those whose rollouts are steered, by the only controller.
pub fn steered_life(number: u64) -> Trial {
    let fits = |life: &Life| life.beginning.policy.steering.is_some() && !life.beginning.policy.drives;
    life_that(fits, number, Trial::begin_with_notes)
}

#[test]
fn the_steered_lives_reach_everything() {
    let reached = |trial: &Trial| trial.rollouts.reached.iter().map(|&thing| thing.to_owned()).collect();
    assert_reach(
        EVERYTHING,
        &[69, 57, 43, 39, 23, 22, 1],
        steered_life,
        reached,
        "tests/it/random_lives/steered.rs or steering.rs beside it",
    );
}

/// Marks that the controller must set in some life, and states of a rollout that some plan must find.
const EVERYTHING: &[&str] = &[
    "started",
    "first wave opened",
    "later wave opened",
    "wave opened after approval",
    "paused",
    "resumed",
    "too many failures",
    "deadline exceeded",
    "node down under its new pod",
    "too many restarts",
    "container waits in vain",
    "unavailable for too long",
    "completed",
    "wave waits for the one before",
    "wave waits for approval",
    "wave bakes",
    "over",
    "going on",
    "stopped",
    "rolled back",
];
