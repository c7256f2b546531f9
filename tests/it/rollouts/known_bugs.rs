//! Issues of Kubernetes and OpenKruise, replayed as whole rollouts with this crate's controller.

use super::support::{Story, cluster, from};
use crate::random_lives::upstream::Upstream;
use crate::support::{at, given, new, node, old, pod, revision, rolling, surging};
use daemonset::policy::LifecyclePolicy;
use daemonset_sim::{Actor, Behaviour, Change, Distribution, Probability};
use jiff::SignedDuration;
use serde_json::json;

/// kubernetes#123232: three updates to versions that never become Ready took down three healthy pods.
#[test]
fn updates_that_never_become_ready_take_no_further_node_down() {
    let mut story = cluster(["a", "b", "c"], rolling(1));
    for version in ["bad-1", "bad-2", "bad-3"] {
        story.release(version, Behaviour::broken());
        story.settle();
        assert_eq!(story.worst().unavailable, 1, "{version}");
    }
    assert_eq!(story.pods(), ["a: bad-3 not ready", "b: v1 available", "c: v1 available"]);
    story.update("good");
    story.is_complete("good");
}

/// kruise#1323: a second update within minReadySeconds deleted every pod that was not available yet.
#[test]
fn a_second_update_within_min_ready_seconds_takes_one_node_at_a_time() {
    let mut story = cluster(["a", "b", "c"], rolling(1));
    story.update("v2");
    story.is_complete("v2");
    story.cluster.edit(|ds| ds.spec.min_ready_seconds = 3600);
    story.mark();
    story.update("v3");
    story.run(300);
    let ready =
        story.pods().iter().filter(|pod| pod.ends_with(" ready") && !pod.ends_with("not ready")).count();
    assert!(ready >= 2, "{:?}", story.pods());
    story.is_complete("v3");
}

/// kubernetes#77203: the clock of node a is 2 s ahead, and no event follows when its pod becomes available.
#[test]
fn a_rollout_goes_on_at_the_instant_when_a_pod_becomes_available() {
    let ahead = new().ready_for(-2);
    let mut story =
        from(&given(rolling(1)).min_ready(60).node(node("a").has(ahead)).node(node("b").has(old())));
    story.settle();
    let deleted =
        story.cluster.history().iter().find(|event| {
            event.by == Actor::Controller && matches!(event.change, Change::PodTerminating { .. })
        });
    assert_eq!(deleted.unwrap().t, at(62));
    story.is_complete("new");
}

/// kubernetes#111280: a user copies the old revision and then rolls back to it; the pods were only relabelled.
#[test]
fn a_copied_revision_does_not_prevent_a_rollback_to_it() {
    let mut copy = revision("new", 3);
    copy["metadata"]["name"] = json!("agent-copy");
    copy["metadata"]["uid"] = json!("uid-copy");
    copy["metadata"]["labels"]["controller-revision-hash"] = json!("copy");
    let fleet = given(rolling(1)).revisions([revision("new", 1), revision("old", 2), copy]);
    let mut story = from(&fleet.nodes(["a", "b"], old()).node(node("c").has(pod("new"))));
    story.is_complete("new");
    assert_eq!(story.deletes(), ["delete a: OutdatedAvailable", "delete b: OutdatedAvailable"]);
    assert_eq!(story.revisions(), ["2: old", "3: new"]);
}

/// kubernetes#118823: the new template no longer tolerates the taint of the control plane. The old pod stayed there and
/// blocked the surge.
#[test]
fn a_withdrawn_toleration_removes_the_pod_and_the_rollout_continues() {
    for strategy in [surging(1), rolling(1)] {
        let mut story = cluster(["a", "b", "m"], strategy);
        story.change("v2", Behaviour::default(), |spec| {
            spec["tolerations"] = json!([{"key": "master", "operator": "Exists"}]);
        });
        story.is_complete("v2");
        story.cluster.taint("m", "master", "NoSchedule");
        story.settle();
        story.change("v3", Behaviour::default(), |spec| spec["tolerations"] = json!([]));
        story.is_complete("v3");
        assert_eq!(story.pods(), ["a: v3 available", "b: v3 available"]);
    }
}

/// kubernetes#122527: an outdated pod that takes long to stop hid the updated one beside it from the status.
#[test]
fn the_rollout_is_done_while_an_outdated_pod_is_still_stopping() {
    let mut story = cluster(["a"], surging(1));
    let slow = Behaviour::default().stop(Distribution::fixed(SignedDuration::from_secs(25)));
    story.release("v2", slow);
    story.is_complete("v2");
    story.update("v3");
    story.until(|story| story.rollout_status() == "done" && story.has("a: v3 available"));
    assert_eq!(story.pods(), ["a: v2 terminating", "a: v3 available"]);
}

/// kubernetes#117204: a node goes down before its update, and can't be updated.
#[test]
fn a_node_that_goes_down_with_the_old_version_does_not_stop_the_rollout() {
    let mut story = cluster(["a", "b", "c", "z"], rolling(1));
    story.update("v2");
    story.until(|story| story.has("a: v2 available"));
    story.cluster.take_down("z");
    story.settle();
    assert_eq!(story.pods(), ["a: v2 available", "b: v2 available", "c: v2 available", "z: v1 not ready"]);
    assert_eq!(story.rollout_status(), "done");
}

/// The opposite case (kubernetes#117658, review): a node goes down with the new version, and the cause is unknown. The
/// node spends the budget until it is back or removed.
#[test]
fn a_node_that_goes_down_with_the_new_version_spends_the_budget_until_it_is_removed() {
    let mut story = cluster(["a", "b", "c"], rolling(1));
    story.update("v2");
    story.cluster.add_node("z", Default::default());
    story.until(|story| story.has("z: v2 available") && story.has("a: v2 available"));
    story.cluster.take_down("z");
    story.run(600);
    let updated = |story: &Story| story.pods().iter().filter(|pod| pod.contains("v2 available")).count();
    assert!(updated(&story) <= 2, "{:?}", story.pods());
    story.cluster.remove_node("z");
    story.settle();
    assert_eq!(story.pods(), ["a: v2 available", "b: v2 available", "c: v2 available"]);
}

fn panics() -> Behaviour {
    Behaviour::default().panics_node(Probability::ALWAYS)
}

/// The pod's tolerations decide whether a node that is down stays a target node; the rollout stops in both cases.
fn tolerate_everything(story: &mut Story) {
    let tolerant = |spec: &mut serde_json::Value| spec["tolerations"] = json!([{"operator": "Exists"}]);
    story.change("v2", Behaviour::default(), tolerant);
    story.is_complete("v2");
}

/// kubernetes#117658, review: the new version of a network agent panics its node. At most maxUnavailable nodes go down.
#[test]
fn a_version_that_panics_its_node_stops_after_max_unavailable_nodes() {
    let mut story = cluster(["a", "b", "c", "d"], rolling(2));
    tolerate_everything(&mut story);
    story.release("v3", panics());
    story.settle();
    assert_eq!(story.pods(), ["a: v3 not ready", "b: v3 not ready", "c: v2 available", "d: v2 available"]);
    assert_eq!((story.worst().taken_down, story.rollout_status().as_str()), (2, "2 of 4 updated"));

    let mut story = cluster(["a", "b", "c", "d"], rolling(2));
    story.release("v2", panics());
    story.settle();
    assert_eq!(story.pods(), ["a: v2 not ready", "b: v2 not ready", "c: v1 available", "d: v1 available"]);
}

/// Under surge at most maxSurge nodes go down, although each panic takes the old pod down, too.
#[test]
fn a_version_that_panics_its_node_stops_after_max_surge_nodes() {
    let up = |story: &Story| story.pods().iter().filter(|pod| pod.contains(" available")).count();
    let mut story = cluster(["a", "b", "c", "d"], surging(1));
    tolerate_everything(&mut story);
    story.release("v3", panics());
    story.settle();
    assert_eq!(up(&story), 3, "{:?}", story.pods());

    let mut story = cluster(["a", "b", "c", "d"], surging(1));
    story.release("v2", panics());
    story.settle();
    assert_eq!(up(&story), 3, "{:?}", story.pods());
}

/// The remedy: the old template is restored, and the lost nodes no longer count.
#[test]
fn undoing_a_version_that_panics_its_node_needs_no_budget() {
    let mut story = cluster(["a", "b", "c"], rolling(1));
    story.release("v2", panics());
    story.settle();
    story.undo();
    story.cluster.bring_up("a");
    story.settle();
    assert_eq!(story.pods(), ["a: v1 available", "b: v1 available", "c: v1 available"]);
}

/// kubernetes#122912, enhancements#6249: the kubelet of a node that shuts down rejects each pod, and a template that
/// tolerates everything gets it another one, without an end.
#[test]
fn a_node_that_shuts_down_gets_pod_after_pod_unless_the_policy_respects_it() {
    let created = |prepare: fn(&mut Story)| {
        let mut story = cluster(["a", "b"], rolling(1));
        story
            .change("v2", Behaviour::default(), |spec| spec["tolerations"] = json!([{"operator": "Exists"}]));
        story.is_complete("v2");
        prepare(&mut story);
        story.cluster.shut_down("a");
        let begun = story.cluster.history().len();
        let creates = |story: &mut Story, seconds| {
            story.run(seconds);
            let since = story.cluster.history()[begun..].iter();
            since
                .filter(|event| matches!(&event.change, Change::PodCreated(pod) if pod.node.as_str() == "a"))
                .count()
        };
        let (first, second) = (creates(&mut story, 3600), creates(&mut story, 3600));
        story.cluster.bring_up("a");
        story.run(1200);
        assert_eq!(story.pods(), ["a: v2 available", "b: v2 available"]);
        [first, second - first]
    };
    let respect: fn(&mut Story) = |story| {
        story.cluster.configure_controller(|c| c.policy.lifecycle = LifecyclePolicy::Respect);
    };
    let [first_hour, second_hour] = created(|story| story.cluster.set_planner(Upstream::default()));
    assert!(first_hour > 8 && second_hour > 2, "Kubernetes' own: {first_hour}, then {second_hour}");
    let [first_hour, second_hour] = created(|_| {});
    assert!(first_hour > 8 && second_hour > 2, "by default: {first_hour}, then {second_hour}");
    assert_eq!(created(respect), [0, 0]);
}
