//! The counters of the status.

use crate::support::{Given, everything, given, new, node, old, on_delete, rolling, surging};
use serde_json::{Value, json};

fn status(given: Given) -> Value {
    serde_json::to_value(given.plan().status).unwrap()
}

#[test]
fn any_pod_of_a_node_counts() {
    let given = given(surging(1))
        .min_ready(60)
        .node(node("up").has(new()))
        .node(node("pair").has(old()).has(new().not_ready()))
        .node(node("young").has(new().ready_for(10)))
        .node(node("going").has(new().terminating(30)))
        .node(node("failed").has(new().failed()))
        .node(node("empty"))
        .node(node("strange").taint("x", "NoSchedule").has(new()))
        .node(node("drained").taint("x", "NoExecute").has(new().terminating(30)))
        .node(node("other").taint("x", "NoExecute"));
    assert_eq!(
        status(given),
        json!({
            "desiredNumberScheduled": 6,
            "currentNumberScheduled": 5,
            "numberMisscheduled": 2,
            "numberReady": 3,
            "numberAvailable": 2,
            "numberUnavailable": 4,
            "updatedNumberScheduled": 2,
            "observedGeneration": 2,
        })
    );
}

#[test]
fn a_status_that_is_right_is_not_written() {
    let stable = given(on_delete()).node(node("a").has(new()));
    let right = status(stable.clone());
    assert_eq!(everything(&stable.plan()), ["status: Changed"]);
    let written = stable.with("/daemonSet/status", right);
    assert_eq!(everything(&written.plan()), [""; 0]);
    let edited = written.with("/daemonSet/metadata/generation", json!(3));
    assert_eq!(everything(&edited.plan()), ["status: Changed"]);
}

#[test]
fn a_node_that_is_tainted_or_gone_changes_the_status_in_the_next_plan() {
    let a = || given(rolling(1)).node(node("a").has(new()));
    let both = a().node(node("b").has(new()));
    let before = status(both.clone());
    let next = |fleet: Given| fleet.with("/daemonSet/status", before.clone());
    assert_eq!(everything(&next(both).plan()), [""; 0]);
    let tainted = next(a().node(node("b").taint("x", "NoSchedule").has(new())));
    let gone = next(a().stray("b", new()));
    for (fleet, desired, misscheduled) in [(tainted, 1, 1), (gone, 1, 0)] {
        assert_eq!(everything(&fleet.plan()), ["status: Changed"]);
        let after = status(fleet);
        assert_eq!(
            (&after["desiredNumberScheduled"], &after["numberMisscheduled"]),
            (&json!(desired), &json!(misscheduled))
        );
    }
}

#[test]
fn collision_count_and_conditions_are_kept() {
    let kept = json!({"collisionCount": 4, "conditions": [{"type": "Odd", "status": "True", "extra": [1]}]});
    let status = status(given(rolling(1)).node(node("a").has(new())).with("/daemonSet/status", kept.clone()));
    assert_eq!(status["collisionCount"], kept["collisionCount"]);
    assert_eq!(status["conditions"], kept["conditions"]);
}
