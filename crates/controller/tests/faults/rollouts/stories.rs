//! Waves, approval, pauses, failures and the way back.

use super::{
    APPROVED, BROKEN, MINUTE, NEW, OLD, PAUSED, POLICY, WAVES, canary, current_revision, message, story,
    touched_nodes, version,
};
use crate::cluster::{Cluster, HOUR};
use crate::faults::{Fault, Verb};
use crate::objects::rolling;
use crate::store::{Actor, Kind, id, text};
use std::collections::BTreeSet;
use std::time::Duration;
use tokio::time::sleep;

#[tokio::test(start_paused = true)]
async fn waves_open_one_after_the_other_once_they_are_approved() {
    let cluster = Cluster::steady(6, rolling(2)).await;
    cluster.annotate(POLICY, Some(WAVES));
    sleep(MINUTE).await;
    assert_eq!(
        story(&cluster),
        ["RolloutCompleted"],
        "a policy that is added to a settled fleet begins nothing"
    );
    cluster.release(NEW);
    sleep(MINUTE).await;
    assert_eq!(cluster.nodes_with(NEW), 1);
    let waits = message(&cluster, "WaveWaitsForApproval");
    assert!(waits.starts_with("Wave 1 of revision 2 (agent-"), "{waits}");
    let command =
        ": kubectl annotate --overwrite -n monitoring daemonset agent rollout.daemonset/approved=2=2";
    assert!(waits.ends_with(command), "{waits}");
    cluster.annotate(APPROVED, Some("2=2"));
    sleep(MINUTE).await;
    assert_eq!(cluster.nodes_with(NEW), 3);
    cluster.annotate(APPROVED, Some("2=3"));
    cluster.done(MINUTE).await;
    sleep(MINUTE).await;
    assert_eq!(
        story(&cluster)[1..],
        [
            "RolloutStarted",
            "WaveOpened",
            "WaveWaitsForApproval",
            "WaveOpened",
            "WaveWaitsForApproval",
            "WaveOpened",
            "RolloutCompleted"
        ]
    );
    cluster.finish(60).await;
}

/// The revision gets another number: its old approval and marks no longer count.
#[tokio::test(start_paused = true)]
async fn an_undone_version_waits_for_approval_again() {
    let cluster = Cluster::steady(3, rolling(1)).await;
    cluster.annotate(POLICY, Some("waves: [{needsApproval: true}]"));
    sleep(MINUTE).await;
    let (begins, ends) = (["RolloutStarted", "WaveWaitsForApproval"], ["WaveOpened", "RolloutCompleted"]);
    for (number, image) in [(2, NEW), (3, OLD)] {
        let before = story(&cluster).len();
        cluster.release(image);
        sleep(MINUTE).await;
        assert_eq!(cluster.nodes_with(image), 0);
        let reported: BTreeSet<String> = story(&cluster)[before..].iter().cloned().collect();
        assert_eq!(reported, begins.map(ToOwned::to_owned).into());
        cluster.annotate(APPROVED, Some(&format!("{number}=1")));
        cluster.done(HOUR).await;
        sleep(MINUTE).await;
        assert_eq!(story(&cluster)[before + 2..], ends);
    }
    cluster.finish(60).await;
}

#[tokio::test(start_paused = true)]
async fn a_pause_holds_every_further_node() {
    let cluster = Cluster::steady(8, rolling(1)).await;
    cluster.annotate(POLICY, Some("{}"));
    sleep(MINUTE).await;
    cluster.release(NEW);
    sleep(Duration::from_secs(3)).await;
    cluster.annotate(PAUSED, Some("true"));
    sleep(MINUTE).await;
    let reached = cluster.nodes_with(NEW);
    assert!((1..8).contains(&reached), "{reached}");
    assert!(current_revision(&cluster)["metadata"]["annotations"]["rollout.daemonset/started"].is_null());
    sleep(HOUR).await;
    assert_eq!(cluster.nodes_with(NEW), reached);
    cluster.annotate(PAUSED, None);
    cluster.done(MINUTE).await;
    sleep(MINUTE).await;
    assert_eq!(
        story(&cluster)[1..],
        ["RolloutStarted", "RolloutPaused", "RolloutResumed", "RolloutCompleted"]
    );
    let paused = message(&cluster, "RolloutPaused");
    assert!(paused.ends_with(" of 8 nodes have it, and no further pod is replaced"), "{paused}");
    cluster.finish(60).await;
}

#[tokio::test(start_paused = true)]
async fn a_broken_version_stops_at_its_canary() {
    let cluster = Cluster::steady(10, rolling(3)).await;
    cluster.annotate(POLICY, Some(&format!("{}conditions: true\n", canary("Pause"))));
    sleep(MINUTE).await;
    let from = version(&cluster);
    cluster.release(BROKEN);
    sleep(HOUR).await;
    cluster.check_invariants();
    assert_eq!((cluster.nodes_with(BROKEN), cluster.nodes_with(OLD)), (1, 9));
    assert_eq!(touched_nodes(&cluster, from).len(), 1);
    assert_eq!(story(&cluster)[1..], ["RolloutStarted", "WaveOpened", "RolloutFailed"]);
    let failed = message(&cluster, "RolloutFailed");
    assert!(failed.contains("has failed (TooManyFailures): n00: pod agent-"), "{failed}");
    assert!(failed.ends_with(" a container waits (ErrImagePull). No further pod is replaced"), "{failed}");
    let conditions = cluster.daemon_set()["status"]["conditions"].clone();
    let progressing = conditions.as_array().unwrap().iter().find(|one| one["type"] == "Progressing").unwrap();
    assert_eq!((text(&progressing["status"]), text(&progressing["reason"])), ("False", "TooManyFailures"));
    cluster.release(NEW);
    cluster.done(HOUR).await;
}

#[tokio::test(start_paused = true)]
async fn a_failed_version_without_an_earlier_one_stops() {
    let cluster = Cluster::steady(3, rolling(1)).await;
    cluster.annotate(POLICY, Some("onFailure: {action: RollBack, waitingSeconds: 10}"));
    sleep(MINUTE).await;
    let first = text(&current_revision(&cluster)["metadata"]["name"]).to_owned();
    cluster.release(BROKEN);
    sleep(Duration::from_secs(2)).await;
    cluster.api.state().store.remove(Actor::Others, &id(Kind::Revision, &first));
    sleep(HOUR).await;
    let failed = message(&cluster, "RolloutFailed");
    assert!(
        failed.ends_with(". No further pod is replaced, and there is no earlier version to go back to"),
        "{failed}"
    );
    assert_eq!(cluster.nodes_with(BROKEN), 1);
    assert_eq!(story(&cluster)[1..], ["RolloutStarted", "RolloutFailed"]);
}

#[tokio::test(start_paused = true)]
async fn a_broken_version_is_rolled_back_and_nothing_else_is_touched() {
    let cluster = Cluster::steady(10, rolling(3)).await;
    cluster.annotate(POLICY, Some(&canary("RollBack")));
    sleep(MINUTE).await;
    let from = version(&cluster);
    cluster.release(BROKEN);
    sleep(HOUR).await;
    cluster.check_invariants();
    assert_eq!((cluster.nodes_with(BROKEN), cluster.nodes_with(OLD)), (0, 10));
    assert_eq!(touched_nodes(&cluster, from).len(), 1);
    assert_eq!(story(&cluster)[1..], ["RolloutStarted", "WaveOpened", "RolloutFailed", "RolloutRolledBack"]);
    assert_eq!(cluster.metrics.text().matches("stage=\"RolledBack\"} 1").count(), 1);
}

/// The mark of the failure is removed: the version fails again, unless the policy judges no more.
#[tokio::test(start_paused = true)]
async fn a_failed_version_without_its_mark_is_judged_again() {
    let cluster = Cluster::steady(4, rolling(1)).await;
    cluster.annotate(POLICY, Some(&canary("Pause")));
    sleep(MINUTE).await;
    cluster.release(BROKEN);
    sleep(MINUTE).await;
    let name = text(&current_revision(&cluster)["metadata"]["name"]).to_owned();
    cluster.api.state().store.change(Actor::Others, &id(Kind::Revision, &name), |revision| {
        revision["metadata"]["annotations"].as_object_mut().unwrap().remove("rollout.daemonset/failed");
    });
    sleep(MINUTE).await;
    assert_eq!(story(&cluster)[1..], ["RolloutStarted", "WaveOpened", "RolloutFailed", "RolloutFailed"]);
    cluster.annotate(POLICY, Some("waves: [{upTo: 1}, {}]"));
    sleep(MINUTE).await;
    assert_eq!(story(&cluster)[5..], ["RolloutResumed"]);
    assert_eq!(cluster.nodes_with(BROKEN), 1, "the canary is not done");
}

#[tokio::test(start_paused = true)]
async fn a_policy_that_cannot_be_read_pauses_and_is_reported_once() {
    let cluster = Cluster::steady(6, rolling(1)).await;
    cluster.annotate(POLICY, Some("waves: [{upto: 1}]"));
    cluster.release(NEW);
    sleep(HOUR).await;
    assert_eq!(cluster.nodes_with(NEW), 0);
    let invalid = message(&cluster, "InvalidRolloutPolicy");
    assert!(invalid.contains("rollout.daemonset/policy: waves[0].upto: unknown field `upto`"), "{invalid}");
    assert_eq!(story(&cluster), ["InvalidRolloutPolicy", "RolloutPaused"]);
    cluster.annotate(POLICY, Some("waves: ["));
    sleep(MINUTE).await;
    assert_eq!(story(&cluster)[2..], ["InvalidRolloutPolicy"], "another text");
    // Node sync goes on meanwhile.
    let pod = cluster.pods_of_agent().pop().expect("a pod");
    cluster.allow_down(1);
    cluster.api.state().store.remove(Actor::Others, &id(Kind::Pod, text(&pod["metadata"]["name"])));
    sleep(MINUTE).await;
    assert_eq!(cluster.pods_of_agent().len(), 6);
    cluster.annotate(POLICY, Some("waves: [{upTo: 1}, {}]"));
    cluster.done(HOUR).await;
    cluster.finish(60).await;
}

/// A fleet is settled where no node has an outdated pod, though a node lacks its pod.
#[tokio::test(start_paused = true)]
async fn a_complete_rollout_says_how_many_nodes_have_the_version() {
    let cluster = Cluster::steady(4, rolling(2)).await;
    cluster.fault(Verb::Create, Kind::Pod, Fault::Forbidden, u32::MAX);
    let pod = cluster.pods_of_agent()[0]["metadata"]["name"].as_str().unwrap().to_owned();
    cluster.api.state().store.remove(Actor::Others, &id(Kind::Pod, &pod));
    sleep(MINUTE).await;
    cluster.annotate(POLICY, Some("waves: [{}]"));
    sleep(MINUTE).await;
    let events = cluster.api.state().stored_events.clone();
    let said = events.values().filter(|event| event["reason"] == "RolloutCompleted");
    let said: Vec<&str> = said.filter_map(|event| event["message"].as_str()).collect();
    assert!(
        matches!(said[..], [only] if only.starts_with("No node is left to update to revision 1") && only.ends_with("3 of 4 nodes have it")),
        "{said:?}"
    );
}
