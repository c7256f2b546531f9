//! The list as a whole: its order, size, status and events.

use super::{broken, create, delete, delete_revision, json_status, named, three, violations, wake_up, write};
use crate::support::{at, given, new, node, now, old, rolling};
use daemonset::model::DaemonSetStatus;
use daemonset::{Action, DeleteReason, StatusReason};
use daemonset_audit::{BudgetFigure, ViolationKind as Kind};
use serde_json::json;

#[test]
fn a_violation_is_data_and_a_sentence() {
    let found = violations(&three(rolling(1)), &[delete("a-1"), delete("b-1")]);
    let [violation] = found.as_slice() else { panic!("{found:#?}") };
    assert_eq!(
        violation.to_string(),
        "action 1, pod ns/b-1: maxUnavailable: 2 target nodes would be without an available pod; 0 are, 1 may"
    );
    assert_eq!(
        serde_json::to_value(violation).unwrap(),
        json!({
            "action": 1,
            "subject": {"type": "Pod", "pod": {"namespace": "ns", "name": "b-1", "uid": "uid-b-1"}},
            "kind": {"type": "BudgetExceeded", "figure": "Unavailable", "before": 0, "after": 2, "limit": 1, "lost": 0},
        })
    );
}

#[test]
fn doing_nothing_breaks_no_rule() {
    assert_eq!(broken(&three(rolling(3)), &[]), []);
}

#[test]
fn a_status_is_plausible_and_its_collision_count_rises() {
    let given = three(rolling(1)).with("/daemonSet/status", json!({"collisionCount": 2}));
    let good = json!({
        "desiredNumberScheduled": 3, "numberReady": 3, "numberAvailable": 2, "numberUnavailable": 1,
        "collisionCount": 2,
    });
    let changed = |key: &str, value: serde_json::Value| {
        let mut status = good.clone();
        status[key] = value;
        broken(&given, &[write(json_status(status), StatusReason::Changed)])
    };
    assert_eq!(changed("collisionCount", json!(2)), []);
    for (key, value) in [("observedGeneration", 1), ("numberReady", -1), ("numberMisscheduled", 1)] {
        let found = changed(key, json!(value));
        assert!(matches!(found[..], [Kind::WrongStatus { field }] if field == key), "{found:?}");
    }
    assert_eq!(changed("numberReady", json!(1)), [Kind::WrongStatus { field: "numberAvailable" }], "2 of 1");
    assert_eq!(changed("collisionCount", json!(1)), [Kind::WrongCollisionCount { from: 2, to: 1 }]);
    assert_eq!(changed("collisionCount", json!(3)), [Kind::WrongCollisionCount { from: 2, to: 3 }]);
    let collision = DaemonSetStatus { collision_count: Some(3), ..DaemonSetStatus::default() };
    let counted = DaemonSetStatus { number_ready: 1, ..collision.clone() };
    let counted = write(counted, StatusReason::NameCollision);
    assert_eq!(broken(&given, &[counted]), [Kind::WrongStatus { field: "counters" }]);
    let collision = write(collision, StatusReason::NameCollision);
    assert_eq!(broken(&given, std::slice::from_ref(&collision)), []);
    assert_eq!(broken(&given, &[delete("a-1"), collision]), [Kind::CollisionNotAlone]);
}

#[test]
fn conditions_of_others_stay_and_the_two_of_the_policy_may_change() {
    let odd = json!({"type": "Odd", "status": "True"});
    let before = json!([odd, {"type": "Available", "status": "True"}]);
    let finds = |policy: bool, conditions: serde_json::Value| {
        let given = three(rolling(1))
            .with("/daemonSet/status", json!({"conditions": before}))
            .policy(json!({"conditions": policy}));
        let mut status = given.plan().status.unwrap();
        status.conditions = serde_json::from_value(conditions).unwrap();
        broken(&given, &[write(status, StatusReason::Changed)])
    };
    let wrong = [Kind::WrongStatus { field: "conditions" }];
    let (available, progressing) = (json!({"type": "Available"}), json!({"type": "Progressing"}));
    assert_eq!(finds(false, before.clone()), []);
    assert_eq!(finds(false, json!([odd, available, progressing])), wrong);
    assert_eq!(finds(true, json!([odd, available, progressing])), []);
    assert_eq!(finds(true, json!([available, odd, progressing])), []);
    assert_eq!(finds(true, json!([available, progressing])), wrong, "the other one is gone");
    assert_eq!(finds(true, json!([{"type": "Odd"}, available, progressing])), wrong);
    assert_eq!(finds(true, json!([odd, available])), wrong);
    assert_eq!(finds(true, json!([odd, available, available])), wrong);
    assert_eq!(finds(true, json!([odd, available, progressing, progressing])), wrong);
}

#[test]
fn a_daemon_set_that_is_being_deleted_or_selects_all_is_left_alone() {
    let deleted = three(rolling(1)).with("/daemonSet/metadata/deletionTimestamp", json!(now()));
    assert_eq!(broken(&deleted, &[delete("a-1"), wake_up(1)]), [Kind::BeingDeleted]);
    let all = deleted.with("/daemonSet/spec/selector", json!({}));
    assert_eq!(broken(&all, &[delete("a-1"), wake_up(1)]), [Kind::SelectingAll]);
}

#[test]
fn the_list_is_in_order_within_the_burst_and_requeues_once() {
    let given = three(rolling(3)).node(node("d"));
    assert_eq!(broken(&given, &[delete("a-1"), create("d"), wake_up(0)]), []);
    assert_eq!(broken(&given, &[create("d"), delete("a-1")]), [Kind::OutOfOrder]);
    assert_eq!(broken(&given, &[wake_up(-1)]), [Kind::RequeueInThePast { at: at(-1) }]);
    assert_eq!(broken(&given, &[wake_up(1), wake_up(2)]), [Kind::SecondRequeue]);
    let small = given.policy(json!({"burst": 1}));
    assert_eq!(broken(&small, &[delete("a-1"), delete("b-1")]), [Kind::BurstExceeded { limit: 1 }]);
}

#[test]
fn subjects_and_figures_have_names() {
    let fleet = given(rolling(1)).node(node("a").has(old()).has(new()));
    let other = Action::delete_pod("a".into(), named("b-1"), DeleteReason::ExcessPod);
    let said = |actions: &[Action]| -> Vec<String> {
        violations(&fleet, actions).iter().map(|violation| violation.subject.to_string()).collect()
    };
    assert_eq!(said(&[other]), ["pod ns/b-1"]);
    assert_eq!(said(&[delete_revision("agent-new")]), ["revision ns/agent-new"]);
    assert_eq!(said(&[create("a")])[0], "node a");
    assert_eq!(said(&[wake_up(-1)]), ["DaemonSet ns/agent"]);
    use BudgetFigure::{BeingReplaced, NotReady, Unavailable};
    assert_eq!(
        [Unavailable, NotReady, BeingReplaced].map(|figure| figure.to_string()),
        ["without an available pod", "without a Ready pod", "being replaced"]
    );
}
