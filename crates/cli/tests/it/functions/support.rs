//! A stored DaemonSet `web` and its revisions.

use serde_json::{Value, json};

/// A defaulted template with this image.
pub fn template(image: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": "web"}},
        "spec": {
            "containers": [{
                "image": image, "imagePullPolicy": "IfNotPresent", "name": "web", "resources": {},
                "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
            }],
            "dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler",
            "securityContext": {}, "terminationGracePeriodSeconds": 30,
        },
    })
}

/// Generation 5, template generation 5.
pub fn web(template: Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet",
        "metadata": {
            "annotations": {"deprecated.daemonset.template.generation": "5"},
            "generation": 5, "name": "web", "namespace": "ns", "resourceVersion": "1", "uid": "ds",
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {
            "revisionHistoryLimit": 10, "selector": {"matchLabels": {"app": "web"}}, "template": template,
            "updateStrategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}, "type": "RollingUpdate"},
        },
        "status": {
            "currentNumberScheduled": 3, "desiredNumberScheduled": 3, "numberAvailable": 3,
            "numberMisscheduled": 0, "numberReady": 3, "observedGeneration": 5, "updatedNumberScheduled": 3,
        },
    })
}

/// A revision of `web`, as its controller stores it.
pub fn stored(name: &str, number: i64, template: Value) -> Value {
    let mut template = template;
    template["$patch"] = "replace".into();
    json!({
        "apiVersion": "apps/v1", "kind": "ControllerRevision",
        "metadata": {
            "name": name, "namespace": "ns", "uid": name, "labels": {"app": "web"},
            "ownerReferences": [{
                "apiVersion": "apps/v1", "kind": "DaemonSet", "name": "web", "uid": "ds", "controller": true,
            }],
        },
        "data": {"spec": {"template": template}},
        "revision": number,
    })
}

/// Images v1, v2 and v3 in this order; v3 is current.
pub fn three() -> (Value, Vec<Value>) {
    let revision = |number: i64| stored(&format!("web-{number}"), number, template(&format!("v{number}")));
    (web(template("v3")), vec![revision(1), revision(2), revision(3)])
}

/// The value with another one at this path.
pub fn with(mut object: Value, pointer: &str, value: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    object.pointer_mut(parent).unwrap()[key] = value;
    object
}

pub fn image(daemon_set: &Value) -> &str {
    daemon_set.pointer("/spec/template/spec/containers/0/image").unwrap().as_str().unwrap()
}
