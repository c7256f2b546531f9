//! The time that is left, where time is what a rollout waits for; and the steps that people hold.

use super::{Cluster, HOUR, MINUTE};
use crate::program::run;
use insta::assert_snapshot;
use serde_json::{Value, json};

#[test]
fn min_ready_seconds_that_are_left() {
    let settles = Cluster::updated(4, 20).set("/spec/minReadySeconds", json!(60));
    assert_snapshot!(settles.moves(), @"
    logging/agent: moves: 4 nodes to wait for, 1 node has an outdated pod, about 1 round left
    Waiting    node-1, node-2, node-3, node-4: Ready, and available at 2026-01-01T10:00:40Z, in 40s (minReadySeconds 60)
    Held       node-5: maxUnavailable is spent (4 of 1) by node-1, node-2, node-3, node-4
    Now        write the status
    Next       look again at 2026-01-01T10:00:40Z (in 40s): a Ready pod becomes available then
    ");
}

#[test]
fn the_bake_and_the_deadline_that_are_left() {
    let waves = "waves: [{upTo: 1, bakeSeconds: 600}, {upTo: 3}]";
    let bakes = Cluster::updated(1, 4 * MINUTE).annotated("policy", waves);
    assert_snapshot!(bakes.moves(), @"
    logging/agent: moves: 2 nodes to wait for, 4 nodes have an outdated pod, about 4 rounds left
    Waiting    node-2, node-3: held for wave 1: wave 1 opens at 2026-01-01T10:06:00Z, when the pods before it have baked (in 6m)
    Now        mark 2 revisions
    Next       look again at 2026-01-01T10:06:00Z (in 6m): a wave has baked then
    ");
    let judged = "onFailure: {progressDeadlineSeconds: 3600, availableWithinSeconds: 900}";
    let late = Cluster::updated(3, 10 * MINUTE).annotated("policy", judged).not_ready("node-4", 5 * MINUTE);
    assert_snapshot!(late.moves(), @"
    logging/agent: moves: 1 node to wait for, 1 node has an outdated pod, about 1 round left
    Waiting    node-4: container agent of pod agent-4-q9d4m is running, but not ready, since 2026-01-01T09:55:10Z (for 4m50s); it counts as stuck in 5m10s
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Now        mark 1 revision, write the status
    Next       look again at 2026-01-01T10:10:10Z (in 10m): a node counts as failing then
    Run        kubectl describe pod -n logging agent-4-q9d4m
               kubectl logs -n logging agent-4-q9d4m -c agent
    ");
}

#[test]
fn a_pod_that_terminates_has_its_time() {
    assert_snapshot!(Cluster::updated(3, MINUTE).overdue("node-4", -20).moves(), @"
    logging/agent: moves: 1 node to wait for, 1 node has an outdated pod, about 1 round left
    Waiting    node-4: pod agent-4-h7k2x ends, and should be gone at 2026-01-01T10:00:20Z, in 20s
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Now        write the status
    ");
    let finalizers = json!(["example.com/flush"]);
    let kept = Cluster::updated(3, MINUTE)
        .overdue("node-4", -20)
        .pod("node-4", |pod| pod["metadata"]["finalizers"] = finalizers.clone());
    assert_snapshot!(kept.moves().lines().nth(1).unwrap(), @"Waiting    node-4: pod agent-4-h7k2x ends, and should be gone at 2026-01-01T10:00:20Z, in 20s, once the finalizer example.com/flush is removed");
}

/// A DaemonSet may be meant for nodes that a cluster does not have, so that this is no obstacle.
#[test]
fn a_selector_of_no_node_is_told() {
    let nowhere = Cluster::updated(5, HOUR)
        .set("/spec/template/spec/nodeSelector", json!({"disk": "sdd"}))
        .set("/status", json!({"observedGeneration": 2}));
    let nowhere = Cluster { pods: Vec::new(), ..nowhere };
    assert_snapshot!(nowhere.moves(), @"
    logging/agent: complete: no node has an outdated pod
    Nodes      no node should run the pod: for 5 of 5 nodes, the template's nodeSelector does not match, as disk=sdd is wanted and the node has no label disk
    Now        create 1 revision
    ");
    let none = Cluster { nodes: Vec::new(), ..nowhere };
    assert_snapshot!(none.moves(), @"
    logging/agent: complete: no node has an outdated pod
    Nodes      no node should run the pod: there are 0 nodes
    Now        create 1 revision
    ");
}

/// Waves with an approval that is given to another revision.
pub(super) fn approval_of_another_revision() -> Cluster {
    let waves = "waves: [{upTo: 3}, {needsApproval: true}]";
    Cluster::updated(3, HOUR).annotated("policy", waves).annotated("approved", "1=2")
}

/// A policy that can't be read.
pub(super) fn typo() -> Cluster {
    Cluster::updated(3, HOUR).annotated("policy", "{waves: [{upTo: 3}, {}], paused: 1}")
}

#[test]
fn an_approval_of_another_revision_is_told() {
    assert_snapshot!(approval_of_another_revision().stuck(), @"
    logging/agent: stuck: nothing moves until somebody does something; 2 nodes have an outdated pod, about 2 rounds left
    Cause      node-4, node-5: the next wave waits for approval: annotation rollout.daemonset/approved approves revision 1, and the current one is 2
    Run        kubectl daemonset rollout approve logging/agent
    ");
    let approved = approval_of_another_revision().annotated("approved", "2=2");
    let ran = approved.ask("stuck --patience 2h");
    assert_eq!(ran.code, Some(0), "{}", ran.out);
}

#[test]
fn a_policy_with_a_typo_holds_the_rollout() {
    assert_snapshot!(typo().stuck(), @"
    logging/agent: stuck: nothing moves until somebody does something; 2 nodes have an outdated pod, about 2 rounds left
    Cause      node-4, node-5: the rollout counts as paused, since its policy is invalid: annotation rollout.daemonset/policy: paused: invalid type: integer `1`, expected a boolean
    Run        kubectl edit daemonset -n logging agent
    ");
}

/// A rollout that is complete is one line; several answer one after the other.
#[test]
fn the_question_may_be_about_a_daemon_set_or_about_all() {
    let complete = Cluster::updated(5, HOUR);
    assert_snapshot!(complete.moves(), @"logging/agent: complete: no node has an outdated pod");
    let typo = typo();
    assert_eq!(typo.why("agent"), typo.stuck());
    assert_eq!(typo.why("ds/agent"), typo.stuck());
    assert_eq!(typo.why("logging/agent"), typo.stuck());
    let all = typo.ask("stuck -A -o json");
    let all: serde_json::Value = serde_json::from_str(&all.out).unwrap();
    assert_eq!(all["daemonSets"][0]["name"], "logging/agent");
    assert_eq!(all["daemonSets"][0]["standing"]["type"], "Stuck");
    assert_eq!(all["daemonSets"][0]["commands"], json!(["kubectl edit daemonset -n logging agent"]));
}

/// Whoever is on call reads the first lines.
#[test]
fn of_several_those_that_are_stuck_come_first() {
    let daemon_set = |cluster: Cluster, namespace: &str| {
        let json = cluster.json().replace("\"logging\"", &format!("\"{namespace}\""));
        let of_namespace: Value =
            serde_json::from_str(&json.replace("uid-of-agent", &format!("uid-of-{namespace}"))).unwrap();
        let items = of_namespace["items"].as_array().unwrap().clone();
        let is_node = |item: &Value| item["kind"] == "Node";
        let (nodes, others): (Vec<_>, Vec<_>) = items.into_iter().partition(is_node);
        if namespace == "a" { [nodes, others].concat() } else { others }
    };
    let complete = || Cluster::updated(5, HOUR);
    let moves = Cluster::updated(3, MINUTE);
    let all = [
        daemon_set(complete(), "a"),
        daemon_set(complete(), "b"),
        daemon_set(moves, "c"),
        daemon_set(super::controller::idle(), "d"),
    ];
    let list = crate::plan::list(all.concat());
    let ran = run("stuck", &["-f", "-", "--now", super::NOW], list.as_bytes());
    assert_eq!(ran.code, Some(1));
    assert_snapshot!(ran.out, @"
    d/agent: stuck: nothing moves until somebody does something; 2 nodes have an outdated pod, about 2 rounds left
    Cause      node-4: nothing has happened since 2026-01-01T08:32:00Z (for 88m), though this is due and waits for no limit: delete 1 pod. Either no controller runs, or the API server refuses its calls: a webhook, a quota, or rights that are missing
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Run        kubectl describe daemonset -n d agent
               kubectl get lease -n kube-system kube-controller-manager
               kubectl get pods -n kube-system -l component=kube-controller-manager
               kubectl get resourcequotas -n d
               kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations
    c/agent: moves: 1 node to act on, 2 nodes have an outdated pod, about 2 rounds left
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Now        delete 1 pod
    complete: 2 DaemonSets: a/agent, b/agent
    ");
    let many = (1..=12).map(|number| daemon_set(complete(), &"a".repeat(number)));
    let list = crate::plan::list(many.collect::<Vec<_>>().concat());
    let ran = run("stuck", &["-f", "-", "--now", super::NOW], list.as_bytes());
    assert_snapshot!(ran.out, @"
    complete: 12 DaemonSets: a/agent, aa/agent, aaa/agent, aaaa/agent, aaaaa/agent, aaaaaa/agent, aaaaaaa/agent, aaaaaaaa/agent, aaaaaaaaa/agent, aaaaaaaaaa/agent and 2 more
    ");
    let nowhere = ["c", "d"].map(|namespace| {
        let nowhere = complete().set("/spec/template/spec/nodeSelector", json!({"disk": "sdd"}));
        daemon_set(Cluster { pods: Vec::new(), ..nowhere }, namespace)
    });
    let list = crate::plan::list(
        [daemon_set(complete(), "a"), daemon_set(complete(), "b"), nowhere.concat()].concat(),
    );
    let ran = run("stuck", &["-f", "-"], list.as_bytes());
    assert_snapshot!(ran.out, @"
    for no node: 2 DaemonSets: c/agent, d/agent
    complete: 2 DaemonSets: a/agent, b/agent
    As of      2026-01-01T09:00:00Z, the newest time in stdin; --now tells another one
    ");
}
