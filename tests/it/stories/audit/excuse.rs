//! Nodes that were down before the update reached them: the audit excuses the same ones as the planner.

use super::budget::exceeded;
use super::{broken, delete, three};
use crate::support::{NodeStory, at, new, node, old, revision, rolling};
use daemonset_audit::BudgetFigure;
use serde_json::{Value, json};

/// Down for a minute.
fn down() -> NodeStory {
    node("d").ready("Unknown", Some(at(-60)))
}

/// Whether the node leaves room for a delete on another one; the planner and the audit must agree. The current revision
/// is an hour old.
fn excused(story: NodeStory, memory: Value) -> bool {
    let mut current = revision("new", 2);
    current["metadata"]["creationTimestamp"] = json!(at(-3600));
    let fleet = three(rolling(1))
        .revisions([revision("old", 1), current])
        .policy(json!({"downNodes": "ExcuseIfDownBefore"}))
        .with("/memory", memory)
        .node(story);
    let found = broken(&fleet, &[delete("a-1")]);
    let planned = fleet.plan().report.budget.unwrap().excused == 1;
    assert_eq!(found.is_empty(), planned, "the planner decides the same: {found:#?}");
    if !planned {
        assert_eq!(found, exceeded(BudgetFigure::Unavailable, 1, 2, 1));
    }
    planned
}

#[test]
fn an_updated_pod_that_was_there_before_the_node_went_down_bars_the_excuse() {
    let beside_outdated = |seconds| {
        let updated = new().not_ready().created_ago(seconds);
        excused(down().has(old().succeeded()).has(updated), json!({}))
    };
    assert_eq!([61, 60, 59].map(beside_outdated), [false, true, true]);
    let first_trace = down().has(new().not_ready().created_ago(61)).has(new().not_ready().created_ago(59));
    assert!(!excused(first_trace.has(old().succeeded()), json!({})));
    assert!(excused(down().has(old().not_ready().created_ago(61)), json!({})), "it is of no update");
}

#[test]
fn a_node_with_nothing_outdated_is_excused_only_if_it_went_down_before_the_revision() {
    let down = |seconds: i64| node("d").ready("False", Some(at(-seconds)));
    assert_eq!([3599, 3600, 3601].map(|seconds| excused(down(seconds), json!({}))), [false, true, true]);
    let updated = || new().not_ready().created_ago(10);
    assert!(!excused(down(60).has(updated()), json!({})));
    assert!(excused(down(60).has(updated()).has(old().failed()), json!({})));
    assert!(excused(down(60).has(old().failed()).has(updated()), json!({})));
}

#[test]
fn a_delete_before_the_node_went_down_bars_the_excuse() {
    let asked = |seconds: i64| old().not_ready().terminating(30 - seconds);
    let terminating =
        |seconds: i64| down().has(asked(seconds).with("/metadata/deletionGracePeriodSeconds", json!(30)));
    assert_eq!([61, 60].map(|seconds| excused(terminating(seconds), json!({}))), [false, true]);
    let in_flight =
        |seconds: i64| excused(down().has(old().not_ready()), json!({"deletes": {"uid-d-1": at(-seconds)}}));
    assert_eq!([61, 60].map(in_flight), [false, true], "no list shows it yet");
}

#[test]
fn a_create_in_flight_counts_as_a_pod_that_was_created_then() {
    let create = |revision: &str, seconds: i64| json!({"creates": {"d": {"uid": "uid-created", "revision": revision, "at": at(-seconds)}}});
    let beside_outdated = |seconds| excused(down().has(old().succeeded()), create("new", seconds));
    assert_eq!([61, 60, 59].map(beside_outdated), [false, true, true]);
    assert!(!excused(down(), create("new", 59)), "nothing there is outdated");
    assert!(excused(down(), create("old", 61)));
    assert!(excused(down().has(new().not_ready().created_ago(10)), create("old", 61)));
}

#[test]
fn a_node_that_an_update_took_is_excused_only_if_it_was_down_then() {
    let taken = |seconds: i64| json!({"taken": {"d": {"uid": "gone", "at": at(-seconds)}}});
    for story in [down(), down().has(new().not_ready().created_ago(10)), down().has(old().not_ready())] {
        let after = |seconds| excused(story.clone(), taken(seconds));
        assert_eq!([61, 60, 59].map(after), [false, true, true]);
    }
}
