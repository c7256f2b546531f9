//! Pods that the update changes in their place, and the time until their new containers count.

use super::{outcome, running, taken};
use crate::support::{Given, NodeStory, PodStory, at, given, new, node, old, revision, rolling, surging};
use daemonset::Action;
use serde_json::{Value, json};

fn in_place(given: Given) -> Given {
    given.policy(json!({"inPlace": "IfPossible"}))
}

/// A new pod that was changed so many seconds ago, when it was `runtime://1`.
fn changed(seconds: i64) -> PodStory {
    new().changed(seconds, "old", "runtime://1")
}

fn on_a(pod: PodStory) -> Given {
    in_place(given(rolling(1)).node(node("a").has(pod)))
}

fn patch(given: &Given) -> Value {
    let plan = given.plan();
    let patch = plan.actions.iter().find_map(|action| match action {
        Action::UpdatePodInPlace { patch, .. } => Some(patch.clone()),
        _ => None,
    });
    patch.unwrap()
}

#[test]
fn a_new_image_is_put_into_the_pod_as_it_is() {
    let given = on_a(running());
    assert_eq!(given.steps(), ["change a-1 in place: OutdatedAvailable"]);
    assert_eq!(outcome(&given, "a"), json!({"type": "UpdateInPlace", "reason": "OutdatedAvailable"}));
    let mut patch = patch(&given);
    let since = patch["metadata"]["annotations"]["in-place.daemonset/since"].take();
    let since: Value = serde_json::from_str(since.as_str().unwrap()).unwrap();
    let was = json!({"c": {"id": "runtime://1", "imageID": "sha256:old"}});
    assert_eq!(since, json!({"at": at(0).to_string(), "containers": was, "restarts": {"c": 0}}));
    assert_eq!(
        patch,
        json!({
            "metadata": {
                "labels": {"controller-revision-hash": "new"},
                "annotations": {"in-place.daemonset/since": null},
            },
            "spec": {"containers": [{"name": "c", "image": "new"}]},
        })
    );
}

/// A template may have the label by itself, and a created pod has it then.
#[test]
fn a_generation_of_the_template_itself_stays() {
    let mut fleet = on_a(running().generation("7"));
    for template in ["/daemonSet/spec", "/revisions/0/data/spec", "/revisions/1/data/spec"] {
        let label = format!("{template}/template/metadata/labels/pod-template-generation");
        fleet = fleet.with(&label, json!("7"));
    }
    assert_eq!(patch(&fleet)["metadata"]["labels"], json!({"controller-revision-hash": "new"}));
}

#[test]
fn labels_and_annotations_of_the_template_follow_and_those_of_the_old_one_go() {
    let with_metadata = |version: &str, number, metadata: Value| {
        let mut revision = revision(version, number);
        revision["data"]["spec"]["template"]["metadata"] = metadata;
        revision
    };
    let old_metadata = json!({"labels": {"app": "agent", "was": "old"}, "annotations": {"note": "old"}});
    let new_metadata = json!({"labels": {"app": "agent", "is": "new"}, "annotations": {"note": "new"}});
    let pod =
        running().label("was", "old").with("/metadata/annotations", json!({"note": "old", "other": "stays"}));
    let given = on_a(pod)
        .revisions([with_metadata("old", 1, old_metadata), with_metadata("new", 2, new_metadata.clone())])
        .with("/daemonSet/spec/template/metadata", new_metadata);
    let patch = patch(&given);
    assert_eq!(
        patch["metadata"]["labels"],
        json!({"was": null, "is": "new", "controller-revision-hash": "new"})
    );
    let annotations = patch["metadata"]["annotations"].as_object().unwrap();
    assert_eq!(annotations.get("note"), Some(&json!("new")));
    assert_eq!(annotations.get("other"), None);
}

#[test]
fn another_change_of_the_template_deletes_the_pod() {
    let mut changed = revision("old", 1);
    changed["data"]["spec"]["template"]["spec"]["hostNetwork"] = json!(true);
    let given = on_a(running()).revisions([changed, revision("new", 2)]);
    assert_eq!(given.steps(), ["delete a-1: OutdatedAvailable"]);
}

/// A revision keeps the template as the API server of its time wrote it.
#[test]
fn a_null_member_of_an_old_template_is_no_change() {
    let had = |member: &str| {
        on_a(running()).with(&format!("/revisions/0/data/spec/template/{member}"), Value::Null).steps()
    };
    for member in ["metadata/creationTimestamp", "spec/tolerations", "spec/containers/0/resources"] {
        assert_eq!(had(member), ["change a-1 in place: OutdatedAvailable"], "{member}");
    }
}

#[test]
fn a_pod_that_can_not_be_changed_in_its_place_is_deleted() {
    let stories = [
        ("not bound", old().unbound()),
        ("does not run", running().phase("Pending")),
        (
            "its container is not known",
            old().with("/spec/containers", json!([{"name": "c", "image": "old"}])),
        ),
        ("it lacks a container", running().with("/spec/containers", json!([{"name": "d", "image": "old"}]))),
        ("it has the image already", running().with("/spec/containers/0/image", json!("new"))),
        (
            "its revision is not known",
            old().runs("old", "runtime://1", 60).label("controller-revision-hash", "x"),
        ),
        ("it settles", running().changed(5, "older", "runtime://1")),
    ];
    for (name, story) in stories {
        let steps = on_a(story).steps();
        assert!(steps[0].starts_with("delete a-1"), "{name}: {steps:?}");
    }
}

#[test]
fn a_pod_beside_another_one_is_deleted() {
    let steps = in_place(given(rolling(2)).node(node("a").has(running()).has(old().not_ready()))).steps();
    assert_eq!(steps, ["delete a-2: ExcessPod", "delete a-1: OutdatedAvailable"]);
}

#[test]
fn surge_and_the_default_change_no_pod_in_its_place() {
    let fleet = |strategy| given(strategy).node(node("a").has(running()));
    assert_eq!(fleet(rolling(1)).steps(), ["delete a-1: OutdatedAvailable"]);
    assert_eq!(in_place(fleet(surging(1))).steps(), ["create on a in batch 0: Surge"]);
}

#[test]
fn a_change_counts_in_the_budget_as_a_delete() {
    let fleet = in_place(given(rolling(1)).nodes(["a", "b"], running()));
    assert_eq!(taken(&fleet), ["a-1"]);
}

/// The kubelet kills, pulls and starts in one sync: condition Ready may stay True all the time (kubernetes#91667).
#[test]
fn a_changed_pod_counts_as_not_ready_until_its_new_container_runs() {
    let status = |pod: PodStory| {
        let status = on_a(pod).plan().status.unwrap();
        (status.number_ready, status.number_available)
    };
    assert_eq!(status(changed(10).runs("old", "runtime://1", 3600)), (0, 0), "the old container");
    assert_eq!(status(changed(10).runs("old", "runtime://2", 5)), (0, 0), "the old image, restarted");
    assert_eq!(status(changed(10).runs("new", "runtime://2", 5)), (1, 1));
}

#[test]
fn two_names_of_one_image_settle_after_a_minute() {
    let pod = |seconds| changed(seconds).runs("old", "runtime://2", 5);
    let early = on_a(pod(59)).plan();
    assert_eq!((early.status.as_ref().unwrap().number_ready, early.requeue_at()), (0, Some(at(1))));
    assert_eq!(on_a(pod(60)).plan().status.unwrap().number_ready, 1);
}

#[test]
fn a_changed_pod_becomes_available_after_min_ready_seconds_of_its_new_container() {
    let pod = |started| changed(100).runs("new", "runtime://2", started);
    let available = |started| on_a(pod(started)).min_ready(30).plan().status.unwrap().number_available;
    assert_eq!([available(29), available(30)], [0, 1]);
    assert_eq!(on_a(pod(29)).min_ready(30).plan().requeue_at(), Some(at(1)));
}

#[test]
fn the_rule_about_changed_pods_holds_without_the_policy() {
    let fleet = given(rolling(1)).node(node("a").has(changed(10).runs("old", "runtime://1", 3600)));
    assert_eq!(fleet.plan().status.unwrap().number_ready, 0);
}

#[test]
fn an_annotation_of_another_form_tells_nothing() {
    let forms = [
        json!("soon"),
        json!({"at": "soon", "containers": {}, "restarts": {}}),
        json!({
            "at": at(-10).to_string(), "containers": {"c": {"id": "runtime://1", "imageID": "sha256:old"}}, "restarts": {"c": -1},
        }),
    ];
    for form in forms {
        let pod = new().runs("old", "runtime://1", 3600);
        let pod = pod.with("/metadata/annotations", json!({"in-place.daemonset/since": form.to_string()}));
        assert_eq!(on_a(pod).plan().status.unwrap().number_ready, 1, "{form}");
    }
}

/// A planner never writes it. Read as a change, it would let minReadySeconds begin anew.
#[test]
fn an_annotation_without_a_container_is_none() {
    let available = |containers: Value| {
        let since =
            json!({"at": at(-10).to_string(), "containers": containers, "restarts": {"c": 2}}).to_string();
        let pod = new().runs("new", "runtime://2", 3600);
        let pod = pod.with("/metadata/annotations", json!({"in-place.daemonset/since": since}));
        let plan = on_a(pod).min_ready(30).plan();
        (plan.status.as_ref().unwrap().number_available, plan.requeue_at())
    };
    assert_eq!(available(json!({})), (1, None));
    assert_eq!(available(json!({"c": {"id": "runtime://1", "imageID": "sha256:old"}})), (0, Some(at(20))));
}

#[test]
fn a_pod_that_does_not_settle_for_ten_minutes_is_told() {
    let warnings = |seconds| json!(on_a(changed(seconds).runs("old", "runtime://1", 3600)).plan().warnings);
    assert_eq!(warnings(599), json!([]));
    assert_eq!(warnings(600), json!([{"type": "InPlaceStuck", "nodes": {"a": ["a-1"]}}]));
}

/// A fleet whose rollout fails after one restart.
fn judged(story: NodeStory) -> Given {
    let rollout = json!({"onFailure": {"maxRestarts": 0, "waitingSeconds": 0}});
    given(rolling("100%"))
        .node(story)
        .node(node("z").has(old()))
        .policy(json!({"inPlace": "IfPossible", "rollout": rollout}))
}

fn has_failed(given: &Given) -> bool {
    given.steps().iter().any(|step| step.contains("RolloutFailed"))
}

#[test]
fn the_change_itself_is_no_restart_that_fails_the_rollout() {
    let restarted = |count: i64| {
        let pod = changed(10)
            .runs("new", "runtime://2", 5)
            .with("/status/containerStatuses/0/restartCount", json!(count));
        has_failed(&judged(node("a").has(pod)))
    };
    assert_eq!([restarted(1), restarted(2)], [false, true]);
}

#[test]
fn while_a_pod_settles_only_the_reasons_of_a_new_image_fail_the_rollout() {
    let waits = |reason: &str| {
        let pod = changed(10).runs("old", "runtime://1", 3600);
        let pod = pod.with("/status/containerStatuses/0/state", json!({"waiting": {"reason": reason}}));
        has_failed(&judged(node("a").has(pod)))
    };
    assert_eq!([waits("CrashLoopBackOff"), waits("ImagePullBackOff")], [false, true]);
}

#[test]
fn a_changed_pod_is_as_old_as_its_change() {
    let fleet = |seconds| {
        let pod = changed(seconds).runs("new", "runtime://2", 5).not_ready();
        let rollout = json!({"onFailure": {"availableWithinSeconds": 60}});
        let policy = json!({"inPlace": "IfPossible", "rollout": rollout});
        let pod = pod.with("/status/conditions/0/lastTransitionTime", json!(at(-3600).to_string()));
        given(rolling("100%")).node(node("a").has(pod)).node(node("z").has(old())).policy(policy)
    };
    assert_eq!([has_failed(&fleet(59)), has_failed(&fleet(60))], [false, true]);
}

/// On the way back pods of the failed revision are deleted: it is no old one.
#[test]
fn a_pod_of_the_current_revision_is_not_changed_back_to_the_stable_revision() {
    let failed = |pod| {
        let mut current = revision("new", 2);
        current["metadata"]["annotations"] =
            json!({"rollout.daemonset/failed": format!("2 {} TooManyFailures", at(-60))});
        let policy = json!({"inPlace": "IfPossible", "rollout": {"onFailure": {"action": "RollBack"}}});
        given(rolling(1)).node(node("a").has(pod)).revisions([revision("old", 1), current]).policy(policy)
    };
    let steps = failed(new().runs("new", "runtime://1", 3600)).steps();
    assert_eq!(steps.last().unwrap(), "delete a-1: OutdatedAvailable");
}

#[test]
fn a_change_in_its_place_fits() {
    let mut fleet = on_a(running()).policy(json!({"inPlace": "IfPossible", "fit": "Hold"}));
    fleet.json["free"] = json!({"a": {"pods": "-1"}});
    assert_eq!(taken(&fleet), ["a-1"]);
}

#[test]
fn a_pod_is_changed_in_its_turn_alone() {
    let story = |story: NodeStory| {
        given(rolling(1)).node(story.has(running())).policy(json!({"inPlace": "IfPossible", "turn": {}}))
    };
    assert_eq!(story(node("a")).steps(), ["patch a: TurnBegins"]);
    assert_eq!(story(node("a").in_turn(10)).steps(), ["change a-1 in place: OutdatedAvailable"]);
}

/// Its condition Ready may have been True for long.
#[test]
fn a_pod_that_settles_has_not_been_ready_since_its_change() {
    let verdict = |pod| on_a(pod).plan().report.node("a").unwrap().pods[0].state;
    let settling = verdict(changed(30).runs("new", "runtime://1", 3600));
    assert_eq!(json!(settling), json!({"type": "NotReady", "since": at(-30).to_string()}));
    let settled = verdict(changed(30).runs("new", "runtime://2", 20));
    assert_eq!(json!(settled), json!({"type": "Available", "readySince": at(-20).to_string()}));
}

/// Anybody may write the annotation on a pod of their own.
#[test]
fn a_pod_of_another_owner_that_settles_wakes_nobody() {
    let settling = || new().runs("old", "runtime://2", 4).changed(5, "old", "runtime://1");
    assert_eq!(on_a(settling()).plan().requeue_at(), Some(at(55)));
    let other = settling().owned_by("uid-other");
    let fleet = given(rolling(1)).node(node("a").has(new().runs("new", "runtime://9", 3600)).has(other));
    assert_eq!(in_place(fleet).plan().requeue_at(), None);
}
