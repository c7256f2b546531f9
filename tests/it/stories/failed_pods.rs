//! Failed and succeeded pods: they are deleted, with a back-off.

use crate::support::{apply, at, given, new, node, old, rolling, steps, surging};
use daemonset::Memory;
use serde_json::json;

#[test]
fn a_terminating_pod_that_has_finished_counts_as_gone() {
    let gone = given(rolling(1)).node(node("a").has(new().failed().terminating(-600)));
    assert_eq!(gone.steps(), ["create on a in batch 0: MissingPod"]);
    assert_eq!(gone.plan().status.unwrap().current_number_scheduled, 0);
}

#[test]
fn finished_pods_are_deleted_with_an_event_each() {
    let given = given(rolling(1))
        .node(node("a").has(new().succeeded()))
        .node(node("b").taint("x", "NoSchedule").has(new().failed()));
    assert_eq!(
        given.steps(),
        [
            "delete a-1: SucceededPod",
            "delete b-1: FailedPod (1 of 2)",
            "event Normal SucceededDaemonPod",
            "event Warning FailedDaemonPod",
        ]
    );
}

#[test]
fn with_surge_a_new_pod_need_not_wait_for_the_failed_one() {
    let given = given(surging(1)).node(node("a").has(new().failed()));
    assert_eq!(
        given.steps(),
        [
            "delete a-1: FailedPod (1 of 2)",
            "create on a in batch 0: MissingPod",
            "event Warning FailedDaemonPod"
        ]
    );
}

#[test]
fn failed_pods_of_a_node_are_deleted_together_and_count_as_one_failure() {
    let mut recording = given(rolling(1))
        .generation(7)
        .memory(&Memory::default())
        .node(node("a").has(new().failed()).has(new().failed()))
        .recording();
    let plan = daemonset::plan(&recording.snapshot().unwrap());
    assert_eq!(
        steps(&plan)[..2],
        ["delete a-1: FailedPod (1 of 7)".to_owned(), "delete a-2: FailedPod (1 of 7)".to_owned()]
    );
    apply(&mut recording, &plan);
    let memory = serde_json::to_value(&recording.memory).unwrap();
    assert_eq!(memory["failures"], json!({"a": {"generation": 7, "count": 1, "at": at(0)}}));
}

/// A memory in which node a has failed this often, the last time this many seconds ago.
fn failures(count: u32, ago: i64) -> Memory {
    serde_json::from_value(json!({"failures": {"a": {"generation": 2, "count": count, "at": at(-ago)}}}))
        .unwrap()
}

#[test]
fn the_back_off_doubles_from_one_second_to_fifteen_minutes() {
    for (count, seconds) in [(1, 1), (2, 2), (3, 4), (10, 512), (11, 900), (40, 900)] {
        let failed = || given(rolling(1)).node(node("a").has(new().failed()));
        let held = failed().memory(&failures(count, seconds - 1));
        assert_eq!(held.steps(), [format!("requeue at {}: BackOff", at(1))]);
        let free = failed().memory(&failures(count, seconds));
        assert_eq!(free.steps()[0], format!("delete a-1: FailedPod ({} of 2)", count + 1));
    }
}

#[test]
fn failures_are_forgotten_after_thirty_minutes_and_by_another_generation() {
    let failed = || given(rolling(1)).node(node("a").has(new().failed()));
    assert_eq!(failed().memory(&failures(9, 1799)).steps()[0], "delete a-1: FailedPod (10 of 2)");
    assert_eq!(failed().memory(&failures(9, 1800)).steps()[0], "delete a-1: FailedPod (1 of 2)");
    let edited = failed().generation(3).memory(&failures(9, 0));
    assert_eq!(edited.steps()[0], "delete a-1: FailedPod (1 of 3)");
}

#[test]
fn an_outdated_failed_pod_is_deleted_at_once_and_counts_no_failure() {
    let given = given(rolling(1)).memory(&failures(9, 0)).node(node("a").has(old().failed()));
    assert_eq!(given.steps(), ["delete a-1: FailedPod", "event Warning FailedDaemonPod"]);
}

#[test]
fn a_node_whose_failed_pod_is_held_back_gets_no_new_pod() {
    for strategy in [rolling(1), surging(1)] {
        let given = given(strategy).memory(&failures(3, 0)).node(node("a").has(new().failed()));
        assert_eq!(given.steps(), [format!("requeue at {}: BackOff", at(4))]);
    }
}

#[test]
fn each_node_is_held_back_by_its_own_failures() {
    let entry = json!({"generation": 2, "count": 3, "at": at(0)});
    let memory: Memory = serde_json::from_value(json!({"failures": {"a": entry, "b": entry}})).unwrap();
    let failed = |name| node(name).has(new().failed()).has(new().failed());
    let given = given(surging(1)).memory(&memory).node(failed("a")).node(failed("b")).node(failed("c"));
    let steps = given.steps();
    assert!(
        !steps.iter().any(|step| step.contains(" a-") || step.contains(" b-") || step.contains("on b")),
        "{steps:?}"
    );
    assert_eq!(steps.iter().filter(|step| step.starts_with("delete c")).count(), 2);
    assert_eq!(steps.last().unwrap(), &format!("requeue at {}: BackOff", at(4)));
}
