//! `on`: the DaemonSets of a node that is there, and of one that does not exist yet.

use crate::plan::{daemon_set, file, list, node, with};
use crate::program::run;
use insta::assert_snapshot;
use serde_json::{Value, json};

const SPEC: &str = "/spec/template/spec";

/// A DaemonSet with this request of CPU, and a host port where it is not 0.
fn agent(name: &str, cpu: &str, port: u32) -> Value {
    let ports = if port == 0 { json!([]) } else { json!([{"containerPort": 80, "hostPort": port}]) };
    let containers =
        json!([{"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}, "ports": ports}]);
    with(daemon_set(name), "/spec/template/spec/containers", containers)
}

fn of_spec(agent: Value, member: &str, value: Value) -> Value {
    with(agent, &format!("{SPEC}/{member}"), value)
}

/// Node `a` of Linux with a GPU's taint, and one DaemonSet for each kind of answer.
fn cluster(name: &str) -> String {
    let zone = json!({"nodeSelector": {"zone": "b"}});
    let mut of_zone = agent("of-zone", "1", 0);
    of_zone["spec"]["template"]["spec"]["nodeSelector"] = zone["nodeSelector"].clone();
    let everything = json!([{"operator": "Exists"}]);
    let linux = with(
        node("a"),
        "/metadata/labels",
        json!({"os": "linux", "zone": "a", "kubernetes.io/hostname": "a"}),
    );
    let tainted = with(linux, "/spec", json!({"taints": [{"key": "gpu", "effect": "NoSchedule"}]}));
    let empty = with(daemon_set("empty"), "/spec/selector", json!({}));
    let invalid = with(daemon_set("invalid"), "/spec/selector", Value::Null);
    file(
        name,
        list(vec![
            tainted,
            of_spec(of_zone, "tolerations", everything.clone()),
            of_spec(agent("exporter", "100m", 9100), "tolerations", everything.clone()),
            of_spec(
                of_spec(agent("a-node", "50m", 9100), "tolerations", everything.clone()),
                "nodeName",
                json!("a"),
            ),
            agent("intolerant", "1", 0),
            empty,
            invalid,
        ]),
    )
}

fn ran(code: i32, arguments: &[&str]) -> String {
    let ran = run("on", arguments, b"");
    assert_eq!((ran.code, ran.err.as_str()), (Some(code), ""), "{arguments:?}");
    ran.out
}

fn refused(arguments: &[&str]) -> String {
    let ran = run("on", arguments, b"");
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments:?}");
    ran.err
}

#[test]
fn the_example_is_a_table_with_its_sums() {
    assert_snapshot!(ran(0, &["node-1", "--example"]), @r"
    Node       node-1, of the built-in cluster: 2 DaemonSets

    DAEMONSET                 RUNS  REQUESTS                HOST PORTS  WHY
    logging/fluent-bit        yes   cpu 50m, memory 64Mi    -           -
    monitoring/node-exporter  yes   cpu 112m, memory 200Mi  9100/TCP    -

    Total      2 pods: cpu 162m, memory 264Mi
    Ports      9100/TCP
    ");
}

#[test]
fn each_answer_has_its_reason_and_a_conflict_is_something_to_look_at() {
    let cluster = cluster("on-cluster.json");
    assert_snapshot!(ran(1, &["a", "--from", &cluster]).replace(&cluster, "FILE"), @r"
    Node       a, of FILE: 6 DaemonSets

    DAEMONSET           RUNS     REQUESTS  HOST PORTS  WHY
    logging/a-node      yes      cpu 50m   9100/TCP    -
    logging/empty       no       -         -           its selector is empty, so that the controller leaves it alone
    logging/exporter    yes      cpu 100m  9100/TCP    -
    logging/intolerant  no       cpu 1     -           it does not tolerate the taint NoSchedule gpu
    logging/invalid     invalid  -         -           spec.selector: Required value
    logging/of-zone     no       cpu 1     -           its nodeSelector does not match

    Total      2 pods: cpu 150m
    Ports      9100/TCP
    Conflict   9100/TCP is wanted by logging/a-node and logging/exporter: only one of their pods gets it
    ");
}

#[test]
fn a_new_node_like_another_has_bounds_where_facts_are_unknown() {
    let cluster = cluster("on-new.json");
    let arguments = ["node/a", "--new", "--unknown-label", "zone", "--from", &cluster];
    assert_snapshot!(ran(1, &arguments).replace(&cluster, "FILE"), @r"
    Node       a new node like a, of FILE: 6 DaemonSets

    DAEMONSET           RUNS     REQUESTS  HOST PORTS  WHY
    logging/a-node      maybe    cpu 50m   9100/TCP    depends on the name of the node
    logging/empty       no       -         -           its selector is empty, so that the controller leaves it alone
    logging/exporter    yes      cpu 100m  9100/TCP    -
    logging/intolerant  no       cpu 1     -           it does not tolerate the taint NoSchedule gpu
    logging/invalid     invalid  -         -           spec.selector: Required value
    logging/of-zone     maybe    cpu 1     -           depends on the label zone

    At least   1 pod: cpu 100m
    At most    3 pods: cpu 1150m
    Ports      9100/TCP
    Conflict   9100/TCP is wanted by logging/a-node and logging/exporter: only one of their pods gets it
    ");
}

#[test]
fn a_manifest_and_a_shape_are_nodes_that_do_not_exist_yet() {
    let cluster = cluster("on-files.json");
    let manifest = "apiVersion: v1\nkind: Node\nmetadata:\n  labels: {os: linux}\n";
    let runs = |file: &str, more: &[&str]| -> Vec<String> {
        let arguments = [&["-f", file, "--from", &cluster, "-o", "json"], more].concat();
        let answer: Value = serde_json::from_str(&ran(1, &arguments)).unwrap();
        let daemon_sets = answer["daemonSets"].as_array().unwrap();
        daemon_sets
            .iter()
            .map(|row| format!("{} {}", row["name"], row["runs"]["type"]).replace('"', ""))
            .collect()
    };
    let manifest = file("on-node.yaml", manifest);
    let expected =
        ["a-node Maybe", "empty No", "exporter Yes", "intolerant Yes", "invalid Invalid", "of-zone No"];
    assert_eq!(runs(&manifest, &[]), expected);
    let open =
        ["a-node Maybe", "empty No", "exporter Yes", "intolerant Yes", "invalid Invalid", "of-zone Maybe"];
    assert_eq!(runs(&manifest, &["--more-labels"]), open);
    let shape = json!({"name": "b", "uncertainLabels": {"zone": {"OneOf": ["b"]}}, "otherLabels": "Absent"});
    let shape = file("on-shape.json", shape.to_string());
    let expected =
        ["a-node No", "empty No", "exporter Yes", "intolerant Yes", "invalid Invalid", "of-zone Yes"];
    assert_eq!(runs(&shape, &[]), expected);
}

#[test]
fn json_has_the_shape_the_answers_the_sums_and_the_conflicts() {
    let cluster = cluster("on-json.json");
    let answer: Value = serde_json::from_str(&ran(1, &["a", "--from", &cluster, "-o", "json"])).unwrap();
    assert_eq!(answer["node"]["name"], "a");
    assert_eq!(
        answer["daemonSets"][2],
        json!({
            "namespace": "logging", "name": "exporter", "runs": {"type": "Yes"}, "waitsFor": [],
            "hostPorts": [{"port": 9100, "protocol": "TCP", "hostIP": "0.0.0.0"}],
            "requests": {"cpu": "100m"}, "why": "",
        })
    );
    let sum = json!({"cpu": "150m", "pods": "2"});
    assert_eq!(answer["requests"], json!({"certain": sum, "possible": sum}));
    assert_eq!(answer["hostPorts"].as_array().unwrap().len(), 1);
    let conflict = &answer["portConflicts"][0];
    assert_eq!(
        (&conflict["first"], &conflict["second"]),
        (&json!("logging/a-node"), &json!("logging/exporter"))
    );
}

#[test]
fn bad_input_is_one_line() {
    let cluster = cluster("on-refused.json");
    assert_eq!(refused(&["--example"]), "error: name a node, or a file with --node\n");
    assert_eq!(
        refused(&["node-9", "--example"]),
        "error: the built-in cluster: no node is named node-9: there is node-1, node-2, node-3 and 2 more\n"
    );
    let bad = file("on-bad.json", r#"{"label": {}}"#);
    assert!(refused(&["-f", &bad, "--from", &cluster]).contains("on-bad.json: label: unknown field `label`"));
    let pool = file("on-pool.yaml", "kind: NodePool\n");
    assert!(
        refused(&["-f", &pool, "--from", &cluster])
            .ends_with("on-pool.yaml: kind: must be Node, and is NodePool\n")
    );
    let two = file("on-two.yaml", "kind: Node\n---\nkind: Node\n");
    assert!(
        refused(&["-f", &two, "--example"])
            .ends_with("on-two.yaml: must be one node: there are 2 documents\n")
    );
    assert_eq!(refused(&["-f", "-", "--from", "-"]), "error: --from: stdin is the node already\n");
    for taint in ["x", ":NoSchedule", "x:Soon"] {
        assert!(refused(&["a", "--startup-taint", taint]).contains("must be KEY[=VALUE]:EFFECT"), "{taint}");
    }
    let much = file("on-much.json", list(vec![node("a"), agent("x", "much", 0)]));
    assert!(
        refused(&["a", "--from", &much]).contains("on-much.json: spec.containers[0].resources.requests.cpu")
    );
}

#[test]
fn a_file_may_be_a_word_or_stdin_and_names_the_node_in_the_title() {
    let cluster = cluster("on-titles.json");
    let named = json!({"name": "b", "otherLabels": "Absent"}).to_string();
    let (path, nameless) = (file("on-named.json", named.clone()), file("on-nameless.json", "{}"));
    assert!(ran(1, &[&path, "--from", &cluster]).contains(&format!("b of {path}")));
    assert!(ran(1, &[&nameless, "--from", &cluster]).contains(&format!("a new node of {nameless}")));
    let of_stdin = run("on", &["-f", "-", "--from", &cluster], named.as_bytes());
    assert_eq!((of_stdin.code, of_stdin.err.as_str()), (Some(1), ""));
    assert!(of_stdin.out.contains("b of "), "{}", of_stdin.out);
}

#[test]
fn a_cluster_without_nodes_has_no_such_node() {
    let empty = file("on-no-node.json", list(vec![agent("exporter", "1", 0)]));
    let refused = refused(&["a", "--from", &empty]);
    assert!(refused.contains("no node is named a: there is none"), "{refused}");
}

#[test]
fn pods_without_requests_are_only_counted() {
    let containers = json!([{"name": "c", "image": "x"}]);
    let plain = with(daemon_set("plain"), "/spec/template/spec/containers", containers);
    let cluster = file("on-plain.json", list(vec![node("a"), plain]));
    let out = ran(0, &["a", "--from", &cluster]);
    assert!(out.contains("\nTotal      1 pod\n"), "{out}");
}
