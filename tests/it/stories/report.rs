//! The report: reasons why a node gets no action.

use crate::support::{Given, at, given, new, node, old, on_delete, rolling, surging};
use daemonset::report::{NodeOutcome, Warning};
use daemonset::{ActionOutcome, Memory};
use serde_json::{Value, json};

/// The verdict on node a.
fn outcome(given: &Given) -> Value {
    let plan = given.plan();
    let verdict = plan.report.node("a").unwrap();
    serde_json::to_value(&verdict.outcome).unwrap()
}

#[test]
fn a_node_waits_for_the_budget() {
    let down = |n: &str| node(n).has(new().not_ready());
    let three = given(rolling(3)).node(node("a").has(old())).node(down("b")).node(down("c")).node(down("d"));
    assert_eq!(outcome(&three), json!({"type": "HeldByMaxUnavailable", "used": 3, "limit": 3}));
    let own = given(rolling(1)).nodes(["a", "0"], old());
    assert_eq!(
        outcome(&own),
        json!({"type": "HeldByMaxUnavailable", "used": 1, "limit": 1}),
        "by this very plan"
    );
    let young = given(rolling(1)).min_ready(60).node(node("a").has(old().ready_for(5))).node(down("b"));
    assert_eq!(outcome(&young), json!({"type": "HeldByMaxUnavailable", "used": 1, "limit": 1}));
    let unready = given(rolling(1))
        .policy(json!({"unready": "WithinBudget"}))
        .node(node("a").has(old().not_ready()))
        .node(down("b"));
    assert_eq!(outcome(&unready), json!({"type": "HeldByMaxUnavailable", "used": 1, "limit": 1}));
}

#[test]
fn a_node_waits_for_a_place_in_max_surge() {
    let pair = given(surging(1)).node(node("a").has(old())).node(node("b").has(old()).has(new().not_ready()));
    assert_eq!(outcome(&pair), json!({"type": "HeldByMaxSurge", "used": 1, "limit": 1}));
}

#[test]
fn a_node_waits_for_its_own_pods() {
    let until = |seconds: i64| json!(at(seconds).to_string());
    for (given, expected) in [
        (given(on_delete()).node(node("a").has(new())), json!({"type": "UpToDate"})),
        (given(on_delete()).node(node("a").has(old())), json!({"type": "WaitsForDelete"})),
        (given(rolling(1)).node(node("a").has(new().not_ready())), json!({"type": "WaitsForReady"})),
        (given(surging(1)).node(node("a").has(old()).has(new().pending())), json!({"type": "WaitsForReady"})),
        (
            given(rolling(1)).min_ready(60).node(node("a").has(new().ready_for(10))),
            json!({"type": "WaitsForMinReady", "until": until(50)}),
        ),
        (
            given(rolling(1)).node(node("a").has(new().terminating(9)).has(new().terminating(20))),
            json!({"type": "WaitsForTermination", "overdueAt": until(20)}),
        ),
        (
            given(surging(1)).node(node("a").has(old()).has(new().terminating(9))),
            json!({"type": "WaitsForTermination", "overdueAt": until(9)}),
        ),
        (given(rolling(1)).node(node("a").taint("x", "NoSchedule")), json!({"type": "NotTarget"})),
    ] {
        assert_eq!(outcome(&given), expected);
    }
}

#[test]
fn a_node_waits_for_actions_in_flight() {
    let failed = json!({"failures": {"a": {"generation": 2, "count": 3, "at": at(0)}}});
    let memory: Memory = serde_json::from_value(failed).unwrap();
    let held = given(rolling(1)).memory(&memory).node(node("a").has(new().failed()));
    assert_eq!(outcome(&held), json!({"type": "WaitsForBackOff", "until": at(4), "failures": 3}));
    let mut memory = Memory::default();
    for action in given(rolling(1)).node(node("a")).plan().actions {
        memory.record(&action, &ActionOutcome::Unknown, at(0));
    }
    let created = given(rolling(1)).memory(&memory).node(node("a"));
    assert_eq!(outcome(&created), json!({"type": "WaitsForCreatedPod", "until": at(300)}));
}

#[test]
fn a_node_is_acted_on_now_or_in_the_next_plan() {
    let create = given(on_delete()).node(node("a"));
    assert_eq!(outcome(&create), json!({"type": "Create", "reason": "MissingPod", "batch": 0}));
    let delete = given(rolling(1)).node(node("a").has(old()));
    assert_eq!(outcome(&delete), json!({"type": "Delete", "reason": "OutdatedAvailable"}));
    let one = json!({"burst": 1});
    let full = given(on_delete()).policy(one.clone()).node(node("0")).node(node("a"));
    assert_eq!(outcome(&full), json!({"type": "WaitsForNextPlan"}));
    let full = |strategy| given(strategy).policy(one.clone()).nodes(["0", "a"], old());
    assert_eq!(outcome(&full(rolling(2))), json!({"type": "WaitsForNextPlan"}));
    assert_eq!(outcome(&full(surging(2))), json!({"type": "WaitsForNextPlan"}));
    let beside_one_that_ends =
        given(surging(1)).policy(one.clone()).node(node("0")).node(node("a").has(new().terminating(30)));
    assert_eq!(outcome(&beside_one_that_ends), json!({"type": "WaitsForNextPlan"}));
}

#[test]
fn a_verdict_lists_each_pod_with_its_evidence() {
    let plan = given(surging(1)).min_ready(60).node(node("a").has(old()).has(new().ready_for(10))).plan();
    let verdict = serde_json::to_value(&plan.report.nodes[0]).unwrap();
    assert_eq!(
        verdict,
        json!({
            "node": "a", "nodeReady": null, "unschedulable": false,
            "placement": {"type": "Run"},
            "counts": {"unavailable": false, "notReady": false, "beingReplaced": false, "doubled": true, "lost": false},
            "pods": [
                {
                    "pod": {"namespace": "ns", "name": "a-1", "uid": "uid-a-1"},
                    "updated": false, "evidence": "OldRevision", "hash": "old", "revision": 1,
                    "state": {"type": "Available", "readySince": at(-3600)}, "deleted": null,
                },
                {
                    "pod": {"namespace": "ns", "name": "a-2", "uid": "uid-a-2"},
                    "updated": true, "evidence": "CurrentRevision", "hash": "new", "revision": 2,
                    "state": {"type": "Ready", "availableAt": at(50)}, "deleted": null,
                },
            ],
            "outcome": {"type": "WaitsForMinReady", "until": at(50)},
        })
    );
}

#[test]
fn surprising_limits_cause_warnings() {
    let warnings = |strategy: Value| given(strategy).node(node("a").has(new())).plan().warnings;
    let to_all = |percent: u32, desired: u32| json!([{"type": "PercentRoundsToAll", "percent": percent, "desired": desired}]);
    assert_eq!(json!(warnings(rolling("1%"))), to_all(1, 1));
    assert_eq!(json!(warnings(surging("50%"))), to_all(50, 1));
    assert_eq!(warnings(rolling("100%")), []);
    assert_eq!(warnings(rolling(1)), []);
    assert_eq!(warnings(rolling(0)), [Warning::BothLimitsZero]);
    assert_eq!(warnings(json!({})), [Warning::StrategyMissing]);
    assert_eq!(given(rolling(1)).plan().warnings, [Warning::NoTargetNodes]);
    assert_eq!(
        given(rolling("1%")).plan().warnings,
        [Warning::NoTargetNodes],
        "a percentage of zero is zero"
    );
    let three = |strategy: Value| given(strategy).nodes(["a", "b", "c"], new()).plan().warnings;
    assert_eq!(three(rolling("66%")), []);
    assert_eq!(json!(three(rolling("67%"))), to_all(67, 3));
}

#[test]
fn bound_pods_on_unknown_nodes_are_reported() {
    let plan = given(rolling(1)).node(node("a").has(new())).stray("gone", new().named("p")).plan();
    assert_eq!(json!(plan.warnings), json!([{"type": "PodsOnUnknownNodes", "pods": ["p"]}]));
    assert_eq!(plan.report.nodes[0].outcome, NodeOutcome::UpToDate);
}

#[test]
fn a_held_pod_is_reported_with_the_use_of_the_budget() {
    let young = || old().ready_for(10);
    let fleet = given(rolling(3))
        .min_ready(60)
        .node(node("a").has(new().not_ready()))
        .node(node("b").has(young()))
        .node(node("c").has(young()))
        .node(node("d").has(young()))
        .node(node("e").has(old()));
    let plan = fleet.plan();
    let outcomes: Vec<_> = plan.report.nodes.iter().map(|node| json!(node.outcome)).collect();
    let gone = json!({"type": "Delete", "reason": "OutdatedNotYetAvailable"});
    let held = |used: u32| json!({"type": "HeldByMaxUnavailable", "used": used, "limit": 3});
    assert_eq!(outcomes[1..4], [gone.clone(), gone, held(3)]);
    assert_eq!(outcomes[4], held(4), "a to d are not available");
}

#[test]
fn verdicts_are_in_the_order_of_the_names() {
    let names = [
        "n-1",
        "n-10",
        "n-2",
        "n-",
        "n-\u{0}",
        "n-\u{0}\u{0}x",
        "n-same-start-1",
        "n-same-start-0",
        "n-azzzzzzb",
        "n-bzzzzzza",
        "n-é",
        "n-z",
    ];
    let in_order = |names: &[&str]| {
        let plan = names.iter().fold(given(rolling(1)), |given, name| given.node(node(name))).plan();
        let mut sorted = names.to_vec();
        sorted.sort_unstable();
        plan.report.nodes.iter().map(|verdict| verdict.node.as_str()).eq(sorted)
    };
    assert!(in_order(&names));
    for (left, right) in names.iter().flat_map(|left| names.iter().map(move |right| (left, right))) {
        assert!(left == right || in_order(&[left, right]), "{left:?} {right:?}");
    }
}
