//! The JSON forms, which other programs read.

use crate::support::{Given, at, given, new, node, old, pod, revision, rolling};
use daemonset::model::{LabelSelector, Labels};
use daemonset::{Action, Memory, Recording};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The first action of each type in this plan.
fn forms(given: &Given) -> BTreeMap<String, Value> {
    let mut forms = BTreeMap::new();
    for action in given.plan().actions {
        let json = serde_json::to_value(&action).unwrap();
        forms.entry(json["type"].as_str().unwrap().to_owned()).or_insert(json);
    }
    forms
}

fn reference(name: &str) -> Value {
    json!({"namespace": "ns", "name": name, "uid": format!("uid-{name}")})
}

fn daemon_set() -> Value {
    json!({"namespace": "ns", "name": "agent", "uid": "uid-agent"})
}

/// A revision without a controller.
fn orphan(version: &str, number: i64) -> Value {
    let mut orphan = revision(version, number);
    orphan["metadata"]["ownerReferences"] = json!([]);
    orphan
}

/// A fleet that needs nearly every kind of action.
fn busy() -> Given {
    let mut unlabelled = orphan("older", 1);
    unlabelled["metadata"]["labels"] = json!({"app": "agent"});
    let mut other = revision("other", 1);
    other["metadata"]["labels"]["app"] = json!("other");
    given(rolling(1))
        .generation(4)
        .revisions([unlabelled, other, revision("new", 1), revision("old", 2)])
        .with("/daemonSet/spec/revisionHistoryLimit", json!(1))
        .with("/daemonSet/metadata/resourceVersion", json!("77"))
        .node(node("a").has(old().orphan().with("/metadata/resourceVersion", json!("12"))))
        .node(node("b").has(new().label("app", "other")))
        .node(node("c").has(new().without_hash().generation("4").failed()))
        .node(node("d").has(new().without_hash().generation("4")))
        .node(node("e"))
}

#[test]
fn claims_name_the_object_with_its_version() {
    let forms = forms(&busy());
    let mut with_version = reference("a-1");
    with_version["resourceVersion"] = json!("12");
    assert_eq!(
        forms["AdoptPod"],
        json!({"type": "AdoptPod", "pod": with_version, "reason": "SelectorMatches"})
    );
    assert_eq!(
        forms["ReleasePod"],
        json!({"type": "ReleasePod", "pod": reference("b-1"), "reason": "SelectorNoLongerMatches"})
    );
    assert_eq!(
        forms["AdoptRevision"],
        json!({"type": "AdoptRevision", "revision": reference("agent-older"), "reason": "SelectorMatches"})
    );
    assert_eq!(
        forms["ReleaseRevision"],
        json!({"type": "ReleaseRevision", "revision": reference("agent-other"), "reason": "SelectorNoLongerMatches"})
    );
}

#[test]
fn actions_on_revisions_name_the_fields_that_they_set() {
    let busy = forms(&busy());
    assert_eq!(
        busy["LabelRevision"],
        json!({
            "type": "LabelRevision", "revision": reference("agent-older"),
            "labels": {"controller-revision-hash": "agent-older"}, "reason": "HashMissing",
        })
    );
    assert_eq!(
        busy["RenumberRevision"],
        json!({"type": "RenumberRevision", "revision": reference("agent-new"), "number": 3, "reason": "CurrentAgain"})
    );
    assert_eq!(
        busy["DeleteRevision"],
        json!({"type": "DeleteRevision", "revision": reference("agent-older"), "reason": "HistoryLimit"})
    );
    assert_eq!(
        busy["LabelPod"],
        json!({
            "type": "LabelPod", "pod": reference("d-1"),
            "labels": {"controller-revision-hash": "new"}, "reason": "HashMissing",
        })
    );
    let fresh = forms(&given(rolling(1)).revisions([]));
    assert_eq!(fresh["CreateRevision"]["reason"], "NewTemplate");
    assert_eq!(fresh["CreateRevision"]["revision"]["kind"], "ControllerRevision");
}

#[test]
fn creates_hold_whole_pods_and_deletes_hold_references() {
    let forms = forms(&busy());
    assert_eq!(
        forms["DeletePod"],
        json!({
            "type": "DeletePod", "node": "c", "pod": reference("c-1"), "reason": "FailedPod",
            "failure": {"generation": 4, "count": 1},
        })
    );
    let create = &forms["CreatePod"];
    assert_eq!(create["node"], "b");
    assert_eq!((&create["batch"], &create["reason"]), (&json!(0), &json!("MissingPod")));
    assert_eq!(create["pod"]["kind"], "Pod");
    let plain = given(rolling(1)).node(node("a").has(pod("old")));
    assert_eq!(
        serde_json::to_value(&plain.plan().actions[0]).unwrap(),
        json!({"type": "DeletePod", "node": "a", "pod": reference("a-1"), "reason": "OutdatedAvailable"})
    );
}

#[test]
fn statuses_events_and_requeues_have_their_forms() {
    let forms = forms(&busy());
    let mut with_version = daemon_set();
    with_version["resourceVersion"] = json!("77");
    assert_eq!(
        forms["UpdateStatus"],
        json!({
            "type": "UpdateStatus", "daemonSet": with_version, "reason": "Changed",
            "status": {
                "currentNumberScheduled": 3, "desiredNumberScheduled": 5, "numberMisscheduled": 0, "numberReady": 2,
                "numberAvailable": 2, "numberUnavailable": 3, "updatedNumberScheduled": 1, "observedGeneration": 2,
            },
        })
    );
    assert_eq!(
        forms["RecordEvent"],
        json!({
            "type": "RecordEvent", "daemonSet": with_version, "eventType": "Warning", "reason": "FailedDaemonPod",
            "message": "Found failed daemon pod ns/c-1 on node c, will try to kill it",
        })
    );
    let young = given(rolling(1)).min_ready(60).node(node("a").has(new().ready_for(10)));
    let last = young.plan().actions.pop().unwrap();
    assert_eq!(
        serde_json::to_value(last).unwrap(),
        json!({"type": "Requeue", "at": "2026-01-01T12:00:50Z", "reason": "MinReadySeconds"})
    );
}

#[test]
fn a_policy_is_written_only_if_it_differs_from_the_default() {
    let written = |given: &Given| {
        let recording = serde_json::to_value(given.recording()).unwrap();
        recording.get("policy").cloned()
    };
    assert_eq!(written(&given(rolling(1))), None);
    assert_eq!(written(&given(rolling(1)).policy(json!({"burst": 250}))), None);
    let other = written(&given(rolling(1)).policy(json!({"burst": 7}))).unwrap();
    assert_eq!(other["burst"], json!(7));
}

#[test]
fn a_recording_of_a_snapshot_survives_serialization() {
    let given = busy().node(node("z").has(new().unbound()).has(old().tolerates("x")));
    let recording = Recording::from(&given.recording().snapshot().unwrap());
    let text = serde_json::to_string(&recording).unwrap();
    let again = Recording::from_json(text.as_bytes()).unwrap();
    assert_eq!(again, recording);
    let unbound = again.pods.iter().find(|pod| pod.metadata.name == "z-1").unwrap();
    assert_eq!(unbound.spec.affinity_node.as_ref().map(|node| node.as_str()), Some("z"));
    assert_eq!(daemonset::plan(&again.snapshot().unwrap()).actions, given.plan().actions);
}

#[test]
fn labels_and_selectors_report_whether_they_are_empty() {
    let selector = |value: Value| serde_json::from_value::<LabelSelector>(value).unwrap();
    assert!(selector(json!({})).is_empty());
    assert!(!selector(json!({"matchLabels": {"app": "agent"}})).is_empty());
    assert!(!selector(json!({"matchExpressions": [{"key": "app", "operator": "Exists"}]})).is_empty());
    let labels = Labels::from_iter([("a", "1"), ("b", "2")]);
    assert_eq!((labels.len(), labels.is_empty(), Labels::default().is_empty()), (2, false, true));
}

#[test]
fn memory_has_a_stable_form() {
    let mut memory = Memory::default();
    for action in busy().plan().actions {
        let outcome = match action {
            Action::CreatePod { .. } => daemonset::ActionOutcome::Created(daemonset::model::ObjectRef {
                uid: "uid-made".into(),
                ..Default::default()
            }),
            _ => daemonset::ActionOutcome::Done,
        };
        memory.record(&action, &outcome, at(0));
    }
    assert_eq!(
        serde_json::to_value(&memory).unwrap(),
        json!({
            "creates": {
                "b": {"uid": "uid-made", "revision": "new", "at": at(0)},
                "e": {"uid": "uid-made", "revision": "new", "at": at(0)},
            },
            "deletes": {"uid-c-1": at(0)},
            "failures": {"c": {"generation": 4, "count": 1, "at": at(0)}},
        })
    );
}
