//! Lives of versions that fail under a policy that undoes them, while a tool puts templates back, people edit marks and specs, caches
//! stand still, and controllers crash. Half of them are beside Kubernetes' own controller.

use super::commands::{BROKEN, Command, Limits};
use super::steering::{FailureChoice, MarkEdit, Steering, UpTo, WaveChoice};
use super::trial::{Beginning, Choices, Origin, Trial};
use super::{Step, assert_reach};
use crate::support::{cases, draws};
use daemonset::policy::FailureAction;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::{Union, ValueTree};
use std::collections::BTreeSet;

/// A life: its beginning, and its steps.
fn life() -> impl Strategy<Value = (Beginning, Vec<Step>)> {
    let wave = WaveChoice { ssd: None, up_to: Some(UpTo::Nodes(1)), bake: 0, approval: false };
    let choices = (any::<bool>(), prop::bool::weighted(0.2), prop::bool::weighted(0.3));
    let beginning = (any::<u64>(), 2_u8..4, 1_u8..3, choices, any::<bool>()).prop_map(
        move |(seed, nodes, limit, (drives, paused, in_waves), memory_survives)| Beginning {
            seed,
            nodes,
            limits: Limits::MaxUnavailable(limit),
            min_ready: 0,
            memory_survives,
            taints_absence: false,
            policy: Choices {
                excuses_down: false,
                respects_lifecycle: false,
                steering: Some(Steering {
                    waves: [in_waves.then_some(wave), None, None],
                    paused: paused && in_waves,
                    on_failure: Some(rule(FailureAction::Undo)),
                }),
                drives,
            },
            origin: Origin::Empty,
        },
    );
    (beginning, prop::collection::vec(step(), 4..20))
}

fn rule(action: FailureAction) -> FailureChoice {
    FailureChoice {
        action,
        max_failures: 0,
        available_within: 40,
        deadline: None,
        restarts: None,
        waiting: None,
    }
}

/// A command, and a time in which a version fails, an undo is under way, or an undo is forgotten.
fn step() -> impl Strategy<Value = Step> {
    let millis = prop_oneof![
        3 => 0_u32..2_000,
        4 => 10_000_u32..50_000,
        8 => 45_000_u32..90_000,
        1 => Just(3_660_000),
    ];
    (command(), millis).prop_map(|(command, millis)| Step { command, millis })
}

fn command() -> impl Strategy<Value = Command> {
    let mark = select(vec![2_u8, 4, 4, 5, 5]);
    let edit = prop_oneof![
        3 => Just(MarkEdit::Remove),
        1 => Just(MarkEdit::Garbage),
        1 => Just(MarkEdit::OfAnotherNumber),
        3 => any::<u8>().prop_map(|rest| MarkEdit::Set { rest }),
    ];
    let marked = (any::<u8>(), mark, edit);
    let steering = select(vec![FailureAction::Undo, FailureAction::Undo, FailureAction::Pause]);
    let caches = || select(vec![2_u8, 2, 3, 3, 0, 6, 7]);
    let weighted: Vec<(u32, BoxedStrategy<Command>)> = vec![
        (2, Just(Command::Release { version: 0 }).boxed()),
        (12, (BROKEN..BROKEN + 4).prop_map(|version| Command::Release { version }).boxed()),
        (4, Just(Command::PutBack).boxed()),
        (4, marked.prop_map(|(revision, mark, edit)| Command::Mark { revision, mark, edit }).boxed()),
        (3, select(vec![0_u8, 5, 30]).prop_map(|seconds| Command::MinReady { seconds }).boxed()),
        (1, any::<bool>().prop_map(|paused| Command::Pause { paused }).boxed()),
        (
            1,
            steering
                .prop_map(|action| {
                    let on_failure = Some(rule(action));
                    Command::Steer(Some(Steering { waves: [None; 3], paused: false, on_failure }))
                })
                .boxed(),
        ),
        (1, select(vec![0_u8, 2]).prop_map(|revisions| Command::HistoryLimit { revisions }).boxed()),
        (5, (0_u8..8).prop_map(|after| Command::Crash { after }).boxed()),
        (2, (0_u8..8).prop_map(|after| Command::CrashOther { after }).boxed()),
        (2, select(vec![0_u8, 30]).prop_map(|percent| Command::Refuse { percent }).boxed()),
        (3, select(vec![0_u8, 50]).prop_map(|percent| Command::LoseAnswers { percent }).boxed()),
        (3, (caches(), 0_u8..90).prop_map(|(kind, seconds)| Command::Lag { kind, seconds }).boxed()),
        (4, caches().prop_map(|kind| Command::Freeze { kind }).boxed()),
        (4, caches().prop_map(|kind| Command::Thaw { kind }).boxed()),
    ];
    Union::new_weighted(weighted)
}

fn live((beginning, steps): &(Beginning, Vec<Step>), begin: fn(Beginning) -> Trial) -> Trial {
    let mut trial = begin(*beginning);
    for step in steps {
        trial.perform(step.command, step.millis);
    }
    trial
}

/// The life with this number: the same one each time.
pub fn undone_life(number: u64) -> Trial {
    live(&life().new_tree(&mut draws(number)).unwrap().current(), Trial::begin_with_notes)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(15), failure_persistence: None, max_shrink_iters: 300, ..ProptestConfig::default() })]

    #[test]
    fn promises_hold_in_every_life_that_is_undone(life in life()) {
        let mut trial = live(&life, Trial::begin);
        prop_assert_eq!(trial.broken(), Vec::<String>::new());
        if let Err(unsettled) = trial.settle() {
            prop_assert!(false, "{}", unsettled);
        }
        prop_assert_eq!(trial.broken(), Vec::<String>::new());
    }
}

/// The steps of an undo, its ends, and where a template was restored.
fn reached(trial: &Trial) -> BTreeSet<String> {
    let side = if trial.watcher.driven.is_some() { "beside another controller" } else { "alone" };
    let reached = trial.rollouts.reached.iter();
    reached.flat_map(|thing| [(*thing).to_owned(), format!("{thing}, {side}")]).collect()
}

#[test]
fn the_undone_lives_reach_everything() {
    assert_reach(
        EVERYTHING,
        &[441, 149, 144, 96, 40],
        undone_life,
        reached,
        "tests/it/random_lives/undone.rs",
    );
}

const EVERYTHING: &[&str] = &[
    "the stable revision chosen, alone",
    "the stable revision chosen, beside another controller",
    "undo begun, alone",
    "undo begun, beside another controller",
    "template restored, alone",
    "template restored, beside another controller",
    "way back, alone",
    "way back, beside another controller",
    "way back completed, alone",
    "way back completed, beside another controller",
    "not undone: no stable revision",
    "not undone: undone before",
    "not undone: the DaemonSet has changed",
    "not undone: too late",
    "not undone: too many",
];
