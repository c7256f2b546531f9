//! Marks that are lost, late, written with an unknown outcome, or found by another process.

use super::driver::{driven, with_driver};
use super::{APPROVED, MINUTE, NEW, POLICY, WAVES, current_revision, story};
use crate::cluster::{CONTROLLER, Cluster, HOUR};
use crate::faults::{Fault, Verb};
use crate::objects::{rolling, surging};
use crate::pods::{image_of, is_available, node_of};
use crate::store::{Actor, ChangeKind, Kind, id, text};
use daemonset_controller::rollout::policy::ProcessRole;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::time::sleep;

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

/// The first moment at which a wave begins early: it reaches a node before each node of the earlier waves was available once. `sizes`
/// has the number of nodes of each wave and of the waves before it.
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
    for seed in 0..12 {
        let paused = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        paused.expect("a runtime").block_on(faulty_waves(seed));
    }
}

/// Alone, or as a driver.
async fn faulty_waves(seed: u64) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let waves = "waves: [{upTo: 1}, {upTo: 4}, {}]";
    let cluster = match rng.u32(..3) {
        0 => with_driver(8, &driven(waves)).await,
        alone => {
            let strategy = if alone == 1 { rolling(2) } else { surging(2) };
            let cluster = Cluster::steady(8, strategy).await;
            cluster.annotate(POLICY, Some(waves));
            sleep(MINUTE).await;
            cluster
        }
    };
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
        cluster.start(CONTROLLER, ProcessRole::Controller).await;
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
