//! Values that an update may keep because the stored template has them, although a new one could not.

use super::{POD, daemon_set};
use daemonset_apiserver::admission::{Rules, validate_update};
use serde_json::{Value, json};

/// The messages for an update from one part to another, with paths below the pod's spec.
fn messages_of(place: &str, old: &Value, new: &Value) -> Vec<String> {
    let (old, new) = (daemon_set(place, old), daemon_set(place, new));
    let messages = validate_update(&old, &new, &Rules::default()).messages();
    let of_pod = messages.iter().filter_map(|message| message.strip_prefix(POD));
    of_pod.map(str::to_owned).collect()
}

fn token(path: &str) -> Value {
    json!({"projected": {"sources": [{"serviceAccountToken": {"path": path}}]}})
}

#[test]
fn a_stored_token_may_stay_outside_of_its_volume() {
    let error = "volumes[0].projected.path: Invalid value: \"/a\": must be a relative path";
    assert_eq!(messages_of("volume", &token("a"), &token("/a")), [error]);
    assert_eq!(messages_of("volume", &token("../b"), &token("/a")), [""; 0]);
}

#[test]
fn a_stored_image_may_stay_without_a_reference() {
    let (named, open) = (json!({"image": {"reference": "a"}}), json!({"image": {}}));
    assert_eq!(messages_of("volume", &named, &open), ["volumes[0].image.reference: Required value"]);
    assert_eq!(messages_of("volume", &open, &open), [""; 0]);
}

#[test]
fn a_stored_container_may_stay_an_administrator_without_escalation() {
    let with = |escalates: Option<bool>, name: &str| json!({"securityContext": {"allowPrivilegeEscalation": escalates, "capabilities": {"add": [name]}}});
    let administrator = with(Some(false), "CAP_SYS_ADMIN");
    let refused = |old: &Value| !messages_of("container", old, &administrator).is_empty();
    assert!(refused(&with(Some(false), "NET_ADMIN")));
    assert!(refused(&with(Some(true), "CAP_SYS_ADMIN")));
    assert!(!refused(&with(None, "CAP_SYS_ADMIN")));
    assert!(!refused(&administrator));
}

#[test]
fn a_stored_responder_may_stay() {
    let with = |name: &str, priority: i64| {
        let valid = json!({"name": "a.b/c", "priority": 1000});
        json!({"evictionResponders": [valid, {"name": name, "priority": priority}]})
    };
    let stored = with("a", 7);
    let reserved = "evictionResponders[1].priority: Invalid value: 8: priorities 0-999 are reserved for responders with *.k8s.io suffix";
    let unnamed =
        "evictionResponders[1].name: Invalid value: \"b\": must include a prefix (e.g. 'example.com/key')";
    assert_eq!(messages_of("pod", &stored, &stored), [""; 0]);
    assert_eq!(messages_of("pod", &stored, &with("a", 2000)), [""; 0]);
    assert_eq!(messages_of("pod", &stored, &with("a", 8)), [reserved]);
    assert_eq!(messages_of("pod", &stored, &with("b", 2000)), [unnamed]);
}

fn resized(policy: &str) -> Value {
    json!({"resizePolicy": [{"resourceName": "cpu", "restartPolicy": policy}]})
}

#[test]
fn a_stored_init_container_may_keep_restart_container() {
    let error = "initContainers[0].resizePolicy[0].restartPolicy: Invalid value: \"RestartContainer\": must not be set to 'RestartContainer' for non-sidecar initContainers";
    let (old, new) = (resized("NotRequired"), resized("RestartContainer"));
    assert_eq!(messages_of("init container", &old, &new), [error]);
    assert_eq!(messages_of("init container", &new, &new), [""; 0]);
}

fn pages(amount: &str) -> Value {
    json!({"resources": {"limits": {"hugepages-2Mi": amount, "memory": "1Gi"}}})
}

#[test]
fn stored_huge_pages_may_stay_indivisible() {
    let error = "containers[0].resources.limits[hugepages-2Mi]: Invalid value: \"3Mi\": 3Mi is not positive integer multiple of hugepages-2Mi";
    assert_eq!(messages_of("container", &pages("2Mi"), &pages("3Mi")), [error]);
    assert_eq!(messages_of("container", &pages("1Mi"), &pages("3Mi")), [""; 0]);
}
