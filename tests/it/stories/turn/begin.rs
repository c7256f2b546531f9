//! A turn begins before the update takes a pod, waits for its gates, and may be overdue.

use super::{begun, outcome, patches, taken};
use crate::support::{
    Given, PodStory, TURN_KEY, at, given, new, node, old, on_delete, request, rolling, surging,
};
use serde_json::{Value, json};

/// The gates that a node waits for.
fn waits(given: &Given, node: &str) -> Value {
    let outcome = outcome(given, node);
    assert_eq!(outcome["type"], "WaitsForGates");
    outcome["gates"].clone()
}

/// Nodes a and b with an old pod, at maxUnavailable 1.
fn two(turn: Value) -> Given {
    given(rolling(1)).nodes(["a", "b"], old()).policy(json!({"turn": turn}))
}

#[test]
fn a_turn_begins_where_the_update_would_take_a_pod_and_takes_none_yet() {
    let given = two(json!({}));
    assert_eq!(given.steps(), ["patch a: TurnBegins"]);
    let key = format!("turn.daemonset/{TURN_KEY}");
    assert_eq!(patches(&given), [("a".to_owned(), json!({ key: request(0) }))]);
    assert_eq!(outcome(&given, "a"), json!({"type": "TurnBegins"}));
}

/// The budget has room for fewer nodes than there are places for turns.
#[test]
fn no_more_turns_begin_than_pods_could_go() {
    let fleet = |down: PodStory| {
        let fleet = given(rolling(2)).policy(json!({"turn": {"cordon": true}})).node(node("a").has(down));
        begun(&fleet.node(node("b").has(old())).node(node("c").has(old())))
    };
    assert_eq!(fleet(new()), ["b", "c"]);
    assert_eq!(fleet(new().not_ready()), ["b"], "a uses one of the two places of maxUnavailable");
}

#[test]
fn a_turn_cordons_its_node_and_says_so() {
    let given = two(json!({"cordon": true}));
    assert_eq!(given.steps(), ["patch a, cordoned: TurnBegins"]);
    let key = format!("turn.daemonset/{TURN_KEY}");
    assert_eq!(patches(&given), [("a".to_owned(), json!({ key: format!("{} cordoned", request(0)) }))]);
}

#[test]
fn a_turn_does_not_claim_the_cordon_of_a_person() {
    let fleet = given(rolling(1)).node(node("a").cordoned().has(old()));
    let given = fleet.policy(json!({"turn": {"cordon": true}}));
    assert_eq!(given.steps(), ["patch a: TurnBegins"]);
}

#[test]
fn without_gates_the_pod_goes_in_the_next_plan() {
    let fleet = given(rolling(1)).node(node("a").in_turn(10).has(old()));
    assert_eq!(fleet.policy(json!({"turn": {}})).steps(), ["delete a-1: OutdatedAvailable"]);
}

#[test]
fn a_pod_waits_for_each_gate_that_is_not_open() {
    let turn = json!({"turn": {"gates": ["drained", "backup"]}});
    let fleet = |story| given(rolling(1)).node(story).policy(turn.clone());
    let closed = fleet(node("a").in_turn(10).open("backup", 10).has(old()));
    assert_eq!(waits(&closed, "a"), json!(["drained"]));
    assert_eq!(taken(&closed), [""; 0]);
    let open = fleet(node("a").in_turn(10).open("backup", 10).open("drained", 10).has(old()));
    assert_eq!(taken(&open), ["a-1"]);
}

#[test]
fn an_answer_to_another_turn_opens_nothing() {
    let story = node("a").in_turn(10).open("backup", 11).has(old());
    let given = given(rolling(1)).node(story).policy(json!({"turn": {"gates": ["backup"]}}));
    assert_eq!(waits(&given, "a"), json!(["backup"]));
}

#[test]
fn an_annotation_of_another_form_is_no_turn() {
    for value in [
        "2",
        "two 2026-01-01T11:00:00Z",
        "2 yesterday",
        "2  2026-01-01T11:00:00Z",
        "2 2026-01-01T11:00:00Z junk",
    ] {
        let given = given(rolling(1)).node(node("a").turn(value).has(old())).policy(json!({"turn": {}}));
        assert_eq!(begun(&given), ["a"], "{value}");
    }
}

#[test]
fn closed_gates_are_overdue_after_a_time_and_the_plan_looks_again_then() {
    let fleet = |seconds| {
        let story = node("a").in_turn(seconds).has(old());
        given(rolling(1)).node(story).policy(json!({"turn": {"gates": ["backup"], "timeoutSeconds": 60}}))
    };
    let early = fleet(59).plan();
    assert_eq!((early.requeue_at(), early.warnings.len()), (Some(at(1)), 0));
    let late = fleet(60);
    assert_eq!(json!(late.plan().warnings), json!([{"type": "TurnOverdue", "nodes": {"a": ["backup"]}}]));
    assert_eq!(taken(&late), [""; 0]);
}

#[test]
fn an_overdue_node_is_taken_all_the_same_where_the_policy_says_so() {
    let turn = json!({"gates": ["backup"], "timeoutSeconds": 60, "onTimeout": "Proceed"});
    let fleet =
        |seconds| given(rolling(1)).node(node("a").in_turn(seconds).has(old())).policy(json!({"turn": turn}));
    assert_eq!(taken(&fleet(59)), [""; 0]);
    assert_eq!(taken(&fleet(60)), ["a-1"]);
}

#[test]
fn no_turn_begins_on_a_node_that_does_not_report() {
    let story = node("a").ready("Unknown", Some(at(-60))).has(old());
    let given = given(rolling(1)).node(story).policy(json!({"turn": {}}));
    assert_eq!(given.steps(), [""; 0]);
    assert_eq!(outcome(&given, "a"), json!({"type": "NodeUnreachable"}));
}

#[test]
fn no_turn_begins_on_a_node_that_leaves() {
    let story = node("a").condition("DrainInProgress", "True", Some(at(-60))).has(old());
    let given = given(rolling(1)).node(story).policy(json!({"turn": {}, "lifecycle": "Respect"}));
    assert_eq!(begun(&given), [""; 0]);
}

#[test]
fn a_pod_that_is_not_ready_waits_for_its_turn_too() {
    let given = given(rolling(1)).node(node("a").has(old().not_ready())).policy(json!({"turn": {}}));
    assert_eq!(given.steps(), ["patch a: TurnBegins"]);
}

/// A typing error in an annotation must not uncordon a node whose daemon is away.
#[test]
fn a_policy_that_can_not_be_read_keeps_all_turns_as_they_are() {
    let fleet =
        given(rolling(2)).node(node("a").in_turn(60).has(new())).node(node("b").in_turn(60).has(old()));
    let given = fleet.node(node("c").has(old())).policy(json!({"turn": "Keep"}));
    assert_eq!(given.steps(), [""; 0]);
    assert_eq!(outcome(&given, "b"), json!({"type": "TurnsKept"}));
    assert_eq!(outcome(&given, "c"), json!({"type": "TurnsKept"}));
    assert_eq!(given.plan().report.budget.unwrap().unavailable, 2);
}

#[test]
fn a_kept_turn_still_loses_a_cordon_that_a_person_took_back() {
    let story = node("a").turn(&format!("{} cordoned", request(60))).has(old());
    let given = given(rolling(1)).node(story).policy(json!({"turn": "Keep"}));
    assert_eq!(given.steps(), ["patch a: TurnLosesCordon"]);
}

#[test]
fn the_beginning_of_a_turn_counts_for_the_cap_as_a_delete() {
    let fleet = given(rolling(3)).nodes(["a", "b", "c"], old());
    let given = fleet.policy(json!({"turn": {}, "burst": 2}));
    assert_eq!(begun(&given), ["a", "b"]);
}

#[test]
fn a_turn_goes_on_for_the_newest_version() {
    let value = format!("1 {}", at(-60));
    let story =
        node("a").turn(&value).annotation(&format!("backup.gate.daemonset/{TURN_KEY}"), &value).has(old());
    let given = given(rolling(1)).node(story).policy(json!({"turn": {"gates": ["backup"]}}));
    assert_eq!(taken(&given), ["a-1"]);
}

#[test]
fn choices_that_contradict_each_other_are_refused_with_their_path() {
    let problems = |strategy: Value, turn: Value| given(strategy).policy(json!({"turn": turn})).problems();
    let refused = |strategy, turn, path: &str| {
        let found = problems(strategy, turn);
        assert!(found.iter().any(|problem| problem.starts_with(path)), "{found:?}");
    };
    refused(surging(1), json!({}), "policy.turn:");
    refused(rolling(1), json!({"gates": ["ok", "Not-Ok"]}), "policy.turn.gates[1]:");
    refused(rolling(1), json!({"gates": ["a", "a"]}), "policy.turn.gates[1]:");
    refused(rolling(1), json!({"gates": ["a".repeat(64)]}), "policy.turn.gates[0]:");
    refused(rolling(1), json!({"onTimeout": "Proceed"}), "policy.turn.onTimeout:");
}

#[test]
fn a_cordon_needs_pods_that_tolerate_it() {
    let fleet = given(rolling(1)).policy(json!({"turn": {"cordon": true}, "daemonTolerations": "None"}));
    assert!(fleet.problems()[0].starts_with("policy.turn.cordon:"));
    let tolerates_all = fleet.tolerates(json!([{"operator": "Exists"}]));
    assert_eq!(tolerates_all.steps(), [""; 0]);
}

#[test]
fn under_on_delete_no_turn_begins_and_each_turn_ends() {
    let fleet = given(on_delete()).node(node("a").has(old())).node(node("b").in_turn(60).has(old()));
    assert_eq!(fleet.policy(json!({"turn": {}})).steps(), ["patch b: TurnEnds"]);
}

#[test]
fn a_driven_update_takes_turns() {
    let fleet = given(on_delete()).node(node("a").has(old())).node(node("b").in_turn(60).has(old()));
    let given = fleet.policy(json!({"turn": {}, "drive": rolling(2)}));
    assert_eq!(given.steps(), ["delete b-1: OutdatedAvailable", "patch a: TurnBegins"]);
}
