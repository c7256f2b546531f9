//! The scheduler: it binds pods that fit, and lets the others wait.

use super::{
    add_small_node, agent, cluster, is_bound, is_ready, millis, pods_on, seconds, settings, template,
};
use daemonset::model::Pod;
use daemonset_sim::{Cluster, Kind};
use serde_json::{Value, json};

/// A pod of another owner, bound to `a`, with this container.
fn neighbour(container: &Value) -> Value {
    json!({"metadata": {"name": "neighbour", "namespace": "ns", "labels": {"app": "other"}},
        "spec": {"nodeName": "a", "containers": [container]}})
}

fn ours(cluster: &Cluster) -> Pod {
    let mut pods = pods_on(cluster, "a").into_iter().filter(|pod| pod.metadata.name != "neighbour");
    pods.next().unwrap()
}

/// The agent stays unbound while the other pod is on the node, and is bound when that pod is gone.
fn waits_for_the_neighbour(container: &Value) {
    let mut cluster = cluster(settings(), &[]);
    add_small_node(&mut cluster, "a", 1000);
    let uid = cluster.add_pod(&neighbour(container)).unwrap();
    let mut template = template("v1");
    template["spec"]["containers"][0] = container.clone();
    cluster.create_daemon_set(agent(template));
    cluster.run_for(seconds(600));
    let waiting = ours(&cluster);
    assert!(!is_bound(&waiting) && waiting.status.phase == "Pending");
    cluster.delete_pod(&uid);
    cluster.run_for(millis(1_900));
    assert!(!is_bound(&ours(&cluster)), "the neighbour still ends");
    cluster.run_for(millis(300));
    assert!(is_bound(&ours(&cluster)));
    cluster.run_until_quiet(seconds(600)).unwrap();
    assert!(is_ready(&ours(&cluster)));
}

#[test]
fn a_host_port_is_in_use_until_its_pod_is_gone() {
    waits_for_the_neighbour(&json!({"name": "c", "ports": [{"containerPort": 80, "hostPort": 9100}]}));
}

#[test]
fn cpu_is_in_use_until_its_pod_is_gone() {
    waits_for_the_neighbour(&json!({"name": "c", "resources": {"requests": {"cpu": "600m"}}}));
}

#[test]
fn a_failed_pod_uses_no_resources() {
    let container = json!({"name": "c", "resources": {"requests": {"cpu": "600m"}}});
    let mut cluster = cluster(settings(), &[]);
    add_small_node(&mut cluster, "a", 1000);
    let uid = cluster.add_pod(&neighbour(&container)).unwrap();
    let mut template = template("v1");
    template["spec"]["containers"][0] = container;
    cluster.create_daemon_set(agent(template));
    cluster.run_for(seconds(60));
    assert!(!is_bound(&ours(&cluster)));
    cluster.evict_pod(&uid);
    cluster.run_for(seconds(1));
    assert!(is_bound(&ours(&cluster)));
}

#[test]
fn a_failed_pod_is_not_bound() {
    let container = json!({"name": "c", "resources": {"requests": {"cpu": "600m"}}});
    let mut cluster = cluster(settings(), &[]);
    add_small_node(&mut cluster, "a", 1000);
    let neighbour = cluster.add_pod(&neighbour(&container)).unwrap();
    let mut template = template("v1");
    template["spec"]["containers"][0] = container;
    cluster.create_daemon_set(agent(template));
    cluster.run_for(seconds(60));
    let waiting = ours(&cluster).metadata.uid;
    cluster.freeze(Kind::Pods);
    cluster.evict_pod(&waiting);
    cluster.delete_pod(&neighbour);
    cluster.run_for(seconds(60));
    let failed = ours(&cluster);
    assert!(failed.metadata.uid == waiting && failed.status.phase == "Failed" && !is_bound(&failed));
}

#[test]
fn a_taint_keeps_out_pods_that_do_not_tolerate_it() {
    let mut cluster = cluster(settings(), &["a"]);
    cluster.create_daemon_set(agent(template("v1")));
    cluster.run_for(millis(150));
    cluster.taint("a", "dedicated", "NoSchedule");
    cluster.run_for(seconds(600));
    assert!(!is_bound(&ours(&cluster)), "the taint came between creating and binding");
    cluster.untaint("a", "dedicated");
    cluster.run_for(seconds(1));
    assert!(is_bound(&ours(&cluster)));
}

#[test]
fn a_cordon_does_not_keep_daemon_pods_out() {
    let mut cluster = cluster(settings(), &["a"]);
    cluster.cordon("a");
    cluster.create_daemon_set(agent(template("v1")));
    cluster.run_for(seconds(1));
    assert!(is_bound(&ours(&cluster)));
}

#[test]
fn a_no_execute_taint_deletes_pods_that_do_not_tolerate_it() {
    let mut cluster = super::running(&["a"]);
    cluster.taint("a", "maintenance", "NoExecute");
    cluster.run_for(seconds(600));
    assert_eq!(pods_on(&cluster, "a"), []);
    cluster.untaint("a", "maintenance");
    cluster.run_for(seconds(60));
    assert!(is_ready(&ours(&cluster)));
}
