//! The model's types as resources of kube.

use daemonset::model::{ControllerRevision, DaemonSet, Node, Pod};
use kube_core::{ObjectList, Resource, ResourceExt};
use serde_json::json;

#[test]
fn each_type_has_its_path_in_the_api() {
    assert_eq!(Pod::url_path(&(), Some("default")), "/api/v1/namespaces/default/pods");
    assert_eq!(Node::url_path(&(), None), "/api/v1/nodes");
    assert_eq!(DaemonSet::url_path(&(), Some("default")), "/apis/apps/v1/namespaces/default/daemonsets");
    assert_eq!(ControllerRevision::url_path(&(), None), "/apis/apps/v1/controllerrevisions");
    assert_eq!(
        [Pod::kind(&()), Node::kind(&()), DaemonSet::kind(&()), ControllerRevision::kind(&())],
        ["Pod", "Node", "DaemonSet", "ControllerRevision"]
    );
}

#[test]
fn metadata_has_the_fields_of_the_model() {
    let metadata = json!({
        "name": "web-x", "namespace": "default", "uid": "u", "resourceVersion": "9", "generation": 4,
        "labels": {"app": "web"}, "annotations": {"a": "b"}, "creationTimestamp": "2026-01-01T00:00:00Z",
        "deletionTimestamp": "2026-01-01T00:01:00Z", "deletionGracePeriodSeconds": 30,
        "ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "web", "uid": "ds", "controller": true}],
    });
    let object = json!({"metadata": metadata});
    let pod: Pod = serde_json::from_value(object.clone()).unwrap();
    let revision: ControllerRevision = serde_json::from_value(object.clone()).unwrap();
    for meta in [pod.meta(), revision.meta()] {
        assert_eq!(meta.name.as_deref(), Some("web-x"));
        assert_eq!(meta.namespace.as_deref(), Some("default"));
        assert_eq!((meta.uid.as_deref(), meta.resource_version.as_deref()), (Some("u"), Some("9")));
        assert_eq!(serde_json::to_value(&meta.owner_references).unwrap(), metadata["ownerReferences"]);
        assert_eq!(serde_json::to_value(&meta.deletion_timestamp).unwrap(), metadata["deletionTimestamp"]);
        assert_eq!(serde_json::to_value(&meta.creation_timestamp).unwrap(), metadata["creationTimestamp"]);
    }
    assert_eq!(pod.meta().deletion_grace_period_seconds, Some(30));
    let ds: DaemonSet = serde_json::from_value(object.clone()).unwrap();
    assert_eq!(serde_json::to_value(ds.meta()).unwrap(), metadata, "all of it");
    assert_eq!(ds.object_ref(&()).uid.as_deref(), Some("u"), "kube's, as of each resource");
    let gate = json!({"turn.daemonset/x": "1", "of": "no interest"});
    let node: Node =
        serde_json::from_value(json!({"metadata": {"name": "web-x", "uid": "u", "resourceVersion": "9",
            "labels": {"app": "web"}, "annotations": gate}}))
        .unwrap();
    for labels in [pod.labels(), revision.labels(), ds.labels(), node.labels()] {
        assert_eq!(labels["app"], "web");
    }
    for annotations in [pod.annotations(), ds.annotations()] {
        assert_eq!(annotations["a"], "b");
    }
    assert_eq!(node.annotations().keys().collect::<Vec<_>>(), ["turn.daemonset/x"], "as the model has them");
    assert_eq!((node.name_any().as_str(), node.uid().as_deref()), ("web-x", Some("u")));
    assert_eq!((node.resource_version().as_deref(), node.namespace()), (Some("9"), None));
}

#[test]
fn lent_metadata_is_not_part_of_the_object() {
    let mut pod: Pod = serde_json::from_value(json!({"metadata": {"name": "a", "uid": "u"}})).unwrap();
    let before = pod.clone();
    let json = serde_json::to_value(&pod).unwrap();
    pod.meta();
    pod.meta_mut().finalizers = Some(vec!["x".to_owned()]);
    assert_eq!(
        (pod.name_any().as_str(), pod.finalizers()),
        ("a", &["x".to_owned()][..]),
        "made, then changed"
    );
    assert_eq!(pod.clone().finalizers().len(), 1);
    assert_eq!(pod, before);
    assert_eq!(serde_json::to_value(&pod).unwrap(), json);
    let other = before.clone();
    other.meta();
    let mut other = other.clone();
    other.metadata.name = "b".to_owned();
    assert_eq!(other.name_any(), "b", "a clone is another object");
    let mut fresh = before;
    assert_eq!(fresh.meta_mut().name.as_deref(), Some("a"), "changed before it was read");
}

/// Objects as the API server stores them: it does not check limits under `OnDelete`, and a time may be the last one of
/// RFC 3339.
#[test]
fn no_single_object_makes_a_list_unreadable() {
    let strategy = json!({"type": "OnDelete", "rollingUpdate": {"maxUnavailable": "ten", "maxSurge": -1}});
    let list = json!({"metadata": {"resourceVersion": "9"}, "items": [
        {"metadata": {"name": "odd"}, "spec": {"updateStrategy": strategy}}, {"metadata": {"name": "plain"}}]});
    let list: ObjectList<DaemonSet> = serde_json::from_value(list).unwrap();
    assert_eq!(list.items.len(), 2);
    let condition =
        json!({"type": "example.com/x", "status": "True", "lastTransitionTime": "9999-12-31T23:59:59Z"});
    let pod: Result<Pod, _> = serde_json::from_value(json!({"status": {"conditions": [condition]}}));
    assert!(pod.is_ok(), "{pod:?}");
}
