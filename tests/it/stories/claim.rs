//! Claiming of pods and revisions.

use crate::support::{given, new, node, old, on_delete, pod, revision, rolling};
use daemonset::internal::{HashIx, Position};
use serde_json::json;

#[test]
fn an_orphan_that_matches_is_adopted_and_counts_in_the_same_pass() {
    let given = given(rolling(1)).node(node("a").has(old().orphan()));
    assert_eq!(given.steps(), ["adopt a-1: SelectorMatches", "delete a-1: OutdatedAvailable"]);
}

#[test]
fn terminating_objects_are_not_adopted() {
    let given = given(rolling(1)).node(node("a").has(old().orphan().terminating(30)));
    assert_eq!(given.steps(), ["create on a in batch 0: MissingPod"]);
}

#[test]
fn an_owned_pod_that_no_longer_matches_is_released_and_no_longer_counts() {
    let given = given(rolling(1)).node(node("a").has(old().label("app", "other")));
    assert_eq!(given.steps(), ["release a-1: SelectorNoLongerMatches", "create on a in batch 0: MissingPod"]);
}

#[test]
fn pods_of_others_are_never_touched() {
    let given = given(rolling(1))
        .node(node("a").has(new()).has(old().owned_by("uid-other")))
        .node(node("b").has(new()).has(old().orphan().label("app", "other")))
        .node(node("c").has(new()).has(old().mirror()))
        .node(node("d").has(new()).has(old().with("/metadata/namespace", json!("elsewhere"))))
        .node(node("e").has(new()).has(old().orphan().mirror()));
    assert_eq!(given.steps(), [""; 0]);
}

#[test]
fn an_owner_that_is_not_the_controller_does_not_own() {
    let owners = json!([{"kind": "DaemonSet", "uid": "uid-agent", "controller": false}]);
    let given = given(rolling(1)).node(node("a").has(new().with("/metadata/ownerReferences", owners)));
    assert_eq!(given.steps(), ["adopt a-1: SelectorMatches"]);
}

#[test]
fn revisions_are_adopted_and_released_too() {
    let mut orphan = revision("old", 1);
    orphan["metadata"]["ownerReferences"] = json!([]);
    let mut other = revision("other", 7);
    other["metadata"]["labels"]["app"] = json!("other");
    let given = given(on_delete()).revisions([orphan, other, revision("new", 2)]);
    assert_eq!(
        given.steps(),
        ["adopt agent-old: SelectorMatches", "release agent-other: SelectorNoLongerMatches"]
    );
}

#[test]
fn a_revision_of_another_namespace_is_nobodys_here() {
    let mut elsewhere = revision("elsewhere", 9);
    elsewhere["metadata"]["namespace"] = json!("elsewhere");
    let given = given(on_delete()).revisions([revision("new", 2), elsewhere]);
    assert_eq!(given.steps(), [""; 0], "neither renumbered nor released");
}

#[test]
fn an_empty_selector_does_nothing_but_warn() {
    let stable = given(rolling(1)).node(node("a").has(old())).with("/daemonSet/spec/selector", json!({}));
    assert_eq!(stable.steps(), ["event Warning SelectingAll"]);
    assert_eq!(stable.plan().status, None);
    let deleted = stable.with("/daemonSet/metadata/deletionTimestamp", json!("2026-01-01T11:00:00Z"));
    assert_eq!(deleted.steps(), ["event Warning SelectingAll"]);
}

#[test]
fn a_daemon_set_that_is_being_deleted_is_left_alone() {
    let given = given(rolling(1))
        .node(node("a").has(old().orphan()))
        .node(node("b"))
        .with("/daemonSet/metadata/deletionTimestamp", json!("2026-01-01T11:00:00Z"));
    assert_eq!(given.steps(), [""; 0]);
    assert_eq!(given.plan().status, None);
}

/// The pods of one template have equal labels, which are read once.
#[test]
fn the_labels_of_each_pod_are_read_as_if_it_were_alone() {
    // Each twice in a row, and more different ones than are remembered.
    let mut fleet = given(rolling(1)).generation(1);
    for number in (0..80).map(|number| number / 2) {
        let (app, generation) = (["agent", "other"][number % 3 / 2], ["1", "2", "3"][number % 5 / 2]);
        let of = pod(&(number % 20).to_string()).label("app", app);
        fleet = fleet.stray("gone", of.label("pod-template-generation", generation));
    }
    for (number, pod) in fleet.json["pods"].as_array_mut().unwrap().iter_mut().enumerate() {
        (pod["metadata"]["name"], pod["metadata"]["uid"]) =
            (json!(format!("p{number}")), json!(format!("u{number}")));
    }
    let recording = fleet.recording();
    let snapshot = recording.snapshot().unwrap();
    for (position, pod, facts) in snapshot.pods_with_facts() {
        let number = position.index() / 2;
        let of_generation = number % 5 < 2;
        assert_eq!((facts.selected, facts.same_generation), (number % 3 < 2, of_generation), "{pod:?}");
        assert_eq!(facts.hash, Some(HashIx::new(number % 20)), "{pod:?}");
    }
}
