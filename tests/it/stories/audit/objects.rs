//! Objects that a list may touch, and actions that are already in flight or done.

use super::{adopt, broken, create, delete, delete_revision, json_status, label, named, release, three};
use crate::support::{at, given, new, node, old, revision, rolling, surging};
use daemonset::model::ObjectRef;
use daemonset::{Action, ClaimReason, RevisionReason, StatusReason};
use daemonset_audit::ViolationKind as Kind;
use serde_json::json;

#[test]
fn an_object_is_identified_by_namespace_name_and_uid() {
    let given = three(rolling(3));
    let renamed = |change: fn(&mut ObjectRef)| {
        let mut action = delete("a-1");
        if let Action::DeletePod { pod, .. } = &mut action {
            change(pod);
        }
        broken(&given, &[action])
    };
    assert_eq!(renamed(|_| ()), []);
    assert_eq!(renamed(|pod| pod.uid = "uid-of-yesterday".into()), [Kind::UnknownObject]);
    assert_eq!(renamed(|pod| pod.name = "a-2".to_owned()), [Kind::UnknownObject]);
    assert_eq!(
        renamed(|pod| pod.uid = "uid-b-1".into()),
        [Kind::UnknownObject],
        "the name of another object"
    );
    assert_eq!(renamed(|pod| pod.namespace = "other".to_owned()), [Kind::UnknownObject]);
    let mut of_another_name = named("agent-old");
    of_another_name.name = "agent-older".to_owned();
    let delete = Action::delete_revision(of_another_name, RevisionReason::HistoryLimit);
    assert_eq!(broken(&given, &[delete]), [Kind::UnknownObject]);
    let of_another = |change: fn(&mut ObjectRef)| {
        let mut daemon_set = named("agent");
        change(&mut daemon_set);
        let status = json_status(json!({"desiredNumberScheduled": 3, "numberUnavailable": 3}));
        broken(&given, &[Action::update_status(daemon_set, status, StatusReason::Changed)])
    };
    assert_eq!(of_another(|_| ()), []);
    assert_eq!(of_another(|ds| ds.name = "other".to_owned()), [Kind::UnknownObject]);
    assert_eq!(of_another(|ds| ds.uid = "uid-other".into()), [Kind::UnknownObject]);
    assert_eq!(of_another(|ds| ds.namespace = "other".to_owned()), [Kind::UnknownObject]);
}

#[test]
fn only_pods_of_the_daemon_set_are_deleted() {
    let given = given(rolling(5))
        .node(node("a").has(old().owned_by("uid-other")).has(old().mirror()).has(old().label("app", "x")))
        .node(node("b").has(old().orphan()))
        .with("/revisions/0/metadata/ownerReferences", json!([{"uid": "uid-other", "controller": true}]));
    for pod in ["a-1", "a-2", "a-3"] {
        assert_eq!(broken(&given, &[delete(pod)]), [Kind::ForeignObject], "{pod}");
        assert_eq!(broken(&given, &[label(pod, "new")]), [Kind::ForeignObject], "{pod}");
    }
    assert_eq!(broken(&given, &[delete("b-1")]), [Kind::ForeignObject], "the pod is the pod is not adopted");
    assert_eq!(broken(&given, &[adopt("b-1"), delete("b-1")]), []);
    assert_eq!(broken(&given, &[delete_revision("agent-old")]), [Kind::ForeignObject]);
    let elsewhere = three(rolling(1)).with("/revisions/0/metadata/namespace", json!("elsewhere"));
    let mut old = named("agent-old");
    old.namespace = "elsewhere".to_owned();
    let delete = Action::delete_revision(old, RevisionReason::HistoryLimit);
    assert_eq!(broken(&elsewhere, &[delete]), [Kind::ForeignObject], "an owner is in the same namespace");
}

#[test]
fn only_matching_orphans_are_adopted_and_only_objects_that_no_longer_match_are_released() {
    let given = given(rolling(1))
        .node(node("a").has(old()).has(old().orphan()).has(old().orphan().terminating(30)))
        .node(node("b").has(old().orphan().label("app", "x")).has(old().label("app", "x")));
    assert_eq!(broken(&given, &[adopt("a-2"), release("b-2")]), []);
    for pod in ["a-1", "a-3", "b-1", "b-2"] {
        assert_eq!(broken(&given, &[adopt(pod)]), [Kind::WrongAdoption], "{pod}");
    }
    for pod in ["a-1", "a-2", "b-1"] {
        assert_eq!(broken(&given, &[release(pod)]), [Kind::WrongRelease], "{pod}");
    }
    let reason = ClaimReason::SelectorMatches;
    let revision = named("agent-old");
    assert_eq!(broken(&given, &[Action::adopt_revision(revision, reason)]), [Kind::WrongAdoption]);
    let revision = named("agent-old");
    assert_eq!(broken(&given, &[Action::release_revision(revision, reason)]), [Kind::WrongRelease]);
}

#[test]
fn nothing_is_deleted_twice() {
    let given = three(rolling(3)).node(node("d").has(new()).has(old().terminating(30)));
    assert_eq!(broken(&given, &[delete("a-1"), delete("a-1")]), [Kind::DeletedTwice]);
    assert_eq!(broken(&given, &[delete("d-2")]), [Kind::AlreadyTerminating]);
    let given = given.revisions([revision("old", 1), revision("x", 2), revision("new", 3)]);
    let given = given.with("/daemonSet/spec/revisionHistoryLimit", json!(0));
    let twice = [delete_revision("agent-x"), delete_revision("agent-x")];
    assert_eq!(broken(&given, &twice), [Kind::DeletedTwice]);
}

#[test]
fn actions_in_flight_are_not_repeated() {
    let remembered = |ago: i64| {
        let create = json!({"uid": "uid-created", "revision": "new", "at": at(-ago)});
        let memory = json!({"creates": {"d": create}, "deletes": {"a-1": at(-ago), "uid-a-1": at(-ago)}});
        three(rolling(3)).node(node("d")).with("/memory", memory)
    };
    assert_eq!(broken(&remembered(299), &[delete("a-1")]), [Kind::AlreadyTerminating]);
    assert_eq!(broken(&remembered(300), &[delete("a-1")]), [], "the entry has expired");
    assert_eq!(broken(&remembered(299), &[create("d")]), [Kind::CreateInFlight]);
    assert_eq!(broken(&remembered(300), &[create("d")]), []);
}

#[test]
fn a_create_whose_answer_was_lost_is_shown_by_a_live_pod_of_its_revision() {
    let memory =
        json!({"creates": {"a": {"revision": "old", "at": at(0)}, "b": {"revision": "new", "at": at(0)}}});
    let given = given(surging(3)).nodes(["a", "b"], old()).with("/memory", memory);
    assert_eq!(broken(&given, &[create("a")]), []);
    assert_eq!(broken(&given, &[create("b")]), [Kind::CreateInFlight]);
    for other in [old().owned_by("uid-other"), old().terminating(30), old().failed()] {
        let memory = json!({"creates": {"a": {"revision": "old", "at": at(0)}}});
        let hidden = crate::support::given(surging(3)).node(node("a").has(other)).with("/memory", memory);
        assert_eq!(broken(&hidden, &[create("a")]), [Kind::CreateInFlight]);
    }
}
