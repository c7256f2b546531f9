//! A DELETE as the API server answers it.

use crate::{at, now};
use daemonset_apiserver::cascade::{
    DeleteOptions, DeleteRefusal, Deletion, Kind, Preconditions, Propagation, delete, removed_by_update,
};
use serde_json::{Value, json};

fn daemon_set(finalizers: Value) -> Value {
    json!({
        "metadata": {"name": "web", "namespace": "ns", "uid": "u1", "resourceVersion": "7", "generation": 3,
            "finalizers": finalizers},
        "spec": {"kept": true},
    })
}

fn pod(node: &str, phase: &str) -> Value {
    json!({
        "metadata": {"name": "web-x", "uid": "p1"},
        "spec": {"nodeName": node, "terminationGracePeriodSeconds": 30},
        "status": {"phase": phase},
    })
}

fn pending(deletion: Result<Deletion, DeleteRefusal>) -> Value {
    match deletion {
        Ok(Deletion::Pending(object)) => object,
        other => panic!("{other:?}"),
    }
}

fn seconds(grace: i64) -> DeleteOptions {
    DeleteOptions::new().grace_period_seconds(grace)
}

/// Finalizers before, the requested policy, finalizers after; null: removed at once.
#[test]
fn the_policy_decides_the_finalizers() {
    let table = [
        (json!([]), json!({}), json!(null)),
        (json!([]), json!({"propagationPolicy": "Background"}), json!(null)),
        (json!([]), json!({"propagationPolicy": "Foreground"}), json!(["foregroundDeletion"])),
        (json!([]), json!({"propagationPolicy": "Orphan"}), json!(["orphan"])),
        (json!([]), json!({"orphanDependents": true}), json!(["orphan"])),
        (json!([]), json!({"orphanDependents": false}), json!(null)),
        // A finalizer set beforehand holds unless the request says otherwise.
        (json!(["orphan"]), json!({}), json!(["orphan"])),
        (json!(["foregroundDeletion"]), json!({}), json!(["foregroundDeletion"])),
        (json!(["orphan"]), json!({"propagationPolicy": "Background"}), json!(null)),
        (json!(["orphan"]), json!({"propagationPolicy": "Foreground"}), json!(["foregroundDeletion"])),
        (json!(["foregroundDeletion"]), json!({"propagationPolicy": "Orphan"}), json!(["orphan"])),
        (json!(["foregroundDeletion"]), json!({"orphanDependents": false}), json!(null)),
        // Other finalizers stay, and keep their order if nothing changes.
        (json!(["a/b"]), json!({}), json!(["a/b"])),
        (json!(["a/b"]), json!({"propagationPolicy": "Orphan"}), json!(["a/b", "orphan"])),
        (json!(["orphan", "a/b"]), json!({}), json!(["orphan", "a/b"])),
        (
            json!(["orphan", "a/b"]),
            json!({"propagationPolicy": "Foreground"}),
            json!(["a/b", "foregroundDeletion"]),
        ),
        (json!(["foregroundDeletion", "a/b"]), json!({"propagationPolicy": "Background"}), json!(["a/b"])),
    ];
    for (before, options, after) in table {
        let asked: DeleteOptions = serde_json::from_value(options.clone()).unwrap();
        let found = match delete(Kind::DaemonSet, &daemon_set(before.clone()), &asked, now()).unwrap() {
            Deletion::Removed => json!(null),
            Deletion::Pending(object) => object["metadata"]["finalizers"].clone(),
            Deletion::Unchanged => json!("unchanged"),
        };
        assert_eq!(found, after, "{before} {options}");
    }
}

#[test]
fn a_kept_object_is_marked_once() {
    let first =
        pending(delete(Kind::DaemonSet, &daemon_set(json!(["a/b"])), &DeleteOptions::default(), now()));
    assert_eq!(
        first,
        json!({
            "metadata": {"name": "web", "namespace": "ns", "uid": "u1", "resourceVersion": "7", "generation": 4,
                "finalizers": ["a/b"], "deletionTimestamp": "2026-01-01T12:00:00Z", "deletionGracePeriodSeconds": 0},
            "spec": {"kept": true},
        })
    );
    let again = pending(delete(Kind::DaemonSet, &first, &DeleteOptions::default(), at(60)));
    assert_eq!(again, first, "neither the instant nor the generation changes");
    let earlier = pending(delete(Kind::DaemonSet, &first, &DeleteOptions::default(), at(-60)));
    assert_eq!(earlier["metadata"]["deletionTimestamp"], "2026-01-01T11:59:00Z", "never later than now");
}

#[test]
fn a_second_delete_may_change_the_policy() {
    let options = |policy| DeleteOptions::new().propagation_policy(policy);
    let waiting =
        pending(delete(Kind::DaemonSet, &daemon_set(json!([])), &options(Propagation::Foreground), now()));
    let orphaning = pending(delete(Kind::DaemonSet, &waiting, &options(Propagation::Orphan), now()));
    assert_eq!(orphaning["metadata"]["finalizers"], json!(["orphan"]));
    assert_eq!(orphaning["metadata"]["generation"], 4);
    let gone = delete(Kind::DaemonSet, &waiting, &options(Propagation::Background), now());
    assert_eq!(gone, Ok(Deletion::Removed));
}

#[test]
fn refusals_have_the_api_servers_messages() {
    let precondition = |uid: &str, version: &str| {
        DeleteOptions::new().preconditions(Preconditions::new().uid(uid).resource_version(version))
    };
    let text = |kind, options| delete(kind, &daemon_set(json!([])), &options, now()).unwrap_err().to_string();
    assert_eq!(
        text(Kind::DaemonSet, precondition("u2", "8")),
        "Operation cannot be fulfilled on DaemonSet.apps \"web\": the UID in the precondition (u2) does not match the UID in record (u1). The object might have been deleted and then recreated"
    );
    let mut custom = daemon_set(json!([]));
    custom["apiVersion"] = json!("agents.example.com/v1");
    custom["kind"] = json!("AgentSet");
    let refused = delete(Kind::DaemonSet, &custom, &precondition("u2", "8"), now()).unwrap_err().to_string();
    assert!(
        refused.starts_with("Operation cannot be fulfilled on AgentSet.agents.example.com \"web\": "),
        "{refused}"
    );
    assert_eq!(
        text(Kind::Pod, precondition("u1", "8")),
        "Operation cannot be fulfilled on Pod \"web\": the ResourceVersion in the precondition (8) does not match the ResourceVersion in record (7). The object might have been modified"
    );
    let twice = DeleteOptions::new().propagation_policy(Propagation::Foreground).orphan_dependents(true);
    assert_eq!(
        text(Kind::DaemonSet, twice),
        "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Invalid value: \"Foreground\": orphanDependents and deletionPropagation cannot be both set"
    );
    let good = precondition("u1", "7");
    assert_eq!(delete(Kind::DaemonSet, &daemon_set(json!([])), &good, now()), Ok(Deletion::Removed));
    let unreadable = delete(Kind::Pod, &json!({"metadata": {"finalizers": "x"}}), &good, now()).unwrap_err();
    assert!(unreadable.to_string().starts_with("metadata.finalizers: invalid type"), "{unreadable}");
    assert!(delete(Kind::Pod, &json!([1]), &DeleteOptions::default(), now()).is_err());
}

#[test]
fn only_running_pods_have_a_grace_period() {
    let ends = |pod: &Value, options: &DeleteOptions| match delete(Kind::Pod, pod, options, now()).unwrap() {
        Deletion::Pending(pod) => pod["metadata"]["deletionGracePeriodSeconds"].as_i64(),
        Deletion::Removed | Deletion::Unchanged => None,
    };
    assert_eq!(ends(&pod("n", "Running"), &DeleteOptions::default()), Some(30));
    assert_eq!(ends(&pod("n", "Running"), &seconds(5)), Some(5));
    assert_eq!(ends(&pod("n", "Running"), &seconds(-5)), Some(1));
    assert_eq!(ends(&pod("n", "Running"), &seconds(0)), None, "removed at once");
    assert_eq!(ends(&pod("", "Pending"), &DeleteOptions::default()), None, "never bound");
    assert_eq!(ends(&pod("n", "Failed"), &DeleteOptions::default()), None);
    assert_eq!(ends(&pod("n", "Succeeded"), &seconds(9)), None);
    let revision = delete(Kind::ControllerRevision, &pod("n", "Running"), &seconds(9), now());
    assert_eq!(revision, Ok(Deletion::Removed));
}

#[test]
fn a_grace_period_is_only_ever_shortened() {
    let first = pending(delete(Kind::Pod, &pod("n", "Running"), &DeleteOptions::default(), now()));
    assert_eq!(first["metadata"]["deletionTimestamp"], "2026-01-01T12:00:30Z");
    for options in [DeleteOptions::default(), seconds(30), seconds(60)] {
        assert_eq!(delete(Kind::Pod, &first, &options, at(10)), Ok(Deletion::Unchanged));
    }
    let shorter = pending(delete(Kind::Pod, &first, &seconds(15), at(10)));
    assert_eq!(shorter["metadata"]["deletionTimestamp"], "2026-01-01T12:00:15Z");
    assert_eq!(shorter["metadata"]["deletionGracePeriodSeconds"], 15);
    let over = pending(delete(Kind::Pod, &first, &seconds(5), at(10)));
    assert_eq!(over["metadata"]["deletionTimestamp"], "2026-01-01T12:00:10Z", "never in the past");
    assert_eq!(over["metadata"]["deletionGracePeriodSeconds"], 1, "the kubelet still stops it");
    assert_eq!(delete(Kind::Pod, &first, &seconds(0), at(10)), Ok(Deletion::Removed));
}

#[test]
fn an_update_without_finalizers_removes_the_object() {
    let object = |finalizers: Value, deleted: Value, grace: Value| json!({"metadata": {"finalizers": finalizers, "deletionTimestamp": deleted, "deletionGracePeriodSeconds": grace}});
    let gone = |old: Value, new: Value| removed_by_update(&old, &new).unwrap();
    let (held, free) = (json!(["orphan"]), json!([]));
    let deleted = json!("2026-01-01T12:00:00Z");
    let old = object(held.clone(), deleted.clone(), json!(0));
    assert!(gone(old.clone(), object(free.clone(), deleted.clone(), json!(0))));
    assert!(gone(
        object(held.clone(), deleted.clone(), json!(null)),
        object(free.clone(), json!(null), json!(9))
    ));
    assert!(!gone(old, object(held.clone(), deleted.clone(), json!(0))), "a finalizer is left");
    assert!(!gone(
        object(held.clone(), json!(null), json!(null)),
        object(free.clone(), deleted.clone(), json!(0))
    ));
    assert!(
        !gone(object(held, deleted.clone(), json!(30)), object(free, deleted, json!(30))),
        "a kubelet ends it"
    );
}
