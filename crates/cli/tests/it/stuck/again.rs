//! Containers and nodes that come back each time for a moment: their conditions begin anew, and the trouble does not.

use super::causes::crash_loop;
use super::said::cause;
use super::{Cluster, HOUR, MINUTE, ago};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// A liveness probe ends the container of node-4 again and again; it has been started 40 seconds ago.
fn liveness(age: i64, restarts: u32, is_ready: bool) -> Cluster {
    let last = json!({"terminated": {"reason": "Error", "exitCode": 137, "finishedAt": ago(41)}});
    let now = json!({"running": {"startedAt": ago(40)}});
    let state = json!({"state": now, "lastState": last, "restartCount": restarts, "ready": is_ready});
    Cluster::updated(3, HOUR).not_ready("node-4", age).container("node-4", state).pod("node-4", |pod| {
        let status = if is_ready { "True" } else { "False" };
        pod["status"]["conditions"] =
            json!([{"type": "Ready", "status": status, "lastTransitionTime": ago(40)}]);
    })
}

#[test]
fn a_crash_loop_counts_since_the_pod_was_created() {
    assert_snapshot!(liveness(46 * MINUTE, 34, false).stuck(), @"
    logging/agent: stuck: nothing moves until somebody does something; 1 node has an outdated pod, about 1 round left
    Cause      node-4: container agent of pod agent-4-q9d4m crashes again and again: 34 restarts, exit code 137 (Error), since 2026-01-01T09:14:00Z (for 46m)
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Run        kubectl logs -n logging agent-4-q9d4m -c agent --previous
               kubectl describe pod -n logging agent-4-q9d4m
               kubectl rollout undo -n logging daemonset/agent
    ");
    // The node's pod is Ready, and will not be for long.
    let moment = liveness(46 * MINUTE, 34, true);
    assert_snapshot!(cause(&moment), @"
    Cause      node-4: container agent of pod agent-4-q9d4m crashes again and again: 34 restarts, exit code 137 (Error), since 2026-01-01T09:14:00Z (for 46m)
    Now        delete 1 pod, write the status
    Run        kubectl logs -n logging agent-4-q9d4m -c agent --previous
               kubectl describe pod -n logging agent-4-q9d4m
               kubectl rollout undo -n logging daemonset/agent
    ");
    assert_snapshot!(moment.why("node-4"), @"
    Node node-4, DaemonSet logging/agent
    node-4 should run a pod.
    Pod agent-4-q9d4m is updated, of revision #2; it is Ready and available since 2026-01-01T09:59:20Z (for 40s).
    Nothing is to be done here: its pod is updated and available.
    Container agent of pod agent-4-q9d4m crashes again and again: 34 restarts, exit code 137 (Error), since 2026-01-01T09:14:00Z (for 46m).
    Run        kubectl logs -n logging agent-4-q9d4m -c agent --previous
               kubectl describe pod -n logging agent-4-q9d4m
               kubectl rollout undo -n logging daemonset/agent
    ");
    // Its minReadySeconds begin anew each time.
    assert!(moment.set("/spec/minReadySeconds", json!(120)).stuck().contains("34 restarts"));
    let plan = liveness(46 * MINUTE, 34, false).ask("plan").out;
    assert!(plan.contains("waits until Ready: crashing"), "{plan}");
    // Within the patience.
    assert_snapshot!(liveness(5 * MINUTE, 3, false).moves(), @"
    logging/agent: moves: 1 node to wait for, 1 node has an outdated pod, about 1 round left
    Cause      node-4: container agent of pod agent-4-q9d4m crashes again and again: 3 restarts, exit code 137 (Error), since 2026-01-01T09:55:00Z (for 5m); it counts as stuck in 5m
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Now        write the status
    Run        kubectl logs -n logging agent-4-q9d4m -c agent --previous
               kubectl describe pod -n logging agent-4-q9d4m
               kubectl rollout undo -n logging daemonset/agent
    ");
}

/// Restarts of 40 days say nothing about now.
#[test]
fn restarts_of_old_are_no_crash_loop() {
    let old = liveness(40 * 24 * HOUR, 5, false);
    assert!(old.moves().contains("since 2026-01-01T09:59:20Z (for 40s)"), "{}", old.moves());
    assert!(!liveness(40 * 24 * HOUR, 5, true).moves().contains("again and again"));
    // Some restarts at its start, and it has run for half an hour since.
    let settled = liveness(46 * MINUTE, 5, true)
        .container("node-4", json!({"state": {"running": {"startedAt": ago(30 * MINUTE)}}}));
    assert!(!settled.moves().contains("again and again"));
    assert!(cause(&crash_loop()).contains("since 2026-01-01T09:02:00Z (for 58m)"));
}

/// The kubelet of node-4 has lost the API server so many times in the last hour, for the last time two minutes ago.
fn flapping(times: u32, lately: i64) -> Cluster {
    let mut cluster =
        Cluster::updated(4, HOUR).set("/spec/minReadySeconds", json!(300)).pod("node-4", |pod| {
            pod["status"]["conditions"][0]["lastTransitionTime"] = json!(ago(90));
        });
    cluster.events.push(json!({
        "apiVersion": "v1", "kind": "Event", "type": "Normal", "reason": "NodeNotReady", "message": "Node node-4 status is now: NodeNotReady",
        "metadata": {"name": "node-4.1", "namespace": "default", "creationTimestamp": ago(HOUR)}, "count": times,
        "involvedObject": {"kind": "Node", "name": "node-4", "uid": "node-4"}, "eventTime": null,
        "firstTimestamp": ago(HOUR), "lastTimestamp": ago(lately), "source": {"component": "node-controller"},
    }));
    cluster
}

#[test]
fn a_node_that_flaps_is_named_and_its_pod_is_not_blamed() {
    assert_snapshot!(flapping(26, 120).stuck(), @"
    logging/agent: stuck: nothing moves until somebody does something; 1 node has an outdated pod, about 1 round left
    Cause      node-4: the node has become NotReady 26 times; pod agent-4-q9d4m itself has not been restarted, since 2026-01-01T09:00:00Z (for 60m)
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Next       look again at 2026-01-01T10:03:30Z (in 3m30s): a Ready pod becomes available then
    Run        kubectl describe node node-4
               kubectl describe pod -n logging agent-4-q9d4m
    ");
    assert_snapshot!(flapping(26, 120).why("node-4"), @"
    Node node-4, DaemonSet logging/agent
    node-4 should run a pod.
    Pod agent-4-q9d4m is updated, of revision #2; it is Ready since 2026-01-01T09:58:30Z (for 90s), and available at 2026-01-01T10:03:30Z, in 3m30s.
    It waits for minReadySeconds (300s): until they have passed, the node counts as unavailable.
    The node has become NotReady 26 times; pod agent-4-q9d4m itself has not been restarted, since 2026-01-01T09:00:00Z (for 60m).
    Run        kubectl describe node node-4
               kubectl describe pod -n logging agent-4-q9d4m
    ");
    let restarted = flapping(26, 120).container("node-4", json!({"restartCount": 1}));
    assert!(!cause(&restarted).contains("not been restarted"), "{}", cause(&restarted));
    // Twice, or long ago: minReadySeconds pass.
    for quiet in [flapping(2, 120), flapping(26, 45 * MINUTE)] {
        assert!(quiet.moves().contains("Ready, and available"), "{}", quiet.moves());
    }
}

/// Its pods share the events of the node.
#[test]
fn the_events_of_another_node_are_not_its_own() {
    let mut other = flapping(26, 120);
    let about: &mut Value = &mut other.events[0]["involvedObject"];
    about["name"] = json!("node-44");
    assert!(!cause(&other).contains("NotReady 26 times"));
}
