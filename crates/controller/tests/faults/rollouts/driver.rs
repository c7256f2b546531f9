//! A driver beside the cluster's own controller.

use super::{APPROVED, BROKEN, MINUTE, NEW, OLD, POLICY, canary, event, story, touched_nodes, version};
use crate::cluster::{CONTROLLER, Cluster, HOUR};
use crate::faults::{Fault, Verb};
use crate::objects::rolling;
use crate::pods::image_of;
use crate::store::{Actor, Kind, id, text};
use daemonset_controller::rollout::policy::ProcessRole;
use serde_json::json;
use std::time::Duration;
use tokio::time::sleep;

pub const DRIVER: &str = "driver";

pub fn driven(rest: &str) -> String {
    format!("drive: {{type: RollingUpdate, rollingUpdate: {{maxUnavailable: 2}}}}\n{rest}")
}

/// Beside the cluster's own controller, which reads no annotation.
pub async fn with_driver(nodes: usize, policy: &str) -> Cluster {
    with_driver_beside(ProcessRole::Comparison, nodes, policy).await
}

/// A DaemonSet with OnDelete, whose pods another process creates.
pub async fn with_driver_beside(other: ProcessRole, nodes: usize, policy: &str) -> Cluster {
    let mut cluster = Cluster::steady(nodes, json!({"type": "OnDelete"})).await;
    cluster.api.state().store.invariants.max_unavailable = 2;
    cluster.start(CONTROLLER, other).await;
    cluster.annotate(POLICY, Some(policy));
    cluster.start(DRIVER, ProcessRole::Driver).await;
    sleep(MINUTE).await;
    cluster
}

#[tokio::test(start_paused = true)]
async fn a_driver_sends_only_deletes_of_pods_marks_and_events() {
    let cluster = with_driver(8, &driven("waves: [{upTo: 1}, {}]")).await;
    cluster.release(NEW);
    cluster.done(HOUR).await;
    sleep(MINUTE).await;
    let writes: Vec<_> = cluster.calls_of(DRIVER).into_iter().filter(|(verb, _)| verb.writes()).collect();
    let count = |verb, kind| writes.iter().filter(|call| **call == (verb, kind)).count();
    assert_eq!(count(Verb::Delete, Kind::Pod), 8);
    // Beginning and end of the settled fleet; then the beginning, two waves and the end.
    assert_eq!(count(Verb::Patch, Kind::Revision), 6, "{writes:?}");
    let events = count(Verb::Create, Kind::Event) + count(Verb::Patch, Kind::Event);
    assert_eq!(writes.len(), 8 + 6 + events, "{writes:?}");
    assert_eq!(
        story(&cluster)[1..],
        ["RolloutStarted", "WaveOpened", "WaveOpened", "RolloutCompleted"],
        "{:?}",
        story(&cluster)
    );
    assert_eq!(event(&cluster, "RolloutStarted")["source"]["component"], "daemonset-driver");
    cluster.finish(60).await;
}

/// Both processes set the marks, and hold the same nodes.
#[tokio::test(start_paused = true)]
async fn a_driver_beside_this_controller_keeps_the_waves() {
    let policy = driven("waves: [{upTo: 1}, {upTo: 4, needsApproval: true}, {}]");
    let cluster = with_driver_beside(ProcessRole::Controller, 8, &policy).await;
    cluster.release(NEW);
    sleep(MINUTE).await;
    assert_eq!(cluster.nodes_with(NEW), 1);
    // A held node gets its lost pod back in the old version.
    let held = cluster.pods_of_agent().into_iter().find(|pod| image_of(pod) == OLD).expect("a pod");
    cluster.allow_down(1);
    cluster.api.state().store.remove(Actor::Others, &id(Kind::Pod, text(&held["metadata"]["name"])));
    sleep(MINUTE).await;
    assert_eq!((cluster.nodes_with(OLD), cluster.nodes_with(NEW)), (7, 1));
    cluster.annotate(APPROVED, Some("2=2"));
    cluster.done(HOUR).await;
    sleep(MINUTE).await;
    cluster.finish(100).await;
}

/// The response to a delete is lost, and then the DaemonSet is driven no more: nothing is read or planned again and again.
#[tokio::test(start_paused = true)]
async fn a_driver_rests_once_a_daemon_set_is_no_longer_driven() {
    let cluster = with_driver(4, &driven("")).await;
    cluster.fault(Verb::Delete, Kind::Pod, Fault::Broken, 1);
    cluster.release(NEW);
    while cluster.happened(Fault::Broken) == 0 {
        sleep(Duration::from_millis(10)).await;
    }
    cluster.annotate(POLICY, None);
    sleep(2 * MINUTE).await;
    let reconciles = || {
        let text = cluster.metrics.text();
        text.lines().find(|line| line.starts_with("daemonset_reconcile_seconds_count")).map(ToOwned::to_owned)
    };
    let before = reconciles();
    sleep(10 * MINUTE).await;
    assert_eq!(reconciles(), before);
    cluster.annotate(POLICY, Some(&driven("")));
    cluster.done(HOUR).await;
}

#[tokio::test(start_paused = true)]
async fn a_driven_broken_version_stops_at_its_canary() {
    let cluster = with_driver(8, &driven(&canary("Pause"))).await;
    let from = version(&cluster);
    cluster.release(BROKEN);
    sleep(HOUR).await;
    cluster.check_invariants();
    assert_eq!((cluster.nodes_with(BROKEN), cluster.nodes_with(OLD)), (1, 7));
    assert_eq!(touched_nodes(&cluster, from).len(), 1);
    assert_eq!(story(&cluster)[1..], ["RolloutStarted", "WaveOpened", "RolloutFailed"]);
}

/// Without `drive`, with another strategy, or with a policy that can't be read.
#[tokio::test(start_paused = true)]
async fn a_driver_leaves_every_other_daemon_set_alone() {
    for (strategy, policy, events) in [
        (json!({"type": "OnDelete"}), "waves: [{upTo: 1}]".to_owned(), &[][..]),
        (json!({"type": "OnDelete"}), driven("onFailure: {action: RollBack}"), &["InvalidRolloutPolicy"]),
        (rolling(1), driven(""), &["InvalidRolloutPolicy"]),
        (rolling(1), "{}".to_owned(), &[]),
    ] {
        let mut cluster = Cluster::steady(4, strategy).await;
        cluster.start(CONTROLLER, ProcessRole::Comparison).await;
        cluster.annotate(POLICY, Some(&policy));
        cluster.start(DRIVER, ProcessRole::Driver).await;
        cluster.release(NEW);
        sleep(HOUR).await;
        let writes = cluster.calls_of(DRIVER).into_iter().filter(|(verb, _)| verb.writes());
        assert!(writes.into_iter().all(|(_, kind)| kind == Kind::Event), "{policy}");
        assert_eq!(story(&cluster), events, "{policy}");
    }
}

/// The controller of the cluster creates the pods: to drive here would leave nodes without one.
#[tokio::test(start_paused = true)]
async fn a_controller_does_not_drive_and_creates_pods_as_always() {
    let cluster = Cluster::steady(4, json!({"type": "OnDelete"})).await;
    cluster.annotate(POLICY, Some(&driven("")));
    cluster.release(NEW);
    sleep(HOUR).await;
    assert_eq!(cluster.nodes_with(OLD), 4, "outdated pods wait");
    assert!(story(&cluster).contains(&"UpdateNotDriven".to_owned()), "{:?}", story(&cluster));
    let pod = cluster.pods_of_agent().pop().expect("a pod");
    assert_eq!(image_of(&pod), OLD);
    cluster.allow_down(1);
    cluster.api.state().store.remove(Actor::Others, &id(Kind::Pod, text(&pod["metadata"]["name"])));
    sleep(MINUTE).await;
    assert_eq!((cluster.nodes_with(OLD), cluster.nodes_with(NEW)), (3, 1));
}
