//! Delete, then create, within maxUnavailable.

use crate::support::{NodeStory, at, given, new, node, old, on_delete, pod, revision, rolling};
use daemonset::Memory;
use daemonset::report::{Budget, NodeOutcome};
use serde_json::json;

#[test]
fn outdated_available_pods_are_deleted_within_the_budget() {
    let fleet = |limit| given(rolling(limit)).nodes(["a", "b"], old());
    assert_eq!(fleet(1).steps(), ["delete a-1: OutdatedAvailable"]);
    assert_eq!(fleet(2).steps(), ["delete a-1: OutdatedAvailable", "delete b-1: OutdatedAvailable"]);
    assert_eq!(fleet(0).steps(), ["delete a-1: OutdatedAvailable"], "with both limits 0 the limit is 1");
    let one = given(rolling(0)).node(node("a").has(old()));
    assert_eq!(one.steps(), ["delete a-1: OutdatedAvailable"], "also of the only node");
}

#[test]
fn an_unavailable_node_spends_the_budget_whatever_the_cause() {
    let outdated = || given(rolling(1)).node(node("a").has(old()));
    let create = "create on b in batch 0: MissingPod".to_owned();
    assert_eq!(outdated().node(node("b")).steps(), [create], "missing");
    for (why, pod) in [
        ("not ready", new().not_ready()),
        ("pending", new().unbound()),
        ("terminating, though its condition says Ready", new().terminating(30)),
    ] {
        assert_eq!(outdated().node(node("b").has(pod)).steps(), [""; 0], "{why}");
    }
    let excluded = outdated().node(node("b").taint("x", "NoSchedule"));
    assert_eq!(excluded.steps(), ["delete a-1: OutdatedAvailable"], "no target node");
}

#[test]
fn a_pod_that_is_ready_for_too_short_a_time_spends_the_budget() {
    let young =
        given(rolling(1)).min_ready(60).node(node("a").has(old())).node(node("b").has(new().ready_for(59)));
    assert_eq!(young.steps(), [format!("requeue at {}: MinReadySeconds", at(1))]);
    let grown =
        given(rolling(1)).min_ready(60).node(node("a").has(old())).node(node("b").has(new().ready_for(60)));
    assert_eq!(grown.steps(), ["delete a-1: OutdatedAvailable"]);
    let timeless = given(rolling(1))
        .min_ready(60)
        .node(node("a").has(old()))
        .node(node("b").has(new().ready_without_time()));
    assert_eq!(timeless.steps(), [""; 0], "without a time the pod never becomes available");
    let unhurried =
        given(rolling(1)).node(node("a").has(old())).node(node("b").has(new().ready_without_time()));
    assert_eq!(unhurried.steps(), ["delete a-1: OutdatedAvailable"]);
}

#[test]
fn percentages_round_up() {
    let mut fleet = given(rolling("34%"));
    for n in 0..3 {
        fleet = fleet.node(node(&format!("n{n}")).has(old()));
    }
    assert_eq!(fleet.steps().len(), 2);
}

#[test]
fn outdated_pods_that_are_not_ready_are_deleted_at_once_pending_ones_first() {
    let given = given(rolling(1))
        .node(node("a").has(old().not_ready()))
        .node(node("b").has(old().pending()))
        .node(node("c").has(old().phase("Unknown").not_ready().phase("Unknown")))
        .node(node("d").has(old()));
    assert_eq!(
        given.steps(),
        ["delete b-1: OutdatedPending", "delete c-1: OutdatedPending", "delete a-1: OutdatedNotReady"]
    );
}

#[test]
fn within_budget_a_readiness_blip_does_not_restart_the_fleet() {
    let blip = |limit| {
        given(rolling(limit))
            .policy(json!({"unready": "WithinBudget"}))
            .nodes(["a", "b"], old().not_ready())
            .node(node("c").has(old().pending()))
    };
    assert_eq!(blip(1).steps(), ["delete c-1: OutdatedPending"]);
    assert_eq!(blip(2).steps(), ["delete c-1: OutdatedPending", "delete a-1: OutdatedNotReady"]);
    let replacing = blip(1).node(node("d").has(new().not_ready()));
    assert_eq!(replacing.steps(), [""; 0], "one node is being replaced already");
    let up_again = blip(1).node(node("d").has(new()));
    assert_eq!(up_again.steps(), ["delete c-1: OutdatedPending"]);
    let lost = || node("e").not_ready().has(new().not_ready());
    let both = blip(2).node(node("d").has(new().not_ready())).node(lost());
    assert_eq!(both.steps(), [""; 0], "one is being replaced, one is lost to the update");
    assert_eq!(blip(2).node(lost()).steps(), ["delete c-1: OutdatedPending"]);
}

#[test]
fn two_quick_updates_must_not_take_every_node_down() {
    let young = |limit| {
        given(rolling(limit)).min_ready(60).nodes(["a", "b"], old().ready_for(10)).node(node("c").has(old()))
    };
    let steps =
        |limit| young(limit).steps().into_iter().filter(|s| !s.starts_with("requeue")).collect::<Vec<_>>();
    assert_eq!(steps(1), ["delete a-1: OutdatedNotYetAvailable"]);
    assert_eq!(steps(2), ["delete a-1: OutdatedNotYetAvailable", "delete b-1: OutdatedNotYetAvailable"]);
    assert_eq!(
        steps(3),
        [
            "delete a-1: OutdatedNotYetAvailable",
            "delete b-1: OutdatedNotYetAvailable",
            "delete c-1: OutdatedAvailable",
        ]
    );
    let down = young(1).node(node("d").has(new().not_ready()));
    assert_eq!(down.steps(), [format!("requeue at {}: MinReadySeconds", at(50))]);
}

#[test]
fn the_pods_furthest_behind_are_replaced_first() {
    let given = given(rolling(4))
        .revisions([revision("older", 1), revision("old", 5), revision("same", 5), revision("new", 6)])
        .node(node("a").has(pod("old")))
        .node(node("b").has(pod("same")))
        .node(node("c").has(pod("older")))
        .node(node("d").has(pod("unknown")))
        .node(node("e").has(pod("old").without_hash()));
    assert_eq!(
        given.steps(),
        [
            "delete d-1: OutdatedAvailable",
            "delete e-1: OutdatedAvailable",
            "delete c-1: OutdatedAvailable",
            "delete a-1: OutdatedAvailable",
        ]
    );
}

#[test]
fn nodes_that_could_get_no_new_pod_are_not_updated() {
    let failed = json!({"failures": {"a": {"generation": 2, "count": 5, "at": at(0)}}});
    let memory: Memory = serde_json::from_value(failed).unwrap();
    let held = given(rolling(1)).memory(&memory).node(node("a").has(old()).has(new().failed()));
    assert_eq!(held.steps(), [format!("requeue at {}: BackOff", at(16))]);
    let unready =
        given(rolling(1)).memory(&memory).node(node("a").has(old().not_ready()).has(new().failed()));
    assert_eq!(unready.steps()[0], "delete a-1: OutdatedNotReady", "the node is down already");
    let young = given(rolling(1))
        .memory(&memory)
        .min_ready(60)
        .node(node("a").has(old().ready_for(10)).has(new().failed()));
    assert!(young.steps().iter().all(|step| !step.starts_with("delete")), "{:?}", young.steps());
    let tainted = given(rolling(1)).node(node("a").taint("x", "NoSchedule").has(old()));
    assert_eq!(tainted.steps(), [""; 0]);
}

#[test]
fn pods_that_node_sync_deletes_no_longer_count() {
    let given =
        given(rolling(1)).node(node("a").has(new()).has(new().not_ready())).node(node("b").has(old()));
    assert_eq!(given.steps(), ["delete a-2: ExcessPod", "delete b-1: OutdatedAvailable"]);
    let budget = given.plan().report.budget.unwrap();
    let mut expected = Budget::default();
    expected.desired = 2;
    expected.max_unavailable = 1;
    assert_eq!(budget, expected);
}

#[test]
fn a_percentage_of_zero_nodes_is_zero() {
    let nowhere = given(rolling("10%")).node(node("a").taint("x", "NoSchedule"));
    assert_eq!(nowhere.plan().report.budget, Some(Budget::default()));
}

#[test]
fn a_terminating_pod_does_not_protect_the_outdated_pod_beside_it() {
    let given = given(rolling(1)).node(node("a").has(old()).has(old().terminating(30)));
    assert_eq!(given.steps(), ["delete a-1: OutdatedAvailable"]);
}

#[test]
fn on_delete_leaves_outdated_pods_to_a_user() {
    for strategy in [on_delete(), json!({}), json!(null)] {
        let given = given(strategy).node(node("a").has(old())).node(node("b").has(old().not_ready()));
        assert_eq!(given.steps(), [""; 0]);
        assert_eq!(given.plan().status.unwrap().updated_number_scheduled, 0);
    }
}

#[test]
fn a_newer_template_makes_all_others_outdated() {
    let rollover = given(rolling(1))
        .revisions([revision("old", 1), revision("middle", 2), revision("new", 3)])
        .node(node("a").has(pod("middle")))
        .node(node("b").has(pod("old")))
        .node(node("c").has(pod("middle").not_ready()));
    assert_eq!(rollover.steps(), ["delete c-1: OutdatedNotReady"]);
}

#[test]
fn a_node_lost_to_the_update_spends_the_budget() {
    let lost = |pod| given(rolling(1)).node(node("a").not_ready().has(pod)).node(node("b").has(old()));
    assert_eq!(lost(new().not_ready()).steps(), [""; 0]);
    let report = lost(new().not_ready()).plan();
    let [a, b] = &report.report.nodes[..] else { panic!("two nodes") };
    assert!(a.counts.down_after_update && a.outcome == NodeOutcome::NotTarget);
    assert_eq!(json!(b.outcome), json!({"type": "HeldByMaxUnavailable", "used": 1, "limit": 1}));
    assert_eq!(json!(report.warnings), json!([{"type": "NodesLost", "nodes": 1}]));
    let undone = ["delete b-1: OutdatedAvailable"];
    assert_eq!(lost(old().not_ready()).steps(), undone, "it went down with the old version");
    assert_eq!(lost(new()).steps(), undone, "its pod is Ready");
    assert_eq!(lost(new().not_ready().terminating(30)).steps(), undone, "its pod is terminating");
    let young = given(rolling(1)).min_ready(60).node(node("a").not_ready().has(new().not_ready()));
    assert_eq!(
        young.node(node("b").has(old().ready_for(30))).steps()[..],
        ["requeue at 2026-01-01T12:00:30Z: MinReadySeconds"]
    );
}

#[test]
fn only_a_node_that_is_not_ready_itself_can_be_lost() {
    let fleet =
        |a: NodeStory| given(rolling(1)).node(a.has(new().not_ready())).node(node("b").has(old())).steps();
    let goes_on = ["delete b-1: OutdatedAvailable"];
    assert_eq!(
        fleet(node("a").taint("node.kubernetes.io/not-ready", "NoSchedule")),
        goes_on,
        "its condition says nothing"
    );
    assert_eq!(
        fleet(node("a").not_ready().taint("dedicated", "NoSchedule")),
        goes_on,
        "a user's taint keeps the node for other pods"
    );
    assert_eq!(fleet(node("a").not_ready()), [""; 0]);
    let tolerated = given(rolling(1))
        .tolerates(json!([{"key": "dedicated", "operator": "Exists"}]))
        .node(node("a").not_ready().taint("dedicated", "NoSchedule").has(new().not_ready()))
        .node(node("b").has(old()));
    assert_eq!(tolerated.steps(), [""; 0], "kept for these pods");
}

#[test]
fn a_node_that_goes_down_before_its_new_pod_is_seen_is_lost_too() {
    let create = |revision: &str| {
        let memory =
            serde_json::json!({"creates": {"a": {"uid": "uid-new", "revision": revision, "at": at(-10)}}});
        let memory: Memory = serde_json::from_value(memory).unwrap();
        given(rolling(1)).node(node("a").not_ready()).node(node("b").has(old())).memory(&memory).steps()
    };
    let wake_up = format!("requeue at {}: InFlightExpiry", at(290));
    assert_eq!(create("new"), [wake_up.as_str()]);
    assert_eq!(create("old"), ["delete b-1: OutdatedAvailable", &wake_up]);
}
