//! Create, then delete, within maxSurge (proposal: DaemonSet create-first rolling update).

use super::support::{Story, cluster};
use crate::support::{rolling, surging, template};
use daemonset_sim::{Behaviour, Cluster, Settings};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

#[test]
fn no_node_is_ever_without_an_available_pod() {
    let mut story = cluster(["a", "b", "c"], surging(1));
    story.update("v2");
    story.is_complete("v2");
    assert_eq!(story.trail()[..3], ["create a", "delete a: SuccessorAvailable", "create b"]);
    assert_eq!((story.worst().unavailable, story.worst().surging), (0, 1));
}

#[test]
fn as_many_nodes_as_max_surge_run_two_pods() {
    let mut story = cluster(["a", "b", "c", "d"], surging("50%"));
    story.update("v2");
    story.is_complete("v2");
    assert_eq!((story.worst().unavailable, story.worst().surging), (0, 2));
}

#[test]
fn the_strategy_of_the_proposal_does_the_same() {
    let mut story = cluster(["a", "b"], json!({"type": "SurgingRollingUpdate"}));
    story.update("v2");
    story.is_complete("v2");
    assert_eq!((story.worst().unavailable, story.worst().surging), (0, 1));
}

#[test]
fn a_broken_version_takes_no_node_down_and_undo_removes_it() {
    let mut story = cluster(["a", "b"], surging(1));
    let before = story.uids();
    story.release("v2", Behaviour::broken());
    story.settle();
    assert_eq!(story.pods(), ["a: v1 available", "a: v2 not ready", "b: v1 available"]);
    assert_eq!(story.rollout_status(), "0 of 2 updated");
    story.undo();
    story.is_complete("v1");
    assert_eq!((story.uids(), story.worst().unavailable), (before, 0));
}

#[test]
fn switching_to_surge_midway_takes_no_further_node_down() {
    let mut story = cluster(["a", "b", "c"], rolling(1));
    story.update("v2");
    story.until(|story| story.has("a: v2 available"));
    story.switch(surging(1));
    story.is_complete("v2");
    assert!(story.worst().surging <= 1 && story.worst().unavailable <= 1);
}

#[test]
fn switching_away_midway_removes_the_extra_pods_and_continues() {
    for moment in ["a: v2 unscheduled", "a: v2 starting", "a: v2 not ready", "a: v2 available"] {
        let mut story = cluster(["a", "b", "c"], surging(2));
        story.update("v2");
        story.until(|story| story.has(moment));
        story.switch(rolling(1));
        story.is_complete("v2");
        assert!(story.worst().unavailable <= 1, "{moment}: {:?}", story.worst());
    }
}

#[test]
fn a_host_port_causes_a_warning_and_stops_a_surge_until_replacing() {
    let mut story = cluster(["a", "b"], surging(1));
    let port = json!([{"containerPort": 80, "hostPort": 9100}]);
    story.change("v2", Behaviour::default(), |spec| spec["containers"][0]["ports"] = port);
    story.is_complete("v2");
    story.mark();
    story.update("v3");
    story.settle();
    assert_eq!(story.pods(), ["a: v2 available", "a: v3 unscheduled", "b: v2 available"]);
    let warnings = story.cluster.plan().unwrap().unwrap().warnings;
    assert_eq!(json!(warnings), json!([{"type": "HostPortWithSurge", "port": 9100}]));
    assert_eq!(story.worst().unavailable, 0);
    story.switch(rolling(1));
    story.is_complete("v3");
}

/// The controller runs in the only pod of the DaemonSet that it controls, so that it works only while a pod is
/// available.
fn self_hosted(strategy: serde_json::Value) -> Story {
    let mut settings = Settings::default();
    settings.controller.restart = SignedDuration::from_hours(24 * 365);
    let start: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    let mut story = Story::of(Cluster::with_settings(settings, 7, start));
    story.cluster.add_node("control-plane", Default::default());
    story.install(strategy, template("v1"));
    story.settle();
    story.mark();
    story.update("v2");
    for _ in 0..200 {
        if story.cluster.next_at().is_none_or(|at| at > start + SignedDuration::from_hours(24)) {
            break;
        }
        story.step();
        if !story.pods().iter().any(|pod| pod.ends_with(" available")) {
            story.cluster.crash_controller();
        }
    }
    story
}

#[test]
fn on_a_single_control_plane_node_the_controller_replaces_itself() {
    let story = self_hosted(surging(1));
    assert_eq!(story.pods(), ["control-plane: v2 available"]);
    assert_eq!((story.rollout_status().as_str(), story.worst().unavailable), ("done", 0));
}

#[test]
fn replacing_ends_the_only_controller_of_a_single_control_plane_node() {
    let story = self_hosted(rolling(1));
    assert_eq!(story.pods(), [""; 0], "no controller is left to create the pod");
}
