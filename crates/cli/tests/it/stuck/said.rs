//! Causes that the conditions and the containers of a pod already name.

use super::causes::{self, not_ready};
use super::{Cluster, HOUR, MINUTE, ago};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// The lines from the cause on, without those that wait for it.
pub(super) fn cause(cluster: &Cluster) -> String {
    let text = cluster.ask("stuck").out;
    let of_cause = |line: &&str| !line.starts_with("logging/agent") && !line.starts_with("Held");
    text.lines().filter(of_cause).collect::<Vec<_>>().join("\n")
}

fn ready_again(pod: &mut Value) {
    pod["status"]["containerStatuses"][0]["ready"] = json!(true);
}

/// All containers are ready, and a controller of a load balancer has not said so.
fn gate(condition: Option<Value>) -> Cluster {
    not_ready().pod("node-4", |pod| {
        ready_again(pod);
        pod["spec"]["readinessGates"] = json!([{"conditionType": "example.com/in-service"}]);
        let ready = &mut pod["status"]["conditions"][0];
        ready["reason"] = json!("ReadinessGatesNotReady");
        ready["message"] =
            json!("corresponding condition of pod readiness gate \"example.com/in-service\" does not exist.");
        pod["status"]["conditions"].as_array_mut().unwrap().extend(condition.clone());
    })
}

#[test]
fn a_readiness_gate_is_named_with_its_own_condition() {
    assert_snapshot!(cause(&gate(None)), @"
    Cause      node-4: pod agent-4-q9d4m is not Ready: readiness gate example.com/in-service is not True (the pod has no such condition), since 2026-01-01T09:30:10Z (for 29m)
    Run        kubectl describe pod -n logging agent-4-q9d4m
    ");
    let draining = json!({
        "type": "example.com/in-service", "status": "False", "reason": "Draining", "message": "the target group drains",
    });
    assert_snapshot!(cause(&gate(Some(draining))), @"
    Cause      node-4: pod agent-4-q9d4m is not Ready: readiness gate example.com/in-service is not True (Draining: the target group drains), since 2026-01-01T09:30:10Z (for 29m)
    Run        kubectl describe pod -n logging agent-4-q9d4m
    ");
    // One that is open is no cause.
    let open = gate(Some(json!({"type": "example.com/in-service", "status": "True"})));
    assert!(!cause(&open).contains("readiness gate example.com"), "{}", cause(&open));
    assert_snapshot!(gate(None).why("node-4"), @"
    Node node-4, DaemonSet logging/agent
    node-4 should run a pod.
    Pod agent-4-q9d4m is updated, of revision #2; it runs, but has not been Ready since 2026-01-01T09:30:10Z (for 29m).
    It waits until agent-4-q9d4m is Ready. Pod agent-4-q9d4m is not Ready: readiness gate example.com/in-service is not True (the pod has no such condition), since 2026-01-01T09:30:10Z (for 29m).
    Run        kubectl describe pod -n logging agent-4-q9d4m
    ");
}

/// A webhook has put a container into the pod that the template does not have: no version of the DaemonSet changes it.
#[test]
fn a_container_that_is_not_ready_is_named_and_an_injected_one_is_not_undone() {
    let injected = json!({"name": "mesh-proxy", "ready": false, "restartCount": 0, "state": {"running": {}}});
    let sidecar = not_ready().pod("node-4", |pod| {
        ready_again(pod);
        pod["status"]["containerStatuses"].as_array_mut().unwrap().push(injected.clone());
    });
    assert_snapshot!(cause(&sidecar), @"
    Cause      node-4: container mesh-proxy of pod agent-4-q9d4m is running, but not ready, since 2026-01-01T09:30:10Z (for 29m)
    Run        kubectl describe pod -n logging agent-4-q9d4m
               kubectl logs -n logging agent-4-q9d4m -c mesh-proxy
    ");
    assert_snapshot!(sidecar.why("node-4").lines().nth(3).unwrap(), @"It waits until agent-4-q9d4m is Ready. Container mesh-proxy of pod agent-4-q9d4m is running, but not ready, since 2026-01-01T09:30:10Z (for 29m).");
    let both = not_ready().pod("node-4", |pod| {
        pod["status"]["containerStatuses"].as_array_mut().unwrap().push(injected.clone());
    });
    assert_snapshot!(cause(&both), @"
    Cause      node-4: containers agent, mesh-proxy of pod agent-4-q9d4m are running, but not ready, since 2026-01-01T09:30:10Z (for 29m)
    Run        kubectl describe pod -n logging agent-4-q9d4m
               kubectl logs -n logging agent-4-q9d4m --all-containers
               kubectl rollout undo -n logging daemonset/agent
    ");
    let finding = &both.findings()[0];
    assert_eq!(finding["cause"]["containers"], json!(["agent", "mesh-proxy"]));
}

/// A native sidecar, an init container that goes on, is a part of the pod's being Ready.
#[test]
fn a_sidecar_among_the_init_containers_is_named() {
    let native = not_ready().pod("node-4", |pod| {
        ready_again(pod);
        pod["spec"]["initContainers"] = json!([{"name": "proxy", "image": "proxy:1", "restartPolicy": "Always"}]);
        pod["status"]["initContainerStatuses"] =
            json!([{"name": "proxy", "ready": false, "started": true, "restartCount": 0, "state": {"running": {}}}]);
    });
    assert_snapshot!(cause(&native).lines().next().unwrap(), @"Cause      node-4: container proxy of pod agent-4-q9d4m is running, but not ready, since 2026-01-01T09:30:10Z (for 29m)");
}

#[test]
fn a_node_under_pressure_is_named_beside_the_pod() {
    let mut pressed = not_ready();
    let pressure = json!({"type": "MemoryPressure", "status": "True", "reason": "KubeletHasInsufficientMemory", "lastTransitionTime": ago(HOUR)});
    pressed.nodes[3]["status"]["conditions"].as_array_mut().unwrap().push(pressure);
    assert_snapshot!(cause(&pressed).lines().next().unwrap(), @"Cause      node-4: container agent of pod agent-4-q9d4m is running, but not ready; the node has MemoryPressure, since 2026-01-01T09:30:10Z (for 29m)");
    let calm = json!({"type": "DiskPressure", "status": "False", "lastTransitionTime": ago(HOUR)});
    pressed.nodes[3]["status"]["conditions"][1] = calm;
    assert!(!cause(&pressed).contains("Pressure"));
}

/// Somebody else's text may be as long as an annotation: it is cut where a sentence ends.
#[test]
fn a_message_is_cut_at_a_sentence() {
    let message = format!("The volume is busy. {}", "It is said again. ".repeat(20_000));
    let waiting = json!({"waiting": {"reason": "CreateContainerError", "message": message}});
    let text = not_ready().container("node-4", json!({"state": waiting})).stuck();
    assert!(text.contains("The volume is busy. It is said again."), "{text:.500}");
    assert!(text.lines().all(|line| line.len() < 600) && text.contains("again. …"), "{}", text.len());
    let one_word = json!({"waiting": {"reason": "CreateContainerError", "message": "\u{2026}".repeat(5000)}});
    let text = not_ready().container("node-4", json!({"state": one_word})).stuck();
    assert!(text.lines().all(|line| line.chars().count() < 600), "{}", text.len());
}

/// An init container of the new version has waited for 25 minutes for something that never comes.
fn init(spec: Value, status: Value) -> Cluster {
    let later = json!({"name": "certs", "ready": false, "restartCount": 0, "state": {"waiting": {"reason": "PodInitializing"}}});
    not_ready().pod("node-4", |pod| {
        pod["status"]["phase"] = json!("Pending");
        pod["spec"]["initContainers"] = json!([spec]);
        pod["status"]["initContainerStatuses"] = json!([status, later]);
        pod["status"]["containerStatuses"][0]["state"] = json!({"waiting": {"reason": "PodInitializing"}});
    })
}

fn waits_for_api() -> Cluster {
    let running = json!({"running": {"startedAt": ago(25 * MINUTE)}});
    let status =
        json!({"name": "wait-for-api", "ready": false, "started": true, "restartCount": 0, "state": running});
    init(json!({"name": "wait-for-api", "image": "busybox:1"}), status)
}

#[test]
fn an_init_container_that_does_not_end_is_named_with_its_log() {
    // A webhook has put it in: the template has none.
    assert_snapshot!(cause(&waits_for_api()), @"
    Cause      node-4: init container wait-for-api of pod agent-4-q9d4m is still running, since 2026-01-01T09:35:00Z (for 25m)
    Run        kubectl logs -n logging agent-4-q9d4m -c wait-for-api
               kubectl describe pod -n logging agent-4-q9d4m
    ");
    // Both versions have it.
    let template = "/spec/template/spec/initContainers";
    let mut old = waits_for_api().set(template, json!([{"name": "wait-for-api", "image": "busybox:1"}]));
    for revision in &mut old.revisions {
        revision["data"]["spec"]["template"]["spec"]["initContainers"] =
            old.daemon_set.pointer(template).unwrap().clone();
    }
    assert!(!cause(&old).contains("undo"), "{}", cause(&old));
    // Only the new version has it.
    old.revisions[0]["data"]["spec"]["template"]["spec"]["initContainers"] = json!([]);
    assert_snapshot!(cause(&old), @"
    Cause      node-4: init container wait-for-api of pod agent-4-q9d4m is still running, since 2026-01-01T09:35:00Z (for 25m)
    Run        kubectl logs -n logging agent-4-q9d4m -c wait-for-api
               kubectl describe pod -n logging agent-4-q9d4m
               kubectl rollout undo -n logging daemonset/agent
    ");
    assert_snapshot!(old.why("node-4"), @"
    Node node-4, DaemonSet logging/agent
    node-4 should run a pod.
    Pod agent-4-q9d4m is updated, of revision #2; it is Pending since 2026-01-01T09:30:00Z (for 30m).
    It waits until agent-4-q9d4m is Ready. Init container wait-for-api of pod agent-4-q9d4m is still running, since 2026-01-01T09:35:00Z (for 25m).
    Run        kubectl logs -n logging agent-4-q9d4m -c wait-for-api
               kubectl describe pod -n logging agent-4-q9d4m
    ");
}

/// Its startup probe fails: it goes on, and the containers after it wait.
#[test]
fn a_sidecar_that_has_not_started_holds_the_pod() {
    let running = json!({"running": {"startedAt": ago(25 * MINUTE)}});
    let sidecar = |started: bool| {
        let status =
            json!({"name": "proxy", "ready": false, "started": started, "restartCount": 0, "state": running});
        init(json!({"name": "proxy", "image": "proxy:1", "restartPolicy": "Always"}), status)
    };
    assert_snapshot!(cause(&sidecar(false)), @"
    Cause      node-4: sidecar proxy of pod agent-4-q9d4m is running, but has not started, since 2026-01-01T09:35:00Z (for 25m)
    Run        kubectl logs -n logging agent-4-q9d4m -c proxy
               kubectl describe pod -n logging agent-4-q9d4m
    ");
    assert!(!cause(&sidecar(true)).contains("has not started"));
}

/// Until patience is over it may still end.
#[test]
fn an_init_container_has_its_time() {
    let young = waits_for_api().pod("node-4", |pod| {
        pod["metadata"]["creationTimestamp"] = json!(ago(3 * MINUTE));
        pod["status"]["initContainerStatuses"][0]["state"]["running"]["startedAt"] = json!(ago(2 * MINUTE));
    });
    assert_snapshot!(young.moves(), @"
    logging/agent: moves: 1 node to wait for, 1 node has an outdated pod, about 1 round left
    Waiting    node-4: init container wait-for-api of pod agent-4-q9d4m is still running, since 2026-01-01T09:58:00Z (for 2m); it counts as stuck in 8m
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Now        write the status
    Run        kubectl logs -n logging agent-4-q9d4m -c wait-for-api
               kubectl describe pod -n logging agent-4-q9d4m
    ");
}

/// A key that is missing, in an update that nobody rolls out.
fn no_key(cluster: Cluster) -> Cluster {
    let message = "couldn't find key tokn in Secret logging/agent";
    let waiting = json!({"waiting": {"reason": "CreateContainerConfigError", "message": message}});
    let down = |pod: &mut Value| {
        pod["status"]["phase"] = json!("Pending");
        pod["status"]["conditions"][0]["status"] = json!("False");
    };
    cluster.container("node-5", json!({"state": waiting, "ready": false})).pod("node-5", down)
}

fn row(cluster: &Cluster, node: &str) -> String {
    let plan = cluster.ask("plan").out;
    let of_node =
        |line: &&str| line.starts_with("Nodes") || line.starts_with("Now") || line.starts_with(node);
    plan.lines().filter(of_node).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_container_that_can_not_be_started_does_not_crash() {
    let on_delete = no_key(causes::on_delete());
    assert_snapshot!(cause(&on_delete), @r#"
    Cause      node-5: container agent of pod agent-5-h7k2x can't be started: CreateContainerConfigError (couldn't find key tokn in Secret logging/agent), since 2025-12-24T01:59:50Z (for 8d)
               node-4, node-5: the strategy is OnDelete: delete the outdated pods yourself, each once the new pod of the node before is Ready
    Run        kubectl describe pod -n logging agent-5-h7k2x
               kubectl delete pod -n logging agent-5-h7k2x
               kubectl patch daemonset -n logging agent --type=merge -p '{"spec":{"updateStrategy":{"type":"RollingUpdate"}}}'    # if nobody wants OnDelete
    "#);
    assert_snapshot!(on_delete.why("node-5"), @"
    Node node-5, DaemonSet logging/agent
    node-5 should run a pod.
    Pod agent-5-h7k2x is outdated, of revision #1 (the current one is #2); it is Pending since 2025-12-24T01:59:50Z (for 8d).
    The strategy is OnDelete: its outdated pod stays until somebody deletes it, as by kubectl delete pod -n logging agent-5-h7k2x.
    Container agent of pod agent-5-h7k2x can't be started: CreateContainerConfigError (couldn't find key tokn in Secret logging/agent), since 2025-12-24T01:59:50Z (for 8d).
    Run        kubectl describe pod -n logging agent-5-h7k2x
    ");
    assert_snapshot!(row(&on_delete, "node-5"), @"
    Nodes      5: 2 waiting for you to delete the pod, 3 up to date
    Now        write the status; 2 nodes must wait (1 unable to start)
    node-5  run        agent-5-h7k2x  outdated #1         Pending for 8d     waits for you: OnDelete, delete its pod: can't
    ");
    let rolling = no_key(Cluster::updated(5, HOUR));
    assert_snapshot!(row(&rolling, "node-5"), @"
    Nodes      5: 1 waiting for Ready (unable to start), 4 up to date
    Now        write the status; 1 node must wait (1 unable to start)
    node-5  run        agent-5-q9d4m  updated #2 by hash  Pending for 60m    waits until Ready: can't start: couldn't find
    ");
    assert_snapshot!(row(&causes::crash_loop(), "node-4"), @"
    Nodes      5: 1 waiting for Ready (crashing), 1 held by maxUnavailable, 3 up to date
    Now        write the status; 2 nodes must wait (1 crashing)
    node-4  run        agent-4-q9d4m  updated #2 by hash  not Ready for 57m  waits until Ready: crashing
    ");
}

/// The runtime can't run its command: no message of the kubelet, only a reason.
#[test]
fn a_reason_alone_stands_for_the_message() {
    let waiting = json!({"waiting": {"reason": "RunContainerError"}});
    let unmade = not_ready().container("node-4", json!({"state": waiting}));
    assert_snapshot!(row(&unmade, "node-4"), @"
    Nodes      5: 1 waiting for Ready (unable to start), 1 held by maxUnavailable, 3 up to date
    Now        write the status; 2 nodes must wait (1 unable to start)
    node-4  run        agent-4-q9d4m  updated #2 by hash  not Ready for 29m  waits until Ready: can't start:
    ");
}
