//! Issues of Kubernetes and OpenKruise, each replayed on the same cluster with both controllers: the model of v1.36,
//! and this crate.

use crate::support::{
    Controller, Given, Rollout, at, given, new, node, old, revision, rolling, steps, surging, upstream,
};
use daemonset::Action;
use daemonset::model::DaemonSetStatus;
use serde_json::json;

/// The actions of v1.36 for this snapshot, one line each, without the status.
fn theirs(given: &Given) -> Vec<String> {
    let mut plan = given.plan();
    plan.actions = upstream(&given.recording(), None);
    steps(&plan)
}

/// The status that v1.36 writes.
fn their_status(given: &Given) -> DaemonSetStatus {
    let written = upstream(&given.recording(), None).into_iter().find_map(|action| match action {
        Action::UpdateStatus { status, .. } => Some(status),
        _ => None,
    });
    written.unwrap()
}

fn under_both(story: impl Fn(Controller) -> Vec<usize>) -> [Vec<usize>; 2] {
    [Controller::Upstream, Controller::Ours].map(story)
}

/// kubernetes#123232: three nodes, maxUnavailable 1, three updates to versions that never become Ready. Each update
/// took down another healthy pod, because outdated pods that were not Ready did not count. #123233 fixed it before
/// v1.36: the first victim stays the only one with both controllers.
#[test]
fn updates_that_never_become_ready_take_no_further_node_down() {
    let serving = under_both(|controller| {
        let fleet = given(rolling(1)).nodes(["a", "b", "c"], old());
        let mut rollout = Rollout::of(&fleet, controller);
        let mut serving = Vec::new();
        for version in ["bad-1", "bad-2", "bad-3"] {
            rollout.edit(version);
            rollout.sync_and_run(4);
            serving.push(rollout.serving());
        }
        serving
    });
    assert_eq!(serving, [[2, 2, 2], [2, 2, 2]]);
}

/// kruise#1323, still present in v1.36: minReadySeconds 60, a DaemonSet is created on three nodes, all pods are Ready
/// at once, and 20 s later the template is edited. No pod is available yet, so v1.36 deletes all pods, although they
/// serve; this crate deletes one.
#[test]
fn a_second_edit_within_min_ready_seconds_takes_no_more_than_max_unavailable() {
    let serving = under_both(|controller| {
        let fleet = given(rolling(1)).min_ready(60).node(node("a")).node(node("b")).node(node("c"));
        let mut rollout = Rollout::of(&fleet, controller);
        rollout.sync();
        rollout.become_ready();
        rollout.wait(20);
        let before = rollout.serving();
        rollout.edit("second");
        rollout.sync();
        vec![before, rollout.serving()]
    });
    assert_eq!(serving, [[3, 0], [3, 2]]);
}

/// The same problem in one snapshot (deckhouse#5039): kubelets were restarted 10 s ago, which reset the time of every
/// Ready condition, and then the template changes.
#[test]
fn restarted_kubelets_make_no_pod_fair_game() {
    let young = || old().ready_for(10);
    let fleet = given(rolling(1)).min_ready(60).node(node("a").has(young())).node(node("b").has(young()));
    let resync = |seconds| format!("requeue at {}: MinReadySeconds", at(seconds));
    let all = ["delete a-1: OutdatedNotYetAvailable", "delete b-1: OutdatedNotYetAvailable", &resync(60)];
    assert_eq!(theirs(&fleet), all);
    assert_eq!(fleet.steps(), ["delete a-1: OutdatedNotYetAvailable", &resync(50)]);
}

/// kubernetes#77203: the node's clock is 2 s ahead, so that the pod became Ready "in 2 s". No event follows when the
/// pod becomes available, and the rollout stopped. Since #77208 v1.36 reconciles every minReadySeconds, here twice in
/// vain; this crate requeues for the exact instant.
#[test]
fn a_clock_that_is_ahead_delays_a_rollout_by_no_more_than_it_is_ahead() {
    let fleet = |now| {
        let fleet = given(rolling(1)).min_ready(60).with("/now", json!(at(now).to_string()));
        fleet.node(node("a").has(new().ready_for(-2))).node(node("b").has(old()))
    };
    let looks_again = |seconds| [format!("requeue at {}: MinReadySeconds", at(seconds))];
    assert_eq!(theirs(&fleet(0)), looks_again(60));
    assert_eq!(theirs(&fleet(60)), looks_again(120), "2 s too early, 58 s too late");
    assert_eq!(fleet(0).steps(), looks_again(62));
    assert_eq!(fleet(62).steps(), ["delete b-1: OutdatedAvailable"]);
}

/// kubernetes#111280: a user copies a revision under another name and hash, and the DaemonSet is rolled back to it.
/// v1.36 relabels every pod that lacks the kept hash, including the pods of the newer version: they are never replaced,
/// and the status reports all pods as updated. This crate relabels only the duplicate's own pods.
#[test]
fn a_duplicate_revision_makes_no_outdated_pod_updated() {
    let mut copy = revision("new", 3);
    copy["metadata"]["name"] = json!("agent-copy");
    copy["metadata"]["uid"] = json!("uid-copy");
    copy["metadata"]["labels"]["controller-revision-hash"] = json!("copy");
    let rolled_back = || {
        let fleet = given(rolling(1)).revisions([revision("new", 1), revision("old", 2), copy.clone()]);
        fleet.nodes(["a", "b"], old())
    };
    let outdated_pods_left = under_both(|controller| {
        let mut rollout = Rollout::of(&rolled_back(), controller);
        for _ in 0..8 {
            rollout.sync();
            rollout.become_ready();
        }
        let status = &rollout.recording.daemon_set.status;
        assert_eq!((status.updated_number_scheduled, status.number_available), (2, 2), "{controller:?}");
        vec![rollout.recording.pods.iter().filter(|pod| pod.metadata.name == "b-1").count()]
    });
    assert_eq!(outdated_pods_left, [[1], [0]]);
}

/// kubernetes#118823: maxSurge 1, and the new template no longer tolerates the taint of node m. The old pod stayed
/// there for ever. Since #119317 v1.36 deletes it once more pods are available than desired; this crate deletes it at
/// once.
#[test]
fn a_pod_whose_toleration_is_withdrawn_goes() {
    let fleet = given(surging(1))
        .node(node("a").has(new()))
        .node(node("b").has(old()))
        .node(node("m").taint("dedicated", "NoSchedule").has(old().tolerates("dedicated")));
    assert_eq!(theirs(&fleet), ["delete m-1: OutdatedAvailable", "create on b in batch 0: Surge"]);
    assert_eq!(fleet.steps(), ["delete m-1: TolerationWithdrawn", "create on b in batch 0: Surge"]);
}

/// A gap in #119317: here the taint is newer than the pod, which never tolerated it. v1.36 deletes the pod, too, with
/// and without surge, and the node loses its daemon; this crate keeps the pod, because it could not be created again.
#[test]
fn a_pod_that_could_not_come_back_stays() {
    for strategy in [rolling(1), surging(1)] {
        let cordoned =
            given(strategy).node(node("a").has(new())).node(node("m").taint("x", "NoSchedule").has(old()));
        assert_eq!(theirs(&cordoned), ["delete m-1: OutdatedAvailable"]);
        assert_eq!(cordoned.steps(), [""; 0]);
    }
}

/// kubernetes#122527: the updated pod is available, and the outdated one beside it waits in its preStop hook. v1.36
/// looks at the oldest pod of a node: `kubectl rollout status` waits until that pod is gone.
#[test]
fn a_lingering_outdated_pod_does_not_hide_the_updated_one() {
    let done = given(surging(1)).node(node("a").has(old().terminating(30)).has(new().created_ago(60)));
    let ours = done.plan().status.unwrap();
    assert_eq!((their_status(&done).updated_number_scheduled, ours.updated_number_scheduled), (0, 1));
}

/// The opposite case: the oldest pod is the updated one, but it is terminating with condition Ready still True. v1.36
/// reports the rollout as complete.
#[test]
fn a_rollout_is_not_complete_with_a_pod_that_is_going() {
    let going = given(rolling(1)).node(node("a").has(new().terminating(30)));
    let (theirs, ours) = (their_status(&going), going.plan().status.unwrap());
    assert_eq!((theirs.updated_number_scheduled, theirs.number_available), (1, 1));
    assert_eq!((ours.updated_number_scheduled, ours.number_available), (0, 0));
}

/// kubernetes#117204: node a died before the update. v1.36 deletes its outdated pod, which no kubelet ends, counts the
/// node for ever and never continues; this crate leaves the pod and continues.
#[test]
fn a_node_that_is_gone_before_the_update_does_not_stop_it() {
    let dead = |pod| node("a").taint("node.kubernetes.io/not-ready", "NoSchedule").has(pod);
    let before = given(rolling(1)).node(dead(old().not_ready())).node(node("b").has(old()));
    assert_eq!(theirs(&before), ["delete a-1: OutdatedNotReady"]);
    let after = given(rolling(1)).node(dead(old().not_ready().terminating(-60))).node(node("b").has(old()));
    assert_eq!(theirs(&after), [""; 0], "stuck");
    assert_eq!(before.steps(), ["delete b-1: OutdatedAvailable"]);
}

/// A reviewer's objection in #117658: the new version itself takes its node down (a kernel panic). The node gets a
/// NoSchedule taint for not being ready, and stops being a target node. v1.36 counts every pod there, and stops at the
/// first node; this crate counts a node that is lost to the update, and stops there, too.
#[test]
fn a_version_that_takes_its_node_down_stops() {
    let serving = under_both(|controller| {
        let fleet = given(rolling(1)).nodes(["a", "b", "c"], old());
        let mut rollout = Rollout::of(&fleet, controller);
        let mut serving = Vec::new();
        rollout.edit("panics");
        for _ in 0..3 {
            rollout.sync_and_run(2);
            rollout.take_nodes_of_new_pods_down();
            serving.push(rollout.serving());
        }
        serving
    });
    assert_eq!(serving, [[2, 2, 2], [2, 2, 2]]);
}

/// With a template that tolerates every taint, such nodes stay targets: then both controllers stop.
#[test]
fn a_version_that_takes_its_node_down_stops_where_the_template_tolerates_all() {
    let serving = under_both(|controller| {
        let fleet = given(rolling(1)).nodes(["a", "b"], old());
        let mut rollout = Rollout::of(&fleet, controller);
        rollout.edit("panics");
        rollout.recording.daemon_set.spec.template["spec"]["tolerations"] = json!([{"operator": "Exists"}]);
        for _ in 0..3 {
            rollout.sync_and_run(2);
            rollout.take_nodes_of_new_pods_down();
        }
        vec![rollout.serving()]
    });
    assert_eq!(serving, [[1], [1]]);
}

/// Under surge v1.36 does not stop: the outdated pod of such a node is not Ready either and is deleted, and the rest is
/// no pair. In this crate a lost node keeps its place in maxSurge.
#[test]
fn a_version_that_takes_its_node_down_stops_us_under_surge() {
    let serving = under_both(|controller| {
        let fleet = given(surging(1)).nodes(["a", "b"], old());
        let mut rollout = Rollout::of(&fleet, controller);
        rollout.edit("panics");
        for _ in 0..3 {
            rollout.sync_and_run(2);
            rollout.take_nodes_of_new_pods_down();
        }
        vec![rollout.serving()]
    });
    assert_eq!(serving, [[0], [1]]);
}
