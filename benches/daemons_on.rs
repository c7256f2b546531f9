//! The time of the questions about one node: which of 200 DaemonSets run there, and which of them a change concerns.
//!
//! `cargo bench -p daemonset-benches --bench daemons_on` prints it. An autoscaler asks for each kind of node that it may
//! add, a controller at each event of a node.

use daemonset::model::{DaemonSet, Node, Pod};
use daemonset_placement::{Daemons, LabelKnowledge, NodeShape, affected, daemons_on};
use divan::{Bencher, black_box};
use serde_json::{from_value, json};

fn main() {
    divan::main();
}

/// A DaemonSet as clusters have it: a node selector for some, required affinity of two terms, two tolerations, and a
/// template of which most is of no interest here.
fn daemon_set(number: usize) -> DaemonSet {
    let name = format!("agent-{number:03}");
    let pool = format!("pool-{}", number % 10);
    let variables: Vec<_> =
        (0..20).map(|n| json!({"name": format!("VARIABLE_{n}"), "value": "some value"})).collect();
    let selector = match number % 4 {
        0 => json!({"kubernetes.io/os": "linux"}),
        _ => json!({}),
    };
    let terms = json!([
        {"matchExpressions": [{"key": "pool", "operator": "In", "values": [pool, "shared"]}]},
        {"matchExpressions": [
            {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]},
            {"key": "zone", "operator": "NotIn", "values": ["edge"]},
        ]},
    ]);
    from_value(json!({
        "metadata": {"name": name, "namespace": "agents", "uid": name},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {
                    "nodeSelector": selector,
                    "affinity": {"nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms},
                    }},
                    "tolerations": [{"key": "gpu", "operator": "Exists"}, {"key": "spot", "operator": "Exists"}],
                    "containers": [
                        {"name": "agent", "image": "agent:v1", "env": variables, "ports": [{"containerPort": 80}]},
                        {"name": "proxy", "image": "proxy:v1", "ports": [{"containerPort": 81, "hostPort": 9000 + number}]},
                    ],
                },
            },
            "updateStrategy": {"type": "RollingUpdate"},
        },
    }))
    .expect("a DaemonSet")
}

fn daemon_sets() -> Vec<DaemonSet> {
    (0..200).map(daemon_set).collect()
}

fn node() -> Node {
    let labels =
        json!({"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64", "pool": "pool-3", "zone": "a"});
    let taints = json!([{"key": "gpu", "effect": "NoSchedule"}]);
    from_value(json!({"metadata": {"name": "n", "labels": labels}, "spec": {"taints": taints}}))
        .expect("a node")
}

/// Reads the DaemonSets and answers.
#[divan::bench]
fn read_and_answer(bencher: Bencher) {
    let (daemon_sets, shape) = (daemon_sets(), NodeShape::like(&node()));
    bencher.bench(|| daemons_on(black_box(&daemon_sets), black_box(&shape)));
}

/// Answers about a node of which everything is known, with DaemonSets that are read already.
#[divan::bench]
fn answer(bencher: Bencher) {
    let (daemons, shape) = (Daemons::new(&daemon_sets()), NodeShape::from(&node()));
    bencher.bench(|| black_box(&daemons).on(black_box(&shape)));
}

/// The same where each answer depends on an unknown label.
#[divan::bench]
fn answer_maybe(bencher: Bencher) {
    let shape = NodeShape::like(&node())
        .label("zone", LabelKnowledge::Unknown)
        .label("pool", LabelKnowledge::Unknown);
    let daemons = Daemons::new(&daemon_sets());
    bencher.bench(|| black_box(&daemons).on(black_box(&shape)));
}

/// A taint of a node changes.
#[divan::bench]
fn affected_by_a_taint(bencher: Bencher) {
    let (daemon_sets, before) = (daemon_sets(), node());
    let mut after = before.clone();
    after.spec.taints.clear();
    let no_pods: &[Pod] = &[];
    bencher.bench(|| affected(black_box(&daemon_sets), no_pods, Some(&before), Some(&after)));
}

/// A heartbeat, which concerns nobody.
#[divan::bench]
fn affected_by_a_heartbeat(bencher: Bencher) {
    let (daemon_sets, before) = (daemon_sets(), node());
    let after = before.clone();
    let no_pods: &[Pod] = &[];
    bencher.bench(|| affected(black_box(&daemon_sets), no_pods, Some(&before), Some(&after)));
}
