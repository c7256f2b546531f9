//! Planned objects as k8s-openapi's types, and the status in both directions.

use super::Typed;
use crate::recorded::dumps::{DUMPS, Dump};
use crate::support::{given, node, old, rolling};
use daemonset::k8s_openapi::{lossy_pod, lossy_revision};
use daemonset::model::{ControllerRevision, DaemonSet, DaemonSetStatus, IntOrString, Node, Pod};
use daemonset::{Action, Observed, Snapshot, SnapshotBuilder};
use k8s_openapi::api::apps::v1 as apps;
use serde_json::{Value, json};

/// A story whose plan creates a revision and a pod.
fn story() -> Value {
    let mut story = given(rolling(1)).node(node("a")).node(node("b").has(old()));
    story.json["revisions"].as_array_mut().unwrap().pop();
    story.json
}

#[test]
fn created_objects_convert_to_typed_objects() {
    let typed = Typed::read(&story()).unwrap();
    let (mut pods, mut revisions) = (0, 0);
    for action in &typed.planned(&typed.lossy()).plan.actions {
        match action {
            Action::CreatePod { pod, .. } => {
                pods += 1;
                assert_eq!(serde_json::to_value(lossy_pod(pod).unwrap()).unwrap(), pod.to_value());
            }
            Action::CreateRevision { revision, .. } => {
                revisions += 1;
                assert_eq!(&serde_json::to_value(lossy_revision(revision).unwrap()).unwrap(), revision);
            }
            _ => {}
        }
    }
    assert_eq!((pods, revisions), (1, 1));
}

#[test]
fn a_typed_object_loses_unknown_fields_except_in_the_data_of_a_revision() {
    let mut json = story();
    json["daemonSet"]["spec"]["template"]["spec"]["future"] = json!(true);
    let typed = Typed::read(&json).unwrap();
    let raw: DaemonSet = serde_json::from_value(json["daemonSet"].clone()).unwrap();
    let actions = typed.planned(&raw).plan.actions;
    let pod = actions.iter().find_map(|action| match action {
        Action::CreatePod { pod, .. } => Some(pod),
        _ => None,
    });
    assert_eq!(pod.unwrap().to_value()["spec"]["future"], true);
    let lossy = serde_json::to_value(lossy_pod(pod.unwrap()).unwrap()).unwrap();
    assert_eq!(lossy["spec"].get("future"), None);
    let revision = actions.iter().find_map(|action| match action {
        Action::CreateRevision { revision, .. } => Some(revision),
        _ => None,
    });
    let lossy = serde_json::to_value(lossy_revision(revision.unwrap()).unwrap()).unwrap();
    assert_eq!(&lossy, revision.unwrap());
    assert_eq!(lossy["data"]["spec"]["template"]["spec"]["future"], true);
}

#[test]
fn conversion_errors_have_their_path() {
    let wrong = json!({"metadata": {"name": "r", "labels": {"a": 1}}, "revision": 1});
    let error = lossy_revision(&wrong).unwrap_err();
    assert_eq!(error.path, "metadata.labels.a");
    assert!(error.to_string().starts_with("metadata.labels.a: invalid type: integer"), "{error}");
    let status = DaemonSetStatus {
        conditions: vec![json!({"type": "A", "status": "True"}), json!({"type": 1})],
        ..DaemonSetStatus::default()
    };
    let error = apps::DaemonSetStatus::try_from(&status).unwrap_err();
    assert_eq!(error.path, "conditions[1].type");
}

#[test]
fn a_status_converts_in_both_directions() {
    let condition = json!({"type": "A", "status": "True", "reason": "R", "message": "m",
        "lastTransitionTime": "2026-01-01T10:00:00Z"});
    let full = DaemonSetStatus {
        current_number_scheduled: 1,
        number_misscheduled: 2,
        desired_number_scheduled: 3,
        number_ready: 4,
        observed_generation: 5,
        updated_number_scheduled: 6,
        number_available: 7,
        number_unavailable: 8,
        collision_count: Some(9),
        conditions: vec![condition, json!({"type": "B", "status": "False"})],
    };
    for status in [full, DaemonSetStatus::default()] {
        let typed = apps::DaemonSetStatus::try_from(&status).unwrap();
        assert_eq!(DaemonSetStatus::from(&typed), status);
        assert_eq!(serde_json::to_value(&typed).unwrap(), serde_json::to_value(&status).unwrap());
    }
    for name in DUMPS {
        let dump = Dump::load(name);
        for ds in dump.daemon_sets() {
            let json = &dump.recording(&ds)["daemonSet"]["status"];
            let model: DaemonSetStatus = serde_json::from_value(json.clone()).unwrap();
            let typed: apps::DaemonSetStatus = serde_json::from_value(json.clone()).unwrap();
            assert_eq!(DaemonSetStatus::from(&typed), model, "{name}: {ds}");
            let back = apps::DaemonSetStatus::try_from(&model).unwrap();
            assert_eq!(DaemonSetStatus::from(&back), model, "{name}: {ds}");
        }
    }
}

#[test]
fn limits_of_a_typed_daemon_set_are_read_or_refused() {
    let limits = |limits: Value| {
        let mut json = story();
        json["daemonSet"]["spec"]["updateStrategy"]["rollingUpdate"] = limits;
        Typed::read(&json).unwrap()
    };
    let good = limits(json!({"maxUnavailable": "10%", "maxSurge": 0})).lossy();
    let read = good.spec.update_strategy.rolling_update.unwrap();
    assert_eq!(
        (read.max_unavailable, read.max_surge),
        (Some(IntOrString::Percent(10)), Some(IntOrString::Int(0)))
    );
    assert_eq!(limits(Value::Null).lossy().spec.update_strategy.rolling_update, None);
    for wrong in [json!(-1), json!("ten"), json!("-5%")] {
        let typed = limits(json!({"maxUnavailable": wrong}));
        let ds = typed.lossy();
        let refused = alone(&ds).check().unwrap_err();
        let paths: Vec<_> = refused.problems.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(paths, ["spec.updateStrategy.rollingUpdate.maxUnavailable"]);
    }
}

#[test]
fn an_empty_typed_daemon_set_is_refused() {
    let ds = DaemonSet::lossy_from(&apps::DaemonSet::default());
    let refused = alone(&ds).check().unwrap_err();
    assert!(refused.problems.iter().any(|problem| problem.path == "spec.selector"), "{refused}");
}

/// The DaemonSet in a cluster without nodes.
fn alone(daemon_set: &DaemonSet) -> SnapshotBuilder<'_> {
    let (nodes, pods, revisions): ([&Node; 0], [&Pod; 0], [&ControllerRevision; 0]) = ([], [], []);
    Snapshot::builder(Observed { daemon_set, nodes, pods, revisions }, crate::support::now())
}
