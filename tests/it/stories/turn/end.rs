//! A turn ends when nothing is left to do on its node, and leaves no trace.

use super::patches;
use crate::support::{Given, TURN_KEY, at, given, new, node, old, request, rolling};
use serde_json::{Value, json};

fn turns(given: Given) -> Given {
    given.policy(json!({"turn": {"cordon": true}}))
}

fn cordoned(seconds: i64) -> String {
    format!("{} cordoned", request(seconds))
}

/// The annotation of a turn of another DaemonSet, whose name is later.
const OTHER: &str = "turn.daemonset/zz.00000000";

#[test]
fn a_turn_ends_once_the_new_pod_is_available_and_leaves_no_trace() {
    let story = node("a").cordoned().turn(&cordoned(60)).open("drained", 60).open("backup", 99);
    let given = turns(given(rolling(1)).node(story.has(new().created_ago(30))));
    assert_eq!(given.steps(), ["patch a, uncordoned: TurnEnds"]);
    let gone = |key: String| (key, Value::Null);
    let keys = ["turn.daemonset/", "drained.gate.daemonset/", "backup.gate.daemonset/"];
    let keys: serde_json::Map<_, _> = keys.map(|key| gone(format!("{key}{TURN_KEY}"))).into_iter().collect();
    assert_eq!(patches(&given), [("a".to_owned(), Value::Object(keys))]);
}

#[test]
fn a_new_pod_that_is_not_available_keeps_its_node_in_turn() {
    let story = node("a").cordoned().turn(&cordoned(60)).has(new().created_ago(30).not_ready());
    assert_eq!(turns(given(rolling(1)).node(story)).steps(), [""; 0]);
}

#[test]
fn a_node_without_its_pod_stays_in_turn() {
    let story = node("a").cordoned().turn(&cordoned(60));
    assert_eq!(turns(given(rolling(1)).node(story)).steps(), ["create on a in batch 0: MissingPod"]);
}

#[test]
fn a_turn_that_has_replaced_nothing_ends_where_nothing_is_left_to_do() {
    let story = node("a").in_turn(60).has(new().not_ready());
    assert_eq!(turns(given(rolling(1)).node(story)).steps(), ["patch a: TurnEnds"]);
}

#[test]
fn the_turn_of_a_node_ends_when_the_rollout_holds_it() {
    let fleet = given(rolling(1)).node(node("a").in_turn(60).has(old()));
    let given = fleet.policy(json!({"turn": {}, "rollout": {"paused": true}}));
    assert_eq!(given.steps(), ["patch a: TurnEnds"]);
}

#[test]
fn a_turn_ends_on_a_node_that_is_no_target_for_another_reason_than_being_down() {
    let fleet =
        |key: &str, effect: &str| turns(given(rolling(1)).node(node("a").in_turn(60).taint(key, effect)));
    assert_eq!(fleet("dedicated", "NoSchedule").steps(), ["patch a: TurnEnds"]);
    assert_eq!(fleet("dedicated", "NoExecute").steps(), ["patch a: TurnEnds"]);
    assert_eq!(fleet("node.kubernetes.io/not-ready", "NoSchedule").steps(), [""; 0]);
}

#[test]
fn a_turn_ends_on_a_node_that_leaves() {
    let story = node("a").in_turn(60).condition("DrainInProgress", "True", Some(at(-60))).has(old());
    let given = given(rolling(1)).node(story).policy(json!({"turn": {}, "lifecycle": "Respect"}));
    assert_eq!(given.steps(), ["patch a: TurnEnds"]);
}

#[test]
fn a_dead_node_whose_pod_was_not_taken_leaves_its_turn() {
    let fleet = |age| {
        let story =
            node("a").in_turn(60).ready("Unknown", Some(at(-30))).has(old().not_ready().created_ago(age));
        turns(given(rolling(1)).node(story))
    };
    assert_eq!(fleet(61).steps(), ["patch a: TurnEnds"]);
    // Its pod came in this turn, and goes: a fix.
    assert_eq!(fleet(59).steps(), ["delete a-1: OutdatedNotReady"]);
}

#[test]
fn a_pod_that_terminates_keeps_its_node_in_turn() {
    let story = node("a").in_turn(60).has(old().terminating(10));
    assert_eq!(turns(given(rolling(1)).node(story)).steps(), [""; 0]);
}

#[test]
fn a_cordon_is_handed_over_to_the_turn_of_another_daemon_set() {
    let story = node("a").cordoned().turn(&cordoned(60)).annotation(OTHER, &request(30)).has(new());
    let given = turns(given(rolling(1)).node(story));
    assert_eq!(given.steps(), ["patch a: TurnEnds"]);
    assert_eq!(patches(&given)[0].1[OTHER], json!(cordoned(30)));
}

#[test]
fn a_turn_that_has_cordoned_beside_another_one_leaves_the_cordon_to_it() {
    let story = node("a").cordoned().turn(&cordoned(60)).annotation(OTHER, &cordoned(30)).has(new());
    let given = turns(given(rolling(1)).node(story));
    assert_eq!(given.steps(), ["patch a: TurnEnds"]);
    assert_eq!(patches(&given)[0].1.get(OTHER), None);
}

#[test]
fn a_turn_without_a_cordon_of_its_own_takes_none_back() {
    let story = node("a").cordoned().in_turn(60).has(new());
    assert_eq!(turns(given(rolling(1)).node(story)).steps(), ["patch a: TurnEnds"]);
}

/// A person may cordon the node again later, and that cordon must stay.
#[test]
fn a_turn_loses_a_cordon_that_a_person_took_back() {
    let story = node("a").turn(&cordoned(60)).has(new().not_ready().created_ago(30));
    let given = turns(given(rolling(1)).node(story));
    assert_eq!(given.steps(), ["patch a: TurnLosesCordon"]);
    assert_eq!(patches(&given)[0].1, json!({ format!("turn.daemonset/{TURN_KEY}"): request(60) }));
}

#[test]
fn without_a_policy_each_turn_ends_at_once() {
    let given = given(rolling(1)).node(node("a").cordoned().turn(&cordoned(60)).has(old().not_ready()));
    assert_eq!(given.steps(), ["delete a-1: OutdatedNotReady", "patch a, uncordoned: TurnEnds"]);
}

#[test]
fn the_turns_of_a_daemon_set_end_when_it_is_deleted() {
    let fleet = turns(given(rolling(1)).node(node("a").cordoned().turn(&cordoned(60)).has(old())));
    let given = fleet.with("/daemonSet/metadata/deletionTimestamp", json!(at(-1).to_string()));
    assert_eq!(given.steps(), ["patch a, uncordoned: TurnEnds"]);
}

#[test]
fn an_empty_selector_touches_no_node() {
    let fleet = turns(given(rolling(1)).node(node("a").in_turn(60)));
    let given = fleet.with("/daemonSet/spec/selector", json!({}));
    assert_eq!(given.steps(), ["event Warning SelectingAll"]);
}

/// The room that an end makes is used in the same plan, by a patch that comes after it.
#[test]
fn ends_come_before_cordons_that_are_lost_and_these_before_begins() {
    let fleet = given(rolling(2))
        .node(node("a").has(old()))
        .node(node("b").turn(&cordoned(60)).has(new().not_ready().created_ago(30)))
        .node(node("c").in_turn(60).has(new()));
    let steps = turns(fleet).steps();
    assert_eq!(steps, ["patch c: TurnEnds", "patch b: TurnLosesCordon", "patch a, cordoned: TurnBegins"]);
}

/// A node in turn that is kept out by being down alone: its new pod becomes available by time alone.
#[test]
fn the_end_of_a_turn_is_asked_for_on_a_node_that_is_no_target() {
    let tainted = node("a").taint("node.kubernetes.io/not-ready", "NoSchedule").in_turn(60);
    let fleet = turns(given(rolling(1)).node(tainted.has(new().created_ago(30).ready_for(10))).min_ready(60));
    assert_eq!(fleet.steps(), ["requeue at 2026-01-01T12:00:50Z: MinReadySeconds"]);
    assert_eq!(fleet.with("/now", json!(at(50).to_string())).steps(), ["patch a: TurnEnds"]);
}

/// The end of the turn is due once its patch is shown or has expired, and no event may come by then.
#[test]
fn a_deleted_daemon_set_asks_for_the_end_of_a_turn_whose_patch_is_in_flight() {
    let fleet = turns(given(rolling(1)).node(node("a").in_turn(60)).node(node("b").in_turn(60)))
        .with("/daemonSet/metadata/deletionTimestamp", json!(at(-5).to_string()))
        .with("/memory", json!({"turns": {"patches": {"a": {"at": at(-60)}}}}));
    assert_eq!(fleet.steps(), ["patch b: TurnEnds", "requeue at 2026-01-01T12:04:00Z: InFlightExpiry"]);
    assert_eq!(
        fleet.with("/now", json!(at(240).to_string())).steps(),
        ["patch a: TurnEnds", "patch b: TurnEnds"]
    );
}
