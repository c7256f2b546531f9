//! New images are pulled on a node before its Ready pod goes.

use super::{outcome, taken};
use crate::support::{
    Given, NodeStory, PodStory, at, given, new, node, old, on_delete, pod, rolling, surging,
};
use daemonset::{Action, CreateReason};
use serde_json::{Value, json};

/// The names of the pull pods of nodes a and b for the new revision.
const PULL_A: &str = "agent-pull-qnwtr87lww";
const PULL_B: &str = "agent-pull-hnss47j7lw";

fn pulls(given: Given) -> Given {
    given.policy(json!({"pull": {"parallel": 1}}))
}

/// A pull pod for the new revision that is so old, with this state of its container.
fn pull(name: &str, seconds: i64, state: Value) -> PodStory {
    let statuses = json!([{"name": "image-0", "state": state}]);
    let story = pod("x").named(name).created_ago(seconds).phase("Pending");
    let labels = json!({"pull.daemonset/owner": "uid-agent", "pull.daemonset/revision": "new"});
    story
        .with("/metadata/labels", labels)
        .with(
            "/metadata/ownerReferences",
            json!([{"kind": "DaemonSet", "name": "agent", "uid": "uid-agent"}]),
        )
        .with("/spec/containers", json!([{"name": "image-0", "image": "new"}]))
        .with("/status/containerStatuses", statuses)
}

fn waiting(reason: &str) -> Value {
    json!({"waiting": {"reason": reason}})
}

fn has_images(story: NodeStory, names: &[&str]) -> NodeStory {
    let mut story = story.condition("Ready", "True", None);
    story = story.with("/status/images", json!([{"names": names}]));
    story
}

#[test]
fn a_ready_pod_waits_until_the_images_of_its_successor_are_on_the_node() {
    let given = pulls(given(rolling(1)).node(node("a").has(old())));
    assert_eq!(given.steps(), ["create on a in batch 0: PullImages"]);
    assert_eq!(outcome(&given, "a"), json!({"type": "WaitsForPull"}));
}

#[test]
fn a_pull_pod_pulls_and_runs_nothing() {
    let given = pulls(given(rolling(1)).node(node("a").has(old())));
    let plan = given.plan();
    let manifest = plan.actions.iter().find_map(|action| match action {
        Action::CreatePod { pod, reason: CreateReason::PullImages, .. } => Some(pod.to_value()),
        _ => None,
    });
    let manifest = manifest.unwrap();
    assert_eq!(
        manifest["metadata"],
        json!({
            "name": PULL_A,
            "namespace": "ns",
            "labels": {"pull.daemonset/owner": "uid-agent", "pull.daemonset/revision": "new"},
            "annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"},
            "ownerReferences": [
                {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "uid-agent", "blockOwnerDeletion": true},
            ],
        })
    );
    assert_eq!(
        manifest["spec"]["containers"],
        json!([{
            "name": "image-0",
            "image": "new",
            "command": ["/pull-only"],
            "securityContext": {
                "allowPrivilegeEscalation": false,
                "capabilities": {"drop": ["ALL"]},
                "runAsNonRoot": true,
                "runAsUser": 65532,
                "seccompProfile": {"type": "RuntimeDefault"},
            },
        }])
    );
    let fields = [
        "restartPolicy",
        "automountServiceAccountToken",
        "enableServiceLinks",
        "terminationGracePeriodSeconds",
    ];
    let fields = fields.map(|field| manifest["spec"][field].clone());
    assert_eq!(fields, [json!("Never"), json!(false), json!(false), json!(0)]);
    assert_eq!(manifest["spec"]["activeDeadlineSeconds"], json!(600));
    assert_eq!(manifest["spec"]["affinity"], crate::support::affinity("a"));
}

#[test]
fn images_that_the_node_names_need_no_pull() {
    let fleet = |image: &str, names: &[&str]| {
        let story = has_images(node("a"), names).has(old());
        let fleet = pulls(given(rolling(1)).node(story));
        let fleet = fleet.with("/daemonSet/spec/template/spec/containers/0/image", json!(image));
        taken(&fleet)
    };
    assert_eq!(fleet("registry.example/agent:2", &["registry.example/agent:2"]), ["a-1"]);
    assert_eq!(fleet("registry.example/agent:2", &["registry.example/agent:1"]), [""; 0]);
    // The kubelet asks the registry again for these.
    assert_eq!(fleet("registry.example/agent", &["registry.example/agent"]), [""; 0]);
    assert_eq!(fleet("registry.example/agent:latest", &["registry.example/agent:latest"]), [""; 0]);
    let digest = format!("registry.example/agent@sha256:{}", "0".repeat(64));
    assert_eq!(fleet(&digest, &[&digest]), ["a-1"]);
}

#[test]
fn an_image_that_is_never_pulled_is_not_waited_for() {
    let given = pulls(given(rolling(1)).node(node("a").has(old())));
    let given = given.with("/daemonSet/spec/template/spec/containers/0/imagePullPolicy", json!("Never"));
    assert_eq!(taken(&given), ["a-1"]);
}

#[test]
fn a_pull_pod_tells_by_its_state_that_the_image_is_there() {
    let is_taken = |state: Value| {
        let story = node("a").has(old()).has(pull(PULL_A, 60, state));
        taken(&pulls(given(rolling(1)).node(story))) == ["a-1"]
    };
    assert!(is_taken(json!({"terminated": {"reason": "StartError"}})), "containerd");
    assert!(is_taken(waiting("CreateContainerError")), "CRI-O");
    assert!(!is_taken(json!({"terminated": {"reason": "ContainerStatusUnknown"}})));
    for reason in ["ContainerCreating", "ErrImagePull", "ImagePullBackOff", "InvalidImageName"] {
        assert!(!is_taken(waiting(reason)), "{reason}");
    }
}

#[test]
fn a_pull_is_waited_for_no_longer_than_its_time_and_the_plan_looks_again_then() {
    let fleet = |seconds| {
        let story = node("a").has(old()).has(pull(PULL_A, seconds, waiting("ImagePullBackOff")));
        pulls(given(rolling(1)).node(story))
    };
    assert_eq!(taken(&fleet(599)), [""; 0]);
    assert_eq!(fleet(599).plan().requeue_at(), Some(at(1)));
    assert_eq!(taken(&fleet(600)), ["a-1"]);
}

#[test]
fn the_place_of_a_node_that_waits_goes_to_the_next_one() {
    let fleet =
        given(rolling(1)).node(node("a").has(old()).has(pull(PULL_A, 60, waiting("ContainerCreating"))));
    let done = json!({"terminated": {"reason": "StartError"}});
    let given = pulls(fleet.node(node("b").has(old()).has(pull(PULL_B, 60, done))));
    assert_eq!(taken(&given), ["b-1"]);
}

#[test]
fn a_pod_that_is_not_ready_waits_for_no_image() {
    let given = pulls(given(rolling(1)).node(node("a").has(old().not_ready())));
    assert_eq!(given.steps(), ["delete a-1: OutdatedNotReady"]);
}

#[test]
fn no_more_nodes_pull_at_a_time_than_the_policy_says() {
    let fleet =
        given(rolling(1)).node(node("a").has(old()).has(pull(PULL_A, 60, waiting("ContainerCreating"))));
    let given = pulls(fleet.node(node("b").has(old())));
    assert_eq!(given.steps(), [format!("requeue at {}: PullTimeout", at(540))]);
    let two = given.policy(json!({"pull": {"parallel": 2}}));
    assert_eq!(two.steps()[0], "create on b in batch 0: PullImages");
}

/// Neither pod is Ready, so that none waits for its own pull.
#[test]
fn the_plan_looks_again_when_the_place_of_a_pull_is_free() {
    let pulling = pull(PULL_A, 60, waiting("ContainerCreating"));
    let fleet = given(rolling(1)).node(node("a").has(old().not_ready()).has(pulling)).node(node("b"));
    let fleet = fleet.node(node("c").has(old().not_ready()));
    let given = fleet.policy(json!({"pull": {"parallel": 1}, "unready": "WithinBudget"}));
    assert_eq!(given.plan().requeue_at(), Some(at(540)));
}

#[test]
fn a_pull_whose_time_is_over_holds_no_place() {
    let fleet =
        given(rolling(1)).node(node("a").has(old()).has(pull(PULL_A, 601, waiting("ContainerCreating"))));
    let steps = pulls(fleet.node(node("b").has(old()))).steps();
    assert_eq!(steps, ["delete a-1: OutdatedAvailable", "create on b in batch 0: PullImages"]);
}

#[test]
fn nodes_in_turn_pull_first() {
    let fleet = given(rolling(2)).node(node("a").has(old())).node(node("b").in_turn(10).has(old()));
    let given = fleet.policy(json!({"pull": {"parallel": 1}, "turn": {}}));
    assert_eq!(given.steps(), ["create on b in batch 0: PullImages"]);
    assert_eq!(outcome(&given, "b"), json!({"type": "WaitsForPull"}));
}

#[test]
fn pulls_go_on_while_the_policy_of_turns_can_not_be_read() {
    let fleet = given(rolling(2)).node(node("a").has(old()));
    let given = fleet.policy(json!({"pull": {"parallel": 1}, "turn": "Keep"}));
    assert_eq!(given.steps(), ["create on a in batch 0: PullImages"]);
    assert_eq!(outcome(&given, "a"), json!({"type": "TurnsKept"}));
}

#[test]
fn a_pull_pod_goes_when_nobody_waits_for_it() {
    let done = || pull(PULL_A, 60, json!({"terminated": {"reason": "StartError"}}));
    let expected = format!("delete {PULL_A}: PullDone");
    let updated = pulls(given(rolling(1)).node(node("a").has(new()).has(done())));
    assert_eq!(updated.steps(), [expected.as_str()]);
    let older = done().label("pull.daemonset/revision", "older");
    let of_another_revision = pulls(given(rolling(1)).node(node("a").has(old()).has(older)));
    assert!(of_another_revision.steps().contains(&expected));
    let no_policy = given(rolling(1)).node(node("a").has(old()).has(done())).steps();
    assert!(no_policy.contains(&expected));
    let inert = pulls(given(surging(1)).node(node("a").has(old()).has(done()))).steps();
    assert!(inert.contains(&expected));
    let nowhere = pulls(given(rolling(1)).stray("gone", done())).steps();
    assert_eq!(nowhere, [expected.as_str()]);
}

#[test]
fn pulls_are_inert_under_surge_and_on_delete() {
    let fleet = |strategy| pulls(given(strategy).node(node("a").has(old()))).steps();
    assert_eq!(fleet(surging(1)), ["create on a in batch 0: Surge"]);
    assert_eq!(fleet(on_delete()), [""; 0]);
}

#[test]
fn pull_pods_come_behind_all_others_in_the_cap() {
    let fleet = given(rolling(2)).node(node("a")).node(node("b").has(old()));
    let given = fleet.policy(json!({"pull": {"parallel": 1}, "burst": 1}));
    assert_eq!(
        given.steps(),
        ["create on a in batch 0: MissingPod", &format!("requeue at {}: Burst", at(0))]
    );
}

#[test]
fn a_pull_pod_is_no_pod_of_the_daemon_set() {
    let given = pulls(given(rolling(1)).node(node("a").has(pull(PULL_A, 60, waiting("ContainerCreating")))));
    let steps = given.steps();
    assert_eq!(steps, ["create on a in batch 0: MissingPod", &format!("delete {PULL_A}: PullDone")]);
}

#[test]
fn choices_about_pulls_that_can_not_be_carried_out_are_refused() {
    let problem =
        |parallel: Value| given(rolling(1)).policy(json!({"pull": {"parallel": parallel}})).problems();
    assert!(problem(json!(0))[0].starts_with("policy.pull.parallel:"));
    assert!(problem(json!("0%"))[0].starts_with("policy.pull.parallel:"));
    let selector = json!({"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]});
    let matches = pulls(given(rolling(1)).with("/daemonSet/spec/selector", selector));
    assert!(matches.problems()[0].starts_with("policy.pull:"));
}

#[test]
fn the_creation_of_a_pull_pod_begins_the_progress_deadline_again() {
    let fleet = |seconds| {
        let rollout = json!({"onFailure": {"progressDeadlineSeconds": 300}});
        let story = node("a").has(old()).has(pull(PULL_A, seconds, waiting("ContainerCreating")));
        let mut fleet =
            given(rolling(1)).node(story).policy(json!({"pull": {"parallel": 1}, "rollout": rollout}));
        let started = json!({"rollout.daemonset/started": format!("2 {}", at(-3600))});
        fleet.json["revisions"][1]["metadata"]["annotations"] = started;
        fleet.steps().iter().any(|step| step.contains("RolloutFailed"))
    };
    assert_eq!([fleet(299), fleet(300)], [false, true]);
}

/// The refusal of a pull pod counts for half an hour: then the candidate lacks its images again.
#[test]
fn a_refused_pull_is_tried_again() {
    let fleet = pulls(given(rolling(1)).node(node("a").has(old())).node(node("b").has(new().not_ready())))
        .with("/memory", json!({"turns": {"refusedPulls": {PULL_A: at(-60).to_string()}}}));
    assert_eq!(fleet.steps(), ["requeue at 2026-01-01T12:29:00Z: RetryDue"]);
    let later = fleet.with("/now", json!(at(1740).to_string()));
    assert_eq!(later.steps(), ["create on a in batch 0: PullImages"]);
}

/// A person has copied a pull pod: whichever of them is late first ends the wait.
#[test]
fn two_pull_pods_of_a_node_give_one_plan_in_any_order() {
    let waits = || json!({"waiting": {"reason": "ContainerCreating"}});
    let fleet = |ages: [(&str, i64); 2]| {
        let pods = ages.map(|(name, seconds)| pull(name, seconds, waits()));
        let node = pods.into_iter().fold(node("a").has(old()), NodeStory::has);
        pulls(given(rolling(1)).node(node)).plan().requeue_at()
    };
    assert_eq!(fleet([(PULL_A, 100), ("copy", 500)]), Some(at(100)));
    assert_eq!(fleet([("copy", 500), (PULL_A, 100)]), Some(at(100)));
}

/// Nothing is taken, so that the end of the pull changes nothing.
#[test]
fn a_late_pull_wakes_nobody_where_turns_are_kept() {
    let pod = pull(PULL_A, 100, json!({"waiting": {"reason": "ContainerCreating"}}));
    let fleet = |policy| {
        given(rolling(1)).node(node("a").has(old()).has(pod.clone())).policy(policy).plan().requeue_at()
    };
    assert_eq!(fleet(json!({"pull": {"parallel": 1}})), Some(at(500)));
    assert_eq!(fleet(json!({"pull": {"parallel": 1}, "turn": "Keep"})), None);
}
