//! maxUnavailable and maxSurge.

use super::{broken, create, create_in, delete, three, violations};
use crate::support::{NodeStory, PodStory, at, given, new, node, old, rolling, surging};
use daemonset_audit::{BudgetFigure, ViolationKind as Kind};
use serde_json::json;

#[test]
fn max_unavailable_holds_even_if_all_deletes_happen_at_once() {
    let exceeded =
        |figure, before, after, limit| Kind::BudgetExceeded { figure, before, after, limit, lost: 0 };
    use BudgetFigure::{BeingReplaced, NotReady, Unavailable};
    let all = [delete("a-1"), delete("b-1"), delete("c-1")];
    assert_eq!(broken(&three(rolling(3)), &all), []);
    assert_eq!(broken(&three(rolling("67%")), &all), [], "2.01 of 3, rounded up");
    assert_eq!(broken(&three(rolling("66%")), &all), [exceeded(Unavailable, 0, 3, 2)]);
    let four = three(rolling("50%")).node(node("d").has(new()));
    assert_eq!(broken(&four, &all), [exceeded(Unavailable, 0, 3, 2)], "2 of 4, not rounded");
    assert_eq!(broken(&three(rolling(0)), &all[..2]), [exceeded(Unavailable, 0, 2, 1)], "0 and 0 is 1");
    let down = three(rolling(1)).node(node("d")).node(node("e"));
    assert_eq!(broken(&down, &all[..1]), [exceeded(Unavailable, 2, 3, 1)], "more nodes are down already");
    let young = given(rolling(1)).min_ready(60).nodes(["a", "b"], old().ready_for(10));
    assert_eq!(broken(&young, &[delete("a-1")]), []);
    assert_eq!(broken(&young, &all[..2]), [exceeded(NotReady, 0, 2, 1)]);
    let unready =
        given(rolling(1)).node(node("a").has(old().not_ready())).node(node("b").has(old().pending()));
    assert_eq!(broken(&unready, &all[..2]), []);
    let waiting = unready.policy(json!({"unready": "WithinBudget"}));
    assert_eq!(broken(&waiting, &all[..2]), [exceeded(BeingReplaced, 0, 2, 1)]);
}

#[test]
fn nodes_that_a_list_takes_down_do_not_count_as_being_replaced_before() {
    let switched = given(rolling(2))
        .min_ready(60)
        .policy(json!({"unready": "WithinBudget"}))
        .node(node("a").has(new().ready_for(10)))
        .node(node("b").has(old().not_ready()))
        .node(node("c").has(old().ready_for(10)).has(new().not_ready()))
        .node(node("d").has(new()));
    let deletes = [delete("b-1"), delete("c-1")];
    assert_eq!(broken(&switched, &deletes), []);
    let steps = switched.steps();
    assert!(steps.iter().filter(|step| step.starts_with("delete")).count() == 2, "{steps:?}");
}

#[test]
fn a_node_that_went_down_with_the_new_version_reduces_the_limit() {
    let fleet = |strategy: serde_json::Value, down: NodeStory| three(strategy).node(down);
    let down = || node("d").not_ready();
    let spent = fleet(rolling(1), down().has(new().not_ready()));
    let found = violations(&spent, &[delete("a-1")]);
    let [violation] = found.as_slice() else { panic!("{found:#?}") };
    assert_eq!(
        violation.to_string(),
        "action 0, pod ns/a-1: maxUnavailable: 1 target nodes would be without an available pod; 0 are, 1 may, less 1 \
         lost to the update"
    );
    let over = |after, limit| {
        let (figure, before, lost) = (BudgetFigure::Unavailable, 0, 1);
        [Kind::BudgetExceeded { figure, before, after, limit, lost }]
    };
    let two = [delete("a-1"), delete("b-1")];
    assert_eq!(broken(&fleet(rolling(2), down().has(new().not_ready())), &two[..1]), []);
    assert_eq!(broken(&fleet(rolling(2), down().has(new().not_ready())), &two), over(2, 2));
    let harmless = [
        (down().has(old().not_ready()), "it went down with the old version"),
        (down().has(new()), "its pod is Ready"),
        (down().has(new().not_ready()).has(new()), "one of them is"),
        (down().has(new().not_ready().terminating(30)), "its pod is going"),
        (down().has(new().failed()), "its pod runs no more"),
        (down(), "it has none"),
        (
            down().taint("x", "NoSchedule").has(new().not_ready()),
            "a user's taint keeps the node for other pods",
        ),
        (down().taint("x", "NoExecute").has(new().not_ready()), "the taint excludes every pod"),
        (
            node("d").taint("node.kubernetes.io/not-ready", "NoSchedule").has(new().not_ready()),
            "its condition says nothing",
        ),
    ];
    for (node, why) in harmless {
        assert_eq!(broken(&fleet(rolling(1), node), &two[..1]), [], "{why}");
    }
    let created = |revision: &str| {
        let create = json!({"uid": "uid-created", "revision": revision, "at": at(-10)});
        fleet(rolling(1), down()).with("/memory", json!({"creates": {"d": create}}))
    };
    assert_eq!(broken(&created("new"), &two[..1]), over(1, 1), "its pod is in flight");
    assert_eq!(broken(&created("old"), &two[..1]), []);
    let surging = |limit: u32| fleet(surging(limit), down().has(new().not_ready()));
    assert_eq!(broken(&surging(1), &[create("a")]), [Kind::SurgeExceeded { after: 1, limit: 1, lost: 1 }]);
    assert_eq!(broken(&surging(2), &[create("a")]), []);
}

#[test]
fn nodes_lost_to_the_update_count_beside_every_figure() {
    let lost = || node("z").not_ready().has(new().not_ready());
    let over = |figure| [Kind::BudgetExceeded { figure, before: 0, after: 1, limit: 1, lost: 1 }];
    let young = given(rolling(1)).min_ready(60).node(node("a").has(old().ready_for(10))).node(lost());
    assert_eq!(broken(&young, &[delete("a-1")]), over(BudgetFigure::NotReady));
    let unready = given(rolling(1)).node(node("a").has(old().not_ready())).node(lost());
    assert_eq!(broken(&unready, &[delete("a-1")]), [], "a fix must reach a broken fleet");
    let waiting = unready.policy(json!({"unready": "WithinBudget"}));
    assert_eq!(broken(&waiting, &[delete("a-1")]), over(BudgetFigure::BeingReplaced));
}

#[test]
fn max_surge_counts_nodes_with_two_pods() {
    let pair = |limit: u32| three(surging(limit)).node(node("d").has(old()).has(new().not_ready()));
    let both = [create("a"), create_in(1, "b")];
    assert_eq!(broken(&pair(3), &both), []);
    assert_eq!(broken(&pair(2), &both), [Kind::SurgeExceeded { after: 3, limit: 2, lost: 0 }]);
    let leaving = three(surging(1)).node(node("d").has(old().terminating(30)));
    let missing = [create("d"), create_in(1, "a")];
    assert_eq!(broken(&leaving, &missing), [Kind::SurgeExceeded { after: 2, limit: 1, lost: 0 }]);
    assert_eq!(broken(&leaving, &missing[..1]), [], "a missing pod never waits");
}

pub(super) fn exceeded(figure: BudgetFigure, before: u32, after: u32, limit: u32) -> [Kind; 1] {
    [Kind::BudgetExceeded { figure, before, after, limit, lost: 0 }]
}

#[test]
fn a_pod_that_is_ready_for_too_short_a_time_is_unavailable_but_ready() {
    let beside = |pod: PodStory| given(rolling(1)).min_ready(60).node(node("b").has(pod));
    let takes_available = beside(new().ready_for(10)).node(node("a").has(old()));
    assert_eq!(broken(&takes_available, &[delete("a-1")]), exceeded(BudgetFigure::Unavailable, 1, 2, 1));
    let takes_young = |other| beside(other).node(node("a").has(old().ready_for(10)));
    let not_ready = exceeded(BudgetFigure::NotReady, 1, 2, 1);
    assert_eq!(broken(&takes_young(new().not_ready()), &[delete("a-1")]), not_ready);
    assert_eq!(broken(&takes_young(new().ready_for(10)), &[delete("a-1")]), [], "the other pod is Ready");
}

#[test]
fn within_budget_a_node_is_being_replaced_until_its_updated_pod_is_up() {
    let beside = |other: NodeStory| {
        given(rolling(1))
            .policy(json!({"unready": "WithinBudget"}))
            .node(node("a").has(old().not_ready()))
            .node(other)
    };
    let one_more = exceeded(BudgetFigure::BeingReplaced, 1, 2, 1);
    for replaced in [node("b").has(new().not_ready()), node("b"), node("b").has(old().terminating(30))] {
        assert_eq!(broken(&beside(replaced), &[delete("a-1")]), one_more);
    }
    let not_begun =
        [node("b").has(new()), node("b").has(old().not_ready()), node("b").taint("x", "NoSchedule")];
    for other in not_begun {
        assert_eq!(broken(&beside(other), &[delete("a-1")]), []);
    }
    let spare = beside(node("b").has(new().not_ready()).has(new().not_ready()));
    assert_eq!(
        broken(&spare, &[delete("a-1"), delete("b-2")]),
        one_more,
        "the spare one was none that served"
    );
    let twins = beside(node("b").has(old().not_ready()).has(old().not_ready()));
    assert_eq!(broken(&twins, &[delete("a-1"), delete("b-1")]), [], "node b keeps a pod");
    let both = [delete("a-1"), delete("b-1"), delete("b-2")];
    assert_eq!(broken(&twins, &both), exceeded(BudgetFigure::BeingReplaced, 0, 2, 1));
}

#[test]
fn a_create_in_flight_counts_as_a_second_pod() {
    let memory = json!({"creates": {"d": {"uid": "uid-created", "revision": "new", "at": at(-10)}}});
    let pair = |limit: u32| three(surging(limit)).node(node("d").has(old())).with("/memory", memory.clone());
    assert_eq!(broken(&pair(1), &[create("a")]), [Kind::SurgeExceeded { after: 2, limit: 1, lost: 0 }]);
    assert_eq!(broken(&pair(2), &[create("a")]), []);
    let memory = json!({"creates": {"d": {"uid": "uid-d-1", "revision": "old", "at": at(-10)}}});
    assert_eq!(broken(&pair(1).with("/memory", memory), &[create("a")]), [], "the snapshot shows the pod");
}

#[test]
fn nodes_that_leave_under_surge_wait_for_the_target_nodes() {
    let leaving = |name: &str| node(name).taint("y", "NoSchedule").has(old().tolerates("y"));
    let fleet = |strategy| given(strategy).node(node("t")).node(leaving("a")).node(leaving("b"));
    let all = [delete("a-1"), delete("b-1")];
    assert_eq!(broken(&fleet(surging(1)), &all[..1]), []);
    assert_eq!(broken(&fleet(surging(1)), &all), [Kind::LeavesTooEarly { leaving: 2, unavailable: 1 }]);
    assert_eq!(broken(&fleet(rolling(1)), &all), []);
    let served = given(surging(1)).node(node("t").has(new())).node(leaving("a")).node(leaving("b"));
    assert_eq!(broken(&served, &all), []);
    let pair = given(surging(1)).node(node("t")).node(leaving("a").has(new())).node(leaving("b"));
    assert_eq!(broken(&pair, &all[..1]), [], "its successor serves on");
    assert_eq!(broken(&pair, &all), [Kind::LeavesTooEarly { leaving: 1, unavailable: 1 }]);
}
