//! The driver: the order of its calls, and its memory between them.

use crate::support::{Given, apply, at, given, new, node, now, old, rolling, surging};
use daemonset::model::ObjectRef;
use daemonset::{
    Action, ActionOutcome, Memory, Observed, Plan, PlanError, Policy, Reconciler, Recorded, Recording,
    RequeueReason, Snapshot, UnexpectedAction, plan,
};
use daemonset_incremental::Tracker;
use serde_json::{Value, json};

fn reconciler() -> Reconciler {
    Reconciler::new("uid-agent", Policy::default())
}

fn planned(reconciler: &mut Reconciler, given: &Given) -> Plan {
    let Recording { daemon_set, nodes, pods, revisions, now, .. } = &given.recording();
    reconciler.plan(Observed { daemon_set, nodes, pods, revisions }, *now).unwrap()
}

pub(super) fn lines(plan: &Plan) -> Vec<String> {
    plan.actions.iter().filter(|action| action.kind() != "UpdateStatus").map(ToString::to_string).collect()
}

/// Records the same outcome for each action.
fn record_all(reconciler: &mut Reconciler, plan: &Plan, outcome: &ActionOutcome) -> Vec<bool> {
    plan.actions.iter().map(|action| reconciler.record(action, outcome, now()).ends_plan()).collect()
}

#[test]
fn an_accepted_create_is_remembered_until_a_list_shows_it() {
    let mut reconciler = reconciler();
    let empty = given(rolling(1)).node(node("a"));
    let plan = planned(&mut reconciler, &empty);
    assert_eq!(lines(&plan), ["CreatePod on a, batch 0 (MissingPod)"]);
    record_all(&mut reconciler, &plan, &ActionOutcome::Done);
    let stale = planned(&mut reconciler, &empty);
    assert_eq!(lines(&stale), ["Requeue at 2026-01-01T12:05:00Z (InFlightExpiry)"]);
    assert!(reconciler.memory().is_in_flight(&plan.actions[0]));
    assert_eq!(lines(&planned(&mut reconciler, &given(rolling(1)).node(node("a").has(new())))), [""; 0]);
    assert_eq!(serde_json::to_value(reconciler.memory()).unwrap(), json!({"uid": "uid-agent"}));
}

/// A caller that has not read the answer gives an object without a uid: no pod would ever show it.
#[test]
fn a_create_without_the_uid_of_its_pod_is_shown_by_a_pod_of_its_revision() {
    let mut reconciler = reconciler();
    let plan = planned(&mut reconciler, &given(rolling(1)).node(node("a")));
    record_all(&mut reconciler, &plan, &ActionOutcome::Created(ObjectRef::default()));
    let shown = given(rolling(1)).node(node("a").has(new()));
    assert_eq!(lines(&planned(&mut reconciler, &shown)), [""; 0]);
    assert!(!reconciler.memory().is_in_flight(&plan.actions[0]));
}

/// Another DaemonSet has taken the name: with the old memory its nodes would wait for pods that nobody creates.
#[test]
fn the_memory_of_another_daemon_set_is_an_error_until_a_reset() {
    let mut reconciler = reconciler();
    let empty = given(rolling(1)).node(node("a"));
    let plan = planned(&mut reconciler, &empty);
    record_all(&mut reconciler, &plan, &ActionOutcome::Done);
    let replaced = empty.with("/daemonSet/metadata/uid", json!("uid-agent-2")).revisions([]);
    let recording = replaced.recording();
    let Recording { daemon_set, nodes, pods, revisions, now, .. } = &recording;
    let observed = Observed { daemon_set, nodes, pods, revisions };
    let mistaken = reconciler.plan(observed, *now).unwrap_err();
    assert_eq!(mistaken.problems()[0].path, "memory.uid");
    let pure = Snapshot::builder(observed, *now).memory(reconciler.memory()).check().unwrap_err();
    assert_eq!(PlanError::from(pure), mistaken, "the pure functions see it, too");
    let mut tracker = Tracker::with_memory("uid-agent-2", Policy::default(), reconciler.memory().clone());
    assert_eq!(tracker.list(observed, *now).unwrap_err(), mistaken);

    reconciler.reset("uid-agent-2");
    assert!(lines(&planned(&mut reconciler, &replaced)).iter().any(|line| line.starts_with("CreatePod")));
    tracker.reset("uid-agent-2");
    assert!(tracker.list(observed, *now).is_ok());
}

/// A memory that was written before memories had a uid.
#[test]
fn a_memory_without_a_uid_is_read_as_before() {
    let memory: Memory =
        serde_json::from_value(json!({"creates": {"a": {"revision": "new", "at": now()}}})).unwrap();
    let mut restarted = Reconciler::with_memory("uid-agent", Policy::default(), memory);
    let plan = planned(&mut restarted, &given(rolling(1)).node(node("a")));
    assert_eq!(lines(&plan), ["Requeue at 2026-01-01T12:05:00Z (InFlightExpiry)"]);
}

#[test]
fn rejected_and_unknown_end_the_plan() {
    let mut reconciler = reconciler();
    let plan = planned(&mut reconciler, &given(rolling(1)).node(node("a")));
    let created = ActionOutcome::Created(ObjectRef { name: "a-1".to_owned(), ..ObjectRef::default() });
    for (outcome, ends) in [
        (created, false),
        (ActionOutcome::Done, false),
        (ActionOutcome::Rejected, true),
        (ActionOutcome::Unknown, true),
    ] {
        let recorded = reconciler.record(&plan.actions[0], &outcome, now());
        assert_eq!(recorded.ends_plan(), ends, "{outcome:?}");
    }
}

/// Its outcome is kept all the same: the pod of a create that nobody remembers would be created twice.
#[test]
fn an_action_of_another_plan_is_unexpected() {
    let mut reconciler = reconciler();
    let create = Action::clone(&planned(&mut reconciler, &given(rolling(1)).node(node("b"))).actions[0]);
    assert_eq!(reconciler.record(&create, &ActionOutcome::Done, now()), Recorded::PlanContinues);
    let plan = planned(&mut reconciler, &given(rolling(1)).node(node("a")));
    assert_eq!(
        reconciler.record(&create, &ActionOutcome::Done, now()),
        Recorded::Unexpected(UnexpectedAction::OtherPlan)
    );
    assert!(reconciler.memory().is_in_flight(&create));
    // A copy of an action of the plan is that action, also from another process.
    let copy: Action = serde_json::from_value(serde_json::to_value(&plan.actions[0]).unwrap()).unwrap();
    assert_eq!(reconciler.record(&copy, &ActionOutcome::Done, now()), Recorded::PlanContinues);
    let mut unplanned = self::reconciler();
    assert_eq!(
        unplanned.record(&create, &ActionOutcome::Done, now()),
        Recorded::Unexpected(UnexpectedAction::OtherPlan)
    );
}

/// A revision that can't be created has no pods. A second action of the same batch, and the status, rest on nothing.
#[test]
fn an_action_after_the_end_of_its_plan_is_unexpected() {
    let mut reconciler = reconciler();
    let fleet = given(rolling("100%")).node(node("a").has(old())).node(node("b").has(old()));
    let plan = planned(&mut reconciler, &fleet.node(node("c")));
    let kinds: Vec<_> = plan.actions.iter().map(Action::kind).collect();
    assert_eq!(kinds, ["DeletePod", "DeletePod", "CreatePod", "UpdateStatus"]);
    let mut record = |index: usize, outcome| reconciler.record(&plan.actions[index], &outcome, now());
    assert_eq!(record(0, ActionOutcome::Rejected), Recorded::PlanEnds);
    assert_eq!(record(1, ActionOutcome::Done), Recorded::PlanContinues);
    assert_eq!(record(2, ActionOutcome::Done), Recorded::Unexpected(UnexpectedAction::AfterEnd));
    assert_eq!(record(3, ActionOutcome::Done), Recorded::PlanContinues);
}

/// A webhook may refuse the delete for ever.
#[test]
fn the_status_is_due_though_a_delete_is_refused() {
    let mut reconciler = reconciler();
    let plan = planned(&mut reconciler, &given(rolling(1)).nodes(["a", "b"], old()));
    let kinds = |actions: &[&Action]| actions.iter().map(|action| action.kind()).collect::<Vec<_>>();
    assert_eq!(kinds(&plan.actions.iter().collect::<Vec<_>>()), ["DeletePod", "UpdateStatus"]);
    let [delete, status] = plan.actions.as_slice() else { panic!("two actions") };
    assert!(reconciler.record(delete, &ActionOutcome::Rejected, now()).ends_plan());
    assert_eq!(kinds(&plan.independent_after(delete).collect::<Vec<_>>()), ["UpdateStatus"]);
    assert_eq!(kinds(&plan.independent_after(status).collect::<Vec<_>>()), [""; 0]);
}

#[test]
fn a_memory_is_carried_over_a_restart() {
    let mut reconciler = reconciler();
    let empty = given(rolling(1)).node(node("a"));
    let plan = planned(&mut reconciler, &empty);
    record_all(&mut reconciler, &plan, &ActionOutcome::Done);
    let kept = serde_json::to_string(reconciler.memory()).unwrap();
    let memory = serde_json::from_str(&kept).unwrap();
    let mut restarted = Reconciler::with_memory("uid-agent", Policy::default(), memory);
    assert_eq!(lines(&planned(&mut restarted, &empty)), ["Requeue at 2026-01-01T12:05:00Z (InFlightExpiry)"]);
}

/// Of the same DaemonSet, and of another one that took its name.
#[test]
fn an_unusable_input_leaves_the_memory_as_it_is() {
    let mut reconciler = reconciler();
    let empty = given(rolling(1)).node(node("a"));
    let plan = planned(&mut reconciler, &empty);
    record_all(&mut reconciler, &plan, &ActionOutcome::Done);
    let before = reconciler.memory().clone();
    for uid in ["uid-agent", "uid-agent-2"] {
        let given = empty.clone().with("/daemonSet/metadata/uid", json!(uid));
        let recording = given.with("/daemonSet/spec/minReadySeconds", json!(-1)).recording();
        let Recording { daemon_set, nodes, pods, revisions, now, .. } = &recording;
        let refused = reconciler.plan(Observed { daemon_set, nodes, pods, revisions }, *now).unwrap_err();
        assert_eq!(refused.problems()[0].path, "spec.minReadySeconds");
        assert_eq!(refused.problems().len(), if uid == "uid-agent" { 1 } else { 2 }, "{refused}");
        assert_eq!((reconciler.uid().as_str(), reconciler.memory()), ("uid-agent", &before), "{uid}");
    }
}

#[test]
fn a_lost_create_is_taken_back_when_storage_does_not_have_it() {
    let mut reconciler = reconciler();
    let empty = given(rolling(1)).node(node("a"));
    let plan = planned(&mut reconciler, &empty);
    record_all(&mut reconciler, &plan, &ActionOutcome::Unknown);
    let Recording { daemon_set, nodes, pods, revisions, now, .. } = &empty.recording();
    let stored = Snapshot::builder(Observed { daemon_set, nodes, pods, revisions }, *now).check().unwrap();
    for action in &plan.actions {
        reconciler.settle(action, &stored);
    }
    assert_eq!(lines(&planned(&mut reconciler, &empty)), ["CreatePod on a, batch 0 (MissingPod)"]);
}

#[test]
fn another_policy_holds_from_the_next_plan_on() {
    let mut reconciler = reconciler();
    let two = given(rolling(1)).node(node("a")).node(node("b"));
    let policy = reconciler.policy().clone().burst(1);
    reconciler.set_policy(policy);
    let kinds: Vec<_> = planned(&mut reconciler, &two).actions.iter().map(Action::kind).collect();
    assert_eq!(kinds, ["CreatePod", "UpdateStatus", "Requeue"]);
}

#[test]
fn a_setter_changes_one_choice_of_the_policy() {
    let set = Policy::default().burst(7).unique_label_key("example.com/hash");
    let read: Policy =
        serde_json::from_value(json!({"burst": 7, "uniqueLabelKey": "example.com/hash"})).unwrap();
    assert_eq!(set, read);
    assert_ne!(set, Policy::default());
}

#[test]
fn deletes_are_one_batch_and_creates_one_a_step_of_the_slow_start() {
    let fleet = given(surging(4)).nodes(["a", "b", "c", "d"], old()).nodes(["e", "f"], old().failed());
    let plan = planned(&mut reconciler(), &fleet);
    let batches: Vec<Vec<&str>> =
        plan.batches().map(|batch| batch.iter().map(Action::kind).collect()).collect();
    assert_eq!(
        batches,
        [
            vec!["DeletePod"; 2],
            vec!["CreatePod"],
            vec!["CreatePod"; 2],
            vec!["CreatePod"; 3],
            vec!["UpdateStatus"],
            vec!["RecordEvent"],
            vec!["RecordEvent"],
        ]
    );
    assert_eq!(plan.batches().map(<[Action]>::len).sum::<usize>(), plan.actions.len());
}

#[test]
fn a_summary_counts_the_actions_by_verb_and_object() {
    let down = given(rolling(1)).node(node("a").has(old())).node(node("b")).node(node("c")).node(node("d"));
    assert_eq!(down.plan().summary(), "create 3 pods, write the status");
    let failed = given(rolling(1)).revisions([]).node(node("a").has(new().failed())).node(node("b"));
    assert_eq!(
        failed.plan().summary(),
        "create 1 revision, delete 1 pod, create 1 pod, write the status, record 1 event"
    );
    // A plan that only waits.
    let waiting = given(rolling(1)).min_ready(60).node(node("a").has(new().ready_for(10)));
    let mut recording = waiting.recording();
    let busy = waiting.plan();
    assert_eq!((busy.acts(), busy.summary().as_str()), (true, "write the status"));
    apply(&mut recording, &busy);
    let plan = plan(&recording.snapshot().unwrap());
    assert_eq!((plan.acts(), plan.summary().as_str()), (false, ""));
    assert_eq!(plan.requeue(), Some((at(50), RequeueReason::MinReadySeconds)));
}

/// Kind, reason, subject and node are those of the JSON form.
#[test]
fn the_parts_of_an_action_are_those_of_the_json_form() {
    let fleets = [
        given(surging(4)).node(node("a").has(old())).node(node("b").has(old().failed())),
        given(rolling(1)).node(node("a").has(old())).node(node("b")).revisions([]),
        given(rolling(1))
            .node(node("a").has(new().orphan()))
            .node(node("b").has(new().label("app", "other"))),
        given(rolling(1)).node(node("a").has(new().without_hash().generation("2"))).generation(2),
    ];
    for fleet in fleets {
        for action in fleet.plan().actions {
            let json = json!(action);
            assert_eq!(json["type"], action.kind());
            assert_eq!(json["reason"], action.reason());
            let object = ["pod", "revision", "daemonSet"].into_iter().find_map(|member| json.get(member));
            let subject = object.filter(|object| object.get("uid").is_some());
            assert_eq!(json!(action.subject()), *subject.unwrap_or(&Value::Null));
            let name =
                object.and_then(|object| object.get("name").or_else(|| object.pointer("/metadata/name")));
            assert_eq!(json!(action.subject_name()), *name.unwrap_or(&Value::Null));
            assert_eq!(json!(action.node()), json["node"]);
            assert_eq!(action.acts(), action.kind() != "Requeue");
            assert!(!action.acts() || action.kind().to_lowercase().ends_with(action.noun()), "{action}");
            let line = action.to_string();
            assert!(
                line.starts_with(action.kind()) && line.ends_with(&format!("({})", action.reason())),
                "{line}"
            );
        }
    }
}

/// Both set an annotation of one revision.
#[test]
fn a_second_mark_is_not_due_after_the_first_was_rejected() {
    let policy: Policy = serde_json::from_value(json!({"rollout": {"waves": [{"upTo": 1}, {}]}})).unwrap();
    let mut reconciler = Reconciler::new("uid-agent", policy);
    let plan = planned(&mut reconciler, &given(rolling(1)).nodes(["a", "b"], old()));
    let marks: Vec<&Action> =
        plan.actions.iter().filter(|action| action.kind() == "AnnotateRevision").collect();
    let [first, second] = marks[..] else { panic!("{:?}", lines(&plan)) };
    assert!(reconciler.record(first, &ActionOutcome::Rejected, now()).ends_plan());
    assert_eq!(
        reconciler.record(second, &ActionOutcome::Done, now()),
        Recorded::Unexpected(UnexpectedAction::AfterEnd)
    );
}

/// The plan is that of a DaemonSet which has gone.
#[test]
fn no_action_of_the_plan_before_is_due_after_a_reset() {
    let mut reconciler = reconciler();
    let plan = planned(&mut reconciler, &given(rolling(1)).node(node("a")));
    reconciler.reset("uid-other");
    let create = plan.actions.iter().find(|action| action.kind() == "CreatePod").unwrap();
    assert_eq!(
        reconciler.record(create, &ActionOutcome::Done, now()),
        Recorded::Unexpected(UnexpectedAction::OtherPlan)
    );
}
