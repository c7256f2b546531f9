//! `drain`: what kubectl drain would do with each pod of a node, and drains in a batch.

use crate::plan::{daemon_set, file, list, node, pod, with};
use crate::program::run;
use insta::assert_snapshot;
use serde_json::{Value, json};

fn ran(code: i32, arguments: &[&str]) -> String {
    let ran = run("drain", arguments, b"");
    assert_eq!((ran.code, ran.err.as_str()), (Some(code), ""), "{arguments:?}");
    ran.out
}

fn refused(arguments: &[&str]) -> String {
    let ran = run("drain", arguments, b"");
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments:?}");
    ran.err
}

/// In namespace `logging`, on node `a`.
fn on_a(name: &str, controller: Option<(&str, &str)>) -> Value {
    let pod = with(pod(name), "/spec", json!({"nodeName": "a"}));
    match controller {
        Some((kind, name)) => {
            let owner = json!([{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": "o", "controller": true}]);
            with(pod, "/metadata/ownerReferences", owner)
        }
        None => pod,
    }
}

fn cluster(name: &str) -> String {
    let web = Some(("ReplicaSet", "web"));
    let cache =
        with(on_a("cache", None), "/spec/volumes", json!([{"name": "v", "emptyDir": {"sizeLimit": "1Gi"}}]));
    let ends = with(on_a("ends", web), "/metadata/deletionTimestamp", json!("2026-01-01T00:00:10Z"));
    let elsewhere = with(on_a("elsewhere", None), "/spec/nodeName", json!("b"));
    file(
        name,
        list(vec![
            node("a"),
            node("b"),
            daemon_set("agent"),
            on_a("web", web),
            on_a("agent-x", Some(("DaemonSet", "agent"))),
            on_a("orphan", Some(("DaemonSet", "gone"))),
            with(on_a("db", web), "/metadata/labels", json!({"app": "db"})),
            cache,
            ends,
            elsewhere,
        ]),
    )
}

#[test]
fn a_blocked_node_shows_what_blocks_and_the_flags_that_give_it_up() {
    let cluster = cluster("drain-blocked.json");
    assert_snapshot!(ran(1, &["a", "-f", &cluster]).replace(&cluster, "FILE"), @r"
    Node       a, of FILE: 6 pods
    Drain      blocked by 2 pods: none is evicted without --delete-emptydir-data and --force

    POD              DRAIN       WHY
    logging/agent-x  left alone  it is a daemon, which its controller would create again
    logging/cache    blocks      it has an emptyDir volume, whose data would be lost
    logging/db       stays       another pod blocks the drain
    logging/ends     waited for  it is terminating: until it is gone
    logging/orphan   blocks      nothing would create it again: it has no controller, or its DaemonSet is gone
    logging/web      stays       another pod blocks the drain

    Next       time alone changes nothing: look again when a pod changes
    Command    kubectl drain a --ignore-daemonsets --force --delete-emptydir-data
    ");
}

#[test]
fn flags_are_those_of_kubectl_drain_and_stand_in_the_command() {
    let cluster = cluster("drain-flags.json");
    let flags = [
        "--force",
        "--delete-emptydir-data",
        "--ignore-daemonsets",
        "--grace-period",
        "30",
        "--pod-selector",
        "app!=db",
        "--skip-wait-for-delete-timeout=60",
        "--now",
        "2026-01-01T00:01:00Z",
    ];
    let arguments = [&["node/a", "-f", &cluster], &flags[..]].concat();
    assert_snapshot!(ran(0, &arguments).replace(&cluster, "FILE"), @r"
    Node       a, of FILE: 6 pods
    Drain      evicts 3 pods, waits for 1 terminating pod

    POD              DRAIN       WHY
    logging/agent-x  left alone  it is a daemon, which its controller would create again
    logging/cache    evicted     -
    logging/db       left alone  the pod selector does not match it
    logging/ends     waited for  it is terminating: until 2026-01-01T00:01:10Z (in 10s)
    logging/orphan   evicted     -
    logging/web      evicted     -

    Next       look again at 2026-01-01T00:01:05Z, or when a pod changes
    Command    kubectl drain a --ignore-daemonsets --pod-selector 'app!=db' --force --delete-emptydir-data --grace-period 30 --skip-wait-for-delete-timeout 60
    ");
}

#[test]
fn a_pod_may_lack_two_flags() {
    let cluster = cluster("drain-two.json");
    let missing = |arguments: &[&str], code: i32| {
        let arguments = [&["a", "-f", &cluster, "-o", "json"], arguments].concat();
        let answer: Value = serde_json::from_str(&ran(code, &arguments)).unwrap();
        (answer["missingFlags"].clone(), answer["command"].as_str().unwrap().to_owned())
    };
    let both = "kubectl drain a --ignore-daemonsets --force --delete-emptydir-data".to_owned();
    assert_eq!(missing(&[], 1), (json!(["--delete-emptydir-data", "--force"]), both.clone()));
    assert_eq!(missing(&["--delete-emptydir-data"], 1), (json!(["--force"]), both.clone()));
    assert_eq!(missing(&["--force"], 1), (json!(["--delete-emptydir-data"]), both.clone()));
    assert_eq!(missing(&["--force", "--delete-emptydir-data"], 0), (json!([]), both));
}

#[test]
fn a_drained_node_is_done() {
    assert_snapshot!(ran(0, &["b", "-f", &cluster("drain-done.json"), "--pod-selector", "none"]).replace(&cluster("drain-done.json"), "FILE"), @r"
    Node       b, of FILE: 1 pod
    Drain      done: there is no pod to evict, and none to wait for

    POD                DRAIN       WHY
    logging/elsewhere  left alone  the pod selector does not match it

    Command    kubectl drain b --ignore-daemonsets --pod-selector none
    ");
    // kubectl takes a negative grace period for none.
    assert!(
        ran(0, &["node-1", "--example", "--delete-emptydir-data", "--grace-period", "-1"])
            .contains("evicts 2 pods, waits for 1 terminating pod\n")
    );
}

#[test]
fn text_of_others_is_escaped() {
    let hostile = with(on_a("x", None), "/metadata/name", json!("x\u{1b}[31m\nNext       done"));
    let cluster = file("drain-hostile.json", list(vec![node("a"), hostile]));
    assert!(ran(1, &["a", "-f", &cluster]).contains("logging/x\\u{1b}[31m\\nNext       done  blocks"));
}

#[test]
fn bad_input_is_one_line() {
    assert_eq!(
        refused(&["node-9", "--example"]),
        "error: the built-in node: no node is named node-9: there is node-1\n"
    );
    let nobody = file("drain-no-node.json", list(vec![pod("x")]));
    assert!(refused(&["a", "-f", &nobody]).ends_with("no node is named a: there is none\n"));
    for flag in ["--namespace", "--selector"] {
        let expected = format!("error: {flag}: a drain is about the pods of all namespaces\n");
        assert_eq!(refused(&["a", flag, "x"]), expected);
    }
    assert_eq!(
        refused(&["node-1", "--example", "--pod-selector", "app in web"]),
        "error: --pod-selector: \"app in web\": \"app in web\" must be the key of a label\n"
    );
    assert!(refused(&["a", "--skip-wait-for-delete-timeout", "-1"]).contains("unexpected argument '-1'"));
    let timeless = file(
        "drain-timeless.json",
        json!({"kind": "List", "items": [{"kind": "Node", "metadata": {"name": "a"}}]}).to_string(),
    );
    assert!(refused(&["a", "-f", &timeless]).ends_with("nothing in it tells the time: pass --now\n"));
}

/// Without its DaemonSets a List makes the pods of all of them nobody's, and --force evicts others beside them.
#[test]
fn a_list_that_lacks_a_kind_is_refused() {
    let daemon = on_a("agent-x", Some(("DaemonSet", "agent")));
    let without = file("drain-no-daemon-sets.json", list(vec![node("a"), daemon.clone()]));
    let needed = "kubectl get daemonsets,pods,nodes -A -o json prints all that is needed";
    assert_eq!(
        refused(&["a", "-f", &without]),
        format!("error: {without}: no DaemonSet in it, though pod logging/agent-x is of one: {needed}\n")
    );
    let other = file("drain-other-daemon-set.json", list(vec![node("a"), daemon, daemon_set("other")]));
    assert!(ran(1, &["a", "-f", &other]).contains("its DaemonSet is gone"));
    let agent = with(daemon_set("agent"), "/status", json!({"currentNumberScheduled": 1}));
    let without = file("drain-no-pods.json", list(vec![node("a"), agent]));
    assert_eq!(
        refused(&["a", "-f", &without]),
        format!(
            "error: {without}: no Pod in it, though DaemonSet logging/agent has some by its status: {needed}\n"
        )
    );
}

fn batch(lines: &str) -> Vec<Value> {
    let ran = run("plan", &["--batch", "-"], lines.as_bytes());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_batch_of_drains_is_answered_by_the_contract() {
    let cases = include_str!("../../../../tests/data/drain.jsonl");
    let answers = batch(cases);
    assert_eq!(answers.len(), 150);
    for (line, answer) in cases.lines().zip(answers) {
        let case: Value = serde_json::from_str(line).unwrap();
        assert_eq!(answer, json!({"name": case["name"], "drain": case["contract"]}));
    }
}

#[test]
fn drains_and_recordings_stand_in_one_batch() {
    let recording = crate::plan::recording("monday", &["a"]);
    // A DaemonSet whose label has that name makes no drain of its recording.
    let named = with(
        crate::plan::recording("drain", &["a"]),
        "/daemonSet/metadata/labels",
        json!({"drain": "drain"}),
    );
    let drain = json!({
        "name": "tuesday", "now": "2026-01-01T00:10:00Z", "drain": null, "node": {"metadata": {"name": "a"}}, "pods": null, "daemonSets": null,
    });
    let answers = batch(&format!("{recording}\n{drain}\n{named}\n"));
    assert_eq!(answers[0]["actions"].as_array().unwrap().len(), 3);
    let drained = json!({"state": "Drained", "evict": [], "left": 0, "blockedBy": [], "lookAgain": null});
    assert_eq!(answers[1], json!({"name": "tuesday", "drain": drained}));
    assert_eq!(answers[2]["actions"].as_array().unwrap().len(), 3);
}

#[test]
fn a_bad_drain_gets_its_error() {
    let line = |policy: Value, pods: Value| {
        json!({"name": "x", "now": "2026-01-01T00:10:00Z", "drain": policy, "node": {}, "pods": pods})
            .to_string()
    };
    let errors = |lines: &str| {
        batch(lines)
            .into_iter()
            .map(|answer| answer["error"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let lines = [
        line(json!({"graceSeconds": -1, "force": true}), json!([])),
        line(json!([]), json!([])),
        line(json!({}), json!([{"spec": {"nodeName": 3}}])),
        json!({"name": "x", "drain": {}}).to_string(),
    ];
    let found = errors(&lines.join("\n"));
    assert_eq!(
        found[0],
        "drain.force: unknown field; drain.graceSeconds: invalid value: integer `-1`, expected u32"
    );
    assert_eq!(found[1], "drain: must be an object");
    assert!(
        found[2]
            .starts_with("pods[0].spec.nodeName: invalid type: integer `3`, expected a string at column "),
        "{}",
        found[2]
    );
    assert!(found[3].starts_with("missing field `now` at column "), "{}", found[3]);
}
