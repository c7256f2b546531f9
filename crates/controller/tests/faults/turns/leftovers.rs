//! Turns that nobody plans for any more.

use super::{fleet, not_as_before, turn_key};
use crate::cluster::{AGENT, CONTROLLER, Cluster, HOUR};
use crate::faults::{Fault, Verb};
use crate::rollouts::{MINUTE, NEW, POLICY};
use crate::store::{Actor, Kind, id};
use daemonset_controller::rollout::policy::ProcessRole;
use serde_json::json;
use std::time::Duration;
use tokio::time::sleep;

async fn one_in_turn() -> Cluster {
    let cluster = fleet(3, 1, "turn: {cordon: true, gates: [backup]}").await;
    cluster.release(NEW);
    sleep(MINUTE).await;
    assert_eq!(not_as_before(&cluster), ["n00"]);
    cluster
}

fn delete_agent(cluster: &Cluster) {
    let store = &mut cluster.api.state().store;
    store.remove(Actor::Others, &id(Kind::DaemonSet, AGENT));
    (store.invariants.daemon_set, store.invariants.turns) = (None, None);
}

/// The cordon and the annotations of a turn that a process before this one has begun.
fn write_turn(cluster: &Cluster, node: &str, key: &str) {
    cluster.api.state().store.change(Actor::Others, &id(Kind::Node, node), |node| {
        let annotations = &mut node["metadata"]["annotations"];
        annotations[format!("turn.daemonset/{key}")] = json!("7 2026-01-01T00:00:00Z cordoned");
        annotations[format!("backup.gate.daemonset/{key}")] = json!("7 2026-01-01T00:00:00Z");
        node["spec"]["unschedulable"] = json!(true);
    });
}

#[tokio::test(start_paused = true)]
async fn the_turns_of_a_daemon_set_end_with_it() {
    let cluster = one_in_turn().await;
    cluster.fault(Verb::List, Kind::DaemonSet, Fault::Error, 1);
    delete_agent(&cluster);
    sleep(11 * MINUTE).await;
    assert_eq!(not_as_before(&cluster), [""; 0]);
}

/// It was deleted while no process ran.
#[tokio::test(start_paused = true)]
async fn a_process_ends_the_turns_of_nobody_at_its_start() {
    let mut cluster = one_in_turn().await;
    cluster.kill(CONTROLLER);
    delete_agent(&cluster);
    cluster.start(CONTROLLER, ProcessRole::Controller).await;
    sleep(Duration::from_secs(2)).await;
    assert_eq!(not_as_before(&cluster), [""; 0]);
}

/// A lost call of a process before this one is done late.
#[tokio::test(start_paused = true)]
async fn the_turns_of_nobody_end_within_ten_minutes() {
    let cluster = fleet(3, 1, "{}").await;
    write_turn(&cluster, "n01", "gone.01234567");
    // That of a DaemonSet that another process works on is there.
    let other = cluster.api.state().store.get(&id(Kind::DaemonSet, "unselected")).cloned().unwrap();
    cluster.api.state().store.change(Actor::Others, &id(Kind::Node, "n02"), |node| {
        node["metadata"]["annotations"][format!("turn.daemonset/{}", turn_key(&other))] =
            json!("1 2026-01-01T00:00:00Z");
    });
    sleep(10 * MINUTE + Duration::from_secs(1)).await;
    assert_eq!(not_as_before(&cluster), ["n02"]);
}

/// The policy asks for no turns any more: a plan ends them at once.
#[tokio::test(start_paused = true)]
async fn turns_end_with_their_policy() {
    let cluster = one_in_turn().await;
    cluster.annotate(POLICY, Some("{}"));
    cluster.done(HOUR).await;
    assert_eq!(not_as_before(&cluster), [""; 0]);
}
