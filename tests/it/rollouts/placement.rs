//! Placement during a rollout: labels, taints, nodes that join and leave, and foreign pods.

use super::support::{Story, cluster};
use crate::support::{rolling, surging, template};
use daemonset_sim::{Behaviour, Cluster, availability};
use serde_json::{Value, json};

fn selecting(zone: &str, version: &str) -> Value {
    let mut template = template(version);
    template["spec"]["nodeSelector"] = json!({"zone": zone});
    template
}

/// The mirror pod of a static pod with the DaemonSet's labels.
fn mirror(node: &str) -> Value {
    json!({
        "metadata": {
            "name": format!("static-{node}"), "namespace": "ns", "labels": {"app": "agent"},
            "annotations": {"kubernetes.io/config.mirror": "0123"},
        },
        "spec": {"nodeName": node},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
    })
}

#[test]
fn node_labels_choose_nodes_and_an_update_touches_only_these() {
    let mut story = Story::of(Cluster::new(7));
    for (node, zone) in [("a", "x"), ("b", "y"), ("c", "x")] {
        story.cluster.add_node(node, [("zone", zone)].into_iter().collect());
    }
    let manifest_pod = story.cluster.add_pod(&mirror("b")).unwrap();
    story.install(rolling(1), selecting("x", "v1"));
    story.settle();
    assert_eq!(story.pods(), ["a: v1 available", "c: v1 available"]);
    story.update("v2");
    story.is_complete("v2");
    story.cluster.label_node("b", "zone", "x");
    story.cluster.label_node("c", "zone", "y");
    story.settle();
    assert_eq!(story.pods(), ["a: v2 available", "b: v2 available"]);
    assert!(story.uids().contains(&manifest_pod));
}

#[test]
fn a_template_that_selects_other_nodes_moves_the_pods() {
    let mut story = Story::of(Cluster::new(7));
    for (node, zone) in [("a", "x"), ("b", "y"), ("c", "y")] {
        story.cluster.add_node(node, [("zone", zone)].into_iter().collect());
    }
    story.install(rolling(1), selecting("x", "v1"));
    story.settle();
    story.change("v2", Behaviour::default(), |spec| spec["nodeSelector"] = json!({"zone": "y"}));
    story.is_complete("v2");
    assert_eq!(story.pods(), ["b: v2 available", "c: v2 available"]);
}

#[test]
fn a_static_pod_with_matching_labels_is_neither_counted_nor_touched() {
    for strategy in [rolling(1), surging(1)] {
        let mut story = cluster(["a", "b"], strategy);
        let statics = ["a", "b"].map(|node| story.cluster.add_pod(&mirror(node)).unwrap());
        story.update("v2");
        story.is_complete("v2");
        assert!(statics.iter().all(|uid| story.uids().contains(uid)));
        assert_eq!(story.cluster.status().current_number_scheduled, 2);
    }
}

#[test]
fn nodes_that_leave_and_join_midway_have_at_most_one_pod_each() {
    let mut story = cluster(["a", "b", "c"], rolling(1));
    story.update("v2");
    story.until(|story| story.has("a: v2 starting"));
    story.cluster.remove_node("a");
    story.cluster.remove_node("c");
    story.cluster.add_node("d", Default::default());
    story.run(2);
    story.cluster.add_node("c", Default::default());
    story.is_complete("v2");
    assert_eq!(story.pods().len(), 3);
}

#[test]
fn a_node_that_joins_midway_gets_the_new_version_without_waiting_for_the_budget() {
    let mut story = cluster(["a", "b"], rolling(1));
    story.release("v2", Behaviour::broken());
    story.settle();
    story.cluster.add_node("c", Default::default());
    story.settle();
    assert_eq!(story.pods(), ["a: v2 not ready", "b: v1 available", "c: v2 not ready"]);
}

#[test]
fn a_taint_keeps_the_outdated_pod_until_it_is_gone() {
    let mut story = cluster(["a", "b", "c"], rolling(1));
    story.cluster.taint("b", "dedicated", "NoSchedule");
    story.update("v2");
    story.settle();
    assert_eq!(story.pods(), ["a: v2 available", "b: v1 available", "c: v2 available"]);
    assert_eq!(story.rollout_status(), "done");
    story.cluster.untaint("b", "dedicated");
    story.is_complete("v2");
}

#[test]
fn a_taint_that_evicts_leaves_the_node_empty_until_it_is_gone() {
    let mut story = cluster(["a", "b"], rolling(1));
    story.cluster.taint("b", "maintenance", "NoExecute");
    story.settle();
    assert_eq!(story.pods(), ["a: v1 available"]);
    story.cluster.untaint("b", "maintenance");
    story.is_complete("v1");
}

#[test]
fn cordoned_and_drained_nodes_are_updated() {
    let mut story = cluster(["a", "b"], rolling(1));
    story.cluster.drain("a");
    story.cluster.cordon("b");
    story.update("v2");
    story.is_complete("v2");
}

#[test]
fn a_node_that_is_down_does_not_stop_the_rollout_and_is_updated_when_it_is_back() {
    let mut story = cluster(["a", "b", "c"], rolling(1));
    story.cluster.take_down("b");
    story.update("v2");
    story.settle();
    assert_eq!(story.pods(), ["a: v2 available", "b: v1 not ready", "c: v2 available"]);
    story.cluster.bring_up("b");
    story.is_complete("v2");
}

#[test]
fn an_orphan_with_other_labels_is_not_in_the_history() {
    let mut story = cluster(["a"], rolling(1));
    let naked = json!({"metadata": {"name": "naked", "namespace": "ns"}, "spec": {"nodeName": "a"}});
    story.cluster.add_pod(&naked).unwrap();
    story.settle();
    story.cluster.delete_pod(&story.pod_on("a"));
    assert_eq!(availability(story.cluster.history()).last().unwrap().unavailable, 1);
    story.is_complete("v1");
}
