//! Admission of a DaemonSet.

mod change;
mod defaults;
mod defaults_image;
mod defaults_properties;
mod defaults_table;
mod parts;
mod prepare;
mod requests;
mod validate;
mod warnings;

use serde_json::{Value, json};

/// Null, an empty string, 0, false or an empty list.
fn is_zero(value: &Value) -> bool {
    [json!(null), json!(""), json!(0), json!(false), json!([])].contains(value)
}

/// A stored DaemonSet: defaulted, with generation 3 and template generation 2.
fn stored() -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {
            "annotations": {"deprecated.daemonset.template.generation": "2"},
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "generation": 3,
            "name": "web",
            "namespace": "shop",
            "resourceVersion": "312",
            "uid": "b808693c-d014-4936-82aa-3e66fd1313e5",
        },
        "spec": {
            "revisionHistoryLimit": 10,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {
                    "containers": [{
                        "env": [{"name": "A", "value": "1"}],
                        "image": "web:v1",
                        "imagePullPolicy": "IfNotPresent",
                        "name": "web",
                        "ports": [{"containerPort": 80, "protocol": "TCP"}],
                        "resources": {"limits": {"memory": "64Mi"}, "requests": {"cpu": "100m"}},
                        "terminationMessagePath": "/dev/termination-log",
                        "terminationMessagePolicy": "File",
                    }],
                    "dnsPolicy": "ClusterFirst",
                    "restartPolicy": "Always",
                    "schedulerName": "default-scheduler",
                    "securityContext": {},
                    "terminationGracePeriodSeconds": 30,
                },
            },
            "updateStrategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}, "type": "RollingUpdate"},
        },
        "status": {
            "currentNumberScheduled": 4, "desiredNumberScheduled": 4, "numberMisscheduled": 0, "numberReady": 4,
        },
    })
}

/// The object with this value at a JSON pointer; missing objects on the way are created.
fn with(object: &Value, pointer: &str, value: Value) -> Value {
    let mut object = object.clone();
    let mut place = &mut object;
    for name in pointer.split('/').skip(1) {
        let name = name.replace("~1", "/");
        place = match name.parse::<usize>() {
            Ok(index) => &mut place[index],
            Err(_) => &mut place[name],
        };
    }
    *place = value;
    object
}
