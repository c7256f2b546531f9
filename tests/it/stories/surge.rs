//! Create, then delete, within maxSurge.

use crate::support::{NodeStory, PodStory, at, given, new, node, now, old, pod, revision, rolling, surging};
use daemonset::Memory;
use daemonset::report::Warning;
use serde_json::json;

#[test]
fn an_updated_pod_comes_up_beside_the_outdated_one_within_max_surge() {
    let fleet = |limit| given(surging(limit)).nodes(["a", "b"], old());
    assert_eq!(fleet(1).steps(), ["create on a in batch 0: Surge"]);
    assert_eq!(fleet(2).steps(), ["create on a in batch 0: Surge", "create on b in batch 1: Surge"]);
}

#[test]
fn surge_is_on_above_zero_for_any_number_of_targets() {
    let zero = json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": "0%"}});
    assert_eq!(given(zero).node(node("a").has(old())).steps(), ["delete a-1: OutdatedAvailable"]);
    let excluded =
        given(surging("10%")).node(node("a").taint("x", "NoSchedule").has(old()).has(new().not_ready()));
    assert_eq!(excluded.steps(), [""; 0], "10 % of zero targets is zero, but a pair stays");
}

#[test]
fn the_proposals_strategy_surges_by_one_by_default() {
    let fleet = |strategy| given(strategy).nodes(["a", "b"], old()).steps().len();
    assert_eq!(fleet(json!({"type": "SurgingRollingUpdate"})), 1);
    let two = json!({"type": "SurgingRollingUpdate", "surgingRollingUpdate": {"maxSurge": "100%"}});
    assert_eq!(fleet(two), 2);
}

#[test]
fn a_node_counts_while_it_has_two_unfinished_pods() {
    let waits = |other: crate::support::NodeStory| {
        let given = given(surging(1)).node(node("z").has(old())).node(other);
        given.steps().iter().all(|step| !step.contains("on z"))
    };
    assert!(waits(node("a").has(old()).has(new().not_ready())), "an updated pod that is not available");
    assert!(waits(node("a").has(old()).has(new())), "a pair whose outdated pod this plan deletes");
    assert!(waits(node("a").has(new()).has(old().terminating(30))), "a terminating pod");
    assert!(waits(node("a").has(old().terminating(30))), "node sync's create beside a terminating pod");
    assert!(!waits(node("a").has(new()).has(old().terminating(0))), "an overdue pod is stuck");
    assert!(!waits(node("a").has(new()).has(old().failed())), "a finished pod runs no container");
    assert!(!waits(node("a").has(new())), "one pod");
    assert!(!waits(node("a").taint("x", "NoSchedule").has(old()).has(new().not_ready())), "no target node");
}

#[test]
fn a_pod_still_holds_its_place_until_its_deletion_is_visible() {
    let memory: Memory = serde_json::from_value(json!({"deletes": {"uid-a-2": now()}})).unwrap();
    let fleet =
        given(surging(1)).memory(&memory).node(node("a").has(new()).has(old())).node(node("z").has(old()));
    assert_eq!(fleet.steps(), [format!("requeue at {}: InFlightExpiry", at(300))]);
}

#[test]
fn a_plan_requeues_for_the_instant_when_a_stuck_pod_frees_its_place() {
    let stuck =
        given(surging(1)).node(node("a").has(old())).node(node("b").has(new()).has(old().terminating(20)));
    assert_eq!(stuck.steps(), [format!("requeue at {}: TerminationOverdue", at(20))]);
    let idle =
        given(surging(1)).node(node("a").has(new())).node(node("b").has(new()).has(old().terminating(20)));
    assert_eq!(idle.steps(), [""; 0], "no node waits for the place");
    let three = given(surging(1))
        .node(node("a").has(old()))
        .node(node("b").has(new()).has(old().terminating(20)).has(old().terminating(40)));
    assert_eq!(three.steps(), [format!("requeue at {}: TerminationOverdue", at(40))]);
    let pair = given(surging(1))
        .node(node("a").has(old()))
        .node(node("b").has(old()).has(new().not_ready()).has(old().terminating(20)));
    assert_eq!(pair.steps(), [""; 0], "the node has two pods even if the third is overdue");
}

#[test]
fn a_missing_pod_never_waits_for_max_surge() {
    let given = given(surging(1)).node(node("a").has(old()).has(new().not_ready())).node(node("b"));
    assert_eq!(given.steps(), ["create on b in batch 0: MissingPod"]);
}

#[test]
fn an_outdated_pod_that_is_not_ready_needs_no_surge() {
    let given = given(surging(1))
        .node(node("b").has(old().pending()))
        .node(node("a").has(old().not_ready()))
        .node(node("c").has(old()).has(new().not_ready()));
    assert_eq!(given.steps(), ["delete a-1: OutdatedNotReady", "delete b-1: OutdatedPending"]);
}

#[test]
fn available_pods_come_last_and_the_furthest_behind_first() {
    let given = given(surging(3))
        .min_ready(60)
        .revisions([revision("older", 1), revision("old", 2), revision("new", 3)])
        .node(node("a").has(old()))
        .node(node("b").has(pod("older")))
        .node(node("c").has(old().ready_for(10)))
        .node(node("d").has(pod("unknown")));
    let creates: Vec<_> = given.steps().into_iter().filter(|step| step.starts_with("create")).collect();
    assert_eq!(
        creates,
        ["create on b in batch 0: Surge", "create on c in batch 1: Surge", "create on d in batch 1: Surge"]
    );
}

#[test]
fn a_node_with_another_unfinished_pod_or_a_failed_one_held_back_waits() {
    let leaving = given(surging(5)).node(node("a").has(old()).has(old().terminating(30)));
    assert_eq!(leaving.steps(), [""; 0]);
    let young = node("a").has(old().ready_for(10)).has(old().terminating(30));
    let steps = given(surging(5)).min_ready(60).node(young).steps();
    assert!(steps.iter().all(|step| !step.starts_with("create")), "{steps:?}");
    let failed = json!({"failures": {"a": {"generation": 2, "count": 5, "at": at(0)}}});
    let memory: Memory = serde_json::from_value(failed).unwrap();
    let held = given(surging(5)).memory(&memory).node(node("a").has(old()).has(new().failed()));
    assert_eq!(held.steps(), [format!("requeue at {}: BackOff", at(16))]);
    let goes_now = given(surging(5)).node(node("a").has(old()).has(new().failed()));
    assert_eq!(
        goes_now.steps(),
        ["delete a-2: FailedPod (1 of 2)", "create on a in batch 0: Surge", "event Warning FailedDaemonPod"]
    );
}

#[test]
fn max_unavailable_has_no_effect_under_surge() {
    let both = json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "100%", "maxSurge": 1}});
    let given = given(both).nodes(["a", "b"], old());
    assert_eq!(given.steps(), ["create on a in batch 0: Surge"]);
    assert_eq!(given.plan().warnings, [Warning::BothLimitsSet]);
}

#[test]
fn a_host_port_under_surge_causes_a_warning() {
    let ports =
        json!([{"name": "c", "ports": [{"containerPort": 80, "hostPort": 9100}, {"containerPort": 81}]}]);
    let warnings = |strategy| {
        let given = given(strategy).with("/daemonSet/spec/template/spec/containers", ports.clone());
        given.node(node("a")).plan().warnings
    };
    assert_eq!(json!(warnings(surging(1))), json!([{"type": "HostPortWithSurge", "port": 9100}]));
    assert_eq!(warnings(crate::support::rolling(1)), []);
}

#[test]
fn each_port_is_a_host_port_on_the_hosts_network() {
    let given = given(surging(1))
        .with("/daemonSet/spec/template/spec/hostNetwork", json!(true))
        .with("/daemonSet/spec/template/spec/containers/0/ports", json!([{"containerPort": 80}]));
    let warnings = given.node(node("a")).plan().warnings;
    assert_eq!(json!(warnings), json!([{"type": "HostPortWithSurge", "port": 80}]));
}

#[test]
fn a_node_lost_to_the_update_keeps_a_place_in_max_surge() {
    let fleet = |surge: u32| {
        let fleet = given(surging(surge)).node(node("a").not_ready().has(new().not_ready()));
        fleet.nodes(["b", "c"], old()).steps()
    };
    assert_eq!(fleet(1), [""; 0]);
    assert_eq!(fleet(2), ["create on b in batch 0: Surge"]);
}

/// With a template that tolerates every taint, nodes stay targets when they go down. Their outdated pods are not Ready
/// then, and are deleted.
#[test]
fn a_target_node_lost_to_the_update_keeps_its_place_when_its_pair_is_gone() {
    let given = |down: NodeStory| {
        let given = given(surging(1)).tolerates(json!([{"operator": "Exists"}]));
        given.node(down).node(node("b").has(old()))
    };
    let fleet = |down| given(down).plan();
    let lost = fleet(node("a").not_ready().has(new().not_ready()));
    assert_eq!(crate::support::steps(&lost), [""; 0]);
    let held = json!({"type": "HeldByMaxSurge", "used": 1, "limit": 1});
    assert_eq!(json!(lost.report.nodes[1].outcome), held);
    let pair = fleet(node("a").not_ready().has(new().not_ready()).has(old().not_ready().terminating(30)));
    let budget = pair.report.budget.unwrap();
    assert_eq!((budget.surging, budget.down_after_update), (1, 0), "a pair counts once");
    let goes_on = ["create on b in batch 0: Surge"];
    let broken = fleet(node("a").has(new().not_ready()));
    assert_eq!(crate::support::steps(&broken), goes_on, "the node is up");
    let others = json!([
        {"key": "dedicated", "effect": "NoSchedule"},
        {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"},
    ]);
    let untainted = given(node("a").not_ready().has(new().not_ready())).with("/nodes/0/spec/taints", others);
    assert_eq!(untainted.steps(), goes_on, "the node has no taint for its condition");
}

/// Kubernetes' TestDaemonSetRollingUpdateWithTolerations: the tolerations of the template move from zone y to zone z.
#[test]
fn tolerations_that_move_to_other_nodes_leave_nobody_without_a_daemon() {
    let zone = |name: &str, taint: &str| node(name).taint(taint, "NoSchedule");
    let leaving = |name: &str| zone(name, "y").has(old().tolerates("y"));
    let moved = || given(surging(1)).tolerates(json!([{"key": "z", "operator": "Exists"}]));
    let begun = moved().node(leaving("y1")).node(leaving("y2")).node(zone("z1", "z")).node(zone("z2", "z"));
    let creates = ["create on z1 in batch 0: MissingPod", "create on z2 in batch 1: MissingPod"];
    assert_eq!(begun.steps(), creates, "no target node has an available pod: both nodes stay");
    let outcomes = begun.plan().report.nodes.into_iter().map(|node| node.outcome);
    let waits: Vec<_> = outcomes.take(2).map(|outcome| serde_json::to_value(outcome).unwrap()).collect();
    assert_eq!(waits, vec![json!({"type": "WaitsForTargets", "unavailable": 2, "leaving": 2}); 2]);

    let half = |pod| {
        moved().node(leaving("y2")).node(leaving("y1")).node(zone("z1", "z").has(pod)).node(zone("z2", "z"))
    };
    assert_eq!(
        half(new()).steps(),
        ["delete y1-1: TolerationWithdrawn", "create on z2 in batch 0: MissingPod"],
        "the first by name"
    );
    assert_eq!(half(new().not_ready()).steps(), ["create on z2 in batch 0: MissingPod"]);
    let done = moved().node(leaving("y1")).node(leaving("y2")).node(zone("z1", "z").has(new()));
    assert_eq!(done.steps(), ["delete y1-1: TolerationWithdrawn", "delete y2-1: TolerationWithdrawn"]);
}

#[test]
fn only_an_available_pod_under_surge_leaves_last() {
    let fleet = |strategy, pod: PodStory| {
        given(strategy).node(node("a")).node(node("m").taint("y", "NoSchedule").has(pod.tolerates("y")))
    };
    let gone = "delete m-1: TolerationWithdrawn";
    let create = "create on a in batch 0: MissingPod";
    assert_eq!(fleet(surging(1), old()).steps(), [create]);
    assert_eq!(fleet(surging(1), old().not_ready()).steps(), [gone, create], "it serves nobody");
    assert_eq!(fleet(rolling(1), old()).steps(), [gone, create]);
    let excluded = given(surging(1)).node(node("a")).node(node("m").taint("y", "NoExecute").has(old()));
    assert_eq!(excluded.steps(), ["delete m-1: NodeExcluded", create]);
}

#[test]
fn a_pair_on_a_node_that_leaves_ends_as_any_other() {
    let m = |updated: PodStory| {
        given(surging(1))
            .node(node("a"))
            .node(node("m").taint("y", "NoSchedule").has(old().tolerates("y")).has(updated))
    };
    let create = "create on a in batch 0: MissingPod";
    assert_eq!(m(new()).steps(), ["delete m-1: SuccessorAvailable", create]);
    assert_eq!(m(new().not_ready()).steps(), [create], "the outdated pod still serves");
}

/// A node that the policy lets alone goes after the others, whatever its name.
#[test]
fn a_node_in_maintenance_is_the_very_last_to_leave() {
    let leaving = |name: &str| node(name).taint("y", "NoSchedule").has(old().tolerates("y"));
    let fleet = given(surging(1))
        .policy(json!({"lifecycle": "Respect"}))
        .node(node("t"))
        .node(leaving("a").condition("Drained", "True", None))
        .node(leaving("b"));
    assert_eq!(fleet.steps(), ["delete b-1: TolerationWithdrawn", "create on t in batch 0: MissingPod"]);
}
