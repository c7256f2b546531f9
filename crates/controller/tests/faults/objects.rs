//! Objects that users create: DaemonSets, nodes, and foreign objects that the controller must not change.

use crate::api_server::NAMESPACE;
use crate::cluster::AGENT;
use crate::store::{Actor, Id, Kind, Store, text};
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub fn rolling(max_unavailable: usize) -> Value {
    json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": max_unavailable, "maxSurge": 0}})
}

pub fn surging(max_surge: usize) -> Value {
    json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": max_surge}})
}

pub fn daemon_set(name: &str, strategy: &Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet",
        "metadata": {"name": name, "namespace": NAMESPACE, "generation": 1, "labels": {"trial": "yes"},
            "annotations": {"deprecated.daemonset.template.generation": "1"}},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "c", "image": format!("{name}:v1")}]}},
            "updateStrategy": strategy, "revisionHistoryLimit": 10
        },
        "status": {"currentNumberScheduled": 0, "desiredNumberScheduled": 0, "numberMisscheduled": 0, "numberReady": 0}
    })
}

pub fn node(name: &str) -> Value {
    let ready = json!({"type": "Ready", "status": "True"});
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": {}, "status": {"conditions": [ready]}})
}

pub fn namespace() -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
}

/// A running pod of a ReplicaSet, which a drain evicts.
pub fn tenant(name: &str, node: &str) -> Value {
    let owners = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "web", "controller": true}]);
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": {crate::kubelet::TENANT: "yes"}, "ownerReferences": owners},
        "spec": {"nodeName": node, "containers": [{"name": "web", "image": "web:v1"}]}, "status": {"phase": "Running"}})
}

/// Creates foreign objects that resemble the controller's own.
pub fn create_foreign(store: &mut Store) {
    let owner = |name: &str, uid: &str| json!([{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": name, "uid": uid, "controller": true}]);
    let pod = |name: &str, app: &str, owners: Value| {
        json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": NAMESPACE, "labels": {"app": app}, "ownerReferences": owners},
            "spec": {"nodeName": "n00", "containers": []}, "status": {"phase": "Running"}})
    };
    // Outside of the label selector `trial=yes`: its pods are missing, outdated or on unknown nodes, and must stay so.
    let mut unselected = daemon_set("unselected", &rolling(1));
    unselected["metadata"]["labels"] = json!({});
    let unselected = store.create(Actor::Others, Kind::DaemonSet, unselected);
    let of_unselected = owner("unselected", text(&unselected["metadata"]["uid"]));
    store.create(Actor::Others, Kind::Pod, pod("of-unselected", "unselected", of_unselected));
    store.create(Actor::Others, Kind::Pod, pod("orphan-of-unselected", "unselected", json!([])));
    store.create(
        Actor::Others,
        Kind::Pod,
        pod("of-another-with-our-labels", AGENT, owner(AGENT, "uid-of-its-predecessor")),
    );
    store.create(Actor::Others, Kind::Pod, pod("of-nobody", "else", json!([])));
    let foreign: BTreeSet<Id> =
        store.objects.keys().filter(|id| id.kind == Kind::Pod || id.name == "unselected").cloned().collect();
    store.invariants.foreign = foreign;
}
