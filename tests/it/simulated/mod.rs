//! The parts of the simulated cluster, tested one by one.

mod api_server;
mod caches;
mod controller;
mod curves;
mod drains;
mod driven;
mod events;
mod figures;
mod kubelet;
mod nodes;
mod restored;
mod rollout;
mod scheduler;
mod seeds;
mod turns;

use crate::support::{now as start, rolling, template};
use daemonset::model::{DaemonSet, Node, Pod, Uid};
use daemonset_sim::{Behaviour, Cluster, Distribution, Event, Resources, Settings};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

fn seconds(seconds: i64) -> SignedDuration {
    SignedDuration::from_secs(seconds)
}

fn millis(millis: i64) -> SignedDuration {
    SignedDuration::from_millis(millis)
}

/// Fixed durations: bound after 0.1 s, pulled in 4 s, started in 1 s, Ready in 5 s, stopped in 2 s.
fn settings() -> Settings {
    let behaviour = Behaviour::default()
        .pull(Distribution::fixed(seconds(4)))
        .start(Distribution::fixed(seconds(1)))
        .ready(Distribution::fixed(seconds(5)))
        .stop(Distribution::fixed(seconds(2)));
    let mut settings = Settings::default()
        .behaviour(behaviour)
        .scheduling(Distribution::fixed(millis(100)))
        .joining(Distribution::fixed(seconds(5)));
    settings.controller.watch_lag = Distribution::fixed(millis(10));
    settings
}

/// A cluster with these nodes, with unlimited resources.
fn cluster(settings: Settings, nodes: &[&str]) -> Cluster {
    let mut cluster = Cluster::with_settings(settings, 1, start());
    for node in nodes {
        cluster.add_node(node, daemonset::model::Labels::default());
    }
    cluster
}

/// A node with this amount of CPU.
fn add_small_node(cluster: &mut Cluster, name: &str, cpu_millis: u64) {
    let mut node = Node::default();
    node.metadata.name = name.into();
    cluster.add_node_with(node, Resources::UNLIMITED.cpu_millis(cpu_millis));
}

/// The DaemonSet `ns/agent`, which rolls one node after the other.
fn agent(template: Value) -> DaemonSet {
    serde_json::from_value(crate::support::agent(rolling(1), template)).unwrap()
}

/// A cluster in which the agent runs on all of these nodes, and no event is left.
fn running(nodes: &[&str]) -> Cluster {
    running_with(settings(), nodes, template("v1"))
}

fn running_with(settings: Settings, nodes: &[&str], template: Value) -> Cluster {
    let mut cluster = cluster(settings, nodes);
    cluster.create_daemon_set(agent(template));
    cluster.run_until_quiet(seconds(3600)).unwrap();
    cluster
}

/// The only pod of this node.
fn pod_on(cluster: &Cluster, node: &str) -> Pod {
    let pods = pods_on(cluster, node);
    assert_eq!(pods.len(), 1, "pods on {node}: {pods:#?}");
    pods.into_iter().next().unwrap()
}

fn pods_on(cluster: &Cluster, node: &str) -> Vec<Pod> {
    let is_there = |pod: &&Pod| {
        let bound = pod.spec.node_name.as_str() == node;
        bound || pod.spec.affinity_node.as_ref().is_some_and(|target| target.as_str() == node)
    };
    cluster.pods().filter(is_there).cloned().collect()
}

fn uid_on(cluster: &Cluster, node: &str) -> Uid {
    pod_on(cluster, node).metadata.uid
}

fn exists(cluster: &Cluster, uid: &Uid) -> bool {
    cluster.pods().any(|pod| pod.metadata.uid == *uid)
}

fn is_ready(pod: &Pod) -> bool {
    pod.status.conditions.iter().any(|c| c.kind == "Ready" && c.status == "True")
}

fn is_bound(pod: &Pod) -> bool {
    !pod.spec.node_name.as_str().is_empty()
}

fn json_of(event: &Event) -> Value {
    serde_json::to_value(event).unwrap()
}

/// The events of pods from here on, such as `10.2 PodReady a`: seconds since this instant, event, node.
fn pod_story(cluster: &Cluster, since: Timestamp) -> Vec<String> {
    let events = cluster.history().iter().filter(|event| event.t >= since);
    let line = |event: &Event| {
        let json = json_of(event);
        let name = json["event"].as_str().unwrap().to_owned();
        let after = event.t.duration_since(since).as_millis() as f64 / 1000.0;
        name.starts_with("Pod").then(|| format!("{after:.1} {name} {}", json["node"].as_str().unwrap()))
    };
    events.filter_map(line).collect()
}

/// The number of events of this name.
fn count(cluster: &Cluster, name: &str) -> usize {
    cluster.history().iter().filter(|event| json_of(event)["event"] == name).count()
}
