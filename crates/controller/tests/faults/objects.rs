//! Objects as users make them: DaemonSets, nodes, and what is none of the controller's business.

use crate::api::NAMESPACE;
use crate::cluster::AGENT;
use crate::store::{By, Id, Kind, Store, text};
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

/// Objects that look as if they might be the controller's business.
pub fn others(store: &mut Store) {
    let owner = |name: &str, uid: &str| json!([{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": name, "uid": uid, "controller": true}]);
    let pod = |name: &str, app: &str, owners: Value| {
        json!({"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": NAMESPACE, "labels": {"app": app}, "ownerReferences": owners},
            "spec": {"nodeName": "n00", "containers": []}, "status": {"phase": "Running"}})
    };
    // Not of the trial: its pods are missing, old, or where no node is, and nobody may mend that.
    let mut unchosen = daemon_set("unchosen", &rolling(1));
    unchosen["metadata"]["labels"] = json!({});
    let unchosen = store.create(By::Others, Kind::DaemonSet, unchosen);
    let of_unchosen = owner("unchosen", text(&unchosen["metadata"]["uid"]));
    store.create(By::Others, Kind::Pod, pod("of-unchosen", "unchosen", of_unchosen));
    store.create(By::Others, Kind::Pod, pod("orphan-of-unchosen", "unchosen", json!([])));
    store.create(
        By::Others,
        Kind::Pod,
        pod("of-another-with-our-labels", AGENT, owner(AGENT, "uid-of-yore")),
    );
    store.create(By::Others, Kind::Pod, pod("of-nobody", "else", json!([])));
    let foreign: BTreeSet<Id> =
        store.objects.keys().filter(|id| id.kind == Kind::Pod || id.name == "unchosen").cloned().collect();
    store.guard.foreign = foreign;
}
