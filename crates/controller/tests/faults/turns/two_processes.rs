//! Turns of which another process knows more, and a controller beside another one.

use super::{add_tenants, fleet, give_rights, not_as_before, turn_key};
use crate::cluster::{AGENT, Cluster};
use crate::faults::Verb;
use crate::objects::{daemon_set, rolling};
use crate::rollouts::driver::DRIVER;
use crate::rollouts::{MINUTE, NEW};
use crate::store::{Actor, Kind, id};
use daemonset::Policy;
use daemonset_controller::rollout::policy::ProcessRole;
use serde_json::{Value, from_value, json};
use std::time::Duration;
use tokio::time::sleep;

fn turns_of_file(is_driven: bool) -> Policy {
    let mut policy = json!({"turn": {"cordon": true, "gates": ["backup"]}});
    if is_driven {
        policy["drive"] = json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 2}});
    }
    from_value(policy).unwrap()
}

fn node_patches(cluster: &Cluster) -> usize {
    cluster.count(|verb, kind| (verb, kind) == (Verb::Patch, Kind::Node))
}

fn annotations_of(cluster: &Cluster, node: &str) -> Value {
    cluster.api.state().store.get(&id(Kind::Node, node)).unwrap()["metadata"]["annotations"].clone()
}

/// The controller knows nothing of the driver's file.
#[tokio::test(start_paused = true)]
async fn a_controller_leaves_the_turns_of_a_driver_with_a_file_to_it() {
    let mut cluster = Cluster::steady(4, json!({"type": "OnDelete"})).await;
    give_rights(&cluster, &["turns", "drain", "powers", "driver-pods"]);
    cluster.policy = turns_of_file(true);
    cluster.start(DRIVER, ProcessRole::Driver).await;
    sleep(MINUTE).await;
    let before = node_patches(&cluster);
    cluster.release(NEW);
    sleep(MINUTE).await;
    assert_eq!(not_as_before(&cluster).len(), 2, "two begin, and wait for their gates");
    let patches = node_patches(&cluster) - before;
    assert!(patches < 12, "{patches}: each is ended once at most, and begins again");
    sleep(30 * MINUTE).await;
    assert_eq!(node_patches(&cluster) - before, patches);
    assert_eq!(super::events(&cluster, "TurnsOfAnother"), 1);
}

/// The driver knows nothing of the controller's file. It can't tell the turn from one of its own, which would stay for ever.
#[tokio::test(start_paused = true)]
async fn a_driver_leaves_the_turns_of_a_controller_with_a_file_to_it() {
    let mut cluster = Cluster::steady_with(4, rolling(2), turns_of_file(false)).await;
    give_rights(&cluster, &["turns", "drain", "powers", "driver-pods"]);
    cluster.policy = Policy::default();
    cluster.start(DRIVER, ProcessRole::Driver).await;
    sleep(MINUTE).await;
    cluster.release(NEW);
    sleep(11 * MINUTE).await;
    assert_eq!(not_as_before(&cluster).len(), 2);
    let turn = annotations_of(&cluster, "n00");
    sleep(30 * MINUTE).await;
    assert_eq!(annotations_of(&cluster, "n00"), turn, "it goes on");
}

/// No annotation tells that the key is that of another kind.
#[tokio::test(start_paused = true)]
async fn the_turn_of_a_custom_kind_that_begins_again_is_left_alone() {
    let cluster = fleet(3, 1, "{}").await;
    let agents = json!({"kind": "AgentSet", "metadata": {"name": "agents", "namespace": "monitoring", "uid": "of-agents"}});
    let annotation = format!("turn.daemonset/{}", turn_key(&agents));
    let begin = |instant: &str| {
        cluster.api.state().store.change(Actor::Others, &id(Kind::Node, "n01"), |node| {
            node["metadata"]["annotations"][&annotation] = json!(format!("7 {instant} cordoned"));
            node["spec"]["unschedulable"] = json!(true);
        });
    };
    begin("2026-01-01T00:00:00Z");
    sleep(10 * MINUTE).await;
    assert_eq!(not_as_before(&cluster), [""; 0], "it seems to be nobody's");
    begin("2026-01-01T00:10:00Z");
    sleep(30 * MINUTE).await;
    assert_eq!(not_as_before(&cluster), ["n01"]);
    // Its controller may have gone.
    sleep(60 * MINUTE).await;
    assert_eq!(not_as_before(&cluster), [""; 0]);
}

/// Its signs are about another DaemonSet: that of the drain has no plan meanwhile.
#[tokio::test(start_paused = true)]
async fn beside_another_controller_no_pod_is_evicted() {
    let cluster = fleet(4, 2, "turn: {cordon: true, gates: [drained]}\ndrain: {podSelector: {matchExpressions: [{key: tenant, operator: Exists}]}}").await;
    add_tenants(&cluster);
    cluster.api.state().protected_pods.extend(["web-n00".to_owned(), "web-n01".to_owned()]);
    let own = json!({"type": "OnDelete"});
    cluster.api.state().store.create(Actor::Others, Kind::DaemonSet, daemon_set("second", &own));
    cluster.release(NEW);
    sleep(MINUTE).await;
    let asked = || cluster.api.state().evictions.len();
    assert!(asked() > 0);
    let write = |misscheduled: i32| {
        cluster.api.state().store.change(Actor::Others, &id(Kind::DaemonSet, "second"), |ds| {
            ds["status"]["numberMisscheduled"] = json!(misscheduled);
        });
    };
    write(5);
    sleep(Duration::from_secs(10)).await;
    let before = asked();
    sleep(Duration::from_secs(40)).await;
    assert_eq!(asked(), before);
    sleep(MINUTE).await;
    assert!(asked() > before, "the other one has stopped");
}

/// Status writes that it did not send show another controller.
#[tokio::test(start_paused = true)]
async fn beside_another_controller_no_turn_of_nobody_is_ended() {
    let cluster = fleet(3, 1, "{}").await;
    cluster.api.state().store.change(Actor::Others, &id(Kind::Node, "n01"), |node| {
        node["metadata"]["annotations"]["turn.daemonset/gone.01234567"] =
            json!("7 2026-01-01T00:00:00Z cordoned");
        node["spec"]["unschedulable"] = json!(true);
    });
    for second in 0..132 {
        cluster.api.state().store.change(Actor::Others, &id(Kind::DaemonSet, AGENT), |ds| {
            ds["status"]["numberMisscheduled"] = json!(second % 2 + 1);
        });
        sleep(Duration::from_secs(5)).await;
    }
    assert!(cluster.metrics.text().contains("daemonset_beside_another 1"));
    assert_eq!(not_as_before(&cluster), ["n01"]);
    sleep(2 * MINUTE).await;
    assert_eq!(not_as_before(&cluster), [""; 0], "the other one has stopped");
}
