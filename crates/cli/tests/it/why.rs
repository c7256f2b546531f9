//! `why` as a user calls it: each outcome, placement and kind of pod in sentences.

use crate::plan::{pod, recording, with};
use crate::program::{dump, run};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// The sentences about a node or a pod of a recording, without the headline.
fn why(subject: &str, recording: &Value) -> String {
    let ran = run("why", &[subject, "-f", "-"], recording.to_string().as_bytes());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let (headline, sentences) = ran.out.split_once('\n').unwrap();
    assert!(headline.ends_with("DaemonSet logging/agent"), "{headline}");
    sentences.to_owned()
}

/// A pod of the agent: `updated` by its template generation; Ready for so many seconds, or not.
fn agent_pod(node: &str, name: &str, updated: bool, ready_for: Option<i64>) -> Value {
    let now: jiff::Timestamp = "2026-01-01T00:10:00Z".parse().unwrap();
    let since = |seconds: i64| now.checked_sub(jiff::SignedDuration::from_secs(seconds)).unwrap().to_string();
    let ready = match ready_for {
        Some(seconds) => json!({"type": "Ready", "status": "True", "lastTransitionTime": since(seconds)}),
        None => json!({"type": "Ready", "status": "False", "lastTransitionTime": since(40)}),
    };
    json!({
        "metadata": {
            "name": name, "namespace": "logging", "uid": name, "creationTimestamp": "2026-01-01T00:05:00Z",
            "labels": {"app": "agent", "pod-template-generation": if updated { "2" } else { "1" }},
            "ownerReferences": [{"uid": "uid-of-agent", "controller": true}],
        },
        "spec": {"nodeName": node},
        "status": {"phase": "Running", "conditions": [ready]},
    })
}

/// Nodes a, b and c; maxUnavailable 1; minReadySeconds 10.
fn agent(pods: Vec<Value>) -> Value {
    let mut agent = recording("monday", &["a", "b", "c"]);
    let daemon_set = &mut agent["daemonSet"];
    daemon_set["metadata"]["annotations"] = json!({"deprecated.daemonset.template.generation": "2"});
    daemon_set["spec"]["minReadySeconds"] = json!(10);
    agent["pods"] = pods.into();
    agent
}

fn surging(pods: Vec<Value>) -> Value {
    let mut agent = agent(pods);
    agent["daemonSet"]["spec"]["updateStrategy"]["rollingUpdate"] =
        json!({"maxUnavailable": 0, "maxSurge": 1});
    agent
}

#[test]
fn up_to_date() {
    let agent = agent(vec![agent_pod("a", "agent-1", true, Some(60))]);
    assert_snapshot!(why("a", &agent), @"
    a should run a pod.
    Pod agent-1 is updated, by its template generation; it is Ready since 2026-01-01T00:09:00Z (for 60s), longer than minReadySeconds (10s), and so available.
    Nothing is to be done here: its pod is updated and available.
    ");
}

#[test]
fn a_pod_is_created() {
    assert_snapshot!(why("b", &agent(vec![])), @"
    b should run a pod.
    It has no pod of the DaemonSet.
    This plan creates its pod in batch 1, once the batches before have gone well, because it has none.
    ");
    let surging = surging(["a", "b", "c"].map(|node| agent_pod(node, node, false, Some(60))).into());
    assert_snapshot!(why("node/a", &surging), @"
    a should run a pod.
    Pod a is outdated: it has no hash label; it is Ready since 2026-01-01T00:09:00Z (for 60s), longer than minReadySeconds (10s), and so available.
    This plan creates its updated pod at once, beside the outdated one, which goes when the new one is available.
    ");
}

#[test]
fn held_by_max_unavailable() {
    let pods = vec![
        agent_pod("a", "agent-1", true, None),
        agent_pod("b", "agent-2", false, Some(60)),
        agent_pod("c", "agent-3", false, Some(60)),
    ];
    assert_snapshot!(why("b", &agent(pods)), @"
    b should run a pod.
    Pod agent-2 is outdated: it has no hash label; it is Ready since 2026-01-01T00:09:00Z (for 60s), longer than minReadySeconds (10s), and so available.
    Its outdated pod waits, because maxUnavailable is spent: 1 node may be without an available pod, and 1 is so. It is spent by a (pod agent-1 runs, but has not become Ready, since 2026-01-01T00:09:20Z, for 40s). It goes once a has an available pod again.
    Run        kubectl describe pod -n logging agent-1
               kubectl logs -n logging agent-1 --all-containers
    ");
}

#[test]
fn held_by_max_surge() {
    let pods = vec![
        agent_pod("a", "agent-1", false, Some(60)),
        agent_pod("a", "agent-2", true, None),
        agent_pod("b", "agent-3", false, Some(60)),
        agent_pod("c", "agent-4", false, Some(60)),
    ];
    let mut surging = surging(pods);
    surging["daemonSet"]["spec"]["template"]["spec"]["containers"] =
        json!([{"name": "x", "ports": [{"hostPort": 80, "containerPort": 80}]}]);
    assert_snapshot!(why("b", &surging), @"
    b should run a pod.
    Pod agent-3 is outdated: it has no hash label; it is Ready since 2026-01-01T00:09:00Z (for 60s), longer than minReadySeconds (10s), and so available.
    Its outdated pod waits, because maxSurge is spent: 1 node may have two pods, and 1 has. It is spent by a (pod agent-2 runs, but has not become Ready, since 2026-01-01T00:09:20Z, for 40s). The updated pod comes beside it once a has a single pod again.
    Run        kubectl describe pod -n logging agent-2
               kubectl logs -n logging agent-2 --all-containers
    ");
    assert_snapshot!(why("a", &surging), @"
    a should run a pod.
    Pod agent-1 is outdated: it has no hash label; it is Ready since 2026-01-01T00:09:00Z (for 60s), longer than minReadySeconds (10s), and so available.
    Pod agent-2 is updated, by its template generation; it runs, but has not been Ready since 2026-01-01T00:09:20Z (for 40s).
    It waits until agent-2 is Ready. Its outdated pod goes once the updated one is available.
    Warning: host port 80 with maxSurge: only one pod of a node can have it, so the new one may stay Pending, keep its place and stop the update.
    Run        kubectl describe pod -n logging agent-2
               kubectl logs -n logging agent-2 --all-containers
    ");
}

#[test]
fn a_pod_is_deleted() {
    let outdated = agent(["a", "b", "c"].map(|node| agent_pod(node, node, false, Some(60))).into());
    assert_snapshot!(why("node/a", &outdated), @"
    a should run a pod.
    Pod a is outdated: it has no hash label; it is Ready since 2026-01-01T00:09:00Z (for 60s), longer than minReadySeconds (10s), and so available. This plan deletes it: outdated, within the budget.
    An updated pod follows when it is gone.
    ");
    let mut failed = agent_pod("a", "agent-1", true, None);
    failed["status"] = json!({"phase": "Failed"});
    assert_snapshot!(why("agent-1", &agent(vec![failed])), @"
    It is on node a. Pod agent-1 is updated, by its template generation; it has failed. This plan deletes it: it has failed.
    a should run a pod.
    An updated pod follows when it is gone.
    Run        kubectl describe pod -n logging agent-1
               kubectl logs -n logging agent-1 --all-containers
               kubectl describe node a
    ");
    let two = agent(vec![agent_pod("a", "agent-1", true, Some(60)), agent_pod("a", "agent-2", true, None)]);
    assert_snapshot!(why("agent-2", &two), @"
    It is on node a. Pod agent-2 is updated, by its template generation; it runs, but has not been Ready since 2026-01-01T00:09:20Z (for 40s). This plan deletes it: the node has a better one.
    a should run a pod.
    Beside it: Pod agent-1 is updated, by its template generation; it is Ready since 2026-01-01T00:09:00Z (for 60s), longer than minReadySeconds (10s), and so available.
    The other pod of the node stays.
    ");
}

#[test]
fn a_plan_that_is_full() {
    let mut full = agent(vec![]);
    full["policy"] = json!({"burst": 1});
    assert_snapshot!(why("c", &full), @"
    c should run a pod.
    It has no pod of the DaemonSet.
    Something is due here, but this plan is full: it creates and deletes at most 1 pod each.
    ");
}

#[test]
fn the_other_controller_creates_the_pod() {
    let mut driven = agent(vec![agent_pod("a", "agent-1", true, Some(60))]);
    driven["daemonSet"]["spec"]["updateStrategy"] = json!({"type": "OnDelete"});
    driven["policy"] = json!({"drive": {"type": "RollingUpdate"}});
    assert_snapshot!(why("c", &driven), @"
    c should run a pod.
    It has no pod of the DaemonSet.
    Kubernetes' own controller, which creates the pods, gives it one: the update is driven beside it. Where this takes long, see whether kube-controller-manager runs, and the events of the DaemonSet.
    ");
}

#[test]
fn a_person_deletes_the_pod() {
    let mut on_delete = agent(vec![agent_pod("a", "agent-1", false, Some(60))]);
    on_delete["daemonSet"]["spec"]["updateStrategy"] = json!({"type": "OnDelete"});
    assert_snapshot!(why("a", &on_delete), @"
    a should run a pod.
    Pod agent-1 is outdated: it has no hash label; it is Ready since 2026-01-01T00:09:00Z (for 60s), longer than minReadySeconds (10s), and so available.
    The strategy is OnDelete: its outdated pod stays until somebody deletes it, as by kubectl delete pod -n logging agent-1.
    ");
}

#[test]
fn waits_for_ready_and_for_min_ready_seconds() {
    let mut agent = agent(vec![
        agent_pod("a", "agent-1", true, None),
        agent_pod("b", "agent-2", true, Some(4)),
        agent_pod("c", "agent-3", true, Some(4)),
    ]);
    agent["pods"][2]["status"]["conditions"][0]["lastTransitionTime"] = Value::Null;
    assert_snapshot!(why("a", &agent), @"
    a should run a pod.
    Pod agent-1 is updated, by its template generation; it runs, but has not been Ready since 2026-01-01T00:09:20Z (for 40s).
    It waits until agent-1 is Ready.
    Run        kubectl describe pod -n logging agent-1
               kubectl logs -n logging agent-1 --all-containers
    ");
    assert_snapshot!(why("b", &agent), @"
    b should run a pod.
    Pod agent-2 is updated, by its template generation; it is Ready since 2026-01-01T00:09:56Z (for 4s), and available at 2026-01-01T00:10:06Z, in 6s.
    It waits for minReadySeconds (10s): until they have passed, the node counts as unavailable.
    ");
    assert_snapshot!(why("c", &agent), @"
    c should run a pod.
    Pod agent-3 is updated, by its template generation; it is Ready, but its Ready condition tells no time.
    It waits for minReadySeconds, which never pass: the pod's Ready condition tells no time.
    ");
}

/// Decisions do not read them; people do.
#[test]
fn the_kubelet_and_the_scheduler_are_quoted() {
    let mut agent = agent(vec![agent_pod("a", "agent-1", true, None), agent_pod("b", "agent-2", true, None)]);
    let waiting = json!({"waiting": {"reason": "ImagePullBackOff", "message": "no such image."}});
    agent["pods"][0]["status"]["containerStatuses"] =
        json!([{"name": "x", "state": {"running": {}}}, {"name": "y", "state": waiting}]);
    let unscheduled =
        json!({"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes"});
    agent["pods"][1]["status"]["conditions"].as_array_mut().unwrap().push(unscheduled);
    let line = |node: &str| why(node, &agent).lines().nth(2).unwrap().to_owned();
    assert_eq!(
        line("a"),
        "It waits until agent-1 is Ready. Pod agent-1 can't pull the image of container y: ImagePullBackOff (no such image.), since \
         2026-01-01T00:09:20Z (for 40s)."
    );
    assert_eq!(
        line("b"),
        "It waits until agent-2 is Ready. The scheduler finds no place for pod agent-2: Unschedulable (0/3 nodes), since \
         2026-01-01T00:09:20Z (for 40s)."
    );
}

/// A recording keeps the reason without the container's name.
#[test]
fn the_reason_of_a_recorded_container_is_quoted() {
    let mut agent = agent(vec![agent_pod("a", "agent-1", true, None)]);
    agent["pods"][0]["status"]["containerStatuses"] =
        json!([{"restartCount": 4, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]);
    let sentence = why("a", &agent).lines().nth(2).unwrap().to_owned();
    assert_eq!(
        sentence,
        "It waits until agent-1 is Ready. A container of pod agent-1 crashes again and again: CrashLoopBackOff, 4 restarts, since \
         2026-01-01T00:05:00Z (for 5m)."
    );
}

#[test]
fn waits_for_a_terminating_pod() {
    let mut terminating = agent_pod("a", "agent-1", false, Some(60));
    terminating["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:10:20Z");
    assert_snapshot!(why("a", &agent(vec![terminating.clone()])), @"
    a should run a pod.
    Pod agent-1 is outdated: it has no hash label; it is terminating, and should be gone at 2026-01-01T00:10:20Z, in 20s.
    It waits until agent-1 is gone: an updated pod follows then.
    ");
    terminating["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:01:00Z");
    assert_snapshot!(why("agent-1", &agent(vec![terminating])), @"
    It is on node a. Pod agent-1 is outdated: it has no hash label; it is terminating, and overdue since 2026-01-01T00:01:00Z (for 9m).
    a should run a pod.
    It waits until agent-1 is gone. Pod agent-1 should be gone, and the kubelet has not ended it, since 2026-01-01T00:01:00Z (for 9m).
    Run        kubectl describe pod -n logging agent-1
               kubectl describe node a
    ");
}

#[test]
fn waits_in_back_off_and_for_a_created_pod() {
    let mut failed = agent_pod("a", "agent-1", true, None);
    failed["status"] = json!({"phase": "Failed"});
    let mut agent = agent(vec![failed]);
    agent["memory"] = json!({
        "failures": {"a": {"generation": 2, "count": 3, "at": "2026-01-01T00:09:58Z"}},
        "creates": {"b": {"uid": "x", "revision": "q9dhgz4sln", "at": "2026-01-01T00:09:59Z"}},
    });
    assert_snapshot!(why("a", &agent), @"
    a should run a pod.
    Pod agent-1 is updated, by its template generation; it has failed.
    Its pod has failed 3 times; the next attempt is at 2026-01-01T00:10:02Z, in 2s.
    Run        kubectl describe pod -n logging agent-1
               kubectl logs -n logging agent-1 --all-containers
               kubectl describe node a
    ");
    assert_snapshot!(why("b", &agent), @"
    b should run a pod.
    It has no pod of the DaemonSet.
    A pod was created for b that is not seen yet; if it is not seen until 2026-01-01T00:14:59Z (in 4m59s), it is created again.
    ");
}

#[test]
fn nodes_that_must_not_run_it() {
    let mut agent =
        agent(vec![agent_pod("a", "agent-1", true, Some(60)), agent_pod("b", "agent-2", true, Some(60))]);
    agent["nodes"][0]["spec"] =
        json!({"taints": [{"key": "disk", "value": "full", "effect": "NoSchedule"}], "unschedulable": true});
    agent["nodes"][1]["spec"] = json!({"taints": [{"key": "broken", "effect": "NoExecute"}]});
    agent["nodes"][1]["status"] = json!({"conditions": [{"type": "Ready", "status": "False"}]});
    assert_snapshot!(why("a", &agent), @"
    a gets no new pod, though a pod that runs there may stay: the template does not tolerate the taint disk=full:NoSchedule. It is cordoned, which makes no difference to a DaemonSet.
    Pod agent-1 is updated, by its template generation; it is Ready since 2026-01-01T00:09:00Z (for 60s), longer than minReadySeconds (10s), and so available.
    Nothing is done to its pod.
    ");
    assert_snapshot!(why("b", &agent), @"
    b must not run a pod: the template does not tolerate the taint broken:NoExecute. The node itself is not Ready.
    Pod agent-2 is updated, by its template generation; it is Ready since 2026-01-01T00:09:00Z (for 60s), longer than minReadySeconds (10s), and so available. This plan deletes it: the node must not run it.
    No other pod follows.
    ");
    let template = |pointer: &str, value: Value| {
        with(agent.clone(), &format!("/daemonSet/spec/template/spec/{pointer}"), value)
    };
    assert_snapshot!(why("c", &template("nodeSelector", json!({"disk": "ssd"}))), @"
    c must not run a pod: the template's nodeSelector does not match, as disk=ssd is wanted and the node has no label disk.
    It has no pod of the DaemonSet.
    Nothing is to be done here.
    Warning: no node should run the pod.
    ");
    assert_snapshot!(why("c", &template("nodeName", json!("a"))), @"
    c must not run a pod: the template names the node a.
    It has no pod of the DaemonSet.
    Nothing is to be done here.
    Warning: no node should run the pod.
    ");
    let affinity = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}
    ]}}});
    assert_snapshot!(why("c", &template("affinity", affinity)), @"
    c must not run a pod: the template's required node affinity does not match its labels.
    It has no pod of the DaemonSet.
    Nothing is to be done here.
    Warning: no node should run the pod.
    ");
}

#[test]
fn a_node_that_went_down_with_the_updated_pod() {
    let mut agent =
        agent(vec![agent_pod("a", "agent-1", true, None), agent_pod("b", "agent-2", false, Some(60))]);
    let down = json!([{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}]);
    agent["nodes"][0]["spec"] = json!({"taints": down});
    agent["nodes"][0]["status"] = json!({"conditions": [{"type": "Ready", "status": "Unknown"}]});
    assert_snapshot!(why("a", &agent), @"
    a gets no new pod, though a pod that runs there may stay: the template does not tolerate the taint node.kubernetes.io/unreachable:NoSchedule. The node itself is not Ready.
    Pod agent-1 is updated, by its template generation; it runs, but has not been Ready since 2026-01-01T00:09:20Z (for 40s).
    Nothing is done to its pod.
    Warning: 1 node went down with the updated pod, and counts against the limit: repair or remove.
    Run        kubectl describe node a
               kubectl describe pod -n logging agent-1
               kubectl delete node a    # if the machine is gone for good
    ");
}

#[test]
fn a_daemon_set_that_nothing_is_done_for() {
    let deleted = with(agent(vec![]), "/daemonSet/metadata/deletionTimestamp", json!("2026-01-01T00:00:00Z"));
    assert_snapshot!(why("a", &deleted), @"
    Nothing is done for any node: the DaemonSet is being deleted.
    ");
}

#[test]
fn pods_of_others() {
    let mut agent = agent(vec![agent_pod("gone", "agent-9", true, Some(60)), pod("alone")]);
    agent["pods"][1]["spec"] = json!({"nodeName": "a"});
    assert_snapshot!(why("agent-9", &agent), @"
    Its node gone is not in the cluster: it is left to the pod garbage collector.
    ");
    let about = |agent: &Value| run("why", &["alone", "-f", "-"], agent.to_string().as_bytes()).out;
    assert_snapshot!(about(&agent), @"
    Pod logging/alone on a belongs to none of these DaemonSets: it has no controller, and no selector matches its labels.
    ");
    agent["pods"][1]["metadata"]["ownerReferences"] =
        json!([{"kind": "ReplicaSet", "name": "web-5d", "uid": "r", "controller": true}]);
    assert_snapshot!(about(&agent), @"
    Pod logging/alone on a belongs to none of these DaemonSets: its controller is ReplicaSet web-5d.
    ");
    let released = with(agent, "/pods/0/metadata/labels/app", json!("other"));
    assert_snapshot!(why("agent-9", &released), @"
    The selector no longer matches its labels: this plan releases it, and it runs on without a DaemonSet.
    ");
}

#[test]
fn a_name_that_is_neither_a_node_nor_a_pod() {
    let refused = |subject: &str| {
        let ran = run("why", &[subject, "--example"], b"");
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""));
        ran.err
    };
    assert_eq!(
        refused("node-11"),
        "error: the built-in example: no node, pod or DaemonSet is named node-11: did you mean node-1, node-2, node-3?\n"
    );
    assert_eq!(
        refused("x"),
        "error: the built-in example: no node, pod or DaemonSet is named x: there are 5 nodes and 5 pods\n"
    );
    assert_eq!(
        refused("pod/node-1"),
        "error: the built-in example: no node, pod or DaemonSet is named node-1: did you mean node-1, node-2, node-3?\n"
    );
}

/// A node answers for every DaemonSet; a pod for its own.
#[test]
fn several_daemon_sets_each_have_their_say() {
    let steady = dump("steady.json");
    let headlines = |arguments: &[&str]| -> Vec<String> {
        let ran = run("why", &[&["node-1", &steady], arguments].concat(), b"");
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
        ran.out.lines().filter(|line| line.starts_with("Node ")).map(str::to_owned).collect()
    };
    assert_eq!(
        headlines(&[]),
        ["Node node-1, DaemonSet logging/fluent-bit", "Node node-1, DaemonSet monitoring/node-exporter"]
    );
    assert_eq!(
        headlines(&["--daemonset", "logging/fluent-bit"]),
        ["Node node-1, DaemonSet logging/fluent-bit"]
    );
}

#[test]
fn json_has_the_verdict_and_the_sentences() {
    let ran = run("why", &["node-exporter-hxw9r", "--example", "-o", "json"], b"");
    let answer: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((&answer["kind"], &answer["name"]), (&json!("Pod"), &json!("node-exporter-hxw9r")));
    let about = &answer["daemonSets"][0];
    assert_eq!(about["name"], "monitoring/node-exporter");
    assert_eq!(about["verdict"]["outcome"], json!({"type": "HeldByMaxUnavailable", "used": 1, "limit": 1}));
    assert_eq!(about["pod"]["updated"], false);
    assert_eq!(about["sentences"].as_array().unwrap().len(), 3);
    assert_eq!(about["commands"], json!(["kubectl describe pod -n monitoring node-exporter-h446g"]));
}

/// A pod and a node of one name: the node, unless the kind is named.
#[test]
fn a_name_that_two_have() {
    let agent = agent(vec![agent_pod("b", "a", true, Some(60))]);
    let about = |subject: &str| run("why", &[subject, "-f", "-"], agent.to_string().as_bytes()).out;
    assert!(about("a").starts_with("Node a, "));
    assert!(about("pod/a").starts_with("Pod a, "));
    assert!(about("logging/a").starts_with("Pod a, "));
}

/// A taint that appeared while the daemon was away: the node counts, and the others wait for it.
#[test]
fn a_node_that_the_update_took_and_that_is_no_target_any_more() {
    let mut agent = agent(vec![agent_pod("b", "agent-2", false, Some(60))]);
    agent["nodes"][0]["spec"] = json!({"taints": [{"key": "agent-not-ready", "effect": "NoSchedule"}]});
    agent["memory"] = json!({"taken": {"a": {"uid": "gone", "at": "2026-01-01T00:09:00Z"}}});
    let taken = why("a", &agent);
    for part in [
        "a gets no new pod",
        "The update deleted its pod at 2026-01-01T00:09:00Z (for 60s), no updated pod has been Ready here since",
        "It counts against the limit until a Ready updated pod is here or the node is gone",
        "Warning: counted until they are back or gone",
    ] {
        assert!(taken.contains(part), "{part}: {taken}");
    }
    agent["nodes"].as_array_mut().unwrap().truncate(2);
    let held = why("b", &agent);
    let spent = "It is spent by a (counts until it is back: the update took its pod, and it is no target now";
    assert!(held.contains("maxUnavailable is spent") && held.contains(spent), "{held}");
    let plan = run("plan", &["-f", "-"], agent.to_string().as_bytes());
    assert!(plan.out.contains("; 1 lost: a"), "{}", plan.out);
}

#[test]
fn a_node_that_leaves() {
    let mut agent = agent(vec![agent_pod("a", "agent-1", false, Some(60))]);
    agent["policy"] = json!({"lifecycle": "Respect"});
    agent["nodes"][0]["status"] = json!({"conditions": [{"type": "Drained", "status": "True"}]});
    let told = why("a", &agent);
    assert!(
        told.contains("The policy leaves it alone, because the node is drained: it gets no pod"),
        "{told}"
    );
}

#[test]
fn nodes_that_went_down_before_the_update() {
    let mut agent =
        agent(vec![agent_pod("a", "agent-1", false, None), agent_pod("b", "agent-2", false, Some(60))]);
    agent["nodes"].as_array_mut().unwrap().truncate(2);
    agent["nodes"][0]["status"] = json!({"conditions": [
        {"type": "Ready", "status": "Unknown", "lastTransitionTime": "2025-12-31T00:00:00Z"}
    ]});
    let counted = why("a", &agent);
    assert!(
        counted.contains("Warning: 1 node went down before the update reached it, and the limit is 1"),
        "{counted}"
    );
    agent["policy"] = json!({"downNodes": "ExcuseIfDownBefore"});
    let plan = run("plan", &["-f", "-"], agent.to_string().as_bytes());
    assert!(plan.out.contains("; 1 excused: a"), "{}", plan.out);
}
