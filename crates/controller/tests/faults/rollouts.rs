//! Stories about rollouts that people steer by annotations.

use crate::cluster::{CONTROLLER, Cluster, HOUR};
use crate::faults::{Fault, Verb};
use crate::objects::{rolling, surging};
use crate::pods::{image_of, is_available, node_of};
use crate::store::{Actor, ChangeKind, Kind, id, text};
use daemonset_controller::rollout::policy::Role;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::time::sleep;

const MINUTE: Duration = Duration::from_secs(60);
const POLICY: &str = "rollout.daemonset/policy";
const PAUSED: &str = "rollout.daemonset/paused";
const APPROVED: &str = "rollout.daemonset/approved";

const OLD: &str = "agent:v1";
const NEW: &str = "agent:v2";
const BROKEN: &str = "agent:non-existent";

/// A canary, then half of the nodes, then all; each but the canary needs approval.
const WAVES: &str = "
waves:
- upTo: 1
- upTo: 50%
  needsApproval: true
- needsApproval: true
";

/// The canary fails if its image can't be pulled within ten seconds.
fn canary(action: &str) -> String {
    format!("waves: [{{upTo: 1}}, {{}}]\nonFailure: {{action: {action}, waitingSeconds: 10}}\n")
}

/// The events with these reasons, in the order in which they were recorded.
fn story(cluster: &Cluster) -> Vec<String> {
    let pods = ["SuccessfulCreate", "SuccessfulDelete"];
    cluster.api.state().events.iter().filter(|reason| !pods.contains(&reason.as_str())).cloned().collect()
}

/// The only event with this reason.
fn event(cluster: &Cluster, reason: &str) -> Value {
    let state = cluster.api.state();
    let events: Vec<&Value> =
        state.stored_events.values().filter(|event| event["reason"] == reason).collect();
    let [event] = events.as_slice() else { panic!("{reason}: {events:#?}") };
    (*event).clone()
}

fn message(cluster: &Cluster, reason: &str) -> String {
    text(&event(cluster, reason)["message"]).to_owned()
}

/// The revision with the largest number.
fn current_revision(cluster: &Cluster) -> Value {
    let state = cluster.api.state();
    let of_agent = state.store.list(Kind::Revision).cloned();
    of_agent.max_by_key(|revision| revision["revision"].as_i64()).expect("a revision")
}

/// The nodes whose pods were created or deleted from this version on.
fn touched_nodes(cluster: &Cluster, from: usize) -> BTreeSet<String> {
    let state = cluster.api.state();
    let changes = state.store.log[from..].iter();
    let of_pods = changes.filter(|change| {
        change.id.kind == Kind::Pod && matches!(change.change_kind, ChangeKind::Added | ChangeKind::Deleted)
    });
    of_pods.map(|change| node_of(&change.object).to_owned()).collect()
}

fn version(cluster: &Cluster) -> usize {
    cluster.api.state().store.log.len()
}

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
    assert!(failed.ends_with(" waits with ErrImagePull. No further pod is replaced"), "{failed}");
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

/// A person takes the mark of the failure away: the rollout goes on, and fails again.
#[tokio::test(start_paused = true)]
async fn a_failed_version_goes_on_without_its_mark() {
    let cluster = Cluster::steady(4, rolling(1)).await;
    cluster.annotate(POLICY, Some(&canary("Pause")));
    sleep(MINUTE).await;
    cluster.release(BROKEN);
    sleep(MINUTE).await;
    assert_eq!(cluster.nodes_with(BROKEN), 1);
    // The policy judges nothing any more, and every wave is open.
    cluster.annotate(POLICY, Some("waves: [{upTo: 1}, {}]"));
    sleep(MINUTE).await;
    let name = text(&current_revision(&cluster)["metadata"]["name"]).to_owned();
    cluster.api.state().store.change(Actor::Others, &id(Kind::Revision, &name), |revision| {
        revision["metadata"]["annotations"].as_object_mut().unwrap().remove("rollout.daemonset/failed");
    });
    sleep(MINUTE).await;
    assert_eq!(story(&cluster)[1..], ["RolloutStarted", "WaveOpened", "RolloutFailed", "RolloutResumed"]);
}

/// If the mark of the open wave is lost, a wave may wait again, and the end is the same.
#[tokio::test(start_paused = true)]
async fn a_rollout_survives_the_loss_of_its_marks() {
    let cluster = Cluster::steady(8, rolling(2)).await;
    cluster.annotate(POLICY, Some("waves: [{upTo: 2}, {upTo: 4}, {}]"));
    sleep(MINUTE).await;
    cluster.release(NEW);
    for _ in 0..5 {
        sleep(Duration::from_millis(700)).await;
        let name = text(&current_revision(&cluster)["metadata"]["name"]).to_owned();
        cluster.api.state().store.change(Actor::Others, &id(Kind::Revision, &name), |revision| {
            revision["metadata"]["annotations"] = json!({});
        });
    }
    cluster.done(HOUR).await;
    sleep(MINUTE).await;
    cluster.finish(100).await;
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

/// The first moment at which a wave has begun early: it reaches a node before each node of the waves before it was available once. A
/// wave has so many nodes, those of the waves before it included.
fn early_wave(cluster: &Cluster, image: &str, sizes: &[usize]) -> Option<String> {
    let state = cluster.api.state();
    let mut pods = BTreeMap::new();
    let mut most_available = 0;
    for change in state.store.log.iter().filter(|change| change.id.kind == Kind::Pod) {
        match change.change_kind {
            ChangeKind::Deleted => pods.remove(&change.id),
            ChangeKind::Added | ChangeKind::Modified => pods.insert(change.id.clone(), &change.object),
        };
        let new = || pods.values().filter(|pod| image_of(pod) == image);
        let nodes = |pods: &mut dyn Iterator<Item = &&Value>| {
            pods.map(|pod| node_of(pod)).collect::<BTreeSet<_>>().len()
        };
        let reached = nodes(&mut new());
        let before = sizes.iter().rev().find(|size| reached > **size).copied().unwrap_or(0);
        if most_available < before {
            return Some(format!(
                "{reached} nodes are reached, but only {most_available} were available: {:?}",
                change.id
            ));
        }
        most_available = most_available.max(nodes(&mut new().filter(|pod| is_available(pod))));
    }
    None
}

#[test]
fn waves_keep_their_order_under_random_faults() {
    for seed in 0..30 {
        let paused = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        paused.expect("a runtime").block_on(faulty_waves(seed));
    }
}

async fn faulty_waves(seed: u64) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let strategy = if rng.bool() { rolling(2) } else { surging(2) };
    let cluster = Cluster::steady(8, strategy).await;
    cluster.annotate(POLICY, Some("waves: [{upTo: 1}, {upTo: 4}, {}]"));
    sleep(MINUTE).await;
    cluster.api.state().faults.at_random(rng.fork(), &crate::random_faults::ALL);
    for kind in [Kind::DaemonSet, Kind::Pod, Kind::Node, Kind::Revision] {
        cluster.lag(kind, Duration::from_millis(rng.u64(..3000)));
    }
    cluster.release(NEW);
    sleep(Duration::from_secs(rng.u64(5..60))).await;
    cluster.api.state().faults.end();
    cluster.done(HOUR).await;
    assert_eq!(early_wave(&cluster, NEW, &[1, 4, 8]), None, "seed {seed}");
    let story = story(&cluster);
    for reason in ["RolloutStarted", "RolloutCompleted"] {
        let times = story.iter().filter(|one| *one == reason).count();
        assert!(times <= 2, "seed {seed}: {story:?}");
    }
}

/// The watch of revisions lags: a plan would set each mark again.
#[tokio::test(start_paused = true)]
async fn each_mark_is_written_and_reported_once_though_the_watch_lags() {
    let cluster = Cluster::steady(6, rolling(2)).await;
    cluster.annotate(POLICY, Some("waves: [{upTo: 1}, {upTo: 3}, {}]"));
    sleep(MINUTE).await;
    let marks = || cluster.count(|verb, kind| verb == Verb::Patch && kind == Kind::Revision);
    let before = marks();
    cluster.lag(Kind::Revision, Duration::from_secs(5));
    cluster.release(NEW);
    cluster.done(HOUR).await;
    sleep(MINUTE).await;
    assert_eq!(marks() - before, 4, "three waves and the end");
    let story = story(&cluster);
    assert_eq!(
        story[1..],
        ["RolloutStarted", "WaveOpened", "WaveOpened", "WaveOpened", "RolloutCompleted"],
        "{story:?}"
    );
}

/// The response to a mark is lost, or the call fails: the watch shows which, and the event follows.
#[tokio::test(start_paused = true)]
async fn a_mark_with_an_unknown_outcome_is_reported_once() {
    for fault in [Fault::ErrorAfterwards, Fault::Error, Fault::BrokenAfterwards, Fault::Conflict] {
        let cluster = Cluster::steady(4, rolling(2)).await;
        cluster.annotate(POLICY, Some("waves: [{upTo: 1}, {}]"));
        sleep(MINUTE).await;
        cluster.fault(Verb::Patch, Kind::Revision, fault, 1);
        cluster.release(NEW);
        cluster.done(HOUR).await;
        sleep(MINUTE).await;
        assert_eq!(cluster.happened(fault), 1);
        let expected = ["RolloutStarted", "WaveOpened", "WaveOpened", "RolloutCompleted"];
        assert_eq!(story(&cluster)[1..], expected, "{fault:?}");
    }
}

/// Another process finds the marks, and reports nothing again.
#[tokio::test(start_paused = true)]
async fn a_restart_repeats_no_event() {
    let mut cluster = Cluster::steady(6, rolling(2)).await;
    cluster.annotate(POLICY, Some(WAVES));
    sleep(MINUTE).await;
    cluster.release(NEW);
    for approved in ["2=1", "2=2", "2=3"] {
        cluster.annotate(APPROVED, Some(approved));
        sleep(MINUTE).await;
        cluster.start(CONTROLLER, Role::Controller).await;
        sleep(MINUTE).await;
    }
    cluster.done(HOUR).await;
    let story = story(&cluster);
    for (reason, times) in
        [("RolloutStarted", 1), ("WaveOpened", 3), ("WaveWaitsForApproval", 2), ("RolloutCompleted", 2)]
    {
        assert_eq!(story.iter().filter(|one| *one == reason).count(), times, "{reason} in {story:?}");
    }
}

/// The series of a DaemonSet, without those of other metrics.
fn series(cluster: &Cluster) -> Vec<String> {
    let text = cluster.metrics.text();
    let of_rollouts = text.lines().filter(|line| line.starts_with("daemonset_rollout"));
    let short = |line: &str| line.replace("namespace=\"monitoring\",daemonset=\"agent\",", "");
    of_rollouts.map(|line| short(line).replace("daemonset_rollout_", "")).collect()
}

#[tokio::test(start_paused = true)]
async fn each_wave_has_metrics_until_the_daemon_set_goes() {
    let cluster = Cluster::steady(6, rolling(2)).await;
    assert!(series(&cluster).is_empty());
    cluster.annotate(POLICY, Some(WAVES));
    cluster.release(NEW);
    sleep(MINUTE).await;
    let mut shown = series(&cluster);
    shown.sort();
    assert_eq!(
        shown,
        [
            "stage{stage=\"GoingOn\"} 1",
            "wave_available{wave=\"0\"} 1",
            "wave_available{wave=\"1\"} 1",
            "wave_available{wave=\"2\"} 1",
            "wave_nodes{wave=\"0\"} 1",
            "wave_nodes{wave=\"1\"} 3",
            "wave_nodes{wave=\"2\"} 6",
            "wave_open{wave=\"0\"} 1",
            "wave_open{wave=\"1\"} 0",
            "wave_open{wave=\"2\"} 0",
            "wave_updated{wave=\"0\"} 1",
            "wave_updated{wave=\"1\"} 1",
            "wave_updated{wave=\"2\"} 1",
        ]
    );
    cluster.annotate(POLICY, Some("waves: [{upTo: 1}]"));
    sleep(MINUTE).await;
    assert_eq!(series(&cluster).len(), 5, "{:?}", series(&cluster));
    let many = "{}, ".repeat(30);
    cluster.annotate(POLICY, Some(&format!("paused: true\nwaves: [{many}]")));
    sleep(MINUTE).await;
    assert_eq!(series(&cluster).len(), 1 + 4 * 20);
    cluster.annotate(POLICY, None);
    sleep(MINUTE).await;
    assert!(series(&cluster).is_empty());
    cluster.annotate(POLICY, Some(WAVES));
    sleep(MINUTE).await;
    assert!(!series(&cluster).is_empty());
    cluster.api.state().store.remove(Actor::Others, &id(Kind::DaemonSet, "agent"));
    sleep(MINUTE).await;
    assert!(series(&cluster).is_empty());
}

const DRIVER: &str = "driver";

fn driven(rest: &str) -> String {
    format!("drive: {{type: RollingUpdate, rollingUpdate: {{maxUnavailable: 2}}}}\n{rest}")
}

/// Beside the cluster's own controller, which reads no annotation, for a DaemonSet with OnDelete.
async fn with_driver(nodes: usize, policy: &str) -> Cluster {
    let mut cluster = Cluster::steady(nodes, json!({"type": "OnDelete"})).await;
    cluster.api.state().store.invariants.max_unavailable = 2;
    cluster.start(CONTROLLER, Role::Comparison).await;
    cluster.annotate(POLICY, Some(policy));
    cluster.start(DRIVER, Role::Driver).await;
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

/// The driver lost the response to a delete, and is asked no more: it neither reads storage nor plans, again and again.
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
        cluster.start(CONTROLLER, Role::Comparison).await;
        cluster.annotate(POLICY, Some(&policy));
        cluster.start(DRIVER, Role::Driver).await;
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
