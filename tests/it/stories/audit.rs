//! The safety rules: for each one a list of actions that breaks it, and nothing else.

use crate::support::{
    Given, NodeStory, at, given, new, node, now, old, on_delete, pod, revision, rolling, surging,
};
use daemonset::model::{DaemonSetStatus, Labels, ObjectRef};
use daemonset::{
    Action, BudgetFigure, ClaimReason, DeleteReason, Failure, LabelReason, RequeueReason, RevisionReason,
    StatusReason, Violation, ViolationKind as Kind, audit,
};
use serde_json::json;

fn violations(given: &Given, actions: &[Action]) -> Vec<Violation> {
    let recording = given.recording();
    audit(&recording.snapshot().unwrap(), actions)
}

fn broken(given: &Given, actions: &[Action]) -> Vec<Kind> {
    violations(given, actions).into_iter().map(|violation| violation.kind).collect()
}

fn named(name: &str) -> ObjectRef {
    ObjectRef {
        namespace: "ns".to_owned(),
        name: name.to_owned(),
        uid: format!("uid-{name}").into(),
        ..ObjectRef::default()
    }
}

/// Deletes the pod `<node>-<suffix>`.
fn delete(name: &str) -> Action {
    let node = name.split('-').next().unwrap().into();
    Action::DeletePod { node, pod: named(name), reason: DeleteReason::OutdatedAvailable, failure: None }
}

/// What a plan creates on a node without pods, in this batch.
fn create_in(batch: u32, on: &str) -> Action {
    let actions = given(rolling(1)).node(node(on)).plan().actions;
    let create = actions.into_iter().find_map(|action| match action {
        Action::CreatePod { node, reason, pod, .. } => Some(Action::CreatePod { node, batch, reason, pod }),
        _ => None,
    });
    create.unwrap()
}

fn create(on: &str) -> Action {
    create_in(0, on)
}

fn delete_revision(name: &str) -> Action {
    Action::DeleteRevision { revision: named(name), reason: RevisionReason::HistoryLimit }
}

fn label(pod: &str, hash: &str) -> Action {
    let labels = Labels::from_iter([("controller-revision-hash", hash)]);
    Action::LabelPod { pod: named(pod), labels, reason: LabelReason::DuplicateRevision }
}

fn adopt(pod: &str) -> Action {
    Action::AdoptPod { pod: named(pod), reason: ClaimReason::SelectorMatches }
}

fn release(pod: &str) -> Action {
    Action::ReleasePod { pod: named(pod), reason: ClaimReason::SelectorNoLongerMatches }
}

fn write(status: DaemonSetStatus, reason: StatusReason) -> Action {
    Action::UpdateStatus { daemon_set: named("agent"), status, reason }
}

fn wake_up(seconds: i64) -> Action {
    Action::Requeue { at: at(seconds), reason: RequeueReason::MinReadySeconds }
}

/// Nodes a, b and c, each with an available outdated pod.
fn three(strategy: serde_json::Value) -> Given {
    ["a", "b", "c"].into_iter().fold(given(strategy), |given, name| given.node(node(name).has(old())))
}

#[test]
fn a_violation_is_data_and_a_sentence() {
    let found = violations(&three(rolling(1)), &[delete("a-1"), delete("b-1")]);
    let [violation] = found.as_slice() else { panic!("{found:#?}") };
    assert_eq!(
        violation.to_string(),
        "action 1, pod ns/b-1: maxUnavailable: 2 target nodes would be without an available pod; 0 are, 1 may"
    );
    assert_eq!(
        serde_json::to_value(violation).unwrap(),
        json!({
            "action": 1,
            "subject": {"type": "Pod", "pod": {"namespace": "ns", "name": "b-1", "uid": "uid-b-1"}},
            "kind": {"type": "BudgetExceeded", "figure": "Unavailable", "before": 0, "after": 2, "limit": 1, "lost": 0},
        })
    );
}

#[test]
fn doing_nothing_breaks_no_rule() {
    assert_eq!(broken(&three(rolling(3)), &[]), []);
}

#[test]
fn an_object_is_named_by_namespace_name_and_uid() {
    let given = three(rolling(3));
    let renamed = |change: fn(&mut ObjectRef)| {
        let mut action = delete("a-1");
        if let Action::DeletePod { pod, .. } = &mut action {
            change(pod);
        }
        broken(&given, &[action])
    };
    assert_eq!(renamed(|_| ()), []);
    assert_eq!(renamed(|pod| pod.uid = "uid-of-yesterday".into()), [Kind::UnknownObject]);
    assert_eq!(renamed(|pod| pod.name = "a-2".to_owned()), [Kind::UnknownObject]);
    assert_eq!(renamed(|pod| pod.uid = "uid-b-1".into()), [Kind::UnknownObject], "another's name");
    assert_eq!(renamed(|pod| pod.namespace = "other".to_owned()), [Kind::UnknownObject]);
    let other_set = Action::UpdateStatus {
        daemon_set: named("other"),
        status: json_status(json!({"desiredNumberScheduled": 3, "numberUnavailable": 3})),
        reason: StatusReason::Changed,
    };
    assert_eq!(broken(&given, &[other_set]), [Kind::UnknownObject]);
}

#[test]
fn only_pods_of_the_daemon_set_are_deleted() {
    let given = given(rolling(5))
        .node(node("a").has(old().owned_by("uid-other")).has(old().mirror()).has(old().label("app", "x")))
        .node(node("b").has(old().orphan()))
        .with("/revisions/0/metadata/ownerReferences", json!([{"uid": "uid-other", "controller": true}]));
    for pod in ["a-1", "a-2", "a-3"] {
        assert_eq!(broken(&given, &[delete(pod)]), [Kind::ForeignObject], "{pod}");
        assert_eq!(broken(&given, &[label(pod, "new")]), [Kind::ForeignObject], "{pod}");
    }
    assert_eq!(broken(&given, &[delete("b-1")]), [Kind::ForeignObject], "not adopted");
    assert_eq!(broken(&given, &[adopt("b-1"), delete("b-1")]), []);
    assert_eq!(broken(&given, &[delete_revision("agent-old")]), [Kind::ForeignObject]);
}

#[test]
fn only_free_matching_objects_are_adopted_and_only_strangers_released() {
    let given = given(rolling(1))
        .node(node("a").has(old()).has(old().orphan()).has(old().orphan().terminating(30)))
        .node(node("b").has(old().orphan().label("app", "x")).has(old().label("app", "x")));
    assert_eq!(broken(&given, &[adopt("a-2"), release("b-2")]), []);
    for pod in ["a-1", "a-3", "b-1", "b-2"] {
        assert_eq!(broken(&given, &[adopt(pod)]), [Kind::WrongAdoption], "{pod}");
    }
    for pod in ["a-1", "a-2", "b-1"] {
        assert_eq!(broken(&given, &[release(pod)]), [Kind::WrongRelease], "{pod}");
    }
    let reason = ClaimReason::SelectorMatches;
    let revision = named("agent-old");
    assert_eq!(broken(&given, &[Action::AdoptRevision { revision, reason }]), [Kind::WrongAdoption]);
    let revision = named("agent-old");
    assert_eq!(broken(&given, &[Action::ReleaseRevision { revision, reason }]), [Kind::WrongRelease]);
}

#[test]
fn nothing_is_deleted_twice() {
    let given = three(rolling(3)).node(node("d").has(new()).has(old().terminating(30)));
    assert_eq!(broken(&given, &[delete("a-1"), delete("a-1")]), [Kind::DeletedTwice]);
    assert_eq!(broken(&given, &[delete("d-2")]), [Kind::AlreadyTerminating]);
    let given = given.revisions([revision("old", 1), revision("x", 2), revision("new", 3)]);
    let given = given.with("/daemonSet/spec/revisionHistoryLimit", json!(0));
    let twice = [delete_revision("agent-x"), delete_revision("agent-x")];
    assert_eq!(broken(&given, &twice), [Kind::DeletedTwice]);
}

#[test]
fn what_memory_knows_to_be_in_flight_is_not_done_again() {
    let remembered = |ago: i64| {
        let create = json!({"uid": "uid-created", "revision": "new", "at": at(-ago)});
        let memory = json!({"creates": {"d": create}, "deletes": {"a-1": at(-ago), "uid-a-1": at(-ago)}});
        three(rolling(3)).node(node("d")).with("/memory", memory)
    };
    assert_eq!(broken(&remembered(299), &[delete("a-1")]), [Kind::AlreadyTerminating]);
    assert_eq!(broken(&remembered(300), &[delete("a-1")]), [], "no longer believed");
    assert_eq!(broken(&remembered(299), &[create("d")]), [Kind::CreateInFlight]);
    assert_eq!(broken(&remembered(300), &[create("d")]), []);
}

#[test]
fn a_create_whose_answer_was_lost_is_shown_by_a_live_pod_of_its_revision() {
    let memory =
        json!({"creates": {"a": {"revision": "old", "at": at(0)}, "b": {"revision": "new", "at": at(0)}}});
    let given =
        given(surging(3)).node(node("a").has(old())).node(node("b").has(old())).with("/memory", memory);
    assert_eq!(broken(&given, &[create("a")]), []);
    assert_eq!(broken(&given, &[create("b")]), [Kind::CreateInFlight]);
}

#[test]
fn max_unavailable_holds_even_if_all_deletes_happen_at_once() {
    let exceeded =
        |figure, before, after, limit| Kind::BudgetExceeded { figure, before, after, limit, lost: 0 };
    use BudgetFigure::{BeingReplaced, NotReady, Unavailable};
    let all = [delete("a-1"), delete("b-1"), delete("c-1")];
    assert_eq!(broken(&three(rolling(3)), &all), []);
    assert_eq!(broken(&three(rolling("67%")), &all), [], "2.01 of 3, rounded up");
    assert_eq!(broken(&three(rolling("66%")), &all), [exceeded(Unavailable, 0, 3, 2)]);
    assert_eq!(broken(&three(rolling(0)), &all[..2]), [exceeded(Unavailable, 0, 2, 1)], "0 and 0 is 1");
    let down = three(rolling(1)).node(node("d")).node(node("e"));
    assert_eq!(broken(&down, &all[..1]), [exceeded(Unavailable, 2, 3, 1)], "more are down already");
    let young = given(rolling(1))
        .min_ready(60)
        .node(node("a").has(old().ready_for(10)))
        .node(node("b").has(old().ready_for(10)));
    assert_eq!(broken(&young, &[delete("a-1")]), []);
    assert_eq!(broken(&young, &all[..2]), [exceeded(NotReady, 0, 2, 1)]);
    let unready =
        given(rolling(1)).node(node("a").has(old().not_ready())).node(node("b").has(old().pending()));
    assert_eq!(broken(&unready, &all[..2]), []);
    let waiting = unready.policy(json!({"unready": "WithinBudget"}));
    assert_eq!(broken(&waiting, &all[..2]), [exceeded(BeingReplaced, 0, 2, 1)]);
}

#[test]
fn what_a_list_takes_is_not_what_was_being_replaced() {
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
fn a_node_that_went_down_with_the_new_version_leaves_less_of_the_limit() {
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
        (down().taint("x", "NoSchedule").has(new().not_ready()), "somebody keeps it for others"),
        (down().taint("x", "NoExecute").has(new().not_ready()), "nobody may be there"),
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
    assert_eq!(broken(&created("new"), &two[..1]), over(1, 1), "its pod is not seen yet");
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
fn a_live_pod_goes_only_where_one_as_good_stays_or_can_come() {
    let target = given(rolling(5)).node(node("a").has(new()).has(old()).has(new().not_ready()));
    assert_eq!(broken(&target, &[delete("a-2"), delete("a-3")]), []);
    let both = [delete("a-1"), delete("a-2")];
    assert_eq!(broken(&target, &both), [Kind::NeededPodDeleted], "the better one of the updated");
    let tainted =
        |pod: crate::support::PodStory| given(rolling(5)).node(node("a").taint("x", "NoSchedule").has(pod));
    assert_eq!(broken(&tainted(old()), &[delete("a-1")]), [Kind::NeededPodDeleted]);
    assert_eq!(broken(&tainted(old().tolerates("x")), &[delete("a-1")]), [], "the template has withdrawn it");
    assert_eq!(broken(&tainted(new().tolerates("x")), &[delete("a-1")]), [Kind::NeededPodDeleted]);
    let condition = given(rolling(5)).node(
        node("a").taint("node.kubernetes.io/x", "NoSchedule").has(old().tolerates("node.kubernetes.io/x")),
    );
    assert_eq!(broken(&condition, &[delete("a-1")]), [Kind::NeededPodDeleted]);
    let excluded = given(rolling(5)).node(node("a").taint("x", "NoExecute").has(new()));
    assert_eq!(broken(&excluded, &[delete("a-1")]), []);
}

#[test]
fn under_surge_what_is_ready_waits_for_its_successor() {
    let fleet = |pods: Vec<crate::support::PodStory>| {
        given(surging(1)).node(pods.into_iter().fold(node("a"), crate::support::NodeStory::has))
    };
    assert_eq!(broken(&fleet(vec![old()]), &[delete("a-1")]), [Kind::NoSuccessor]);
    assert_eq!(broken(&fleet(vec![old(), new().not_ready()]), &[delete("a-1")]), [Kind::NoSuccessor]);
    assert_eq!(broken(&fleet(vec![old(), new()]), &[delete("a-1")]), []);
    assert_eq!(broken(&fleet(vec![old().not_ready()]), &[delete("a-1")]), []);
    assert_eq!(broken(&fleet(vec![old(), new()]), &[delete("a-2")]), [Kind::NeededPodDeleted]);
    let both = [delete("a-1"), delete("a-2")];
    assert_eq!(broken(&fleet(vec![old(), new()]), &both), [Kind::NoSuccessor, Kind::NeededPodDeleted]);
    let tainted = given(surging(1)).node(node("a").taint("x", "NoSchedule").has(old().not_ready()));
    assert_eq!(broken(&tainted, &[delete("a-1")]), [Kind::NeededPodDeleted]);
}

#[test]
fn on_delete_leaves_the_deleting_to_a_person() {
    let given = three(on_delete()).node(node("d").has(old()).has(old().not_ready()).has(new().failed()));
    assert_eq!(broken(&given, &[delete("a-1")]), [Kind::DeletedUnderOnDelete]);
    assert_eq!(broken(&given, &[delete("d-2")]), []);
    assert_eq!(broken(&given, &[delete("d-1")]), [Kind::DeletedUnderOnDelete], "the better one");
}

#[test]
fn a_delete_names_the_node_of_its_pod() {
    let mut action = delete("a-1");
    if let Action::DeletePod { node, .. } = &mut action {
        *node = "b".into();
    }
    let wrong = Kind::WrongNode { found: "b".into(), expected: "a".into() };
    assert_eq!(broken(&three(rolling(3)), &[action]), [wrong]);
}

#[test]
fn pods_of_gone_nodes_are_the_garbage_collectors_unless_they_wait_for_one() {
    let given = given(rolling(3)).stray("gone", old()).stray("gone", old().unbound().named("gone-2"));
    assert_eq!(broken(&given, &[delete("gone-2")]), []);
    let mut bound = delete("gone-stray");
    assert_eq!(broken(&given, &[bound.clone()]), [Kind::StrayDeleted]);
    let given = given.with("/pods/0/spec", json!({}));
    if let Action::DeletePod { node, .. } = &mut bound {
        *node = "".into();
    }
    assert_eq!(broken(&given, &[bound]), [Kind::StrayDeleted], "no target node");
}

#[test]
fn a_failed_pod_is_held_back_and_counted() {
    let held = |ago: i64| {
        let failures = json!({"a": {"generation": 2, "count": 3, "at": at(-ago)}});
        given(rolling(5))
            .node(node("a").has(new().failed()).has(old()))
            .with("/memory", json!({"failures": failures}))
    };
    let fail = |count| {
        let failure = Some(Failure { generation: 2, count });
        let (pod, reason) = (named("a-1"), DeleteReason::FailedPod);
        Action::DeletePod { node: "a".into(), pod, reason, failure }
    };
    assert_eq!(broken(&held(4), &[fail(4)]), []);
    assert_eq!(broken(&held(3), &[fail(4)]), [Kind::HeldBack { until: at(1) }], "1, 2, 4 s");
    let found = Some(Failure { generation: 2, count: 1 });
    let expected = Some(Failure { generation: 2, count: 4 });
    assert_eq!(broken(&held(4), &[fail(1)]), [Kind::WrongFailure { expected, found }]);
    assert_eq!(broken(&held(1800), &[fail(1)]), [], "forgotten");
    assert_eq!(broken(&held(3), &[delete("a-2")]), [Kind::HeldBack { until: at(1) }], "the Ready one stays");
    assert_eq!(broken(&held(3), &[create("a")]), [Kind::HeldBack { until: at(1) }]);
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

#[test]
fn a_pod_is_created_once_and_only_on_a_target_node_that_has_room() {
    let given = given(rolling(1))
        .node(node("a"))
        .node(node("b").taint("x", "NoSchedule"))
        .node(node("c").has(new()))
        .node(node("d").has(old().terminating(30)))
        .node(node("e").has(old().terminating(30).failed()));
    assert_eq!(broken(&given, &[create("a"), create_in(1, "e")]), []);
    assert_eq!(broken(&given, &[create("b")]), [Kind::NotTargetNode]);
    assert_eq!(broken(&given, &[create("gone")]), [Kind::NotTargetNode]);
    assert_eq!(broken(&given, &[create("a"), create_in(1, "a")]), [Kind::SecondCreate]);
    assert_eq!(broken(&given, &[create("c")]), [Kind::NodeOccupied { pods: 1 }]);
    assert_eq!(broken(&given, &[create("d")]), [Kind::NodeOccupied { pods: 1 }]);
    let found = Kind::WrongBatch { expected: 0, found: 3 };
    assert_eq!(broken(&given, &[create_in(3, "a")]), [found]);
}

#[test]
fn beside_a_surging_pod_nothing_else_may_be() {
    let occupied = |one: crate::support::PodStory, other: Option<crate::support::PodStory>| {
        let node = other.into_iter().fold(node("a").has(one), crate::support::NodeStory::has);
        broken(&given(surging(5)).node(node), &[create("a")])
    };
    assert_eq!(occupied(old(), None), []);
    assert_eq!(occupied(old(), Some(old().failed())), []);
    assert_eq!(occupied(new(), None), [Kind::NodeOccupied { pods: 1 }]);
    assert_eq!(occupied(old().not_ready(), None), [Kind::NodeOccupied { pods: 1 }]);
    assert_eq!(occupied(old(), Some(new().not_ready())), [Kind::NodeOccupied { pods: 2 }]);
    assert_eq!(occupied(old(), Some(old().terminating(30))), [Kind::NodeOccupied { pods: 2 }]);
}

#[test]
fn a_manifest_is_of_its_node_and_of_the_current_revision() {
    let fleet = given(rolling(1)).node(node("a")).node(node("b"));
    let mut retargeted = create("a");
    if let Action::CreatePod { node, .. } = &mut retargeted {
        *node = "b".into();
    }
    assert_eq!(broken(&fleet, &[retargeted]), [Kind::WrongManifest { field: "spec.affinity" }]);
    let changed =
        |pointer: &str, value: serde_json::Value| broken(&fleet.clone().with(pointer, value), &[create("a")]);
    let wrong = |field| [Kind::WrongManifest { field }];
    let hash = json!({"app": "agent", "controller-revision-hash": "newer"});
    assert_eq!(changed("/revisions/1/metadata/labels", hash), wrong("metadata.labels: hash"));
    let generation = changed("/daemonSet/spec/templateGeneration", json!(7));
    assert_eq!(generation, wrong("metadata.labels: pod-template-generation"));
    let mut ours = revision("new", 2);
    ours["metadata"]["ownerReferences"][0]["uid"] = json!("uid-2");
    let other = fleet.clone().with("/daemonSet/metadata/uid", json!("uid-2")).revisions([ours]);
    assert_eq!(broken(&other, &[create("a")]), wrong("metadata.ownerReferences"));
    let mut elsewhere = revision("new", 2);
    elsewhere["metadata"]["namespace"] = json!("elsewhere");
    let moved = fleet.clone().with("/daemonSet/metadata/namespace", json!("elsewhere"));
    assert_eq!(broken(&moved.revisions([elsewhere]), &[create("a")]), wrong("metadata.namespace"));
    let labels = json!({"app": "agent", "tier": "node"});
    let mut tiered = revision("new", 2);
    tiered["metadata"]["labels"]["tier"] = json!("node");
    tiered["data"]["spec"]["template"]["metadata"]["labels"] = labels.clone();
    let selecting = fleet
        .with("/daemonSet/spec/template/metadata/labels", labels.clone())
        .with("/daemonSet/spec/selector/matchLabels", labels)
        .revisions([tiered]);
    assert_eq!(broken(&selecting, &[create("a")]), wrong("metadata.labels: selector"));
}

#[test]
fn a_label_never_makes_an_outdated_pod_look_updated() {
    let mut twin = revision("twin", 1);
    twin["data"] = revision("new", 2)["data"].clone();
    let given = given(rolling(1))
        .revisions([revision("old", 1), twin, revision("new", 2)])
        .node(node("a").has(old()).has(pod("twin")).has(pod("x").without_hash()));
    assert_eq!(broken(&given, &[label("a-2", "new")]), []);
    assert_eq!(broken(&given, &[label("a-1", "new")]), [Kind::WrongLabel]);
    assert_eq!(broken(&given, &[label("a-2", "old")]), [Kind::WrongLabel]);
    assert_eq!(broken(&given, &[label("a-3", "new")]), [Kind::WrongLabel], "no generation says that it is");
    let labels = Labels::from_iter([("controller-revision-hash", "other")]);
    let revision = named("agent-old");
    let relabel = Action::LabelRevision { revision, labels, reason: LabelReason::HashMissing };
    assert_eq!(broken(&given, &[relabel]), [Kind::WrongLabel]);
}

/// The revision that a plan creates, changed.
fn new_revision(change: impl FnOnce(&mut serde_json::Value)) -> Action {
    let actions = given(rolling(1)).revisions([]).plan().actions;
    let mut create =
        actions.into_iter().find(|action| matches!(action, Action::CreateRevision { .. })).unwrap();
    if let Action::CreateRevision { revision, .. } = &mut create {
        change(revision);
    }
    create
}

#[test]
fn a_revision_is_created_once_whole_and_on_top() {
    let empty = given(rolling(1)).revisions([revision("old", 0)]);
    assert_eq!(broken(&empty, &[new_revision(|_| ())]), []);
    assert_eq!(broken(&empty, &[new_revision(|_| ()), new_revision(|_| ())]), [Kind::RevisionExists]);
    assert_eq!(
        broken(&given(rolling(1)), &[new_revision(|r| r["revision"] = json!(9))]),
        [Kind::RevisionExists]
    );
    let wrong = |field| [Kind::WrongRevision { field }];
    let other = new_revision(|r| r["data"] = revision("old", 1)["data"].clone());
    assert_eq!(broken(&empty, &[other]), wrong("data"));
    let other = new_revision(|r| r["metadata"]["labels"]["controller-revision-hash"] = json!("x"));
    assert_eq!(broken(&empty, &[other]), wrong("metadata.labels: hash"));
    let other = new_revision(|r| r["metadata"]["ownerReferences"] = json!([]));
    assert_eq!(broken(&empty, &[other]), wrong("metadata.ownerReferences"));
    let other = new_revision(|r| r["metadata"]["namespace"] = json!("elsewhere"));
    assert_eq!(broken(&empty, &[other]), wrong("metadata.namespace"));
    let other = new_revision(|r| r["metadata"]["labels"]["app"] = json!("other"));
    assert_eq!(broken(&empty, &[other]), wrong("metadata.labels: selector"));
    let mut name = json!(null);
    let again = new_revision(|r| name = r["metadata"]["name"].clone());
    let mut namesake = revision("old", 0);
    namesake["metadata"]["name"] = name;
    assert_eq!(broken(&given(rolling(1)).revisions([namesake]), &[again]), wrong("metadata.name"));
    let above = given(rolling(1)).revisions([revision("old", 1)]);
    let low = Kind::WrongRevisionNumber { number: 1, largest: 1 };
    assert_eq!(broken(&above, &[new_revision(|_| ())]), [low]);
}

#[test]
fn only_the_current_revision_is_renumbered() {
    let given = given(rolling(1)).revisions([revision("new", 1), revision("old", 2)]);
    let renumber = |name: &str, number| Action::RenumberRevision {
        revision: named(name),
        number,
        reason: RevisionReason::CurrentAgain,
    };
    assert_eq!(broken(&given, &[renumber("agent-new", 3)]), []);
    let wrong = |number| [Kind::WrongRevisionNumber { number, largest: 2 }];
    assert_eq!(broken(&given, &[renumber("agent-new", 2)]), wrong(2));
    assert_eq!(broken(&given, &[renumber("agent-old", 3)]), wrong(3));
}

#[test]
fn neither_the_current_revision_nor_live_history_is_deleted() {
    let mut twin = revision("twin", 1);
    twin["data"] = revision("new", 2)["data"].clone();
    let given = given(rolling(1))
        .revisions([revision("older", 1), revision("old", 2), twin, revision("new", 3)])
        .node(node("a").has(old()).has(pod("twin")))
        .with("/daemonSet/spec/revisionHistoryLimit", json!(0));
    let carried = |hash: &str| [Kind::LiveRevisionDeleted { hash: hash.to_owned() }];
    assert_eq!(broken(&given, &[delete_revision("agent-older")]), []);
    assert_eq!(broken(&given, &[delete_revision("agent-new")]), [Kind::CurrentRevisionDeleted]);
    assert_eq!(broken(&given, &[delete_revision("agent-old")]), carried("old"));
    assert_eq!(broken(&given, &[delete_revision("agent-twin")]), carried("twin"));
    assert_eq!(broken(&given, &[label("a-2", "new"), delete_revision("agent-twin")]), []);
    let kept = given.with("/daemonSet/spec/revisionHistoryLimit", json!(2));
    let short = Kind::HistoryCutShort { old: 2, limit: 2 };
    assert_eq!(broken(&kept, &[delete_revision("agent-older")]), [short]);
}

fn json_status(status: serde_json::Value) -> DaemonSetStatus {
    let mut whole = json!({"observedGeneration": 2});
    whole.as_object_mut().unwrap().extend(status.as_object().unwrap().clone());
    serde_json::from_value(whole).unwrap()
}

#[test]
fn a_status_is_possible_and_counts_collisions_upwards() {
    let given = three(rolling(1)).with("/daemonSet/status", json!({"collisionCount": 2}));
    let good = json!({
        "desiredNumberScheduled": 3, "numberReady": 3, "numberAvailable": 2, "numberUnavailable": 1,
        "collisionCount": 2,
    });
    let changed = |key: &str, value: serde_json::Value| {
        let mut status = good.clone();
        status[key] = value;
        broken(&given, &[write(json_status(status), StatusReason::Changed)])
    };
    assert_eq!(changed("collisionCount", json!(2)), []);
    for (key, value) in [("observedGeneration", 1), ("numberReady", -1), ("numberMisscheduled", 1)] {
        let found = changed(key, json!(value));
        assert!(matches!(found[..], [Kind::WrongStatus { field }] if field == key), "{found:?}");
    }
    assert_eq!(changed("collisionCount", json!(1)), [Kind::WrongCollisionCount { from: 2, to: 1 }]);
    assert_eq!(changed("collisionCount", json!(3)), [Kind::WrongCollisionCount { from: 2, to: 3 }]);
    let collision = DaemonSetStatus { collision_count: Some(3), ..DaemonSetStatus::default() };
    let collision = write(collision, StatusReason::NameCollision);
    assert_eq!(broken(&given, std::slice::from_ref(&collision)), []);
    assert_eq!(broken(&given, &[delete("a-1"), collision]), [Kind::CollisionNotAlone]);
}

#[test]
fn a_daemon_set_that_goes_or_selects_all_is_left_alone() {
    let deleted = three(rolling(1)).with("/daemonSet/metadata/deletionTimestamp", json!(now()));
    assert_eq!(broken(&deleted, &[delete("a-1"), wake_up(1)]), [Kind::BeingDeleted]);
    let all = deleted.with("/daemonSet/spec/selector", json!({}));
    assert_eq!(broken(&all, &[delete("a-1"), wake_up(1)]), [Kind::SelectingAll]);
}

#[test]
fn the_list_is_in_order_within_the_burst_and_wakes_up_once() {
    let given = three(rolling(3)).node(node("d"));
    assert_eq!(broken(&given, &[delete("a-1"), create("d"), wake_up(0)]), []);
    assert_eq!(broken(&given, &[create("d"), delete("a-1")]), [Kind::OutOfOrder]);
    assert_eq!(broken(&given, &[wake_up(-1)]), [Kind::RequeueInThePast { at: at(-1) }]);
    assert_eq!(broken(&given, &[wake_up(1), wake_up(2)]), [Kind::SecondRequeue]);
    let small = given.policy(json!({"burst": 1}));
    assert_eq!(broken(&small, &[delete("a-1"), delete("b-1")]), [Kind::BurstExceeded { limit: 1 }]);
}

#[test]
fn subjects_and_figures_have_words() {
    let fleet = given(rolling(1)).node(node("a").has(old()).has(new()));
    let other = Action::DeletePod {
        node: "a".into(),
        pod: named("b-1"),
        reason: DeleteReason::ExcessPod,
        failure: None,
    };
    let said = |actions: &[Action]| -> Vec<String> {
        violations(&fleet, actions).iter().map(|violation| violation.subject.to_string()).collect()
    };
    assert_eq!(said(&[other]), ["pod ns/b-1"]);
    assert_eq!(said(&[delete_revision("agent-new")]), ["revision ns/agent-new"]);
    assert_eq!(said(&[create("a")])[0], "node a");
    assert_eq!(said(&[wake_up(-1)]), ["DaemonSet ns/agent"]);
    use BudgetFigure::{BeingReplaced, NotReady, Unavailable};
    assert_eq!(
        [Unavailable, NotReady, BeingReplaced].map(|figure| figure.to_string()),
        ["without an available pod", "without a Ready pod", "being replaced"]
    );
}
