//! The pod creates and deletes of one plan: batches, order, and the cap.

use crate::support::{Given, at, given, new, node, old, on_delete, rolling};
use daemonset::Action;
use serde_json::json;

#[test]
fn creates_go_out_in_growing_batches() {
    let mut fleet = given(on_delete());
    for n in 0..8 {
        fleet = fleet.node(node(&format!("n{n}")));
    }
    let batches: Vec<u32> = fleet
        .plan()
        .actions
        .iter()
        .filter_map(|action| match action {
            Action::CreatePod { batch, .. } => Some(*batch),
            _ => None,
        })
        .collect();
    assert_eq!(batches, [0, 1, 1, 2, 2, 2, 2, 3]);
}

#[test]
fn a_plan_holds_at_most_one_burst_and_requeues_for_the_rest() {
    let mut fleet = given(rolling("100%")).policy(json!({"burst": 2}));
    for n in 0..3 {
        fleet = fleet.node(node(&format!("missing-{n}")));
    }
    fleet = fleet
        .node(node("a").has(old()))
        .node(node("b").has(new()).has(new()))
        .node(node("c").has(new()).has(new()));
    assert_eq!(
        fleet.steps(),
        [
            "delete b-2: ExcessPod".to_owned(),
            "delete c-2: ExcessPod".to_owned(),
            "create on missing-0 in batch 0: MissingPod".to_owned(),
            "create on missing-1 in batch 1: MissingPod".to_owned(),
            format!("requeue at {}: Burst", at(0)),
        ]
    );
}

#[test]
fn a_plan_that_is_exactly_full_does_not_requeue() {
    let full = |burst: u32| {
        given(rolling("100%"))
            .policy(json!({"burst": burst}))
            .nodes(["a", "b"], old())
            .node(node("c"))
            .node(node("d"))
    };
    let requeues = |given: Given| given.steps().iter().any(|step| step.starts_with("requeue"));
    assert!(!requeues(full(2)));
    assert!(requeues(full(1)));
    let deletes_only = given(rolling("100%")).policy(json!({"burst": 1})).nodes(["a", "b"], old());
    assert!(requeues(deletes_only));
    let creates_only = given(rolling(1)).policy(json!({"burst": 1})).node(node("a")).node(node("b"));
    assert!(requeues(creates_only));
}

#[test]
fn deletes_come_by_node_then_unknown_nodes_then_the_update() {
    let given = given(rolling(2))
        .node(node("c").has(old()))
        .node(node("b").has(new().named("z")).has(new().named("y")).has(new().named("x")))
        .node(node("a").taint("x", "NoExecute").has(new()))
        .stray("0-gone", new().unbound().named("w"))
        .stray("1-gone", new().unbound().named("v"));
    assert_eq!(
        given.steps(),
        [
            "delete a-1: NodeExcluded",
            "delete y: ExcessPod",
            "delete z: ExcessPod",
            "delete v: NodeGone",
            "delete w: NodeGone",
            "delete c-1: OutdatedAvailable",
        ]
    );
}

#[test]
fn the_cap_does_not_split_the_failed_pods_of_a_node() {
    let two = |name| node(name).has(new().failed()).has(new().failed());
    let given = given(rolling(1)).policy(json!({"burst": 3})).node(two("a")).node(two("b"));
    let deletes: Vec<_> = given.steps().into_iter().filter(|step| step.starts_with("delete")).collect();
    assert_eq!(deletes, ["delete a-1: FailedPod (1 of 2)", "delete a-2: FailedPod (1 of 2)"]);
    let more_than_fit = given.policy(json!({"burst": 1}));
    let deletes: Vec<_> =
        more_than_fit.steps().into_iter().filter(|step| step.starts_with("delete")).collect();
    assert_eq!(deletes, ["delete a-1: FailedPod (1 of 2)"]);
}
