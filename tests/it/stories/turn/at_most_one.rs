//! One name for each node: the API server itself refuses a second pod.

use crate::support::{Given, at, given, new, node, now, old, pod, rolling, surging};
use daemonset::outlook::{ObstacleKind, Obstacles};
use daemonset::{Action, ActionOutcome, Observed, Policy, Reconciler, Recording};
use jiff::SignedDuration;
use serde_json::json;

/// The name of each pod for node a.
const NAME: &str = "agent-rnz8k5bkvf";

fn named(given: Given) -> Given {
    given.policy(json!({"podNames": "OnePerNode"}))
}

#[test]
fn the_name_of_a_pod_is_that_of_its_node_whatever_the_revision() {
    let name = |given: &Given| {
        let plan = given.plan();
        let Some(Action::CreatePod { pod, .. }) = plan.actions.first() else { panic!("a pod is created") };
        pod.name().map(str::to_owned)
    };
    let fleet = named(given(rolling(1)).node(node("a")));
    assert_eq!(name(&fleet).as_deref(), Some(NAME));
    let older = fleet.with("/daemonSet/spec/template/spec/containers/0/image", json!("older"));
    assert_eq!(
        older.plan().actions.iter().filter(|action| matches!(action, Action::CreatePod { .. })).count(),
        1
    );
}

#[test]
fn nothing_is_created_while_a_pod_has_the_name() {
    for story in [old().terminating(10), old().failed().terminating(10)] {
        let given = named(given(rolling(1)).node(node("a").has(story.named(NAME))));
        assert_eq!(given.steps(), [""; 0]);
        assert_eq!(given.plan().warnings, []);
    }
}

#[test]
fn the_pod_of_another_owner_with_that_name_is_told() {
    let other = pod("x").named(NAME).owned_by("other");
    let given = named(given(rolling(1)).node(node("a")).stray("elsewhere", other));
    assert_eq!(given.steps(), [""; 0]);
    assert_eq!(json!(given.plan().warnings), json!([{"type": "NameTaken", "nodes": {"a": NAME}}]));
}

/// Nothing goes on until somebody acts: another plan would not help.
#[test]
fn a_node_whose_name_is_taken_is_an_obstacle() {
    let given = |other| named(given(rolling(1)).node(node("a")).stray("elsewhere", other));
    let obstacles = |given: &Given| Obstacles::new(&given.plan()).at(now(), SignedDuration::from_secs(600));
    let outcome = |given: &Given| json!(given.plan().report.nodes[0].outcome);
    let other = || pod("x").named(NAME).owned_by("other");
    let taken = given(other());
    assert_eq!(outcome(&taken), json!({"type": "NameTaken", "pod": NAME}));
    assert_eq!(obstacles(&taken), [ObstacleKind::NameTaken]);
    for ends in [other().terminating(30), new().named(NAME).failed().terminating(30)] {
        let ends = given(ends);
        assert_eq!(outcome(&ends), json!({"type": "WaitsForTermination", "overdueAt": at(30)}));
        assert_eq!(obstacles(&ends), [], "its name is free soon");
    }
}

#[test]
fn a_node_with_its_pod_needs_no_name() {
    let other = pod("x").named(NAME).owned_by("other");
    let given = named(given(rolling(1)).node(node("a").has(new())).stray("elsewhere", other));
    assert_eq!(given.plan().warnings, []);
}

#[test]
fn one_name_for_each_node_is_refused_under_surge() {
    assert!(named(given(surging(1))).problems()[0].starts_with("policy.podNames:"));
}

/// A stale cache did not show the pod: the create is refused, and nothing else follows from that.
#[test]
fn a_create_whose_name_is_there_already_does_not_end_the_plan() {
    let recording = named(given(rolling(1)).node(node("a")).node(node("b"))).recording();
    let Recording { daemon_set, nodes, pods, revisions, policy, now, .. } = &recording;
    let mut reconciler = Reconciler::new("uid-agent", Policy::clone(policy));
    let plan = reconciler.plan(Observed { daemon_set, nodes, pods, revisions }, *now).unwrap();
    let next = reconciler.record(&plan.actions[0], &ActionOutcome::AlreadyExists, *now);
    assert!(!next.ends_plan());
    assert!(reconciler.memory().is_empty());
}
