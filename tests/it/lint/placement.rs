//! Target nodes, and nodes that are left out.

use super::{calm, calm_without_nodes, found, pod_field, says, text};
use crate::support::{Given, new, node, pod, surging};
use insta::assert_snapshot;
use serde_json::{Value, json};

const CONTROL_PLANE: &str = "node-role.kubernetes.io/control-plane";

#[test]
fn a_selection_without_target_nodes_is_found() {
    let nowhere = |given| pod_field(given, "nodeSelector", json!({"disk": "ssd"}));
    let cluster = calm_without_nodes()
        .node(node("a").label("disk", "hdd"))
        .node(node("b").label("disk", "ssd").taint("dedicated", "NoSchedule"))
        .node(node("c"));
    assert_snapshot!(text(&nowhere(cluster.clone())), @"Warning NoTargetNodes spec.template.spec: None of 3 nodes should run the pod: 2 by nodeSelector, 1 by a taint.");
    assert_eq!(says(&nowhere(cluster.node(node("d").label("disk", "ssd")))), [""; 0]);
    assert_eq!(says(&nowhere(calm_without_nodes())), [""; 0], "the preflight has no nodes");
}

#[test]
fn control_plane_nodes_that_are_left_out_are_found() {
    let cluster = calm()
        .node(node("m1").taint(CONTROL_PLANE, "NoSchedule"))
        .node(
            node("m2")
                .taint(CONTROL_PLANE, "NoSchedule")
                .taint("node-role.kubernetes.io/master", "NoExecute"),
        )
        .node(node("m3").taint(CONTROL_PLANE, "NoSchedule").taint("dedicated", "NoSchedule"));
    assert_snapshot!(text(&cluster), @"Advice ControlPlaneLeftOut spec.template.spec.tolerations: 2 nodes get no pod for the control-plane taint alone: m1, m2.");
    let nodes: Vec<String> = found(&cluster)[0].nodes.iter().map(ToString::to_string).collect();
    assert_eq!(nodes, ["m1", "m2"], "m3 has another reason");
    let tolerated = pod_field(cluster.clone(), "tolerations", json!([{"operator": "Exists"}]));
    assert_eq!(says(&tolerated), [""; 0]);
    let elsewhere = cluster.node(node("w").label("disk", "ssd"));
    assert_eq!(
        says(&pod_field(elsewhere, "nodeSelector", json!({"disk": "ssd"}))),
        [""; 0],
        "not selected anyway"
    );
}

/// The old version did not tolerate the taint. That says nothing about the template.
#[test]
fn a_node_that_a_rollout_has_not_reached_is_judged_by_the_template() {
    let old = |name: &str| node(name).has(pod("old"));
    let held = calm_without_nodes().node(old("a")).node(old("b"));
    let held = held.node(node("c").taint("dedicated", "NoSchedule"));
    let held = held.policy(json!({"rollout": {"waves": [{"upTo": 1}, {}]}}));
    let tolerant = pod_field(held, "tolerations", json!([{"key": "dedicated", "operator": "Exists"}]));
    assert_eq!(says(&tolerant), [""; 0]);
}

#[test]
fn pods_that_exclude_each_other_in_a_zone_are_found() {
    let zoned = |given: Given, key: &str| {
        let term = json!({"topologyKey": key, "labelSelector": {"matchLabels": {"app": "agent"}}});
        let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": [term]});
        pod_field(given, "affinity", json!({"podAntiAffinity": required}))
    };
    let cluster = ["a", "b", "c", "d"]
        .into_iter()
        .zip(["1", "1", "1", "2"])
        .fold(calm_without_nodes(), |given, (n, zone)| given.node(node(n).label("zone", zone).has(new())));
    assert_snapshot!(text(&zoned(cluster.clone(), "zone")), @"Error AntiAffinityToItself spec.template.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]: Only one of the nodes with the same zone can have the pod: of 4 target nodes 2 will stay without it.");
    let pair =
        calm_without_nodes().node(node("a").label("zone", "1").has(new())).node(node("b").label("zone", "1"));
    assert_eq!(says(&zoned(pair, "zone")).len(), 1, "two nodes are enough");
    assert_eq!(says(&zoned(cluster.clone(), "kubernetes.io/hostname")), [""; 0]);
    assert_eq!(says(&zoned(cluster, "rack")), [""; 0], "no node has this label");
}

#[test]
fn nodes_lost_to_the_update_are_found() {
    let broken = |hash: Value| {
        let pod = if hash == "new" { new() } else { crate::support::old() };
        calm()
            .with("/daemonSet/spec/updateStrategy", surging(1))
            .node(node("z").not_ready().has(pod.not_ready()))
    };
    assert_snapshot!(text(&broken(json!("new"))), @"Warning NodesLost spec.template: 1 node went down with the updated pod on it and holds its place in the budget: this template may be what took it down.");
    assert_eq!(says(&broken(json!("old"))), [""; 0], "it went down with the old version");
}
