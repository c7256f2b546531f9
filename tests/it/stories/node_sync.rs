//! Missing and excess pods.

use crate::support::{at, given, new, node, old, on_delete, pod, rolling, steps, surging};
use serde_json::json;

#[test]
fn a_target_node_without_a_pod_gets_one_and_others_do_not() {
    let given = given(on_delete())
        .node(node("b"))
        .node(node("a"))
        .node(node("tainted").taint("x", "NoSchedule"))
        .node(node("drained").taint("x", "NoExecute"));
    assert_eq!(given.steps(), ["create on a in batch 0: MissingPod", "create on b in batch 1: MissingPod"]);
}

#[test]
fn without_surge_a_terminating_pod_must_be_gone_first() {
    let leaving = |strategy| given(strategy).node(node("a").has(new().terminating(30))).steps();
    assert_eq!(leaving(rolling(1)), [""; 0]);
    assert_eq!(leaving(on_delete()), [""; 0]);
    assert_eq!(leaving(surging(1)), ["create on a in batch 0: MissingPod"]);
}

#[test]
fn of_several_pods_the_most_useful_one_stays() {
    let kept = |better: crate::support::PodStory, worse: crate::support::PodStory| {
        let steps = given(on_delete())
            .min_ready(60)
            .node(node("a").has(worse.named("worse")).has(better.named("better")))
            .steps();
        assert_eq!(steps[0], "delete worse: ExcessPod", "{steps:?}");
    };
    kept(old(), new().ready_for(10));
    kept(old().ready_for(10), new().not_ready());
    kept(new(), old());
    kept(new().not_ready(), old().not_ready());
    kept(new().pending(), new().unbound());
    kept(new().created_ago(100), new().created_ago(50));
    let by_name = given(on_delete()).node(node("a").has(new()).has(new())).steps();
    assert_eq!(by_name, ["delete a-2: ExcessPod"]);
}

#[test]
fn a_switch_away_from_surge_keeps_one_of_both_pods() {
    let both = || node("a").has(old().named("old")).has(new().not_ready().named("new"));
    let within = given(rolling(1)).node(both());
    assert_eq!(within.steps(), ["delete old: OutdatedAvailable"], "the new one stays");
    let spent = given(rolling(1)).node(both()).node(node("b").has(new().not_ready()));
    assert_eq!(spent.steps(), ["delete new: ExcessPod"], "the old one stays");
    let young =
        given(rolling(1)).min_ready(60).node(node("a").has(old().named("old")).has(new().ready_for(10)));
    assert_eq!(
        young.steps(),
        ["delete old: OutdatedAvailable".to_owned(), format!("requeue at {}: MinReadySeconds", at(50))],
        "and is waited for"
    );
    let third = given(rolling(1)).node(both().has(new().pending().named("third")));
    assert_eq!(third.steps(), ["delete third: ExcessPod", "delete old: OutdatedAvailable"]);
}

#[test]
fn surge_keeps_the_best_of_each_side() {
    let given = given(surging(1)).min_ready(60).node(
        node("a")
            .has(old().named("old-best"))
            .has(old().ready_for(10).named("old-worse"))
            .has(new().ready_for(10).named("new-best"))
            .has(new().not_ready().named("new-worse")),
    );
    assert_eq!(
        given.steps(),
        [
            "delete new-worse: ExcessPod".to_owned(),
            "delete old-worse: ExcessPod".to_owned(),
            format!("requeue at {}: MinReadySeconds", at(50)),
        ]
    );
}

#[test]
fn sides_of_a_surge_are_by_classification() {
    let by_generation = given(surging(1))
        .generation(5)
        .node(node("a").has(old().generation("5").not_ready().named("new")).has(old().named("old")));
    assert_eq!(
        by_generation.steps(),
        [""; 0],
        "both have the old hash, but one is updated by its generation"
    );
}

#[test]
fn the_outdated_pod_of_a_pair_is_deleted_once_it_is_superfluous() {
    let pair = |outdated, updated| {
        given(surging(1)).min_ready(60).node(node("a").has(outdated).has(updated)).steps()
    };
    assert_eq!(pair(old(), new()), ["delete a-1: SuccessorAvailable"]);
    assert_eq!(pair(old().not_ready(), new().not_ready()), ["delete a-1: NotReadyBesideSuccessor"]);
    assert_eq!(pair(old(), new().not_ready()), [""; 0]);
    assert_eq!(pair(old(), new().ready_for(59)), [format!("requeue at {}: MinReadySeconds", at(1))]);
}

#[test]
fn an_excluded_node_loses_all_pods_that_are_not_terminating() {
    let given = given(on_delete()).node(
        node("a")
            .taint("x", "NoExecute")
            .has(new())
            .has(old().failed())
            .has(new().succeeded())
            .has(old().terminating(30)),
    );
    assert_eq!(
        given.steps(),
        ["delete a-1: NodeExcluded", "delete a-2: NodeExcluded", "delete a-3: NodeExcluded"]
    );
}

#[test]
fn an_unbound_pod_of_a_gone_node_is_deleted_and_a_bound_one_is_not() {
    let given = given(on_delete())
        .stray("gone", new().unbound().named("waits"))
        .stray("gone", new().named("bound"))
        .stray("gone", new().unbound().terminating(30).named("going"));
    assert_eq!(given.steps(), ["delete waits: NodeGone"]);
}

#[test]
fn a_pod_without_a_target_is_reported_and_left_alone() {
    let lost = pod("old").unbound().named("lost");
    let nowhere = given(rolling(1)).stray("x", lost).with("/pods/0/spec", json!({}));
    let two = json!([{"key": "metadata.name", "operator": "In", "values": ["a", "b"]}]);
    let term = json!({"nodeSelectorTerms": [{"matchFields": two}]});
    let undecided = nowhere.clone().with(
        "/pods/0/spec",
        json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}}}),
    );
    for given in [nowhere, undecided] {
        let plan = given.plan();
        assert_eq!(steps(&plan), [""; 0]);
        let warning = json!([{"type": "NoTargetNodes"}, {"type": "PodsWithoutTarget", "pods": ["lost"]}]);
        assert_eq!(serde_json::to_value(&plan.warnings).unwrap(), warning);
    }
}

#[test]
fn a_pair_where_pods_may_only_stay_is_waited_for_too() {
    let pair = given(surging(1))
        .min_ready(60)
        .node(node("a").taint("x", "NoSchedule").has(old()).has(new().ready_for(10)));
    assert_eq!(pair.steps(), [format!("requeue at {}: MinReadySeconds", at(50))]);
    let verdict = serde_json::to_value(&pair.plan().report.nodes[0].outcome).unwrap();
    assert_eq!(verdict, json!({"type": "WaitsForMinReady", "until": at(50)}));
    let alone =
        given(surging(1)).min_ready(60).node(node("a").taint("x", "NoSchedule").has(new().ready_for(10)));
    assert_eq!(alone.steps(), [""; 0]);
}
