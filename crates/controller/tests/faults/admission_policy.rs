//! Stories in which an admission policy rejects pods of one node, or the delete of one pod: all other nodes are still served.

use crate::cluster::Cluster;
use crate::objects::{node, rolling};
use crate::pods::{image_of, is_available, node_of};
use crate::store::{Actor, Kind, id, text};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::sleep;

fn reject(cluster: &Cluster, name: &str) {
    cluster.api.state().rejected_names.insert(name.to_owned());
}

fn pod_on(cluster: &Cluster, node: &str) -> String {
    let pods = cluster.pods_of_agent();
    let pod = pods.iter().find(|pod| node_of(pod) == node).expect("a pod");
    text(&pod["metadata"]["name"]).to_owned()
}

fn remove(cluster: &Cluster, node: &str) {
    let pod = pod_on(cluster, node);
    cluster.allow_down(1);
    cluster.api.state().store.remove(Actor::Others, &id(Kind::Pod, &pod));
}

/// Nodes with an available pod of this image.
fn nodes_with(cluster: &Cluster, image: &str) -> BTreeSet<String> {
    let pods = cluster.pods_of_agent();
    let there = pods.iter().filter(|pod| image_of(pod) == image && is_available(pod));
    there.map(|pod| node_of(pod).to_owned()).collect()
}

fn all_but(nodes: &[usize]) -> BTreeSet<String> {
    (0..6).filter(|node| !nodes.contains(node)).map(|node| format!("n{node:02}")).collect()
}

#[tokio::test(start_paused = true)]
async fn a_node_whose_pods_are_rejected_holds_up_no_other() {
    let cluster = Cluster::steady(6, rolling(2)).await;
    reject(&cluster, "n01");
    remove(&cluster, "n01");
    sleep(Duration::from_secs(60)).await;
    cluster.release("agent:v2");
    remove(&cluster, "n04");
    sleep(Duration::from_secs(60)).await;
    assert_eq!(nodes_with(&cluster, "agent:v2"), all_but(&[1]));
    let ds = cluster.daemon_set();
    assert_eq!(
        (&ds["status"]["numberAvailable"], &ds["status"]["updatedNumberScheduled"]),
        (&json!(5), &json!(5))
    );
    // Several rejected nodes at once: each attempt may meet another one.
    for name in ["n00", "n02", "n03"] {
        reject(&cluster, name);
        remove(&cluster, name);
    }
    remove(&cluster, "n05");
    sleep(Duration::from_secs(60)).await;
    assert_eq!(nodes_with(&cluster, "agent:v2"), all_but(&[0, 1, 2, 3]));
    cluster.api.state().rejected_names.clear();
    cluster.done(Duration::from_secs(600)).await;
    cluster.finish(200).await;
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_nobody_may_delete_holds_up_no_other() {
    let cluster = Cluster::steady(6, rolling(1)).await;
    let protected = pod_on(&cluster, "n00");
    reject(&cluster, &protected);
    cluster.release("agent:v2");
    sleep(Duration::from_secs(60)).await;
    assert_eq!(nodes_with(&cluster, "agent:v2"), all_but(&[0]));
    remove(&cluster, "n04");
    cluster.api.state().store.create(Actor::Others, Kind::Node, node("n06"));
    sleep(Duration::from_secs(60)).await;
    let updated = nodes_with(&cluster, "agent:v2");
    assert!(updated.contains("n04") && updated.contains("n06"), "{updated:?}");
    cluster.api.state().rejected_names.clear();
    cluster.done(Duration::from_secs(600)).await;
    cluster.finish(120).await;
}

/// The next attempt is minutes away by then, but the status does not wait for it.
#[tokio::test(start_paused = true)]
async fn the_status_follows_the_pods_while_creates_are_rejected() {
    let cluster = Cluster::steady(6, rolling(2)).await;
    reject(&cluster, "n01");
    remove(&cluster, "n01");
    sleep(Duration::from_secs(600)).await;
    let other = id(Kind::Pod, &pod_on(&cluster, "n03"));
    let readiness = |status: &str| {
        let status = status.to_owned();
        cluster.api.state().store.change(Actor::Others, &other, |pod: &mut Value| {
            pod["status"]["conditions"][0]["status"] = json!(status);
        });
    };
    readiness("False");
    sleep(Duration::from_millis(200)).await;
    readiness("True");
    sleep(Duration::from_secs(1)).await;
    assert_eq!(cluster.daemon_set()["status"]["numberAvailable"], 5);
    assert_eq!(cluster.daemon_set()["status"]["numberUnavailable"], 1);
    cluster.api.state().rejected_names.clear();
    cluster.done(Duration::from_secs(600)).await;
    cluster.finish(60).await;
}
