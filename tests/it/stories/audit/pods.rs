//! Pods that may be deleted.

use super::{broken, create, delete, named, three};
use crate::support::{PodStory, at, given, new, node, old, on_delete, rolling, surging};
use daemonset::{Action, DeleteReason, Failure};
use daemonset_audit::ViolationKind as Kind;
use serde_json::json;

#[test]
fn a_live_pod_is_deleted_only_where_an_equally_good_one_stays_or_can_follow() {
    let target = given(rolling(5)).node(node("a").has(new()).has(old()).has(new().not_ready()));
    assert_eq!(broken(&target, &[delete("a-2"), delete("a-3")]), []);
    let both = [delete("a-1"), delete("a-2")];
    assert_eq!(broken(&target, &both), [Kind::NeededPodDeleted], "the better one of the updated");
    let tainted = |pod: PodStory| given(rolling(5)).node(node("a").taint("x", "NoSchedule").has(pod));
    assert_eq!(broken(&tainted(old()), &[delete("a-1")]), [Kind::NeededPodDeleted]);
    assert_eq!(
        broken(&tainted(old().tolerates("x")), &[delete("a-1")]),
        [],
        "the template has withdrawn the toleration"
    );
    assert_eq!(broken(&tainted(new().tolerates("x")), &[delete("a-1")]), [Kind::NeededPodDeleted]);
    let condition = given(rolling(5)).node(
        node("a").taint("node.kubernetes.io/x", "NoSchedule").has(old().tolerates("node.kubernetes.io/x")),
    );
    assert_eq!(broken(&condition, &[delete("a-1")]), [Kind::NeededPodDeleted]);
    let excluded = given(rolling(5)).node(node("a").taint("x", "NoExecute").has(new()));
    assert_eq!(broken(&excluded, &[delete("a-1")]), []);
}

#[test]
fn under_surge_a_ready_pod_waits_for_its_successor() {
    let fleet = |pods: Vec<PodStory>| given(surging(1)).node(node("a").has_all(pods));
    assert_eq!(broken(&fleet(vec![old()]), &[delete("a-1")]), [Kind::NoSuccessor]);
    assert_eq!(broken(&fleet(vec![old(), new().not_ready()]), &[delete("a-1")]), [Kind::NoSuccessor]);
    assert_eq!(broken(&fleet(vec![old(), new()]), &[delete("a-1")]), []);
    assert_eq!(broken(&fleet(vec![old().not_ready()]), &[delete("a-1")]), []);
    assert_eq!(broken(&fleet(vec![old(), new()]), &[delete("a-2")]), [Kind::NeededPodDeleted]);
    let both = [delete("a-1"), delete("a-2")];
    assert_eq!(broken(&fleet(vec![old(), new()]), &both), [Kind::NoSuccessor, Kind::NeededPodDeleted]);
    let tainted = given(surging(1)).node(node("a").taint("x", "NoSchedule").has(old().not_ready()));
    assert_eq!(broken(&tainted, &[delete("a-1")]), [Kind::NeededPodDeleted]);
}

#[test]
fn on_delete_leaves_deletions_to_a_user() {
    let given = three(on_delete()).node(node("d").has(old()).has(old().not_ready()).has(new().failed()));
    assert_eq!(broken(&given, &[delete("a-1")]), [Kind::DeletedUnderOnDelete]);
    assert_eq!(broken(&given, &[delete("d-2")]), []);
    assert_eq!(broken(&given, &[delete("d-1")]), [Kind::DeletedUnderOnDelete], "the better pod stays");
}

#[test]
fn a_delete_names_the_node_of_its_pod() {
    let mut action = delete("a-1");
    if let Action::DeletePod { node, .. } = &mut action {
        *node = "b".into();
    }
    let wrong = Kind::WrongNode { found: "b".into(), expected: "a".into() };
    assert_eq!(broken(&three(rolling(3)), &[action]), [wrong]);
}

#[test]
fn pods_of_gone_nodes_are_left_to_the_garbage_collector_unless_they_are_unbound() {
    let given = given(rolling(3)).stray("gone", old()).stray("gone", old().unbound().named("gone-2"));
    assert_eq!(broken(&given, &[delete("gone-2")]), []);
    let mut bound = delete("gone-stray");
    assert_eq!(broken(&given, &[bound.clone()]), [Kind::StrayDeleted]);
    let given = given.with("/pods/0/spec", json!({}));
    if let Action::DeletePod { node, .. } = &mut bound {
        *node = "".into();
    }
    assert_eq!(broken(&given, &[bound]), [Kind::StrayDeleted], "no target node");
}

/// The back-off is that of the other controller, and the memory is of a time at which nothing was driven.
#[test]
fn a_driver_holds_no_node_back() {
    let failures = json!({"a": {"generation": 2, "count": 3, "at": at(-3)}});
    let driven = given(on_delete())
        .policy(json!({"drive": rolling(5)}))
        .node(node("a").has(new().failed()).has(old()))
        .with("/memory", json!({"failures": failures}));
    assert_eq!(driven.steps(), ["delete a-2: OutdatedAvailable"]);
    assert_eq!(broken(&driven, &[delete("a-2")]), []);
}

#[test]
fn a_failed_pod_is_held_back_and_counted() {
    let held = |ago: i64| {
        let failures = json!({"a": {"generation": 2, "count": 3, "at": at(-ago)}});
        given(rolling(5))
            .node(node("a").has(new().failed()).has(old()))
            .with("/memory", json!({"failures": failures}))
    };
    let fail = |count| {
        let (pod, failure) = (named("a-1"), Failure::new(2, count));
        Action::delete_failed_pod("a".into(), pod, DeleteReason::FailedPod, failure)
    };
    assert_eq!(broken(&held(4), &[fail(4)]), []);
    assert_eq!(broken(&held(3), &[fail(4)]), [Kind::HeldBack { until: at(1) }], "1, 2, 4 s");
    let found = Some(Failure::new(2, 1));
    let expected = Some(Failure::new(2, 4));
    assert_eq!(broken(&held(4), &[fail(1)]), [Kind::WrongFailure { expected, found }]);
    assert_eq!(broken(&held(1800), &[fail(1)]), [], "forgotten");
    let often = |count: u32| {
        let failures = json!({"a": {"generation": 2, "count": count, "at": at(-100)}});
        held(0).with("/memory", json!({"failures": failures}))
    };
    assert_eq!(broken(&often(10), &[fail(11)]), [Kind::HeldBack { until: at(412) }]);
    assert_eq!(broken(&often(30), &[fail(31)]), [Kind::HeldBack { until: at(800) }], "15 minutes at most");
    assert_eq!(broken(&held(3), &[delete("a-2")]), [Kind::HeldBack { until: at(1) }], "the Ready one stays");
    assert_eq!(broken(&held(3), &[create("a")]), [Kind::HeldBack { until: at(1) }]);
    let failures = json!({"a": {"generation": 2, "count": 3, "at": at(-3)}});
    let outdated =
        given(rolling(5)).node(node("a").has(old().failed())).with("/memory", json!({"failures": failures}));
    assert_eq!(
        broken(&outdated, &[create("a")]),
        [Kind::NodeOccupied { pods: 1 }],
        "not the new version's fault"
    );
}

#[test]
fn under_surge_each_side_keeps_its_best_pod() {
    let fleet = |pods: Vec<PodStory>| given(surging(1)).node(node("a").has_all(pods));
    let second = [delete("a-2")];
    assert_eq!(broken(&fleet(vec![old(), new().not_ready()]), &second), [Kind::NeededPodDeleted]);
    assert_eq!(broken(&fleet(vec![new(), new().not_ready()]), &second), []);
    assert_eq!(broken(&fleet(vec![old(), old().not_ready()]), &second), []);
}

#[test]
fn under_surge_a_node_that_takes_no_more_pods_ends_its_pair() {
    let tainted = |pods: Vec<PodStory>| {
        let node = node("a").taint("x", "NoSchedule").has_all(pods);
        broken(&given(surging(1)).node(node), &[delete("a-1")])
    };
    assert_eq!(tainted(vec![old()]), [Kind::NeededPodDeleted]);
    assert_eq!(tainted(vec![old(), new().not_ready()]), [Kind::NoSuccessor]);
    assert_eq!(tainted(vec![old().not_ready(), new().not_ready()]), []);
    assert_eq!(tainted(vec![old(), new()]), []);
}

#[test]
fn a_toleration_is_withdrawn_although_the_template_has_others() {
    let fleet = given(rolling(5)).tolerates(json!([{"key": "other", "operator": "Exists"}]));
    let both = node("a").taint("other", "NoSchedule").taint("x", "NoSchedule").has(old().tolerates("x"));
    assert_eq!(broken(&fleet.node(both), &[delete("a-1")]), []);
}
