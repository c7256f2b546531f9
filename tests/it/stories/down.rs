//! Nodes that went down before an update reached them.

use crate::support::{Given, NodeStory, PodStory, at, given, new, node, old, revision, rolling, surging};
use daemonset::Plan;
use serde_json::{Value, json};

const EXCUSES: &str = "ExcuseIfDownBefore";

/// A node that reports nothing since this many seconds, and whose taint the template of these stories tolerates.
fn down(name: &str, seconds: i64) -> NodeStory {
    node(name).ready("Unknown", Some(at(-seconds)))
}

/// The current revision was created an hour ago.
fn fleet(strategy: Value, policy: &str) -> Given {
    let mut current = revision("new", 2);
    current["metadata"]["creationTimestamp"] = json!(at(-3600));
    given(strategy).policy(json!({"downNodes": policy})).revisions([revision("old", 1), current])
}

fn figures(plan: &Plan) -> [u32; 4] {
    let budget = plan.report.budget.unwrap();
    [budget.unavailable, budget.not_ready, budget.being_replaced, budget.excused]
}

/// One node with this pod, down for this many seconds.
fn excused(pod: PodStory, seconds: i64) -> bool {
    let plan = fleet(rolling(1), EXCUSES).node(down("a", seconds).has(pod)).plan();
    let budget = plan.report.budget.unwrap();
    assert_eq!(budget.excused, budget.down_before, "with this policy, what is known is excused");
    budget.excused == 1
}

/// NVSentinel#1764: 20 of 288 nodes are dead, maxUnavailable is 5 %, and the template tolerates everything.
#[test]
fn dead_nodes_do_not_stop_a_rollout_if_the_policy_excuses_them() {
    let plan = |policy: &str| {
        let nodes = (0..288).map(|n| {
            let name = format!("node-{n:03}");
            if n < 20 { down(&name, 7200).has(old().not_ready()) } else { node(&name).has(old()) }
        });
        nodes.fold(fleet(rolling("5%"), policy), Given::node).plan()
    };
    let available =
        |plan: &Plan| plan.actions.iter().filter(|action| action.reason() == "OutdatedAvailable").count();
    let spent = json!([{"type": "BudgetSpentBeforeStart", "nodes": 20, "limit": 15}]);
    let counted = plan("Count");
    assert_eq!((available(&counted), figures(&counted)), (0, [20, 20, 0, 0]));
    assert_eq!(json!(counted.warnings), spent);
    let excused = plan(EXCUSES);
    assert_eq!((available(&excused), figures(&excused)), (15, [0, 0, 0, 20]));
    assert_eq!(json!(excused.warnings), spent);
    assert_eq!(excused.report.budget.unwrap().desired, 288, "D and M stay as they are");
}

#[test]
fn a_warning_needs_a_pod_that_waits() {
    let done =
        fleet(rolling(1), "Count").node(down("a", 7200).has(old().not_ready())).node(node("b").has(new()));
    assert_eq!(done.plan().warnings, []);
    let below =
        fleet(rolling(2), "Count").node(down("a", 7200).has(old().not_ready())).node(node("b").has(old()));
    assert_eq!(below.plan().warnings, []);
    let surge =
        fleet(surging(1), "Count").node(down("a", 7200).has(old().not_ready())).node(node("b").has(old()));
    let spent = json!([{"type": "BudgetSpentBeforeStart", "nodes": 1, "limit": 1}]);
    assert_eq!(json!(surge.plan().warnings), spent);
}

#[test]
fn a_node_that_went_down_with_its_outdated_pod_is_excused() {
    assert!(excused(old().not_ready(), 7200));
    assert!(excused(old().not_ready(), 60), "even during the rollout: nothing of it was there");
    assert!(excused(old().succeeded(), 60), "a finished pod shows as much");
}

#[test]
fn a_node_that_went_down_under_the_new_version_counts() {
    assert!(!excused(new().not_ready().created_ago(7201), 7200));
    assert!(
        excused(new().not_ready().created_ago(7200), 7200),
        "the pod came when the node was down already"
    );
    assert!(
        !excused(new().not_ready().created_ago(60), 60),
        "the revision is older: what was there before is unknown"
    );
    assert!(excused(new().not_ready().with("/metadata/creationTimestamp", Value::Null), 7200));
}

#[test]
fn a_node_whose_pod_was_deleted_before_it_went_down_counts() {
    let leaving = |asked: i64, grace: i64| {
        let pod = old().not_ready().terminating(grace - asked);
        pod.with("/metadata/deletionGracePeriodSeconds", json!(grace))
    };
    assert!(!excused(leaving(90, 30), 60));
    assert!(excused(leaving(60, 30), 60));
    assert!(!excused(old().not_ready().terminating(-90), 60), "an unknown grace period counts as none");
}

#[test]
fn a_node_with_nothing_of_the_past_counts_if_it_went_down_after_the_revision() {
    let plan =
        |seconds| fleet(rolling(1), EXCUSES).node(down("a", seconds)).plan().report.budget.unwrap().excused;
    assert_eq!((plan(3599), plan(3600)), (0, 1));
    let unknown = given(rolling(1)).policy(json!({"downNodes": EXCUSES})).node(down("a", 60));
    assert_eq!(unknown.plan().report.budget.unwrap().excused, 1, "an unknown creation bars nothing");
}

#[test]
fn a_node_is_excused_if_the_update_deleted_its_pod_while_it_was_down() {
    let plan = |taken: i64| {
        let memory =
            serde_json::from_value(json!({"taken": {"a": {"uid": "gone", "at": at(-taken)}}})).unwrap();
        fleet(rolling(1), EXCUSES).memory(&memory).node(down("a", 600)).plan().report.budget.unwrap()
    };
    assert_eq!((plan(599).excused, plan(601).excused), (1, 0));
    assert_eq!((plan(599).unavailable, plan(601).unavailable), (0, 1));
}

/// The first update took the node, and it went down for that. A second edit must not excuse it.
#[test]
fn a_node_that_went_down_after_an_update_took_it_counts_under_each_later_template() {
    let excused = |taken: i64| {
        let memory =
            serde_json::from_value(json!({"taken": {"a": {"uid": "gone", "at": at(-taken)}}})).unwrap();
        let story = down("a", 600).has(old().not_ready());
        fleet(rolling(1), EXCUSES).memory(&memory).node(story).plan().report.budget.unwrap().excused
    };
    assert_eq!((excused(601), excused(600)), (0, 1));
}

#[test]
fn an_unknown_instant_excuses_nobody_and_a_ready_node_needs_no_excuse() {
    let plan =
        |story: NodeStory| figures(&fleet(rolling(1), EXCUSES).node(story.has(old().not_ready())).plan());
    assert_eq!(plan(node("a").ready("False", None)), [1, 1, 0, 0]);
    assert_eq!(plan(node("a").ready("True", Some(at(-7200)))), [1, 1, 0, 0]);
    assert_eq!(plan(node("a").ready("False", Some(at(-7200)))), [0, 0, 0, 1]);
}

#[test]
fn a_down_node_with_a_ready_pod_counts_as_any_other() {
    let plan = fleet(rolling(1), EXCUSES).node(down("a", 7200).has(old())).plan();
    assert_eq!(figures(&plan), [0, 0, 0, 0]);
}

#[test]
fn an_excused_node_is_not_lost_under_surge_but_stays_surging() {
    let lost = |policy: &str| {
        let pod = new().not_ready().created_ago(60);
        let story = down("a", 600).taint("node.kubernetes.io/unreachable", "NoSchedule").has(pod);
        let given = fleet(surging(1), policy).node(story).node(node("b").has(old()));
        let tolerations = json!([{"operator": "Exists"}]);
        let plan = given.tolerates(tolerations).plan();
        (
            plan.report.budget.unwrap().down_after_update,
            plan.actions.iter().any(|action| action.reason() == "Surge"),
        )
    };
    assert_eq!((lost("Count"), lost(EXCUSES)), ((1, false), (0, true)));
    let pair = down("a", 600).has(old().not_ready().terminating(60)).has(old().not_ready());
    let plan = fleet(surging(1), EXCUSES).node(pair).node(node("b").has(old())).plan();
    let budget = plan.report.budget.unwrap();
    assert_eq!((budget.surging, budget.excused), (1, 1));
}
