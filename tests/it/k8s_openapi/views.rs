//! A view of a typed object shows the same as a view of the model.

use super::Typed;
use crate::support::{affinity, given, new, node, old, rolling, whole};
use daemonset::{Observed, PodView, Recording, Snapshot, plan};
use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};
use std::sync::Arc;

/// Pods with every form of the fields that a decision reads.
fn pods() -> Vec<Value> {
    let two_terms = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "disk", "operator": "Exists"}]},
        {"matchFields": [
            {"key": "metadata.name", "operator": "NotIn", "values": ["n9"]},
            {"key": "metadata.name", "operator": "In", "values": ["n1"]},
            {"key": "metadata.name", "operator": "In", "values": ["n2"]},
        ]},
    ]}}});
    let tolerations = json!([
        {"key": "a", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "b", "value": "v"},
        {"operator": "Exists"},
        {"key": "c", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 5},
        {"key": "d", "operator": "Exists", "effect": "PreferNoSchedule"},
        {"key": "node.kubernetes.io/unschedulable", "operator": "Exists", "effect": "NoSchedule"},
        {"key": "node.kubernetes.io", "operator": "Equal", "value": null, "effect": null},
    ]);
    let conditions = json!([
        {"type": "Initialized", "status": "True"},
        {"type": "Ready", "status": "Unknown", "lastTransitionTime": "2026-01-01T10:00:00Z"},
        {"type": "Ready", "status": "True"},
    ]);
    let containers = json!([
        {"name": "a", "ready": true, "image": "", "imageID": "", "restartCount": 0, "state": {"running": {}}},
        {"name": "b", "ready": true, "image": "", "imageID": "", "restartCount": 2, "state": null},
        {"name": "c", "ready": false, "image": "", "imageID": "", "restartCount": 0,
            "state": {"waiting": {"reason": "ErrImagePull", "message": "m"}}},
        {"name": "d", "ready": false, "image": "", "imageID": "", "restartCount": 0, "state": {"waiting": {"reason": null}}},
    ]);
    let owners = json!([
        {"kind": "Node", "uid": "u1"}, {"kind": "Node", "uid": "u2", "controller": false},
        {"kind": "DaemonSet", "uid": "u3", "controller": true},
    ]);
    [
        json!({}),
        json!({"spec": {"nodeName": "n1"}, "status": {"phase": "Running"}}),
        json!({"spec": {"nodeName": "n1", "affinity": affinity("n2")}, "status": {"phase": "Succeeded"}}),
        json!({"spec": {"nodeName": "", "affinity": affinity("n2")}, "status": {"phase": "Failed"}}),
        json!({"spec": {"affinity": two_terms}, "status": {"phase": "Unknown"}}),
        json!({"spec": {"affinity": {"nodeAffinity": {}}}, "status": {"phase": "running"}}),
        json!({"spec": {"tolerations": tolerations}}),
        json!({"spec": {"affinity": null, "tolerations": null}, "status": {"conditions": null}}),
        json!({"status": {"conditions": conditions}}),
        json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}}),
        json!({"status": {"containerStatuses": containers, "initContainerStatuses": null}}),
        json!({"status": {"containerStatuses": [], "initContainerStatuses": containers}}),
        json!({"metadata": {"ownerReferences": owners, "labels": {"app": "x", "b": "", "a": "é"}}}),
        json!({"metadata": {"ownerReferences": [], "labels": {}, "annotations": {"kubernetes.io/config.mirror": ""}}}),
        json!({"metadata": {"annotations": {"other": "x"}, "resourceVersion": "7",
            "creationTimestamp": "2026-01-01T09:00:00Z", "deletionTimestamp": "2026-01-01T11:00:00Z"}}),
    ]
    .into_iter()
    .enumerate()
    .map(|(index, mut pod)| {
        pod["metadata"]["name"] = json!(format!("p{index}"));
        pod["metadata"]["uid"] = json!(format!("uid-{index}"));
        pod["metadata"]["namespace"] = json!("ns");
        pod
    })
    .collect()
}

fn nodes() -> Value {
    let mut node = whole()["node"].clone();
    node["metadata"]["name"] = json!("f");
    json!([
        {"metadata": {"name": "a"}},
        {"metadata": {"name": "b", "labels": {"disk": "ssd"}}, "spec": null, "status": null},
        {"metadata": {"name": "c"}, "spec": {"unschedulable": true, "taints": [
            {"key": "x", "effect": "NoSchedule"}, {"key": "y", "value": "v", "effect": "NoExecute"},
            {"key": "z", "value": null, "effect": "PreferNoSchedule", "timeAdded": "2026-01-01T10:00:00Z"},
        ]}},
        {"metadata": {"name": "d"}, "status": {"conditions": [
            {"type": "DiskPressure", "status": "True"}, {"type": "Ready", "status": "Unknown"},
        ]}},
        {"metadata": {"name": "e"}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}},
        node,
    ])
}

#[test]
fn a_view_of_a_typed_object_shows_the_fields_of_the_model() {
    let mut story = given(rolling(1)).with("/pods", json!(pods())).with("/nodes", nodes());
    let mut bare = story.json["revisions"][0].clone();
    bare["metadata"] = json!({"name": "bare", "namespace": "ns", "uid": "uid-bare", "resourceVersion": "3",
        "creationTimestamp": "2026-01-01T09:00:00Z", "deletionTimestamp": "2026-01-01T11:00:00Z"});
    bare.as_object_mut().unwrap().remove("data");
    story.json["revisions"].as_array_mut().unwrap().push(bare);
    let model = Recording::from(&story.recording().snapshot().unwrap());
    let typed = Typed::read(&story.json).unwrap().planned(&story.recording().daemon_set).recording;
    assert_eq!(typed.nodes, model.nodes);
    assert_eq!(typed.revisions, model.revisions);
    for (typed, model) in typed.pods.iter().zip(&model.pods) {
        assert_eq!(typed, model);
    }
    assert_eq!(typed, model);
    let kept: Vec<_> =
        typed.pods[6].spec.tolerations.iter().map(|toleration| toleration.key.as_str()).collect();
    assert_eq!(kept, ["a", "b", "", "node.kubernetes.io"]);
    let targets: Vec<_> = typed.pods.iter().map(|pod| &pod.spec.affinity_node).collect();
    assert_eq!(targets[4], &Some("n1".into()));
    let kept = serde_json::to_value(&typed.pods[10].status.container_statuses).unwrap();
    let waits = json!({"restartCount": 0, "state": {"waiting": {"reason": "ErrImagePull"}}});
    assert_eq!(kept, json!([{"restartCount": 2}, {"state": waits["state"]}]));
    assert_eq!(typed.pods[11].status.init_container_statuses.len(), 2);
}

#[test]
fn a_withdrawn_toleration_is_found_in_a_typed_object() {
    let tainted = |name: &str, pod| node(name).taint("dedicated", "NoSchedule").has(pod);
    let by = |effect: &str| {
        old().with("/spec/tolerations", json!([{"key": "dedicated", "operator": "Exists", "effect": effect}]))
    };
    let story = given(rolling(1))
        .node(tainted("a", by("NoSchedule")))
        .node(tainted("b", by("NoExecute")))
        .node(tainted("c", by("")));
    let typed = Typed::read(&story.json).unwrap();
    let planned = typed.planned(&typed.lossy());
    assert_eq!(crate::support::steps(&planned.plan), story.steps());
    let deleted = story.steps().iter().filter(|step| step.contains("TolerationWithdrawn")).count();
    assert_eq!(deleted, 2, "{:?}", story.steps());
}

#[test]
fn stores_of_reflectors_are_read_as_they_are() {
    let story = given(rolling(1)).node(node("a").has(old())).node(node("b").has(new()));
    let recording = story.recording();
    let expected = plan(&recording.snapshot().unwrap());
    let typed = Typed::read(&story.json).unwrap();
    fn shared<T: Clone>(objects: &[T]) -> Vec<Arc<T>> {
        objects.iter().cloned().map(Arc::new).collect()
    }
    let (pods, nodes, revisions) = (shared(&typed.pods), shared(&typed.nodes), shared(&typed.revisions));
    let daemon_set = &recording.daemon_set;
    let observed = Observed { daemon_set, nodes: &nodes, pods: &pods, revisions: &revisions };
    let snapshot = Snapshot::builder(observed, recording.now).check().unwrap();
    assert_eq!(plan(&snapshot), expected);
    let observed = Observed {
        daemon_set,
        nodes: nodes.iter().map(|node| &**node),
        pods: pods.iter().map(|pod| &**pod),
        revisions: revisions.iter().map(|revision| &**revision),
    };
    assert_eq!(plan(&Snapshot::builder(observed, recording.now).check().unwrap()), expected);
    let (pods, nodes, revisions) =
        (shared(&recording.pods), shared(&recording.nodes), shared(&recording.revisions));
    let daemon_set = &recording.daemon_set;
    let observed = Observed { daemon_set, nodes: &nodes, pods: &pods, revisions: &revisions };
    let snapshot = Snapshot::builder(observed, recording.now).check().unwrap();
    assert_eq!(plan(&snapshot), expected);
}

#[test]
fn a_view_is_small() {
    assert!(size_of::<PodView<'_>>() <= 248, "{}", size_of::<PodView<'_>>());
    fn is_copy<T: Copy>() {}
    is_copy::<PodView<'_>>();
    assert!(size_of::<Pod>() > 9 * size_of::<PodView<'_>>());
}
