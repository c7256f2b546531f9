//! Validation of containers and volumes. The rows are answers of a real API server.

mod limits;
mod ratcheting;
mod rows;

use daemonset_apiserver::admission::{Form, Rules, default, validate};
use serde_json::{Value, json};

const POD: &str = "spec.template.spec.";

/// A pod with volumes, and in it a part with these members.
fn pod_with(place: &str, members: &Value) -> Value {
    let claim = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
    let mut pod = json!({
        "containers": [{"name": "main", "image": "i"}],
        "volumes": [
            {"name": "files", "emptyDir": {}},
            {"name": "claim", "persistentVolumeClaim": {"claimName": "c"}},
            {"name": "claimed", "ephemeral": {"volumeClaimTemplate": {"spec": claim}}},
        ],
    });
    let part = match place {
        "pod" => &mut pod,
        "container" => &mut pod["containers"][0],
        "init container" => one(&mut pod["initContainers"], json!({"name": "first", "image": "i"})),
        "ephemeral container" => one(&mut pod["ephemeralContainers"], json!({"name": "debug", "image": "i"})),
        "volume" => one(&mut pod["volumes"], json!({"name": "data"})),
        _ => panic!("{place}"),
    };
    part.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    pod
}

fn one(list: &mut Value, part: Value) -> &mut Value {
    *list = json!([part]);
    &mut list[0]
}

/// A defaulted DaemonSet with such a pod.
fn daemon_set(place: &str, members: &Value) -> Value {
    let mut object = json!({
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "web", "namespace": "golden"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod_with(place, members)},
        },
    });
    default(&mut object, Form::AppsV1);
    object
}

/// All messages for such a pod, each once, with paths below the pod's spec.
fn messages_of(place: &str, members: &Value) -> Vec<String> {
    let messages = validate(&daemon_set(place, members), &Rules::default()).messages();
    messages.iter().map(|message| message.strip_prefix(POD).unwrap().to_owned()).collect()
}
