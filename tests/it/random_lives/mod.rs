//! Random runs of a simulated cluster, and the promises that must hold in each of them.
//!
//! `PROPTEST_CASES=100000 cargo test --release -p daemonset --test it random_lives::` sets the number of runs.

mod commands;
mod driven;
#[cfg(daemonset_mutants)]
mod mutants;
mod rollout;
mod steered;
mod steering;
mod trial;
mod turning;
mod undone;
pub mod upstream;
mod watcher;

use crate::support::{Reach, cases, draws};
use commands::{Command, Limits};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::{Union, ValueTree};
use proptest::test_runner::Config;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest, prop_state_machine};
use std::collections::BTreeSet;
use steered::{steering, steers};
use trial::{Beginning, Choices, Origin, Trial, Versions};

/// The reference state machine holds only the beginning of a run, because the promises are checked on the history.
#[derive(Debug, Clone)]
struct Lives;

fn beginning() -> impl Strategy<Value = Beginning> {
    let options = (any::<bool>(), prop::bool::weighted(0.25), policy(), origin());
    (any::<u64>(), 2_u8..7, limits(), select(vec![0_u8, 0, 10]), options).prop_map(
        |(seed, nodes, limits, min_ready, (memory_survives, taints_absence, policy, origin))| Beginning {
            seed,
            nodes,
            limits,
            min_ready,
            memory_survives,
            taints_absence,
            policy,
            origin,
        },
    )
}

fn origin() -> impl Strategy<Value = Origin> {
    prop_oneof![
        3 => Just(Origin::Empty),
        2 => Just(Origin::Recorded(Versions::Numbers)),
        1 => select(vec![Versions::Opaque, Versions::Absent]).prop_map(Origin::Recorded),
    ]
}

fn policy() -> impl Strategy<Value = Choices> {
    let steering = prop::option::weighted(0.5, steering());
    let drives = prop::bool::weighted(0.25);
    (any::<bool>(), any::<bool>(), steering, drives).prop_map(
        |(excuses_down, respects_lifecycle, steering, drives)| Choices {
            excuses_down,
            respects_lifecycle,
            steering,
            drives,
        },
    )
}

fn limits() -> impl Strategy<Value = Limits> {
    prop_oneof![
        1 => Just(Limits::OnDelete),
        6 => (0_u8..4).prop_map(Limits::MaxUnavailable),
        2 => select(vec![10_u8, 34, 50, 100]).prop_map(Limits::MaxUnavailablePercent),
        5 => (1_u8..3).prop_map(Limits::MaxSurge),
        1 => (1_u8..3).prop_map(Limits::Surging),
    ]
}

/// A random step.
fn step(life: &Life) -> BoxedStrategy<Step> {
    let millis =
        prop_oneof![1 => Just(0), 3 => 1_u32..3_000, 4 => 3_000_u32..30_000, 1 => 30_000_u32..120_000];
    (command(life), millis).prop_map(|(command, millis)| Step { command, millis }).boxed()
}

/// One command, and the time that passes after it.
#[derive(Debug, Clone, Copy)]
struct Step {
    command: Command,
    millis: u32,
}

fn command(life: &Life) -> BoxedStrategy<Command> {
    let (steered, stale, beyond) = (life.beginning.policy.steering.is_some(), life.stale, life.beyond);
    let drives = life.beginning.policy.drives;
    let versions = if steered { vec![3_u8, 4, 5, 6] } else { vec![3, 4, 5, 5] };
    let version = prop_oneof![6 => 0_u8..3, 3 => select(versions)];
    let mut all: Vec<(u32, BoxedStrategy<Command>)> = vec![
        (12, version.prop_map(|version| Command::Release { version }).boxed()),
        (4, limits().prop_map(Command::Strategy).boxed()),
        (2, select(vec![0_u8, 5, 30]).prop_map(|seconds| Command::MinReady { seconds }).boxed()),
        (2, any::<bool>().prop_map(|dedicated| Command::Tolerate { dedicated }).boxed()),
        (1, any::<bool>().prop_map(|ssd| Command::Select { ssd }).boxed()),
        (1, (0_u8..3).prop_map(|revisions| Command::HistoryLimit { revisions }).boxed()),
        (3, any::<u8>().prop_map(|pod| Command::DeletePod { pod }).boxed()),
        (2, any::<u8>().prop_map(|pod| Command::FailPod { pod }).boxed()),
        (3, any::<u8>().prop_map(|pod| Command::CrashPod { pod }).boxed()),
        (
            3,
            (any::<u8>(), any::<bool>()).prop_map(|(node, execute)| Command::Taint { node, execute }).boxed(),
        ),
        (2, any::<u8>().prop_map(|node| Command::Untaint { node }).boxed()),
        (1, any::<u8>().prop_map(|node| Command::Cordon { node }).boxed()),
        (1, any::<u8>().prop_map(|node| Command::Uncordon { node }).boxed()),
        (2, any::<u8>().prop_map(|node| Command::TakeDown { node }).boxed()),
        (2, any::<u8>().prop_map(|node| Command::BringUp { node }).boxed()),
        (1, any::<u8>().prop_map(|node| Command::ShutDown { node }).boxed()),
        (
            2,
            (any::<u8>(), any::<u8>(), any::<bool>())
                .prop_map(|(node, kind, is_true)| Command::Condition { node, kind, is_true })
                .boxed(),
        ),
        (2, Just(Command::AddNode).boxed()),
        (3, any::<u8>().prop_map(|node| Command::RemoveNode { node }).boxed()),
        (1, (any::<u8>(), any::<bool>()).prop_map(|(node, ssd)| Command::Label { node, ssd }).boxed()),
        (5, (0_u8..8).prop_map(|after| Command::Crash { after }).boxed()),
        (1, select(vec![0_u8, 20]).prop_map(|percent| Command::Refuse { percent }).boxed()),
        (2, select(vec![0_u8, 20]).prop_map(|percent| Command::LoseAnswers { percent }).boxed()),
    ];
    if steered {
        all.push((20, steers()));
    }
    if drives {
        all.push((5, (0_u8..8).prop_map(|after| Command::CrashOther { after }).boxed()));
    }
    if stale {
        let caches = if drives { vec![0_u8, 0, 1, 2, 3, 4, 4, 5, 6, 7] } else { vec![0_u8, 0, 0, 1, 2, 3] };
        all.push((
            6,
            (select(caches), 0_u8..90).prop_map(|(kind, seconds)| Command::Lag { kind, seconds }).boxed(),
        ));
        all.push((6, any::<u8>().prop_map(|kind| Command::Freeze { kind }).boxed()));
        all.push((6, any::<u8>().prop_map(|kind| Command::Thaw { kind }).boxed()));
    }
    if beyond {
        all.push((4, Just(Command::LoseMemory).boxed()));
        all.push((4, (1_u8..120).prop_map(|seconds| Command::ListThePast { seconds }).boxed()));
    }
    Union::new_weighted(all).boxed()
}

/// The reference's state: the beginning of a run, and the allowed events.
#[derive(Debug, Clone)]
struct Life {
    beginning: Beginning,
    /// Caches may lag.
    stale: bool,
    /// Events may happen after which no promise holds.
    beyond: bool,
}

impl ReferenceStateMachine for Lives {
    type State = Life;
    type Transition = Step;

    fn init_state() -> BoxedStrategy<Life> {
        (beginning(), any::<bool>(), prop::bool::weighted(0.15))
            .prop_map(|(beginning, stale, beyond)| Life { beginning, stale, beyond })
            .boxed()
    }

    fn transitions(life: &Life) -> BoxedStrategy<Step> {
        step(life)
    }

    fn apply(life: Life, _: &Step) -> Life {
        life
    }
}

impl StateMachineTest for Lives {
    type SystemUnderTest = Trial;
    type Reference = Lives;

    fn init_test(life: &Life) -> Trial {
        Trial::begin(life.beginning)
    }

    fn apply(mut trial: Trial, _: &Life, step: Step) -> Trial {
        trial.perform(step.command, step.millis);
        trial
    }

    fn check_invariants(trial: &Trial, _: &Life) {
        let broken = trial.broken();
        assert!(broken.is_empty(), "{broken:#?}");
    }

    fn teardown(mut trial: Trial, _: Life) {
        if let Err(unsettled) = trial.settle() {
            panic!("{unsettled}");
        }
        let broken = trial.broken();
        assert!(broken.is_empty(), "{broken:#?}");
    }
}

prop_state_machine! {
    #![proptest_config(Config { cases: cases(60), failure_persistence: None, max_shrink_iters: 4000, ..Config::default() })]

    #[test]
    fn promises_hold_in_every_random_life(sequential 1..25 => Lives);
}

/// The random life with this number of those with an unsteered rollout and one controller.
fn life(number: u64, begin: fn(Beginning) -> Trial) -> Trial {
    let fits = |life: &Life| life.beginning.policy.steering.is_none() && !life.beginning.policy.drives;
    life_that(fits, number, begin)
}

/// The random life with this number of those that fit: the same one each time.
fn life_that(fits: fn(&Life) -> bool, number: u64, begin: fn(Beginning) -> Trial) -> Trial {
    let mut draws = draws(number);
    let mut lives = std::iter::repeat_with(|| Lives::init_state().new_tree(&mut draws).unwrap().current());
    let life = lives.find(fits).unwrap();
    let steps = prop::collection::vec(Lives::transitions(&life), 1..25);
    let mut trial = begin(life.beginning);
    for step in &steps.new_tree(&mut draws).unwrap().current() {
        trial.perform(step.command, step.millis);
    }
    trial
}

/// Asserts that `LIVES` lives have each of the wanted things, those with a known number first. `generator` is the file that makes their
/// commands.
fn assert_reach(
    wanted: &[&str],
    known: &[u64],
    life: impl Fn(u64) -> Trial,
    things: impl Fn(&Trial) -> BTreeSet<String>,
    generator: &str,
) {
    let reached = Reach::of(wanted, known, LIVES, |number| once_each(things(&life(number))));
    reached.assert_has(wanted, &format!("{LIVES} lives"), generator);
}

fn once_each(things: BTreeSet<String>) -> impl Iterator<Item = (String, u32)> {
    things.into_iter().map(|thing| (thing, 1))
}

/// The events and situations that a run has reached.
fn things(trial: &Trial) -> BTreeSet<String> {
    let mut things = BTreeSet::new();
    for event in trial.cluster.history() {
        let json = serde_json::to_value(event).unwrap();
        let text = |field: &str| json[field].as_str().unwrap_or_default().to_owned();
        things
            .insert(format!("{} by {} {}", text("event"), text("by"), text("reason")).trim_end().to_owned());
    }
    let tally = trial.watcher.tally;
    let counted = [
        ("a takedown", tally.takedowns),
        ("a takedown that spends the budget", tally.at_the_limit),
        ("a takedown beside a crash", tally.not_ours),
        ("a takedown of a pod that has just become Ready", tally.unseen),
        ("a takedown on a node that has just become a target", tally.unsettled),
        ("a taken node that is a target no more", tally.taken_and_left),
        ("as many taken nodes as allowed, one of them a target no more", tally.taken_at_the_limit),
    ];
    things.extend(counted.iter().filter(|(_, count)| *count > 0).map(|(name, _)| (*name).to_owned()));
    if trial.is_beyond_promises() {
        let kept = if trial.watcher.excesses.is_empty() { "kept" } else { "broken" };
        things.insert(format!("beyond promises, the budget is {kept}"));
    }
    things
}

#[test]
fn the_lives_reach_everything() {
    assert_reach(
        EVERYTHING,
        &[187, 58, 35, 31, 23, 10, 7, 4, 3, 1],
        |number| life(number, Trial::begin),
        things,
        COMMANDS,
    );
}

/// Those of the promises that no run breaks, the ones with a known number first.
fn kept(promises: &[&'static str], known: &[u64], begin: fn(Beginning) -> Trial) -> BTreeSet<&'static str> {
    let broken = |number| once_each(life(number, begin).broken().into_iter().map(promise).collect());
    let broken = Reach::of(promises, known, LIVES, broken);
    promises.iter().copied().filter(|promise| !broken.has(promise)).collect()
}

/// The promise of a complaint.
fn promise(complaint: String) -> String {
    complaint.split(": Excess").next().unwrap_or_default().to_owned()
}

/// Kubernetes' own controller breaks the promises, so that they are no tautologies: kubernetes#122527 (status), and the
/// choice of the oldest among several pods.
#[test]
fn kubernetes_own_controller_breaks_the_promises() {
    let promises = ["status: done too early", "audit: \"NeededPodDeleted\""];
    assert_eq!(kept(&promises, &[2, 1], upstream::begin), BTreeSet::new());
}

/// One version follows the other, and somebody deletes a pod meanwhile: nodes without a Ready pod exceed the limit (kruise#1323).
/// One of two hundred random lives is like this.
#[test]
fn kubernetes_own_controller_leaves_more_nodes_unready_than_allowed() {
    let policy = Choices { excuses_down: false, respects_lifecycle: false, steering: None, drives: false };
    let beginning = Beginning {
        seed: 0,
        nodes: 4,
        limits: Limits::MaxUnavailable(1),
        min_ready: 10,
        memory_survives: true,
        taints_absence: false,
        policy,
        origin: Origin::Empty,
    };
    let broken = |begin: fn(Beginning) -> Trial| {
        let mut trial = begin(beginning);
        trial.perform(Command::MinReady { seconds: 30 }, 26_656);
        trial.perform(Command::Release { version: 1 }, 1_676);
        trial.perform(Command::DeletePod { pod: 27 }, 17_250);
        trial.perform(Command::Release { version: 2 }, 630);
        trial.broken().into_iter().map(promise).collect::<BTreeSet<_>>()
    };
    assert!(broken(upstream::begin).contains("ready"));
    assert_eq!(broken(Trial::begin), BTreeSet::new());
}

/// This crate's own planner breaks the promises for a caller without memory, because stale caches then spend the budget
/// twice.
#[test]
fn a_forgetful_caller_breaks_the_promises() {
    assert_eq!(kept(&["available", "ready"], &[10], Trial::begin_without_memory), BTreeSet::new());
}

/// A caller without memory loses count of the nodes that it took down, and so does Kubernetes' own controller.
#[test]
fn without_memory_node_after_node_is_taken() {
    assert_eq!(kept(&["taken"], &[11], Trial::begin_without_memory), BTreeSet::new());
    assert_eq!(kept(&["taken"], &[1], upstream::begin), BTreeSet::new());
}

/// The generator of the lives.
const COMMANDS: &str = "tests/it/random_lives/commands.rs";

/// The number of runs after which a thing counts as never reached: many times as many as it takes.
const LIVES: u64 = 5_000;

/// Events and situations that the runs must reach.
const EVERYTHING: &[&str] = &[
    "ControllerCrashed by world",
    "NodeGone by user",
    "NodeReady by world",
    "NodeTainted by user",
    "NodeTainted by world",
    "NodeUnready by user",
    "NodeUnready by world",
    "PodFailed by world Evicted",
    "PodFailed by world NodeShutdown",
    "PodTerminating by controller ExcessPod",
    "PodTerminating by controller FailedPod",
    "PodTerminating by controller NodeExcluded",
    "PodTerminating by controller NodeGone",
    "PodTerminating by controller NotReadyBesideSuccessor",
    "PodTerminating by controller OutdatedAvailable",
    "PodTerminating by controller OutdatedNotReady",
    "PodTerminating by controller OutdatedNotYetAvailable",
    "PodTerminating by controller OutdatedPending",
    "PodTerminating by controller SuccessorAvailable",
    "PodTerminating by user",
    "PodTerminating by world",
    "PodUnready by world Crashed",
    "PodUnready by world NodeUnready",
    "a takedown",
    "a takedown beside a crash",
    "a takedown of a pod that has just become Ready",
    "a takedown on a node that has just become a target",
    "a takedown that spends the budget",
    "a taken node that is a target no more",
    "as many taken nodes as allowed, one of them a target no more",
    "beyond promises, the budget is kept",
];
