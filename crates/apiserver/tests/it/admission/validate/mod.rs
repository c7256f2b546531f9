//! Validation of a DaemonSet. The rows are answers of a real API server.

mod properties;
mod proposal;
mod rows;
mod update;

use daemonset_apiserver::admission::{ErrorList, Form, Rules, default, validate};
use serde_json::{Value, json};

/// A valid DaemonSet without any optional field.
fn good() -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "web", "namespace": "golden"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "main", "image": "i"}]},
            },
        },
    })
}

/// The valid DaemonSet with a JSON merge patch applied, defaulted.
fn good_with(place: &str, patch: &Value) -> Value {
    let mut object = good();
    let patch = place.rsplit('/').filter(|name| !name.is_empty()).fold(patch.clone(), |inner, name| {
        let mut outer = json!({});
        outer[name] = inner;
        outer
    });
    merge(&mut object, &patch);
    default(&mut object, Form::AppsV1);
    object
}

fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(members) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    for (name, value) in members {
        if value.is_null() {
            target.as_object_mut().unwrap().remove(name);
        } else {
            merge(&mut target[name], value);
        }
    }
}

fn messages(errors: &ErrorList) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

#[test]
fn the_valid_daemon_set_is_accepted() {
    assert_eq!(messages(&validate(&good_with("/", &json!({})), &Rules::default())), [""; 0]);
}
