//! Nodes that are drained, shut down or replaced.

use crate::support::{Given, NodeStory, at, given, new, node, old, rolling, surging};
use daemonset::report::NodeOutcome;
use serde_json::{Value, json};

fn fleet(strategy: Value, policy: &str) -> Given {
    given(strategy).policy(json!({"lifecycle": policy}))
}

fn drained(name: &str) -> NodeStory {
    node(name).condition("DrainInProgress", "True", Some(at(-600)))
}

/// kubernetes#122912: a kubelet that shuts down rejects each pod, and gets another one.
#[test]
fn a_node_that_shuts_down_gets_no_pod() {
    let story = |policy: &str| {
        let shuts_down = node("a").condition("GracefulNodeShutdownInProgress", "True", None);
        fleet(rolling(1), policy).node(shuts_down)
    };
    assert_eq!(story("Ignore").steps(), ["create on a in batch 0: MissingPod"]);
    assert_eq!(story("Respect").steps(), [""; 0]);
    let shuts_down = json!({"type": "LeftAlone", "lifecycle": "GracefulNodeShutdownInProgress"});
    assert_eq!(json!(story("Respect").plan().report.nodes[0].outcome), shuts_down);
}

#[test]
fn each_sign_of_leaving_is_respected_and_others_are_ignored() {
    let creates = |story: NodeStory| {
        let given = fleet(rolling(1), "Respect").node(story).tolerates(json!([{"operator": "Exists"}]));
        !given.steps().is_empty()
    };
    for condition in ["GracefulNodeShutdownInProgress", "DrainInProgress", "Drained", "MaintenanceInProgress"]
    {
        assert!(!creates(node("a").condition(condition, "True", None)), "{condition}");
        assert!(creates(node("a").condition(condition, "False", None)), "{condition} False");
        assert!(creates(node("a").condition(condition, "Unknown", None)), "{condition} Unknown");
    }
    for taint in ["karpenter.sh/disrupted", "ToBeDeletedByClusterAutoscaler"] {
        assert!(!creates(node("a").taint(taint, "NoSchedule")), "{taint}");
    }
    assert!(creates(
        node("a").condition("MemoryPressure", "True", None).taint("karpenter.sh/other", "NoSchedule")
    ));
}

fn left_alone() -> Value {
    json!({"type": "LeftAlone", "lifecycle": "DrainInProgress"})
}

/// Its pod could not be created again.
#[test]
fn the_ready_pod_of_a_node_that_leaves_stays() {
    for strategy in [rolling(3), surging(3)] {
        let given = fleet(strategy, "Respect").node(drained("a").has(old())).node(node("b").has(old()));
        let steps = given.steps();
        assert_eq!(steps.len(), 1, "{steps:?}");
        assert!(steps[0].contains(" b"), "{steps:?}");
        assert_eq!(json!(given.plan().report.nodes[0].outcome), left_alone());
    }
    let updated = fleet(rolling(1), "Respect").node(drained("a").has(new())).plan();
    assert_eq!(updated.report.nodes[0].outcome, NodeOutcome::UpToDate);
}

/// Without the pod its node would count, and no other pod could come.
#[test]
fn pods_of_nodes_that_leave_are_not_updated() {
    for strategy in [rolling(1), surging(1)] {
        let broken = |story: NodeStory| story.has(old().not_ready());
        let given = fleet(strategy, "Respect").node(broken(drained("a"))).node(broken(node("b")));
        assert_eq!(given.steps(), ["delete b-1: OutdatedNotReady"]);
    }
    let down = drained("a").ready("False", Some(at(-300)));
    let rolling = fleet(rolling(1), "Respect").node(down.has(old().not_ready())).node(node("b").has(old()));
    let plan = rolling.plan();
    assert_eq!(plan.actions[0].reason(), "OutdatedAvailable", "the budget is for other nodes");
    assert_eq!(json!(plan.report.nodes[0].outcome), left_alone());
}

#[test]
fn excess_pods_of_nodes_that_leave_go_last() {
    let excess = fleet(rolling(1), "Respect")
        .node(drained("a").has(new()).has(new()))
        .node(node("b").has(new()).has(new()));
    assert_eq!(excess.steps(), ["delete b-2: ExcessPod", "delete a-2: ExcessPod"]);
}

#[test]
fn a_node_that_leaves_is_excused_if_it_went_down_before() {
    let unavailable = |policy: &str, story: NodeStory| {
        fleet(rolling(1), policy).node(story).plan().report.budget.unwrap().unavailable
    };
    let down = |name: &str| drained(name).ready("False", Some(at(-300)));
    assert_eq!(unavailable("Respect", down("a").has(old().not_ready())), 0);
    assert_eq!(unavailable("Ignore", down("a").has(old().not_ready())), 1);
    assert_eq!(
        unavailable("Respect", down("a").has(new().not_ready().created_ago(301))),
        1,
        "the new version was there"
    );
    assert_eq!(
        unavailable("Respect", drained("a").has(old().not_ready())),
        1,
        "it is up: its pod may be ours to count"
    );
    assert_eq!(unavailable("Respect", down("a").has(old().failed())), 0, "a shutdown ends its pods");
}

#[test]
fn finished_pods_of_a_node_that_leaves_stay() {
    for pod in [old().failed(), old().succeeded(), new().failed()] {
        assert_eq!(fleet(rolling(1), "Respect").node(drained("a").has(pod)).steps(), [""; 0]);
    }
    let over = fleet(rolling(1), "Respect").node(node("a").has(old().failed()));
    assert_eq!(over.steps()[0], "delete a-1: FailedPod");
}
