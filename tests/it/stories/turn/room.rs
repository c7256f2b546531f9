//! Nodes in turn have their places in the budget, a limit of their own, and may have to wait all the same.

use super::{begun, outcome, taken};
use crate::support::{Given, at, given, new, node, old, rolling};
use serde_json::json;

fn turns(given: Given) -> Given {
    given.policy(json!({"turn": {"gates": ["backup"]}}))
}

#[test]
fn a_node_in_turn_counts_whatever_its_pod_is() {
    let given = turns(given(rolling(1)).node(node("a").in_turn(10).has(old())).node(node("b").has(old())));
    let budget = given.plan().report.budget.unwrap();
    assert_eq!([budget.unavailable, budget.not_ready], [1, 1]);
    assert_eq!(given.steps(), [""; 0]);
    assert_eq!(outcome(&given, "b"), json!({"type": "HeldByMaxUnavailable", "used": 1, "limit": 1}));
}

#[test]
fn a_node_in_turn_that_is_no_target_any_more_counts_as_lost() {
    let away = node("a").in_turn(60).taint("node.kubernetes.io/not-ready", "NoSchedule");
    let given = turns(given(rolling(1)).node(away.has(old())).node(node("b").has(old())));
    assert_eq!(given.plan().report.budget.unwrap().down_after_update, 1);
    assert_eq!(begun(&given), [""; 0]);
}

/// A fix of a broken fleet goes to all nodes at once, and must not cordon all of them.
#[test]
fn no_more_turns_begin_than_nodes_may_be_unavailable() {
    let given = turns(given(rolling(2)).nodes(["a", "b", "c"], old().not_ready()));
    assert_eq!(begun(&given), ["a", "b"]);
}

#[test]
fn a_node_in_turn_that_does_not_report_takes_no_place_among_the_turns() {
    let dead = node("a").in_turn(60).ready("Unknown", Some(at(-30))).has(old().created_ago(30).not_ready());
    let given = turns(given(rolling(1)).node(dead).node(node("b").has(old().not_ready())));
    assert_eq!(begun(&given), ["b"]);
}

#[test]
fn excused_nodes_have_a_limit_of_their_own() {
    let dead = |name| node(name).ready("False", Some(at(-60))).has(old().not_ready());
    let fleet = given(rolling(1)).node(dead("a")).node(dead("b")).nodes(["c", "d"], old().not_ready());
    let given = fleet.policy(json!({"turn": {}, "downNodes": "ExcuseIfDownBefore"}));
    assert_eq!(begun(&given), ["a", "c"]);
}

#[test]
fn a_node_in_turn_is_not_excused_for_going_down_afterwards() {
    let story = |turn| node("a").in_turn(turn).ready("False", Some(at(-60))).has(old().not_ready());
    let unavailable = |turn| {
        let fleet = given(rolling(1)).node(story(turn));
        let given = fleet.policy(json!({"turn": {"gates": ["backup"]}, "downNodes": "ExcuseIfDownBefore"}));
        given.plan().report.budget.unwrap().unavailable
    };
    assert_eq!([unavailable(120), unavailable(30)], [1, 0]);
}

/// Other nodes have gone down since the turn began.
#[test]
fn a_node_in_turn_waits_while_too_many_others_are_down() {
    let fleet = |down| {
        let other = if down { new().not_ready() } else { new() };
        let story = node("a").in_turn(60).open("backup", 60).has(old());
        turns(given(rolling(1)).node(story).node(node("b").has(other)))
    };
    assert_eq!(taken(&fleet(false)), ["a-1"]);
    assert_eq!(taken(&fleet(true)), [""; 0]);
    assert_eq!(outcome(&fleet(true), "a"), json!({"type": "WaitsForRoom"}));
}

/// maxUnavailable was lowered to 1: the turn that began first goes on.
#[test]
fn nodes_in_turn_go_in_the_order_of_their_turns() {
    let story = |name, seconds| node(name).in_turn(seconds).open("backup", seconds).has(old());
    let given = turns(given(rolling(1)).node(story("a", 10)).node(story("b", 20)));
    assert_eq!(taken(&given), ["b-1"]);
    assert_eq!(outcome(&given, "a"), json!({"type": "WaitsForRoom"}));
}

#[test]
fn nodes_in_turn_without_an_available_pod_come_before_those_with_one() {
    let story = |name, seconds| node(name).in_turn(seconds).open("backup", seconds);
    let fleet = given(rolling(1)).node(story("a", 10).has(new().not_ready().created_ago(5)));
    let given = turns(fleet.node(story("b", 20).has(old())));
    assert_eq!(taken(&given), [""; 0]);
    assert_eq!(outcome(&given, "b"), json!({"type": "WaitsForRoom"}));
}

#[test]
fn a_pod_that_is_not_ready_needs_no_room_in_its_turn() {
    let story = node("a").in_turn(10).open("backup", 10).has(old().not_ready());
    let given = turns(given(rolling(1)).node(story).node(node("b").has(new().not_ready())));
    assert_eq!(taken(&given), ["a-1"]);
}

#[test]
fn a_node_in_turn_that_has_no_room_takes_no_place_among_the_turns() {
    let waits = node("a").in_turn(10).open("backup", 10).has(old());
    let given = turns(given(rolling(1)).node(waits).node(node("b").has(old().not_ready())));
    assert_eq!(begun(&given), ["b"]);
}
