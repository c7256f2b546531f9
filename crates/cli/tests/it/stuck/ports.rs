//! A host port that somebody else's pod holds.

use super::causes::not_ready;
use super::said::cause;
use super::{Cluster, HOUR, MINUTE, ago};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// A pod of DaemonSet kube-system/exporter with this port, which runs on the node.
fn other(name: &str, node: &str, port: &Value) -> Value {
    let owner = json!([{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "exporter", "uid": "exporter", "controller": true}]);
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": name, "namespace": "kube-system", "uid": name, "creationTimestamp": ago(9 * HOUR), "ownerReferences": owner,
        },
        "spec": {"nodeName": node, "containers": [{"name": "exporter", "image": "exporter:1", "ports": [port]}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": ago(9 * HOUR)}]},
    })
}

/// The new pod of node-4 needs port 9100 of its node.
fn needs_port(others: &[Value]) -> Cluster {
    let message = "0/5 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.";
    let no_place = json!({
        "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": ago(30 * MINUTE), "message": message,
    });
    let mut cluster = not_ready().pod("node-4", |pod| {
        pod["status"] = json!({"phase": "Pending", "conditions": [no_place]});
        let name = json!([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-4"]}]}]);
        let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": name}});
        let ports = json!([{"containerPort": 9100, "hostPort": 9100, "protocol": "TCP"}]);
        pod["spec"] = json!({"affinity": {"nodeAffinity": required}, "containers": [{"name": "agent", "image": "agent:2", "ports": ports}]});
    });
    cluster.pods.extend(others.iter().cloned());
    cluster
}

#[test]
fn the_pod_that_holds_the_port_is_named() {
    let holder =
        other("exporter-x", "node-4", &json!({"containerPort": 9100, "hostPort": 9100, "protocol": "TCP"}));
    // The version before has no such port.
    assert_snapshot!(cause(&needs_port(std::slice::from_ref(&holder))), @"
    Cause      node-4: pod agent-4-q9d4m can't be scheduled: host port 9100 is held by pod kube-system/exporter-x of DaemonSet exporter, since 2026-01-01T09:30:00Z (for 30m)
    Run        kubectl describe pod -n kube-system exporter-x
               kubectl describe pod -n logging agent-4-q9d4m
               kubectl rollout undo -n logging daemonset/agent
    ");
    assert_snapshot!(needs_port(std::slice::from_ref(&holder)).why("node-4"), @"
    Node node-4, DaemonSet logging/agent
    node-4 should run a pod.
    Pod agent-4-q9d4m is updated, of revision #2; it is Pending since 2026-01-01T09:30:00Z (for 30m).
    It waits until agent-4-q9d4m is Ready. Pod agent-4-q9d4m can't be scheduled: host port 9100 is held by pod kube-system/exporter-x of DaemonSet exporter, since 2026-01-01T09:30:00Z (for 30m).
    Run        kubectl describe pod -n kube-system exporter-x
               kubectl describe pod -n logging agent-4-q9d4m
               kubectl rollout undo -n logging daemonset/agent
    ");
    let mut ends = holder;
    ends["metadata"]["deletionTimestamp"] = json!(ago(20 * MINUTE));
    ends["metadata"]["ownerReferences"] = json!([]);
    assert_snapshot!(cause(&needs_port(&[ends])).lines().next().unwrap(), @"Cause      node-4: pod agent-4-q9d4m can't be scheduled: host port 9100 is held by pod kube-system/exporter-x, which is terminating and overdue, since 2026-01-01T09:30:00Z (for 30m)");
}

/// Another protocol or node, an init container that ends, or a pod that has ended: whoever holds the port may be in a namespace that was not read.
#[test]
fn a_pod_that_does_not_hold_it_is_not_named() {
    let port = json!({"containerPort": 9100, "hostPort": 9100});
    let mut ended = other("exporter-x", "node-4", &port);
    ended["status"]["phase"] = json!("Succeeded");
    let udp =
        other("exporter-y", "node-4", &json!({"containerPort": 9100, "hostPort": 9100, "protocol": "UDP"}));
    let elsewhere = other("exporter-z", "node-3", &port);
    // The scheduler counts only init containers that go on beside the others.
    let mut init = other("exporter-i", "node-4", &json!({"containerPort": 80}));
    init["spec"]["initContainers"] = json!([{"name": "init", "image": "init:1", "ports": [port]}]);
    let mut sidecar = init.clone();
    sidecar["spec"]["initContainers"][0]["restartPolicy"] = json!("Always");
    assert!(cause(&needs_port(&[sidecar])).contains("held by pod kube-system/exporter-i"));
    assert_snapshot!(cause(&needs_port(&[ended, udp, elsewhere, init])), @"
    Cause      node-4: the scheduler finds no place for pod agent-4-q9d4m: Unschedulable (0/5 nodes are available: 1 node(s) didn't have free ports for the requested pod ports.), since 2026-01-01T09:30:00Z (for 30m)
    Run        kubectl describe pod -n logging agent-4-q9d4m
               kubectl get pods -A --field-selector spec.nodeName=node-4
               kubectl rollout undo -n logging daemonset/agent
    ");
    // An address of its own conflicts with all addresses.
    let local = other(
        "exporter-x",
        "node-4",
        &json!({"containerPort": 9100, "hostPort": 9100, "hostIP": "127.0.0.1"}),
    );
    assert!(cause(&needs_port(&[local])).contains("held by pod kube-system/exporter-x"));
}
