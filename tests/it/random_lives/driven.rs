//! Random lives beside Kubernetes' own controller, which creates the pods while this one drives the update.

use super::commands::{Command, Limits};
use super::steering::{FailureChoice, Steering, UpTo, WaveChoice};
use super::trial::{Beginning, Choices, Origin, Trial, Versions};
use super::{COMMANDS, assert_reach, life_that, things};
use daemonset::policy::FailureAction;
use std::collections::BTreeSet;

fn driven_life(number: u64) -> Trial {
    life_that(|life| life.beginning.policy.drives, number, Trial::begin_with_notes)
}

#[test]
fn the_driven_lives_reach_everything() {
    let reached = |trial: &Trial| {
        let reached = trial.rollouts.reached.iter().map(|&thing| thing.to_owned());
        things(trial).into_iter().chain(reached).collect::<BTreeSet<String>>()
    };
    assert_reach(EVERYTHING, &[158, 148, 132, 64, 25, 21], driven_life, reached, COMMANDS);
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
    for trial in (0..40).map(driven_life) {
        let by_driver = things(&trial)
            .into_iter()
            .filter(|thing| thing.ends_with(" by controller") || thing.contains(" by controller "));
        let updates = ["Outdated", "Reconciled by", "RolloutMoved by"];
        let others: Vec<String> =
            by_driver.filter(|thing| !updates.iter().any(|update| thing.contains(update))).collect();
        assert!(others.is_empty(), "{others:?}");
    }
}

/// The beginning of a driven life whose controller forgets with each restart.
fn begin(seed: u64, nodes: u8, limits: Limits, steering: Steering) -> Trial {
    Trial::begin(Beginning {
        seed,
        nodes,
        limits,
        min_ready: 0,
        memory_survives: false,
        taints_absence: false,
        policy: Choices {
            excuses_down: false,
            respects_lifecycle: false,
            steering: Some(steering),
            drives: true,
        },
        origin: Origin::Empty,
    })
}

/// The update takes the pod of a tainted node just before the template withdraws the toleration. To the stable revision, whose wave lacks a pod
/// there, it is a target node; to the new version it is a taken node that is a target no more. A person brings it back once the
/// waves have reached it.
#[test]
fn a_rollout_goes_on_when_a_taken_node_is_brought_back() {
    let wave = WaveChoice { ssd: None, up_to: Some(UpTo::Percent(34)), bake: 0, approval: false };
    let steering = Steering { waves: [None, None, Some(wave)], paused: false, on_failure: None };
    let mut trial = begin(814_285_173_440_036_794, 3, Limits::MaxSurge(1), steering);
    trial.perform(Command::Taint { node: 44, execute: false }, 0);
    trial.perform(Command::Tolerate { dedicated: true }, 40_404);
    trial.perform(Command::Tolerate { dedicated: false }, 0);
    trial.settle().unwrap();
    assert_eq!(trial.broken(), Vec::<String>::new());
}

/// The last version comes back while a node has joined with a pod of the version between, at the instant at which the watch of nodes stands
/// still: the driver sees a settled fleet, and says so.
#[test]
fn a_fleet_is_settled_where_the_cache_lacks_a_new_node() {
    let wave = WaveChoice { ssd: None, up_to: None, bake: 0, approval: false };
    let steering = Steering { waves: [Some(wave), None, None], paused: false, on_failure: None };
    let mut trial = begin(3_479_005_918_707_168_168, 2, Limits::OnDelete, steering);
    trial.perform(Command::Release { version: 1 }, 208);
    trial.perform(Command::Freeze { kind: 131 }, 0);
    trial.perform(Command::AddNode, 0);
    trial.perform(Command::Freeze { kind: 113 }, 100);
    trial.perform(Command::Release { version: 0 }, 100);
    trial.settle().unwrap();
    assert_eq!(trial.broken(), Vec::<String>::new());
}

/// Each pod goes at once when a broken version is released: the driver takes none before the other controller has created the revision, or
/// the rollout begins without a mark, looks settled, and is never undone.
#[test]
fn a_broken_version_that_takes_all_nodes_at_once_is_undone() {
    let mut trial = Trial::begin(Beginning {
        seed: 6_444_335_271_555_852_598,
        nodes: 3,
        limits: Limits::MaxUnavailable(2),
        min_ready: 0,
        memory_survives: false,
        taints_absence: false,
        policy: Choices { excuses_down: false, respects_lifecycle: false, steering: None, drives: true },
        origin: Origin::Recorded(Versions::Numbers),
    });
    let wave = WaveChoice { ssd: None, up_to: None, bake: 0, approval: false };
    let steering = Steering { waves: [Some(wave), None, Some(wave)], paused: false, on_failure: None };
    trial.perform(Command::Release { version: 2 }, 63);
    trial.perform(Command::Taint { node: 15, execute: false }, 31);
    trial.perform(Command::Steer(Some(steering)), 17_852);
    trial.perform(Command::DeletePod { pod: 42 }, 0);
    trial.perform(Command::CrashPod { pod: 11 }, 0);
    trial.perform(Command::Crash { after: 0 }, 17);
    trial.perform(Command::Pause { paused: false }, 16_598);
    trial.settle().unwrap();
    assert_eq!(trial.broken(), Vec::<String>::new());
}

/// The driver's view of the DaemonSet is 22 s old when the next template comes, while it sees the revision of that one: nothing is marked, or
/// the number that the older revision gets when its version comes back has its marks before, and that version seems complete.
#[test]
fn a_broken_version_that_comes_back_is_undone() {
    let rules = FailureChoice {
        action: FailureAction::Undo,
        max_failures: 0,
        available_within: 40,
        deadline: None,
        restarts: None,
        waiting: None,
    };
    let steering = Steering { waves: [None; 3], paused: false, on_failure: Some(rules) };
    let mut trial = begin(7_377_524_848_114_484_249, 2, Limits::MaxUnavailable(2), steering);
    trial.perform(Command::Crash { after: 0 }, 0);
    trial.perform(Command::Release { version: 0 }, 0);
    trial.perform(Command::Lag { kind: 2, seconds: 22 }, 0);
    trial.perform(Command::Release { version: 6 }, 15_701);
    trial.settle().unwrap();
    assert_eq!(trial.broken(), Vec::<String>::new());
}
