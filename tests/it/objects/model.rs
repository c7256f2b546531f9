//! The model of objects.

use daemonset::model::{DaemonSet, NodeName, Pod, PodSpec};
use serde_json::{Value, from_str, from_value, json, to_value};

#[test]
fn a_bound_pod_holds_the_name_of_its_node_once() {
    let pod = |bound: Value| -> Pod {
        let field = json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]});
        let required =
            json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [field]}});
        from_value(json!({"spec": {"affinity": {"nodeAffinity": required}, "nodeName": bound}})).unwrap()
    };
    let text = |name: &NodeName| name.as_str().as_ptr();
    let [bound, elsewhere, waits] = [json!("a"), json!("b"), Value::Null].map(|bound| pod(bound).spec);
    assert_eq!(text(&bound.node_name), bound.affinity_node.as_ref().map(text).unwrap());
    let names = |spec: &PodSpec| (spec.node_name.clone(), spec.affinity_node.clone().unwrap());
    assert_eq!(names(&elsewhere), ("b".into(), "a".into()));
    assert_eq!(names(&waits), ("".into(), "a".into()));
}

/// The API server stores what a user says that he manages, at any depth.
#[test]
fn managed_fields_are_skipped_however_deep_they_are() {
    let fields = format!("{}{}", r#"{"f:x":"#.repeat(5000) + "{}", "}".repeat(5000));
    let json = format!(
        r#"{{"metadata": {{"name": "a", "managedFields": [{{"fieldsV1": {fields}}}], "finalizers": ["f"], "selfLink": null}}}}"#
    );
    let ds: DaemonSet = from_str(&json).unwrap();
    assert_eq!(to_value(&ds.metadata).unwrap(), json!({"name": "a", "finalizers": ["f"]}));
}
