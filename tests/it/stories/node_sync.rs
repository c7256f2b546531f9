//! Missing and excess pods.

use crate::support::{apply, at, given, new, node, old, on_delete, pod, rolling, steps, surging};
use daemonset::{Action, Memory};
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
fn creates_go_out_in_growing_batches() {
    let mut fleet = given(on_delete());
    for n in 0..8 {
        fleet = fleet.node(node(&format!("n{n}")));
    }
    let batches: Vec<u32> = fleet
        .plan()
        .actions
        .iter()
        .filter_map(|action| match action {
            Action::CreatePod { batch, .. } => Some(*batch),
            _ => None,
        })
        .collect();
    assert_eq!(batches, [0, 1, 1, 2, 2, 2, 2, 3]);
}

#[test]
fn without_surge_a_terminating_pod_must_be_gone_first() {
    let leaving = |strategy| given(strategy).node(node("a").has(new().terminating(30))).steps();
    assert_eq!(leaving(rolling(1)), [""; 0]);
    assert_eq!(leaving(on_delete()), [""; 0]);
    assert_eq!(leaving(surging(1)), ["create on a in batch 0: MissingPod"]);
}

#[test]
fn a_pod_that_is_terminating_and_finished_is_as_good_as_gone() {
    let gone = given(rolling(1)).node(node("a").has(new().failed().terminating(-600)));
    assert_eq!(gone.steps(), ["create on a in batch 0: MissingPod"]);
    assert_eq!(gone.plan().status.unwrap().current_number_scheduled, 0);
}

#[test]
fn finished_pods_go_with_an_event_each() {
    let given = given(rolling(1))
        .node(node("a").has(new().succeeded()))
        .node(node("b").taint("x", "NoSchedule").has(new().failed()));
    assert_eq!(
        given.steps(),
        [
            "delete a-1: SucceededPod",
            "delete b-1: FailedPod (1 of 2)",
            "event Normal SucceededDaemonPod",
            "event Warning FailedDaemonPod",
        ]
    );
}

#[test]
fn with_surge_a_new_pod_need_not_wait_for_the_failed_one() {
    let given = given(surging(1)).node(node("a").has(new().failed()));
    assert_eq!(
        given.steps(),
        [
            "delete a-1: FailedPod (1 of 2)",
            "create on a in batch 0: MissingPod",
            "event Warning FailedDaemonPod"
        ]
    );
}

#[test]
fn failed_pods_of_a_node_go_together_and_count_as_one_failure() {
    let mut recording = given(rolling(1))
        .generation(7)
        .memory(&Memory::default())
        .node(node("a").has(new().failed()).has(new().failed()))
        .recording();
    let plan = daemonset::plan(&recording.snapshot().unwrap());
    assert_eq!(
        steps(&plan)[..2],
        ["delete a-1: FailedPod (1 of 7)".to_owned(), "delete a-2: FailedPod (1 of 7)".to_owned()]
    );
    apply(&mut recording, &plan);
    let memory = serde_json::to_value(&recording.memory).unwrap();
    assert_eq!(memory["failures"], json!({"a": {"generation": 7, "count": 1, "at": at(0)}}));
}

/// A memory in which node a has failed so often, the last time so many seconds ago.
fn failures(count: u32, ago: i64) -> Memory {
    serde_json::from_value(json!({"failures": {"a": {"generation": 2, "count": count, "at": at(-ago)}}}))
        .unwrap()
}

#[test]
fn the_back_off_doubles_from_one_second_to_fifteen_minutes() {
    for (count, seconds) in [(1, 1), (2, 2), (3, 4), (10, 512), (11, 900), (40, 900)] {
        let failed = || given(rolling(1)).node(node("a").has(new().failed()));
        let held = failed().memory(&failures(count, seconds - 1));
        assert_eq!(held.steps(), [format!("requeue at {}: BackOff", at(1))]);
        let free = failed().memory(&failures(count, seconds));
        assert_eq!(free.steps()[0], format!("delete a-1: FailedPod ({} of 2)", count + 1));
    }
}

#[test]
fn failures_are_forgotten_after_thirty_minutes_and_by_another_generation() {
    let failed = || given(rolling(1)).node(node("a").has(new().failed()));
    assert_eq!(failed().memory(&failures(9, 1799)).steps()[0], "delete a-1: FailedPod (10 of 2)");
    assert_eq!(failed().memory(&failures(9, 1800)).steps()[0], "delete a-1: FailedPod (1 of 2)");
    let edited = failed().generation(3).memory(&failures(9, 0));
    assert_eq!(edited.steps()[0], "delete a-1: FailedPod (1 of 3)");
}

#[test]
fn an_outdated_failed_pod_goes_at_once_and_counts_no_failure() {
    let given = given(rolling(1)).memory(&failures(9, 0)).node(node("a").has(old().failed()));
    assert_eq!(given.steps(), ["delete a-1: FailedPod", "event Warning FailedDaemonPod"]);
}

#[test]
fn a_node_whose_failed_pod_is_held_back_gets_no_new_pod() {
    for strategy in [rolling(1), surging(1)] {
        let given = given(strategy).memory(&failures(3, 0)).node(node("a").has(new().failed()));
        assert_eq!(given.steps(), [format!("requeue at {}: BackOff", at(4))]);
    }
}

#[test]
fn each_node_is_held_back_by_its_own_failures() {
    let entry = json!({"generation": 2, "count": 3, "at": at(0)});
    let memory: Memory = serde_json::from_value(json!({"failures": {"a": entry, "b": entry}})).unwrap();
    let failed = |name| node(name).has(new().failed()).has(new().failed());
    let given = given(surging(1)).memory(&memory).node(failed("a")).node(failed("b")).node(failed("c"));
    let steps = given.steps();
    assert!(
        !steps.iter().any(|step| step.contains(" a-") || step.contains(" b-") || step.contains("on b")),
        "{steps:?}"
    );
    assert_eq!(steps.iter().filter(|step| step.starts_with("delete c")).count(), 2);
    assert_eq!(steps.last().unwrap(), &format!("requeue at {}: BackOff", at(4)));
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
fn a_switch_away_from_surge_must_not_throw_both_pods_away() {
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
fn the_outdated_one_of_a_pair_goes_when_it_is_of_no_use() {
    let pair = |outdated, updated| {
        given(surging(1)).min_ready(60).node(node("a").has(outdated).has(updated)).steps()
    };
    assert_eq!(pair(old(), new()), ["delete a-1: SuccessorAvailable"]);
    assert_eq!(pair(old().not_ready(), new().not_ready()), ["delete a-1: NotReadyBesideSuccessor"]);
    assert_eq!(pair(old(), new().not_ready()), [""; 0]);
    assert_eq!(pair(old(), new().ready_for(59)), [format!("requeue at {}: MinReadySeconds", at(1))]);
}

#[test]
fn an_excluded_node_loses_all_pods_but_those_already_going() {
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
fn a_pod_that_waits_for_a_node_that_is_gone_is_deleted_and_a_bound_one_is_not() {
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
fn a_plan_holds_no_more_than_the_burst_and_asks_for_the_rest() {
    let mut fleet = given(rolling("100%")).policy(json!({"burst": 2}));
    for n in 0..3 {
        fleet = fleet.node(node(&format!("missing-{n}")));
    }
    fleet = fleet
        .node(node("a").has(old()))
        .node(node("b").has(new()).has(new()))
        .node(node("c").has(new()).has(new()));
    assert_eq!(
        fleet.steps(),
        [
            "delete b-2: ExcessPod".to_owned(),
            "delete c-2: ExcessPod".to_owned(),
            "create on missing-0 in batch 0: MissingPod".to_owned(),
            "create on missing-1 in batch 1: MissingPod".to_owned(),
            format!("requeue at {}: Burst", at(0)),
        ]
    );
}

#[test]
fn a_plan_that_is_just_full_asks_for_nothing() {
    let full = |burst: u32| {
        given(rolling("100%"))
            .policy(json!({"burst": burst}))
            .node(node("a").has(old()))
            .node(node("b").has(old()))
            .node(node("c"))
            .node(node("d"))
    };
    let requeues =
        |given: crate::support::Given| given.steps().iter().any(|step| step.starts_with("requeue"));
    assert!(!requeues(full(2)));
    assert!(requeues(full(1)));
    let deletes_only = given(rolling("100%"))
        .policy(json!({"burst": 1}))
        .node(node("a").has(old()))
        .node(node("b").has(old()));
    assert!(requeues(deletes_only));
    let creates_only = given(rolling(1)).policy(json!({"burst": 1})).node(node("a")).node(node("b"));
    assert!(requeues(creates_only));
}

#[test]
fn deletes_come_by_node_then_unknown_nodes_then_the_update() {
    let given = given(rolling(2))
        .node(node("c").has(old()))
        .node(node("b").has(new().named("z")).has(new().named("y")).has(new().named("x")))
        .node(node("a").taint("x", "NoExecute").has(new()))
        .stray("0-gone", new().unbound().named("w"))
        .stray("1-gone", new().unbound().named("v"));
    assert_eq!(
        given.steps(),
        [
            "delete a-1: NodeExcluded",
            "delete y: ExcessPod",
            "delete z: ExcessPod",
            "delete v: NodeGone",
            "delete w: NodeGone",
            "delete c-1: OutdatedAvailable",
        ]
    );
}

#[test]
fn the_cap_does_not_split_the_failed_pods_of_a_node() {
    let two = |name| node(name).has(new().failed()).has(new().failed());
    let given = given(rolling(1)).policy(json!({"burst": 3})).node(two("a")).node(two("b"));
    let deletes: Vec<_> = given.steps().into_iter().filter(|step| step.starts_with("delete")).collect();
    assert_eq!(deletes, ["delete a-1: FailedPod (1 of 2)", "delete a-2: FailedPod (1 of 2)"]);
    let more_than_fit = given.policy(json!({"burst": 1}));
    let deletes: Vec<_> =
        more_than_fit.steps().into_iter().filter(|step| step.starts_with("delete")).collect();
    assert_eq!(deletes, ["delete a-1: FailedPod (1 of 2)"]);
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
