//! Pods that a kubelet has rejected or evicted.

use super::said::cause;
use super::{Cluster, HOUR, MINUTE, ago};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// The new pod of node-4 has failed so many seconds ago, and never ran.
fn failed(reason: &str, message: &str, seconds: i64) -> Cluster {
    Cluster::updated(3, HOUR).not_ready("node-4", seconds).pod("node-4", |pod| {
        pod["status"] =
            json!({"phase": "Failed", "reason": reason, "message": message, "startTime": ago(seconds)});
    })
}

fn rejected(seconds: i64) -> Cluster {
    let message = "Pod was rejected: Allocate failed due to no healthy devices present, which is unexpected";
    failed("UnexpectedAdmissionError", message, seconds)
}

/// As Kubernetes' controller tells it of a node, for an hour.
fn again(mut cluster: Cluster, node: &str, times: u64) -> Cluster {
    let message = format!("Found failed daemon pod logging/agent-x on node {node}, will try to kill it");
    cluster.events.push(json!({
        "apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": "FailedDaemonPod", "message": message, "count": times,
        "metadata": {"name": format!("agent.{node}"), "namespace": "logging", "creationTimestamp": ago(HOUR)},
        "involvedObject": {"apiVersion": "apps/v1", "kind": "DaemonSet", "namespace": "logging", "name": "agent", "uid": "uid-of-agent"},
        "eventTime": null, "firstTimestamp": ago(HOUR), "lastTimestamp": ago(30), "source": {"component": "daemonset-controller"},
    }));
    cluster
}

#[test]
fn an_evicted_pod_has_the_words_of_the_kubelet_and_how_often() {
    let message = "The node was low on resource: ephemeral-storage. ";
    let mut evicted = again(failed("Evicted", message, 10), "node-4", 31);
    let pressure = json!({"type": "DiskPressure", "status": "True", "lastTransitionTime": ago(HOUR)});
    evicted.nodes[3]["status"]["conditions"].as_array_mut().unwrap().push(pressure);
    assert_snapshot!(evicted.stuck(), @"
    logging/agent: stuck: nothing moves until somebody does something; 1 node has an outdated pod, about 1 round left
    Cause      node-4: pod agent-4-q9d4m was evicted (The node was low on resource: ephemeral-storage.), 31 times; the node has DiskPressure, since 2026-01-01T09:00:00Z (for 60m)
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Run        kubectl describe pod -n logging agent-4-q9d4m
               kubectl describe node node-4
    ");
    assert_snapshot!(evicted.why("node-4"), @"
    Node node-4, DaemonSet logging/agent
    node-4 should run a pod.
    Pod agent-4-q9d4m is updated, of revision #2; it has failed. This plan deletes it: it has failed.
    An updated pod follows when it is gone.
    Pod agent-4-q9d4m was evicted (The node was low on resource: ephemeral-storage.), 31 times; the node has DiskPressure, since 2026-01-01T09:00:00Z (for 60m).
    Run        kubectl describe pod -n logging agent-4-q9d4m
               kubectl describe node node-4
    ");
    // The first time another pod may have a place.
    let once = failed("Evicted", message, 10);
    assert_snapshot!(once.moves(), @"
    logging/agent: moves: 1 node to act on, 1 node has an outdated pod, about 1 round left
    Cause      node-4: pod agent-4-q9d4m was evicted (The node was low on resource: ephemeral-storage.), since 2026-01-01T09:59:50Z (for 10s)
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Now        delete 1 pod, write the status, record 1 event
    Run        kubectl describe pod -n logging agent-4-q9d4m
               kubectl describe node node-4
    ");
    // An event about another node is no event about this one.
    assert_eq!(cause(&again(once.clone(), "node-44", 31)), cause(&once));
}

/// The controller's back-off grows up to 15 minutes.
#[test]
fn a_rejected_pod_in_its_back_off_is_no_sign_that_no_controller_runs() {
    assert_snapshot!(rejected(12 * MINUTE).moves(), @"
    logging/agent: moves: 1 node to act on, 1 node has an outdated pod, about 1 round left
    Cause      node-4: pod agent-4-q9d4m was rejected by the kubelet (UnexpectedAdmissionError: Allocate failed due to no healthy devices present, which is unexpected), since 2026-01-01T09:48:00Z (for 12m)
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Now        delete 1 pod, write the status, record 1 event
    Run        kubectl describe pod -n logging agent-4-q9d4m
               kubectl describe node node-4
               kubectl rollout undo -n logging daemonset/agent
    ");
    assert_snapshot!(again(rejected(12 * MINUTE), "node-4", 14).stuck(), @"
    logging/agent: stuck: nothing moves until somebody does something; 1 node has an outdated pod, about 1 round left
    Cause      node-4: pod agent-4-q9d4m was rejected by the kubelet (UnexpectedAdmissionError: Allocate failed due to no healthy devices present, which is unexpected), 14 times, since 2026-01-01T09:00:00Z (for 60m)
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Run        kubectl describe pod -n logging agent-4-q9d4m
               kubectl describe node node-4
               kubectl rollout undo -n logging daemonset/agent
    ");
    assert_snapshot!(cause(&rejected(40 * MINUTE)), @"
    Cause      node-4: pod agent-4-q9d4m was rejected by the kubelet (UnexpectedAdmissionError: Allocate failed due to no healthy devices present, which is unexpected), since 2026-01-01T09:20:00Z (for 40m). Besides, nothing has happened since 2026-01-01T09:20:00Z (for 40m), though this is due and waits for no limit: delete 1 pod, write the status, record 1 event. Either no controller runs, or the API server refuses its calls: a webhook, a quota, or rights that are missing
    Run        kubectl describe pod -n logging agent-4-q9d4m
               kubectl describe node node-4
               kubectl rollout undo -n logging daemonset/agent
               kubectl describe daemonset -n logging agent
               kubectl get lease -n kube-system kube-controller-manager
               kubectl get pods -n kube-system -l component=kube-controller-manager
               kubectl get resourcequotas -n logging
               kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations
    ");
}

#[test]
fn nodes_that_reject_for_one_reason_are_told_together() {
    let message =
        "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";
    let mut all = failed("NodeAffinity", message, 10)
        .set("/spec/updateStrategy/rollingUpdate/maxUnavailable", json!(2));
    let mut other = all.pods.pop().unwrap();
    all.pods.push(other.clone());
    (other["metadata"]["name"], other["metadata"]["uid"]) = (json!("agent-5-q9d4m"), json!("new-node-5"));
    other["spec"]["nodeName"] = json!("node-5");
    let mut all = all.without_pod("node-5");
    all.pods.push(other);
    assert_snapshot!(cause(&again(again(all, "node-4", 3), "node-5", 4)), @"
    Cause      node-4, node-5: pods agent-4-q9d4m, agent-5-q9d4m were rejected by the kubelet (NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector), 7 times, since 2026-01-01T09:00:00Z (for 60m)
    Run        kubectl describe pod -n logging agent-4-q9d4m
               kubectl describe node node-4
               kubectl rollout undo -n logging daemonset/agent
    ");
}

/// A node that shuts down ends the containers that run.
#[test]
fn a_pod_that_ran_has_a_log() {
    let ended = json!({"terminated": {"exitCode": 137, "reason": "Error", "finishedAt": ago(MINUTE)}});
    let status = json!([{"name": "agent", "ready": false, "restartCount": 0, "state": ended}]);
    let message = "Pod was terminated in response to imminent node shutdown.";
    let shut: Cluster = failed("Terminated", message, HOUR).pod("node-4", |pod: &mut Value| {
        pod["status"]["containerStatuses"] = status.clone();
    });
    assert_snapshot!(cause(&shut), @"
    Cause      node-4: pod agent-4-q9d4m failed (Terminated: Pod was terminated in response to imminent node shutdown.), since 2026-01-01T09:59:00Z (for 60s)
    Now        delete 1 pod, write the status, record 1 event
    Run        kubectl describe pod -n logging agent-4-q9d4m
               kubectl logs -n logging agent-4-q9d4m --all-containers
               kubectl describe node node-4
    ");
}
