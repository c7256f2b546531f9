//! The metrics of a steered rollout.

use super::{BROKEN, MINUTE, NEW, POLICY, WAVES};
use crate::cluster::Cluster;
use crate::objects::rolling;
use crate::pods::image_of;
use crate::store::{Actor, Kind, id, text};
use serde_json::json;
use tokio::time::sleep;

/// The series of the DaemonSet's rollout.
fn series(cluster: &Cluster) -> Vec<String> {
    let text = cluster.metrics.text();
    let is_steered = |line: &&str| {
        ["daemonset_rollout_stage", "daemonset_rollout_wave"].iter().any(|name| line.starts_with(name))
    };
    let of_rollouts = text.lines().filter(is_steered);
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

/// The list after an interruption lacks it, and no watch tells its end.
#[tokio::test(start_paused = true)]
async fn a_daemon_set_that_goes_while_its_watch_is_down_loses_its_metrics() {
    let cluster = Cluster::steady(2, rolling(2)).await;
    cluster.annotate(POLICY, Some(WAVES));
    cluster.release(NEW);
    sleep(MINUTE).await;
    assert!(!series(&cluster).is_empty());
    cluster.api.state().is_down = true;
    cluster.break_watches();
    cluster.api.state().store.remove(Actor::Others, &id(Kind::DaemonSet, "agent"));
    cluster.compact();
    sleep(MINUTE).await;
    cluster.api.state().is_down = false;
    sleep(MINUTE).await;
    assert!(series(&cluster).is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_does_not_start_is_updated_and_not_available() {
    let cluster = Cluster::steady(4, rolling(1)).await;
    cluster.annotate(POLICY, Some("waves: [{upTo: 1}]"));
    cluster.release(BROKEN);
    sleep(MINUTE).await;
    let canary = || {
        let shown = series(&cluster);
        ["updated", "available"].map(|name| shown.contains(&format!("wave_{name}{{wave=\"0\"}} 1")))
    };
    assert_eq!(canary(), [true, false]);
    let pods = cluster.pods_of_agent();
    let pod = pods.iter().find(|pod| image_of(pod) == BROKEN).expect("a pod");
    cluster.api.state().store.change(Actor::Others, &id(Kind::Pod, text(&pod["metadata"]["name"])), |pod| {
        pod["metadata"]["deletionTimestamp"] = pod["metadata"]["creationTimestamp"].clone();
        // No kubelet ends it.
        pod["metadata"]["finalizers"] = json!(["story/stays"]);
    });
    sleep(MINUTE).await;
    assert_eq!(canary(), [false, false], "it terminates");
}
