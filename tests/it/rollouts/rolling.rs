//! Delete, then create, within maxUnavailable; and OnDelete (proposal: DaemonSet Updates, Tests).

use super::support::{Story, cluster};
use crate::support::{on_delete, rolling, template};
use daemonset::model::Node;
use daemonset_sim::{Behaviour, Cluster, Probability, Resources};
use serde_json::json;

#[test]
fn an_update_replaces_one_pod_after_the_other() {
    let mut story = cluster(["a", "b", "c"], rolling(1));
    story.update("v2");
    story.is_complete("v2");
    assert_eq!(
        story.trail(),
        [
            "delete a: OutdatedAvailable",
            "create a",
            "delete b: OutdatedAvailable",
            "create b",
            "delete c: OutdatedAvailable",
            "create c",
        ]
    );
    assert_eq!(story.worst().unavailable, 1);
}

#[test]
fn a_percentage_of_the_target_nodes_is_rounded_up() {
    let mut story = cluster(["a", "b", "c", "d", "e"], rolling("21%"));
    story.update("v2");
    story.is_complete("v2");
    assert_eq!((story.worst().taken_down, story.worst().surging), (2, 0));
}

#[test]
fn the_next_node_waits_until_min_ready_seconds_are_over() {
    let mut story = cluster(["a", "b"], rolling(1));
    story.cluster.edit(|ds| ds.spec.min_ready_seconds = 600);
    story.run(600);
    story.update("v2");
    story.until(|story| story.has("a: v2 ready"));
    story.run(595);
    assert_eq!(story.pods(), ["a: v2 ready", "b: v1 available"]);
    assert_eq!(story.rollout_status(), "1 of 2 updated");
    story.is_complete("v2");
}

#[test]
fn on_delete_updates_a_node_when_a_user_deletes_its_pod() {
    let mut story = cluster(["a", "b"], on_delete());
    story.update("v2");
    story.settle();
    assert_eq!((story.trail(), story.rollout_status().as_str()), (vec![], "0 of 2 updated"));
    story.cluster.delete_pod(&story.pod_on("b"));
    story.settle();
    assert_eq!(story.pods(), ["a: v1 available", "b: v2 available"]);
    story.cluster.delete_pod(&story.pod_on("a"));
    story.is_complete("v2");
}

#[test]
fn on_delete_stops_a_rollout_midway_and_rolling_update_continues_it() {
    let mut story = cluster(["a", "b", "c"], rolling(1));
    story.update("v2");
    story.until(|story| story.has("a: v2 available"));
    story.switch(on_delete());
    story.run(1);
    story.settle();
    story.mark();
    story.run(3600);
    assert_eq!(story.trail(), [""; 0]);
    assert!(story.has("c: v1 available"));
    story.switch(rolling(1));
    story.is_complete("v2");
}

#[test]
fn a_broken_rollout_stops_and_the_old_template_repairs_it() {
    let mut story = cluster(["a", "b", "c"], rolling(1));
    let [b, c] = ["b", "c"].map(|node| story.pod_on(node));
    story.release("v2", Behaviour::broken());
    story.settle();
    assert_eq!(story.pods(), ["a: v2 not ready", "b: v1 available", "c: v1 available"]);
    assert_eq!(story.rollout_status(), "1 of 3 updated");
    story.update("v1");
    story.is_complete("v1");
    assert_eq!(story.revisions(), ["2: v2", "3: v1"]);
    assert_eq!([b, c], ["b", "c"].map(|node| story.pod_on(node)), "nodes with v1 are left alone");
}

#[test]
fn a_version_that_crashes_at_start_stops_the_rollout() {
    let mut story = cluster(["a", "b", "c"], rolling(1));
    story.release("v2", Behaviour::default().crash_at_start(Probability::ALWAYS));
    story.run(3600);
    assert_eq!(story.pods(), ["a: v2 not ready", "b: v1 available", "c: v1 available"]);
    assert_eq!(story.deletes(), ["delete a: OutdatedAvailable"], "the kubelet restarts the container");
}

#[test]
fn failed_pods_are_replaced_with_back_off_and_the_rollout_waits() {
    let mut story = cluster(["a", "b"], rolling(1));
    story.release("v2", Behaviour::default().evicted(Probability::ALWAYS));
    story.run(3600);
    assert!(story.has("b: v1 available"));
    let tries = story.trail().iter().filter(|line| *line == "create a").count();
    assert!((5..=15).contains(&tries), "1 s doubling to 15 min: {tries}");
    story.update("v3");
    story.is_complete("v3");
}

#[test]
fn a_pod_that_no_longer_fits_waits_until_a_user_makes_room() {
    let mut story = Story::of(Cluster::new(7));
    for name in ["a", "b"] {
        let node: Node = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
        let two_cpus = Resources::UNLIMITED.cpu_millis(2000);
        story.cluster.add_node_with(node, two_cpus);
    }
    story.install(rolling(1), template("v1"));
    let other = json!({
        "metadata": {"name": "other", "namespace": "ns", "ownerReferences": [
            {"kind": "ReplicaSet", "name": "other", "uid": "uid-other", "controller": true}
        ]},
        "spec": {"nodeName": "a", "containers": [{"name": "c", "resources": {"requests": {"cpu": "1500m"}}}]},
    });
    let other = story.cluster.add_pod(&other).unwrap();
    story.settle();
    story.change("v2", Behaviour::default(), |spec| {
        spec["containers"][0]["resources"] = json!({"requests": {"cpu": "1"}});
    });
    story.settle();
    assert_eq!(story.pods(), ["a: v2 unscheduled", "b: v1 available"]);
    story.cluster.delete_pod(&other);
    story.is_complete("v2");
}
