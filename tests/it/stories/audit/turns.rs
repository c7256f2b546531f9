//! Turns, pulls and changes in place: each list breaks one rule.

use super::{broken, create, delete, named};
use crate::support::{
    Given, NodeStory, PodStory, TURN_KEY, at, given, new, node, old, request, rolling, surging,
};
use daemonset::model::ObjectRef;
use daemonset::{Action, DeleteReason, TurnReason};
use daemonset_audit::{BudgetFigure, ViolationKind as Kind};
use serde_json::json;
use std::collections::BTreeMap;

fn turns(story: NodeStory) -> Given {
    given(rolling(1)).node(story).policy(json!({"turn": {"gates": ["backup"]}}))
}

/// A patch of this node with its own turn.
fn patch(on: &str, value: Option<String>, reason: TurnReason) -> Action {
    let node = ObjectRef { name: on.to_owned(), ..ObjectRef::default() };
    let annotations = BTreeMap::from([(format!("turn.daemonset/{TURN_KEY}"), value)]);
    Action::patch_node(node, None, annotations, reason)
}

fn begin(on: &str) -> Action {
    patch(on, Some(request(0)), TurnReason::TurnBegins)
}

fn end(on: &str) -> Action {
    patch(on, None, TurnReason::TurnEnds)
}

#[test]
fn a_pod_goes_in_its_turn_alone_and_once_the_gates_are_open() {
    let open = node("a").in_turn(60).open("backup", 60);
    assert_eq!(broken(&turns(open.has(old())), &[delete("a-1")]), []);
    assert_eq!(broken(&turns(node("a").has(old())), &[delete("a-1")]), [Kind::NotInTurn]);
    let closed = turns(node("a").in_turn(60).has(old()));
    assert_eq!(broken(&closed, &[delete("a-1")]), [Kind::GateClosed { gates: vec!["backup".to_owned()] }]);
    let kept = closed.policy(json!({"turn": "Keep"}));
    assert_eq!(broken(&kept, &[delete("a-1")]), [Kind::TurnsKept]);
}

#[test]
fn a_turn_begins_where_a_pod_would_go_and_within_its_limits() {
    let fleet = given(rolling(1)).nodes(["a", "b"], old().not_ready()).policy(json!({"turn": {}}));
    assert_eq!(broken(&fleet, &[begin("a")]), []);
    assert_eq!(broken(&fleet, &[begin("a"), begin("b")]), [Kind::TurnLimitExceeded { after: 2, limit: 1 }]);
    let ready = given(rolling(1)).node(node("a").has(new().not_ready())).node(node("b").has(old()));
    let exceeded =
        Kind::BudgetExceeded { figure: BudgetFigure::Unavailable, before: 1, after: 2, limit: 1, lost: 0 };
    assert_eq!(broken(&ready.policy(json!({"turn": {}})), &[begin("b")]), [exceeded]);
    let not_due = [Kind::TurnNotDue { reason: TurnReason::TurnBegins }];
    assert_eq!(broken(&turns(node("a").has(new())), &[begin("a")]), not_due, "its pod is new");
    let silent = node("a").ready("Unknown", Some(at(-60))).has(old());
    assert_eq!(broken(&turns(silent), &[begin("a")]), not_due, "it does not report");
    assert_eq!(broken(&given(rolling(1)).node(node("a").has(old())), &[begin("a")]), not_due, "no policy");
}

#[test]
fn a_turn_ends_where_nothing_is_left_to_do() {
    assert_eq!(broken(&turns(node("a").in_turn(60).has(new())), &[end("a")]), []);
    let not_due = [Kind::TurnNotDue { reason: TurnReason::TurnEnds }];
    assert_eq!(broken(&turns(node("a").in_turn(60)), &[end("a")]), not_due, "its pod is away");
    assert_eq!(broken(&turns(node("a").in_turn(60).has(old())), &[end("a")]), not_due, "its pod is old");
    let young = new().not_ready().created_ago(30);
    assert_eq!(broken(&turns(node("a").in_turn(60).has(young)), &[end("a")]), not_due, "not available");
}

#[test]
fn a_patch_changes_nothing_but_the_turn() {
    let story = node("a").in_turn(60).open("backup", 60).has(new());
    let annotations = [Kind::WrongPatch { field: "metadata.annotations" }];
    assert_eq!(broken(&turns(story), &[end("a")]), annotations, "the gate stays");
    let cordoned = node("a").cordoned().turn(&format!("{} cordoned", request(60))).has(new());
    let schedulable = [Kind::WrongPatch { field: "spec.unschedulable" }];
    assert_eq!(broken(&turns(cordoned), &[end("a")]), schedulable, "the cordon stays");
    let late = patch("a", Some(request(1)), TurnReason::TurnBegins);
    assert_eq!(broken(&turns(node("a").has(old())), &[late]), annotations, "it began before");
}

#[test]
fn a_node_in_turn_has_no_room_while_too_many_others_are_down() {
    let story = node("a").in_turn(60).open("backup", 60).has(old());
    let fleet = turns(story).node(node("b").has(new().not_ready()));
    let [Kind::BudgetExceeded { figure: BudgetFigure::Unavailable, limit: 1, .. }] =
        broken(&fleet, &[delete("a-1")])[..]
    else {
        panic!("it has no room");
    };
}

#[test]
fn a_ready_pod_stays_until_its_images_are_there() {
    let fleet =
        |pod: PodStory| given(rolling(1)).node(node("a").has(pod)).policy(json!({"pull": {"parallel": 1}}));
    assert_eq!(broken(&fleet(old()), &[delete("a-1")]), [Kind::NotPulled]);
    assert_eq!(broken(&fleet(old().not_ready()), &[delete("a-1")]), []);
}

#[test]
fn a_turn_begins_once_the_images_are_there_unless_its_pod_serves_nobody() {
    let policy = || json!({"pull": {"parallel": 1}, "turn": {}});
    let fleet = |pod: PodStory| given(rolling(1)).node(node("a").has(pod)).policy(policy());
    assert_eq!(broken(&fleet(old()), &[begin("a")]), [Kind::NotPulled]);
    assert_eq!(broken(&fleet(old().not_ready()), &[begin("a")]), []);
}

/// The new pod requests two processors; one is free beside the old pod's half.
fn full(pod: PodStory, policy: serde_json::Value) -> Given {
    let requests = |cpu: &str| json!({"name": "c", "image": "new", "resources": {"requests": {"cpu": cpu}}});
    let pod = pod.with("/spec/containers", json!([requests("500m")]));
    let template = "/daemonSet/spec/template/spec/containers";
    let stored = "/revisions/1/data/spec/template/spec/containers";
    let mut fleet = given(rolling(1)).node(node("a").has(pod)).policy(policy);
    for place in [template, stored] {
        fleet = fleet.with(place, json!([requests("2")]));
    }
    fleet.json["free"] = json!({"a": {"cpu": "1"}});
    fleet
}

#[test]
fn a_ready_pod_stays_while_its_successor_does_not_fit() {
    let lacks = [Kind::DoesNotFit { resource: "cpu".to_owned() }];
    let hold = || json!({"fit": "Hold"});
    assert_eq!(broken(&full(old(), hold()), &[delete("a-1")]), lacks);
    assert_eq!(broken(&full(old().not_ready(), hold()), &[delete("a-1")]), [], "it serves nobody");
    assert_eq!(broken(&full(old(), json!({})), &[delete("a-1")]), [], "nobody asks");
    let mut roomy = full(old(), hold());
    roomy.json["free"] = json!({"a": {"cpu": "1500m"}});
    assert_eq!(broken(&roomy, &[delete("a-1")]), [], "with the old pod's half it is enough");
}

#[test]
fn with_turns_it_is_asked_where_the_turn_begins() {
    let turns = |gates: &[&str]| json!({"fit": "Hold", "turn": {"gates": gates}});
    let lacks = [Kind::DoesNotFit { resource: "cpu".to_owned() }];
    assert_eq!(broken(&full(old(), turns(&["backup"])), &[begin("a")]), lacks);
    assert_eq!(broken(&full(old(), turns(&["drained"])), &[begin("a")]), [], "the node is emptied first");
    let mut begun = full(old(), turns(&[]));
    let key = format!("turn.daemonset/{TURN_KEY}");
    begun.json["nodes"][0]["metadata"]["annotations"] = json!({key: request(60)});
    assert_eq!(broken(&begun, &[delete("a-1")]), [], "its turn has begun");
}

#[test]
fn a_change_in_place_fits() {
    let running = old().runs("old", "runtime://1", 3600);
    let mut fleet = given(rolling(1)).node(node("a").has(running));
    fleet = fleet.policy(json!({"fit": "Hold", "inPlace": "IfPossible"}));
    fleet.json["free"] = json!({"a": {"pods": "-1"}});
    let change = fleet.plan().actions.into_iter().find(|a| matches!(a, Action::UpdatePodInPlace { .. }));
    assert_eq!(broken(&fleet, &[change.unwrap()]), []);
    let lacks = [Kind::DoesNotFit { resource: "pods".to_owned() }];
    assert_eq!(broken(&fleet, &[delete("a-1")]), lacks, "another pod does not");
}

#[test]
fn no_more_nodes_pull_than_the_policy_says() {
    let fleet = |parallel: u32| {
        given(rolling(1)).nodes(["a", "b"], old()).policy(json!({"pull": {"parallel": parallel}}))
    };
    let both = fleet(2).plan().actions;
    assert_eq!(broken(&fleet(2), &both), []);
    assert_eq!(broken(&fleet(1), &both), [Kind::TooManyPulls { pulling: 2, limit: 1 }]);
}

#[test]
fn only_a_pull_pod_is_deleted_as_one() {
    let fleet = given(rolling(1)).node(node("a").has(old().orphan().named("web").label("app", "web")));
    let delete = Action::delete_pod("a".into(), named("web"), DeleteReason::PullDone);
    assert_eq!(broken(&fleet, &[delete]), [Kind::ForeignObject]);
}

#[test]
fn a_pull_pod_is_deleted_once() {
    let labels = json!({"pull.daemonset/owner": "uid-agent", "pull.daemonset/revision": "old"});
    let pull = || old().orphan().named("pull").with("/metadata/labels", labels.clone());
    let fleet = |pull: PodStory| given(rolling(1)).node(node("a").has(new()).has(pull));
    let delete = || Action::delete_pod("a".into(), named("pull"), DeleteReason::PullDone);
    assert_eq!(broken(&fleet(pull()), &[delete()]), []);
    assert_eq!(broken(&fleet(pull()), &[delete(), delete()]), [Kind::DeletedTwice]);
    assert_eq!(broken(&fleet(pull().terminating(5)), &[delete()]), [Kind::AlreadyTerminating]);
    let mut in_flight = fleet(pull());
    in_flight.json["memory"] = json!({"turns": {"pullDeletes": {"uid-pull": {"at": at(-10)}}}});
    assert_eq!(broken(&in_flight, &[delete()]), [Kind::AlreadyTerminating]);
    let changed = pull().with("/metadata/labels", json!({})).changed(10, "old", "runtime://1");
    assert_eq!(broken(&fleet(changed), &[delete()]), [Kind::ForeignObject], "it pulls nothing");
}

#[test]
fn a_node_pulls_the_images_of_a_revision_once() {
    let fleet = given(rolling(1)).node(node("a").has(old())).node(node("b").has(old()));
    let fleet = fleet.policy(json!({"pull": {"parallel": 2}}));
    let again = |batch| {
        fleet.plan().actions.into_iter().find_map(|action| match action {
            Action::CreatePod { node, reason, pod, .. } => Some(Action::create_pod(node, batch, reason, pod)),
            _ => None,
        })
    };
    assert_eq!(broken(&fleet, &[again(0).unwrap(), again(1).unwrap()]), [Kind::SecondCreate]);
}

#[test]
fn a_pod_that_is_being_changed_in_its_place_stays_alone_under_surge_too() {
    let mut fleet = given(surging(1)).node(node("a").has(old()));
    let change = json!({"at": at(-10), "changedAt": at(-10)});
    fleet.json["memory"] = json!({"turns": {"inPlace": {"uid-a-1": change}}});
    assert_eq!(broken(&fleet, &[create("a")]), [Kind::NodeOccupied { pods: 1 }]);
}

#[test]
fn a_pod_that_settles_is_no_pod_that_works() {
    let settles = new().changed(10, "old", "runtime://1").runs("old", "runtime://1", 3600);
    let fleet = given(rolling(1)).node(node("a").has(settles)).node(node("b").has(old()));
    let exceeded =
        Kind::BudgetExceeded { figure: BudgetFigure::Unavailable, before: 1, after: 2, limit: 1, lost: 0 };
    assert_eq!(broken(&fleet, &[delete("b-1")]), [exceeded]);
}

/// The pull pod of node a with another value at one place.
fn pull_with(place: (&str, &str), value: serde_json::Value) -> Vec<Kind> {
    let fleet = given(rolling(1)).node(node("a").has(old())).policy(json!({"pull": {"parallel": 1}}));
    let create = fleet.plan().actions.into_iter().find(|action| matches!(action, Action::CreatePod { .. }));
    let Some(Action::CreatePod { node, batch, reason, pod, .. }) = create else { panic!("a pull pod") };
    let mut manifest = pod.to_value();
    manifest.pointer_mut(place.0).unwrap()[place.1] = value;
    let pod = serde_json::from_value(manifest).unwrap();
    broken(&fleet, &[Action::create_pod(node, batch, reason, pod)])
}

#[test]
fn a_pull_pod_pulls_the_images_of_its_revision_and_does_nothing_else() {
    let wrong = |field: &'static str| [Kind::WrongManifest { field }];
    let container = "/spec/containers/0";
    assert_eq!(pull_with((container, "image"), json!("new")), []);
    assert_eq!(pull_with((container, "image"), json!("old")), wrong("spec.containers"));
    assert_eq!(pull_with((container, "command"), json!(["/run"])), wrong("spec.containers"));
    assert_eq!(pull_with((container, "securityContext"), json!({})), wrong("spec.containers"));
    assert_eq!(pull_with(("/spec", "restartPolicy"), json!("Always")), wrong("spec.restartPolicy"));
    assert_eq!(pull_with(("/spec", "activeDeadlineSeconds"), json!(1)), wrong("spec.activeDeadlineSeconds"));
    assert_eq!(pull_with(("/spec", "nodeName"), json!("a")), wrong("spec.nodeName"));
    assert_eq!(pull_with(("/spec", "tolerations"), json!([])), wrong("spec.tolerations"));
    assert_eq!(pull_with(("/spec", "hostPID"), json!(true)), wrong("spec: a field that a pull pod lacks"));
    let controlled = pull_with(("/metadata/ownerReferences/0", "controller"), json!(true));
    assert_eq!(controlled, wrong("metadata.ownerReferences"), "it would be a pod of the DaemonSet");
    assert_eq!(pull_with(("/metadata", "name"), json!("pull")), wrong("metadata.name"));
    assert_eq!(pull_with(("/metadata/labels", "app"), json!("agent")), wrong("metadata.labels"));
    assert_eq!(pull_with(("/metadata", "annotations"), json!({})), wrong("metadata.annotations"));
}

/// The pull pods of a plan share all but the node's part.
#[test]
fn the_pull_pod_of_each_node_is_its_own() {
    let fleet = given(rolling(1)).nodes(["a", "b", "c"], old()).policy(json!({"pull": {"parallel": 3}}));
    let plan = fleet.plan();
    let pulls = |change: &dyn Fn(&mut [Action])| {
        let pulls = plan.actions.iter().filter(|action| matches!(action, Action::CreatePod { .. }));
        let mut pulls: Vec<Action> = pulls.cloned().collect();
        assert_eq!(pulls.len(), 3);
        change(&mut pulls);
        broken(&fleet, &pulls)
    };
    assert_eq!(pulls(&|_| {}), []);
    let of_b = |pulls: &mut [Action]| {
        let [_, Action::CreatePod { pod: b, .. }, Action::CreatePod { pod: c, .. }] = pulls else { panic!() };
        std::mem::swap(b, c);
    };
    let wrong = |field: &'static str| Kind::WrongManifest { field };
    assert_eq!(pulls(&of_b), [wrong("metadata.name"), wrong("metadata.name")]);
    let elsewhere = |at: usize| {
        pulls(&move |pulls: &mut [Action]| {
            let Some(Action::CreatePod { pod, .. }) = pulls.get_mut(at) else { panic!() };
            let term = "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution/nodeSelectorTerms/0/matchFields/0/values/0";
            let mut manifest = pod.to_value();
            *manifest.pointer_mut(term).unwrap() = json!("x");
            *pod = serde_json::from_value(manifest).unwrap();
        })
    };
    for at in 0..3 {
        assert_eq!(elsewhere(at), [wrong("spec.affinity")], "{at}");
    }
}

#[test]
fn a_target_node_alone_pulls() {
    let policy = || json!({"pull": {"parallel": 1}});
    let create = given(rolling(1)).node(node("a").has(old())).policy(policy()).plan().actions;
    let tainted = given(rolling(1)).node(node("a").taint("x", "NoSchedule").has(old())).policy(policy());
    let create = create.into_iter().find(|action| matches!(action, Action::CreatePod { .. })).unwrap();
    assert_eq!(broken(&tainted, &[create]), [Kind::NotTargetNode]);
}

/// A gate that is overdue is not passed over before the node shows its turn: it holds the deadline of the rollout, for both.
#[test]
fn an_overdue_gate_whose_patch_is_in_flight_holds_the_deadline() {
    let turn = json!({"gates": ["backup"], "timeoutSeconds": 60, "onTimeout": "Proceed"});
    let fleet = given(rolling(2))
        .policy(json!({"rollout": {"onFailure": {"progressDeadlineSeconds": 120}}, "turn": turn}))
        .node(node("a").in_turn(130).has(old()))
        .node(node("b").has(old()))
        .with(
            "/revisions/1/metadata/annotations",
            json!({"rollout.daemonset/started": format!("2 {}", at(-1000))}),
        )
        .with("/memory", json!({"turns": {"patches": {"a": {"at": at(-130)}}}}));
    assert!(fleet.steps().contains(&"patch b: TurnBegins".to_owned()), "{:?}", fleet.steps());
    // Each plan of a story is audited.
    let seen = fleet.with("/memory", json!({}));
    assert!(!seen.steps().contains(&"patch b: TurnBegins".to_owned()), "{:?}", seen.steps());
}
