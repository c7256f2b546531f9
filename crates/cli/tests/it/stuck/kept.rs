//! Pods that should be gone, where no node of the plan tells of them.

use super::said::cause;
use super::{Cluster, HOUR, ago};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// node-5 was deleted with its pod on it, which should have been gone 9 hours ago.
fn deleted_node(finalizers: &Value) -> Cluster {
    let mut cluster = Cluster::updated(5, HOUR)
        .overdue("node-5", 9 * HOUR)
        .pod("node-5", |pod| pod["metadata"]["finalizers"] = finalizers.clone());
    cluster.nodes.retain(|node| node["metadata"]["name"] != "node-5");
    cluster
}

#[test]
fn a_pod_of_a_deleted_node_is_told_beside_complete() {
    let held = deleted_node(&json!(["example.com/deregister"]));
    assert_snapshot!(held.ask("stuck").out, @r#"
    logging/agent: complete: no node has an outdated pod
    Cause      pod agent-5-q9d4m of the deleted node node-5 should be gone, and the finalizer example.com/deregister keeps it: the pod garbage collector can't remove a pod that has one, since 2026-01-01T01:00:00Z (for 9h)
    Now        write the status
    Run        kubectl describe pod -n logging agent-5-q9d4m
               kubectl patch pod -n logging agent-5-q9d4m --type=merge -p '{"metadata":{"finalizers":null}}'    # if nobody does the work that example.com/deregister waits for
    "#);
    assert_snapshot!(held.why("agent-5-q9d4m"), @r#"
    Pod agent-5-q9d4m, DaemonSet logging/agent
    Its node node-5 is not in the cluster: it is left to the pod garbage collector.
    Pod agent-5-q9d4m of the deleted node node-5 should be gone, and the finalizer example.com/deregister keeps it: the pod garbage collector can't remove a pod that has one, since 2026-01-01T01:00:00Z (for 9h).
    Run        kubectl describe pod -n logging agent-5-q9d4m
               kubectl patch pod -n logging agent-5-q9d4m --type=merge -p '{"metadata":{"finalizers":null}}'    # if nobody does the work that example.com/deregister waits for
    "#);
    let two = deleted_node(&json!(["example.com/deregister", "example.com/flush"]));
    assert_snapshot!(cause(&two).lines().next().unwrap(), @"Cause      pod agent-5-q9d4m of the deleted node node-5 should be gone, and the finalizers example.com/deregister, example.com/flush keep it: the pod garbage collector can't remove a pod that has one, since 2026-01-01T01:00:00Z (for 9h)");
    assert_snapshot!(cause(&deleted_node(&json!([]))), @"
    Cause      pod agent-5-q9d4m of the deleted node node-5 should be gone, and the pod garbage collector has not removed what its kubelet can't end any more, since 2026-01-01T01:00:00Z (for 9h)
    Now        write the status
    Run        kubectl describe pod -n logging agent-5-q9d4m
               kubectl delete pod -n logging agent-5-q9d4m --force
    ");
    // The collector has its time.
    assert!(!cause(&deleted_node(&json!([])).overdue("node-5", 30)).contains("agent-5"));
}

/// It waits for a pod that can't end.
#[test]
fn a_deletion_names_what_keeps_each_pod() {
    let deleted = |cluster: Cluster| {
        let cluster = cluster.set("/metadata/deletionTimestamp", json!(ago(HOUR)));
        let cluster = cluster.set("/metadata/finalizers", json!(["foregroundDeletion"]));
        cluster.without_pod("node-1").without_pod("node-2").without_pod("node-3")
    };
    let silent =
        deleted(Cluster::updated(5, HOUR)).overdue("node-4", HOUR).down("node-4", "Unknown", 2 * HOUR);
    assert_snapshot!(cause(&silent), @"
    Cause      the DaemonSet is being deleted, so that the controller does nothing; 2 pods of it must be gone first: agent-4-q9d4m, agent-5-q9d4m; node node-4 does not report, so that pod agent-4-q9d4m can't end, since 2026-01-01T09:00:00Z (for 60m)
    Run        kubectl describe daemonset -n logging agent
               kubectl describe pod -n logging agent-4-q9d4m
               kubectl describe node node-4
               kubectl delete node node-4    # if the machine is gone for good
    ");
    let held = deleted(Cluster::updated(5, HOUR))
        .overdue("node-5", HOUR)
        .pod("node-5", |pod| pod["metadata"]["finalizers"] = json!(["example.com/flush"]));
    assert_snapshot!(cause(&held), @r#"
    Cause      the DaemonSet is being deleted, so that the controller does nothing; 2 pods of it must be gone first: agent-4-q9d4m, agent-5-q9d4m; the finalizer example.com/flush keeps pod agent-5-q9d4m since 2026-01-01T09:00:00Z (for 60m)
    Run        kubectl describe daemonset -n logging agent
               kubectl describe pod -n logging agent-4-q9d4m
               kubectl patch pod -n logging agent-5-q9d4m --type=merge -p '{"metadata":{"finalizers":null}}'    # if nobody does the work that example.com/flush waits for
    "#);
    assert_snapshot!(held.why("agent-5-q9d4m"), @r#"
    Pod agent-5-q9d4m, DaemonSet logging/agent
    Nothing is done for any node: the DaemonSet is being deleted.
    The finalizer example.com/flush keeps pod agent-5-q9d4m since 2026-01-01T09:00:00Z (for 60m).
    Run        kubectl patch pod -n logging agent-5-q9d4m --type=merge -p '{"metadata":{"finalizers":null}}'    # if nobody does the work that example.com/flush waits for
    "#);
}

/// An API server of long ago wrote it for the pods of a lost node; it counts as Pending.
#[test]
fn a_phase_that_is_unknown_is_called_so() {
    let status = json!({"phase": "Unknown", "reason": "NodeLost", "message": "Node node-4 is unresponsive"});
    let lost = Cluster::updated(5, HOUR)
        .down("node-4", "Unknown", HOUR)
        .pod("node-4", |pod| pod["status"] = status.clone());
    assert_snapshot!(lost.why("node-4").lines().nth(2).unwrap(), @"Pod agent-4-q9d4m is updated, of revision #2; it is in phase Unknown: NodeLost (Node node-4 is unresponsive).");
    let plan = lost.ask("plan").out;
    assert_snapshot!(plan.lines().find(|line| line.starts_with("node-4")).unwrap(), @"node-4  run, node NotReady  agent-4-q9d4m  updated #2 by hash  phase Unknown for 60m  waits until Ready");
}

/// Nobody can go back to a version that there never was.
#[test]
fn with_one_version_nothing_is_undone_and_no_round_is_left() {
    let taint = json!([{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}]);
    let mut only = Cluster::updated(5, HOUR)
        .down("node-4", "Unknown", HOUR)
        .set("/spec/template/spec/tolerations", json!([]));
    only.nodes[3]["spec"]["taints"] = taint;
    only.revisions[1]["data"]["spec"]["template"]["spec"]["tolerations"] = json!([]);
    let both = only.clone();
    only.revisions.remove(0);
    for words in ["stuck", "plan", "why node-4"] {
        let text = only.ask(words).out;
        assert!(!text.contains("undo") && !text.contains("round"), "{text}");
    }
    assert!(both.ask("plan").out.contains("or undo the update"));
    assert!(both.ask("stuck").out.contains("about 1 round left"));
}
