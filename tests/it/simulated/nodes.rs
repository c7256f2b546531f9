//! Nodes that join and leave.

use super::{cluster, count, is_ready, pods_on, running, seconds, settings};
use daemonset::model::Labels;
use daemonset_sim::Distribution;

#[test]
fn the_daemon_set_follows_random_joins_and_departures() {
    let mut settings = settings();
    settings.churn.every = Some(Distribution::fixed(seconds(60)));
    settings.churn.down_for = Some(Distribution::fixed(seconds(20)));
    let names: Vec<String> = (0..20).map(|number| format!("n{number:02}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut cluster = cluster(settings, &names);
    cluster.create_daemon_set(super::agent(super::template("v1")));
    cluster.run_for(seconds(58));
    for _ in 0..120 {
        // Events of 58 s ago have ended: down for 20 s, joining for 5 s, garbage collection after 40 s.
        let nodes: Vec<String> = cluster.nodes().map(|node| node.metadata.name.to_string()).collect();
        for node in &nodes {
            let pods = pods_on(&cluster, node);
            assert!(pods.len() == 1 && is_ready(&pods[0]), "{node} at {}: {pods:#?}", cluster.now());
        }
        assert_eq!(cluster.pods().count(), nodes.len());
        assert_eq!(cluster.status().number_available as usize, nodes.len());
        cluster.run_for(seconds(60));
    }
    for (name, least) in [("NodeUnready", 40), ("NodeGone", 15), ("NodeAdded", 20 + 15), ("NodeReady", 40)] {
        assert!(count(&cluster, name) >= least, "{name}: {}", count(&cluster, name));
    }
}

#[test]
fn a_node_that_comes_back_under_its_name_keeps_its_pod() {
    let mut cluster = running(&["a", "b"]);
    let before = pods_on(&cluster, "a");
    cluster.remove_node("a");
    cluster.run_for(seconds(20));
    cluster.add_node("a", Labels::default());
    cluster.run_for(seconds(600));
    assert_eq!(pods_on(&cluster, "a"), before, "the garbage collector waits again");
    let uid = before[0].metadata.uid.clone();
    let since = cluster.now();
    cluster.crash_pod(&uid);
    cluster.run_for(seconds(60));
    assert_eq!(
        super::pod_story(&cluster, since),
        ["0.0 PodUnready a", "15.0 PodReady a"],
        "the pod runs there"
    );
}

#[test]
fn a_node_that_leaves_again_is_waited_for_again() {
    let mut cluster = running(&["a", "b"]);
    let uid = super::uid_on(&cluster, "a");
    cluster.remove_node("a");
    cluster.run_for(seconds(20));
    cluster.add_node("a", Labels::default());
    cluster.run_for(seconds(10));
    cluster.remove_node("a");
    cluster.run_for(seconds(39));
    assert!(super::exists(&cluster, &uid));
    cluster.run_for(seconds(1));
    assert!(!super::exists(&cluster, &uid));
}

#[test]
fn a_drain_spares_daemon_pods() {
    let mut cluster = running(&["a"]);
    let other = serde_json::json!({"metadata": {"name": "other", "namespace": "ns", "ownerReferences":
        [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "r", "uid": "r", "controller": true}]},
        "spec": {"nodeName": "a", "containers": []}});
    let other = cluster.add_pod(&other).unwrap();
    cluster.run_for(seconds(60));
    cluster.drain("a");
    cluster.run_for(seconds(60));
    assert!(!super::exists(&cluster, &other) && is_ready(&super::pod_on(&cluster, "a")));
}

#[test]
fn a_node_without_the_label_loses_its_pod() {
    let mut cluster = running(&["a", "b"]);
    cluster.label_node("a", "disk", "ssd");
    cluster.edit(|ds| ds.spec.template["spec"]["nodeSelector"] = serde_json::json!({"disk": "ssd"}));
    cluster.run_for(seconds(60));
    assert!(pods_on(&cluster, "b").is_empty() && is_ready(&super::pod_on(&cluster, "a")));
    cluster.label_node("b", "disk", "ssd");
    cluster.run_for(seconds(60));
    assert!(is_ready(&super::pod_on(&cluster, "b")));
}
