//! Nodes and pods that hold a rollout.

use super::{Cluster, HOUR, MINUTE, ago};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// The image of the new version on node-4 can't be pulled.
pub(super) fn image() -> Cluster {
    let message = "Back-off pulling image \"agent:2\": not found";
    let waiting = json!({"waiting": {"reason": "ImagePullBackOff", "message": message}});
    Cluster::updated(3, HOUR)
        .not_ready("node-4", 58 * MINUTE)
        .container("node-4", json!({"state": waiting}))
        .pod("node-4", |pod| pod["status"]["phase"] = json!("Pending"))
}

/// The new version ends again and again on node-4.
pub(super) fn crash_loop() -> Cluster {
    let waiting = json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s restarting failed container"}});
    let last = json!({"terminated": {"reason": "Error", "exitCode": 2, "finishedAt": ago(200)}});
    Cluster::updated(3, HOUR)
        .not_ready("node-4", 58 * MINUTE)
        .container("node-4", json!({"state": waiting, "lastState": last, "restartCount": 14}))
}

/// node-4 has not reported for 84 minutes.
pub(super) fn silent() -> Cluster {
    Cluster::updated(3, 2 * HOUR).down("node-4", "Unknown", 84 * MINUTE)
}

/// A finalizer keeps the old pod of node-4.
pub(super) fn finalizer() -> Cluster {
    Cluster::updated(3, HOUR)
        .overdue("node-4", 20 * MINUTE)
        .pod("node-4", |pod| pod["metadata"]["finalizers"] = json!(["example.com/flush"]))
}

/// The pod of node-4 runs, and its readiness probe fails.
pub(super) fn not_ready() -> Cluster {
    Cluster::updated(3, HOUR).not_ready("node-4", 30 * MINUTE)
}

/// Under surge the new pod of node-4 needs the host port of the old one.
pub(super) fn port() -> Cluster {
    unscheduled("1 node(s) didn't have free ports for the requested pod ports")
}

/// Under surge the scheduler has said this about the new pod of node-4.
fn unscheduled(said: &str) -> Cluster {
    let surge = json!({"maxUnavailable": 0, "maxSurge": 1});
    let ports = json!([{"containerPort": 9100, "hostPort": 9100}]);
    let no_place = json!({
        "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": ago(30 * MINUTE),
        "message": format!("0/5 nodes are available: {said}, 4 node(s) didn't satisfy plugin(s) [NodeAffinity]."),
    });
    let cluster = Cluster::updated(3, HOUR)
        .set("/spec/updateStrategy/rollingUpdate", surge)
        .set("/spec/template/spec/containers/0/ports", ports.clone());
    let mut cluster = cluster.beside("node-4", 30 * MINUTE, |pod| {
        pod["status"] = json!({"phase": "Pending", "conditions": [no_place]});
        let name = json!([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-4"]}]}]);
        let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": name}});
        pod["spec"] = json!({"affinity": {"nodeAffinity": required}, "containers": [{"name": "agent", "image": "agent:2"}]});
    });
    cluster.revisions[1]["data"]["spec"]["template"]["spec"]["containers"][0]["ports"] = ports;
    cluster
}

/// Nobody deletes the outdated pods.
pub(super) fn on_delete() -> Cluster {
    Cluster::updated(3, HOUR).set("/spec/updateStrategy", json!({"type": "OnDelete"}))
}

#[test]
fn a_port_that_the_old_pod_holds_is_named() {
    assert_snapshot!(port().stuck(), @r#"
    logging/agent: stuck: nothing moves until somebody does something; 2 nodes have an outdated pod, about 2 rounds left
    Cause      node-4: pod agent-4-q9d4m finds host port 9100 taken by the old pod agent-4-h7k2x of its node: with maxSurge neither the update nor an undo can go on, since 2026-01-01T09:30:00Z (for 30m)
    Held       node-5: maxSurge is spent (1 of 1) by node-4
    Run        kubectl patch daemonset -n logging agent --type=merge -p '{"spec":{"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":0,"maxUnavailable":1}}}}'
               kubectl describe pod -n logging agent-4-q9d4m
    "#);
    // For another reason an undo may help.
    assert_snapshot!(unscheduled("1 Insufficient cpu").stuck(), @"
    logging/agent: stuck: nothing moves until somebody does something; 2 nodes have an outdated pod, about 2 rounds left
    Cause      node-4: the scheduler finds no place for pod agent-4-q9d4m: Unschedulable (0/5 nodes are available: 1 Insufficient cpu, 4 node(s) didn't satisfy plugin(s) [NodeAffinity].), since 2026-01-01T09:30:00Z (for 30m)
    Held       node-5: maxSurge is spent (1 of 1) by node-4
    Run        kubectl describe pod -n logging agent-4-q9d4m
               kubectl rollout undo -n logging daemonset/agent
    ");
}

#[test]
fn on_delete_waits_for_a_person() {
    assert_snapshot!(on_delete().stuck(), @r#"
    logging/agent: stuck: nothing moves until somebody does something; 2 nodes have an outdated pod
    Cause      node-4, node-5: the strategy is OnDelete: delete the outdated pods yourself, each once the new pod of the node before is Ready
    Run        kubectl delete pod -n logging agent-4-h7k2x
               kubectl patch daemonset -n logging agent --type=merge -p '{"spec":{"updateStrategy":{"type":"RollingUpdate"}}}'    # if nobody wants OnDelete
    "#);
}

/// Kubernetes' own controller reads no policy: the strategy alone would roll all nodes past the waves.
#[test]
fn on_delete_with_waves_is_to_be_driven() {
    let waves = on_delete().annotated("policy", "waves: [{upTo: 4}, {needsApproval: true}]");
    assert_snapshot!(waves.stuck(), @r#"
    logging/agent: stuck: nothing moves until somebody does something; 2 nodes have an outdated pod
    Cause      node-4: the strategy is OnDelete: delete the outdated pods yourself, each once the new pod of the node before is Ready
    Held       node-5: held for wave 1: wave 1 waits for the pods of the waves before it
    Run        kubectl delete pod -n logging agent-4-h7k2x
               kubectl edit daemonset -n logging agent    # with externalController in its policy the driver deletes the pods, wave by wave
               kubectl patch daemonset -n logging agent --type=merge -p '{"spec":{"updateStrategy":{"type":"RollingUpdate"}}}'    # Kubernetes' own controller then updates all nodes within maxUnavailable, whatever the policy says
    "#);
}

/// `kubectl describe` shows no finalizers of a DaemonSet.
#[test]
fn a_deletion_that_does_not_end_names_those_who_hold_it() {
    let deleted = |finalizers: Value| {
        let cluster = Cluster::updated(5, HOUR).set("/metadata/deletionTimestamp", json!(ago(HOUR)));
        cluster
            .set("/metadata/finalizers", finalizers)
            .without_pod("node-1")
            .without_pod("node-2")
            .without_pod("node-3")
    };
    assert_snapshot!(deleted(json!(["example.com/flush"])).stuck(), @r#"
    logging/agent: stuck: nothing moves until somebody does something; no node has an outdated pod
    Cause      the DaemonSet is being deleted, so that the controller does nothing; the finalizer example.com/flush keeps it
    Run        kubectl describe daemonset -n logging agent
               kubectl patch daemonset -n logging agent --type=merge -p '{"metadata":{"finalizers":null}}'    # if nobody does the work that example.com/flush waits for
    "#);
    assert_snapshot!(deleted(json!(["foregroundDeletion"])).stuck(), @"
    logging/agent: stuck: nothing moves until somebody does something; no node has an outdated pod
    Cause      the DaemonSet is being deleted, so that the controller does nothing; 2 pods of it must be gone first: agent-4-q9d4m, agent-5-q9d4m
    Run        kubectl describe daemonset -n logging agent
               kubectl describe pod -n logging agent-4-q9d4m
    ");
}

/// Nobody is needed while its pods end.
#[test]
fn a_deletion_goes_on_while_its_pods_end() {
    let deleted = |seconds| {
        let cluster = Cluster::updated(5, HOUR).set("/metadata/deletionTimestamp", json!(ago(seconds)));
        cluster.set("/metadata/finalizers", json!(["foregroundDeletion"]))
    };
    assert_snapshot!(deleted(2).moves(), @"
    logging/agent: moves: no node has an outdated pod
    Waiting    the DaemonSet is being deleted, so that the controller does nothing; 5 pods of it must be gone first: agent-1-q9d4m, agent-2-q9d4m, agent-3-q9d4m, agent-4-q9d4m, agent-5-q9d4m; it counts as stuck in 9m58s
    ");
    assert_snapshot!(deleted(600).pod("node-1", |pod| ends(pod, 900)).moves(), @"
    logging/agent: moves: no node has an outdated pod
    Waiting    the DaemonSet is being deleted, so that the controller does nothing; 5 pods of it must be gone first: agent-1-q9d4m, agent-2-q9d4m, agent-3-q9d4m, agent-4-q9d4m, agent-5-q9d4m; it counts as stuck in 10m
    ");
    assert_snapshot!(deleted(600).stuck().lines().next().unwrap(), @"logging/agent: stuck: nothing moves until somebody does something; no node has an outdated pod");
}

/// A pod that has so many seconds left.
fn ends(pod: &mut Value, seconds: i64) {
    pod["metadata"]["deletionTimestamp"] = json!(ago(-seconds));
    pod["metadata"]["deletionGracePeriodSeconds"] = json!(3600);
}

/// Another node would be without its pod, too.
#[test]
fn on_delete_takes_no_available_pod_while_a_new_one_is_down() {
    let strategy = json!({"type": "OnDelete"});
    assert_snapshot!(image().set("/spec/updateStrategy", strategy).stuck(), @r#"
    logging/agent: stuck: nothing moves until somebody does something; 1 node has an outdated pod
    Cause      node-4: pod agent-4-q9d4m can't pull the image agent:2 of container agent: ImagePullBackOff (Back-off pulling image "agent:2": not found), since 2026-01-01T09:02:00Z (for 58m)
               node-5: the strategy is OnDelete: delete the outdated pods yourself, each once the new pod of the node before is Ready; without an available pod now: node-4
    Run        kubectl describe pod -n logging agent-4-q9d4m
               kubectl rollout undo -n logging daemonset/agent
               kubectl patch daemonset -n logging agent --type=merge -p '{"spec":{"updateStrategy":{"type":"RollingUpdate"}}}'    # if nobody wants OnDelete
    "#);
    // A pod that is down is no loss: it goes first.
    let down = on_delete().pod("node-5", |pod| pod["status"]["conditions"][0]["status"] = json!("False"));
    assert_snapshot!(down.stuck(), @r#"
    logging/agent: stuck: nothing moves until somebody does something; 2 nodes have an outdated pod
    Cause      node-4, node-5: the strategy is OnDelete: delete the outdated pods yourself, each once the new pod of the node before is Ready
    Run        kubectl delete pod -n logging agent-5-h7k2x
               kubectl patch daemonset -n logging agent --type=merge -p '{"spec":{"updateStrategy":{"type":"RollingUpdate"}}}'    # if nobody wants OnDelete
    "#);
}

#[test]
fn an_image_that_can_not_be_pulled_is_a_failure() {
    assert_snapshot!(image().stuck(), @r#"
    logging/agent: stuck: nothing moves until somebody does something; 1 node has an outdated pod, about 1 round left
    Cause      node-4: pod agent-4-q9d4m can't pull the image agent:2 of container agent: ImagePullBackOff (Back-off pulling image "agent:2": not found), since 2026-01-01T09:02:00Z (for 58m)
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Run        kubectl describe pod -n logging agent-4-q9d4m
               kubectl rollout undo -n logging daemonset/agent
    "#);
    // At once, though the rollout counts as moving while patience lasts.
    let fresh = image().pod("node-4", |pod| {
        pod["metadata"]["creationTimestamp"] = json!(ago(MINUTE));
        pod["status"]["conditions"][0]["lastTransitionTime"] = json!(ago(MINUTE));
    });
    assert_snapshot!(fresh.moves(), @r#"
    logging/agent: moves: 1 node to wait for, 1 node has an outdated pod, about 1 round left
    Cause      node-4: pod agent-4-q9d4m can't pull the image agent:2 of container agent: ImagePullBackOff (Back-off pulling image "agent:2": not found), since 2026-01-01T09:59:00Z (for 60s); it counts as stuck in 9m
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Now        write the status
    Run        kubectl describe pod -n logging agent-4-q9d4m
               kubectl rollout undo -n logging daemonset/agent
    "#);
    assert_snapshot!(image().why("node-5"), @r#"
    Node node-5, DaemonSet logging/agent
    node-5 should run a pod.
    Pod agent-5-h7k2x is outdated, of revision #1 (the current one is #2); it is Ready and available since 2025-12-24T02:00:00Z (for 8d).
    Its outdated pod waits, because maxUnavailable is spent: 1 node may be without an available pod, and 1 is so. It is spent by node-4 (pod agent-4-q9d4m can't pull the image agent:2 of container agent: ImagePullBackOff, Back-off pulling image "agent:2": not found, since 2026-01-01T09:02:00Z, for 58m). It goes once node-4 has an available pod again.
    Run        kubectl describe pod -n logging agent-4-q9d4m
               kubectl rollout undo -n logging daemonset/agent
    "#);
    let plan = image().ask("plan").out;
    let lines =
        plan.lines().filter(|line| ["Nodes", "Now", "node-4"].iter().any(|start| line.starts_with(start)));
    assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @"
    Nodes      5: 1 waiting for Ready (unable to pull its image), 1 held by maxUnavailable, 3 up to date
    Now        write the status; 2 nodes must wait (1 unable to pull its image)
    node-4  run        agent-4-q9d4m  updated #2 by hash  Pending for 58m    waits until Ready: unable to pull its image
    ");
    let finding = &image().findings()[0];
    assert_eq!(
        finding["cause"],
        json!({
            "type": "ImageNotPulled", "pod": "agent-4-q9d4m", "updated": true, "since": ago(58 * MINUTE), "container": "agent",
            "image": "agent:2", "reason": "ImagePullBackOff", "message": "Back-off pulling image \"agent:2\": not found",
        })
    );
    assert_eq!((&finding["ends"], &finding["nodes"]), (&json!("Somebody"), &json!(["node-4"])));
}

/// The node was restarted, or the kubelet: one restart is no crash loop, and no reason to undo anything.
#[test]
fn one_restart_is_no_crash_loop() {
    let last = json!({"terminated": {"reason": "Unknown", "exitCode": 255, "finishedAt": super::ago(40)}});
    let once = |restarts: u32| {
        let state = json!({"state": {"running": {}}, "lastState": last, "restartCount": restarts});
        Cluster::updated(5, HOUR).not_ready("node-4", 30).container("node-4", state)
    };
    let text = once(1).moves();
    assert!(!text.contains("again and again") && !text.contains("rollout undo"), "{text}");
    assert!(once(2).ask("stuck").out.contains("crashes again and again"));
}

#[test]
fn a_crash_loop_has_its_restarts_its_exit_code_and_the_undo() {
    assert_snapshot!(crash_loop().stuck(), @"
    logging/agent: stuck: nothing moves until somebody does something; 1 node has an outdated pod, about 1 round left
    Cause      node-4: container agent of pod agent-4-q9d4m crashes again and again: CrashLoopBackOff, 14 restarts, exit code 2 (Error), since 2026-01-01T09:02:00Z (for 58m)
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Run        kubectl logs -n logging agent-4-q9d4m -c agent --previous
               kubectl describe pod -n logging agent-4-q9d4m
               kubectl rollout undo -n logging daemonset/agent
    ");
    // Between two crashes it runs, and its pod may even have been Ready.
    let runs = crash_loop().container("node-4", json!({"state": {"running": {}}}));
    assert_snapshot!(runs.stuck().lines().nth(1).unwrap(), @"Cause      node-4: container agent of pod agent-4-q9d4m crashes again and again: 14 restarts, exit code 2 (Error), since 2026-01-01T09:02:00Z (for 58m)");
    assert_snapshot!(crash_loop().why("node-4"), @"
    Node node-4, DaemonSet logging/agent
    node-4 should run a pod.
    Pod agent-4-q9d4m is updated, of revision #2; it runs, but has not been Ready since 2026-01-01T09:02:10Z (for 57m).
    It waits until agent-4-q9d4m is Ready. Container agent of pod agent-4-q9d4m crashes again and again: CrashLoopBackOff, 14 restarts, exit code 2 (Error), since 2026-01-01T09:02:00Z (for 58m).
    Run        kubectl logs -n logging agent-4-q9d4m -c agent --previous
               kubectl describe pod -n logging agent-4-q9d4m
               kubectl rollout undo -n logging daemonset/agent
    ");
    // A restart of old is no crash loop.
    let healthy = not_ready().container("node-4", json!({"ready": true, "restartCount": 1}));
    assert_snapshot!(healthy.stuck().lines().nth(1).unwrap(), @"Cause      node-4: pod agent-4-q9d4m runs, but has not become Ready, since 2026-01-01T09:30:10Z (for 29m)");
}

#[test]
fn a_node_that_does_not_report_ends_no_pod() {
    // The plan deletes its outdated pod.
    assert_snapshot!(silent().stuck(), @"
    logging/agent: stuck: nothing moves until somebody does something; 2 nodes have an outdated pod, about 1 round left
    Cause      node-4: the node does not report (NodeStatusUnknown: Kubelet stopped posting node status.), so that pod agent-4-h7k2x can't end, since 2026-01-01T08:36:00Z (for 84m)
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Run        kubectl describe node node-4
               kubectl delete node node-4    # if the machine is gone for good
    ");
    // So it does where the pod terminates already.
    assert_snapshot!(silent().overdue("node-4", 80 * MINUTE).stuck(), @"
    logging/agent: stuck: nothing moves until somebody does something; 1 node has an outdated pod, about 1 round left
    Cause      node-4: the node does not report (NodeStatusUnknown: Kubelet stopped posting node status.), so that pod agent-4-h7k2x can't end, since 2026-01-01T08:36:00Z (for 84m)
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Run        kubectl describe node node-4
               kubectl delete node node-4    # if the machine is gone for good
    ");
    let booting = Cluster::updated(3, HOUR).down("node-4", "Unknown", 2 * MINUTE);
    assert_snapshot!(booting.moves(), @"
    logging/agent: moves: 1 node to wait for, 2 nodes have an outdated pod, about 1 round left
    Cause      node-4: the node does not report (NodeStatusUnknown: Kubelet stopped posting node status.), so that pod agent-4-h7k2x can't end, since 2026-01-01T09:58:00Z (for 2m); it counts as stuck in 8m
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Now        delete 1 pod, write the status
    Run        kubectl describe node node-4
               kubectl delete node node-4    # if the machine is gone for good
    ");
}

#[test]
fn a_node_that_went_down_with_the_updated_pod_is_not_about_logs() {
    let updated = Cluster::updated(4, 2 * HOUR).down("node-4", "Unknown", 84 * MINUTE);
    assert_snapshot!(updated.stuck(), @"
    logging/agent: stuck: nothing moves until somebody does something; 1 node has an outdated pod, about 1 round left
    Cause      node-4: the node does not report (NodeStatusUnknown: Kubelet stopped posting node status.), so that pod agent-4-q9d4m can't become Ready, since 2026-01-01T08:36:00Z (for 84m)
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Run        kubectl describe node node-4
               kubectl describe pod -n logging agent-4-q9d4m
               kubectl delete node node-4    # if the machine is gone for good
    ");
    assert_snapshot!(updated.why("node-5"), @"
    Node node-5, DaemonSet logging/agent
    node-5 should run a pod.
    Pod agent-5-h7k2x is outdated, of revision #1 (the current one is #2); it is Ready and available since 2025-12-24T02:00:00Z (for 8d).
    Its outdated pod waits, because maxUnavailable is spent: 1 node may be without an available pod, and 1 is so. It is spent by node-4 (the node does not report, NodeStatusUnknown: Kubelet stopped posting node status., so that pod agent-4-q9d4m can't become Ready, since 2026-01-01T08:36:00Z, for 84m). It goes once node-4 has an available pod again.
    Run        kubectl describe node node-4
               kubectl describe pod -n logging agent-4-q9d4m
               kubectl delete node node-4    # if the machine is gone for good
    ");
    let reports = Cluster::updated(4, 2 * HOUR).down("node-4", "False", 84 * MINUTE);
    assert_snapshot!(reports.stuck(), @"
    logging/agent: stuck: nothing moves until somebody does something; 1 node has an outdated pod, about 1 round left
    Cause      node-4: the node is not Ready (KubeletNotReady: container runtime network not ready), and neither is pod agent-4-q9d4m, since 2026-01-01T08:36:00Z (for 84m)
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Run        kubectl describe node node-4
               kubectl describe pod -n logging agent-4-q9d4m
    ");
}

#[test]
fn a_finalizer_is_named() {
    assert_snapshot!(finalizer().stuck(), @r#"
    logging/agent: stuck: nothing moves until somebody does something; 1 node has an outdated pod, about 1 round left
    Cause      node-4: pod agent-4-h7k2x should be gone, and the finalizer example.com/flush keeps it, since 2026-01-01T09:40:00Z (for 20m)
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Run        kubectl describe pod -n logging agent-4-h7k2x
               kubectl patch pod -n logging agent-4-h7k2x --type=merge -p '{"metadata":{"finalizers":null}}'    # if nobody does the work that example.com/flush waits for
    "#);
    assert_snapshot!(finalizer().why("node-4"), @r#"
    Node node-4, DaemonSet logging/agent
    node-4 should run a pod.
    Pod agent-4-h7k2x is outdated, of revision #1 (the current one is #2); it is terminating, and overdue since 2026-01-01T09:40:00Z (for 20m).
    It waits until agent-4-h7k2x is gone. Pod agent-4-h7k2x should be gone, and the finalizer example.com/flush keeps it, since 2026-01-01T09:40:00Z (for 20m).
    Run        kubectl describe pod -n logging agent-4-h7k2x
               kubectl patch pod -n logging agent-4-h7k2x --type=merge -p '{"metadata":{"finalizers":null}}'    # if nobody does the work that example.com/flush waits for
    "#);
    let bare = finalizer().pod("node-4", |pod| pod["metadata"]["finalizers"] = json!([]));
    assert_snapshot!(bare.stuck(), @"
    logging/agent: stuck: nothing moves until somebody does something; 1 node has an outdated pod, about 1 round left
    Cause      node-4: pod agent-4-h7k2x should be gone, and the kubelet has not ended it, since 2026-01-01T09:40:00Z (for 20m)
    Held       node-5: maxUnavailable is spent (1 of 1) by node-4
    Run        kubectl describe pod -n logging agent-4-h7k2x
               kubectl describe node node-4
    ");
}

#[test]
fn a_pod_without_a_place_and_a_container_that_can_not_be_made() {
    let unscheduled = json!({
        "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/5 nodes are available: 1 Insufficient memory.",
    });
    let nowhere = not_ready().pod("node-4", |pod| {
        pod["status"]["conditions"].as_array_mut().unwrap().push(unscheduled.clone());
    });
    assert_snapshot!(nowhere.stuck().lines().nth(1).unwrap(), @"Cause      node-4: the scheduler finds no place for pod agent-4-q9d4m: Unschedulable (0/5 nodes are available: 1 Insufficient memory.), since 2026-01-01T09:30:10Z (for 29m)");
    let waiting = json!({"waiting": {"reason": "CreateContainerConfigError", "message": "configmap \"agent\" not found"}});
    let unmade = not_ready().container("node-4", json!({"state": waiting}));
    assert_snapshot!(unmade.stuck().lines().nth(1).unwrap(), @r#"Cause      node-4: container agent of pod agent-4-q9d4m can't be started: CreateContainerConfigError (configmap "agent" not found), since 2026-01-01T09:30:10Z (for 29m)"#);
}

/// Nodes with one cause are one line, with the pod of one of them in the commands.
#[test]
fn nodes_that_are_alike_are_told_together() {
    let five = json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 5}});
    let mut all = Cluster::updated(1, HOUR).set("/spec/updateStrategy", five);
    for (node, restarts) in [("node-2", 3), ("node-3", 4), ("node-4", 5), ("node-5", 6)] {
        let waiting = json!({"waiting": {"reason": "CrashLoopBackOff"}});
        all = all.not_ready(node, 20 * MINUTE + restarts);
        all = all.container(node, json!({"state": waiting, "restartCount": restarts}));
    }
    assert_snapshot!(all.stuck(), @"
    logging/agent: stuck: nothing moves until somebody does something; no node has an outdated pod, about 1 round left
    Cause      node-2, node-3, node-4, node-5: container agent of pods agent-2-q9d4m, agent-3-q9d4m, agent-4-q9d4m and 1 more crashes again and again: CrashLoopBackOff, 3 to 6 restarts, since 2026-01-01T09:39:54Z (for 20m)
    Run        kubectl logs -n logging agent-2-q9d4m -c agent --previous
               kubectl describe pod -n logging agent-2-q9d4m
               kubectl rollout undo -n logging daemonset/agent
    ");
}

/// A dump may come from anywhere, and its names stand in commands that a person pastes.
#[test]
fn a_name_is_one_word_of_a_shell() {
    let hostile = image().pod("node-4", |pod| pod["metadata"]["name"] = json!("x; rm -rf $HOME"));
    let run = hostile.stuck();
    assert!(run.contains("Run        kubectl describe pod -n logging 'x; rm -rf $HOME'\n"), "{run}");
}

/// The strategy of the object is OnDelete, and the update goes on all the same.
#[test]
fn a_driven_daemon_set_is_called_so() {
    let drive = "drive: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1}}";
    let plan = on_delete().annotated("policy", drive).ask("plan").out;
    let head =
        plan.lines().filter(|line| ["DaemonSet", "Policy"].iter().any(|label| line.starts_with(label)));
    assert_snapshot!(head.collect::<Vec<_>>().join("\n"), @"DaemonSet  logging/agent, OnDelete, driven as RollingUpdate, maxUnavailable 1: updated 3/5, ready 5/5, available 5/5");
}
