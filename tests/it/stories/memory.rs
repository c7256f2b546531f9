//! Memory between two reconciles.

use crate::support::{
    apply, at, given, new, node, now, observe, old, pod, revision, rolling, steps, surging,
};
use daemonset::model::ObjectRef;
use daemonset::{Action, ActionOutcome, Memory, Observed, Recording, Snapshot, reconcile};
use daemonset_audit::audit;
use jiff::SignedDuration;
use serde_json::json;

/// Executes a plan whose effects the snapshot does not show yet.
fn unseen(recording: &mut Recording) -> Vec<String> {
    let plan = daemonset::plan(&recording.snapshot().unwrap());
    let mut real = recording.clone();
    apply(&mut real, &plan);
    recording.memory = real.memory;
    steps(&plan)
}

fn later(recording: &mut Recording, seconds: i64) {
    recording.now += SignedDuration::from_secs(seconds);
}

#[test]
fn no_second_pod_is_created_while_the_first_is_in_flight() {
    let mut recording = given(rolling(1)).memory(&Memory::default()).node(node("a")).recording();
    assert_eq!(unseen(&mut recording), ["create on a in batch 0: MissingPod"]);
    let waits = [format!("requeue at {}: InFlightExpiry", at(300))];
    assert_eq!(unseen(&mut recording), waits);
    later(&mut recording, 299);
    assert_eq!(unseen(&mut recording), waits);
    later(&mut recording, 1);
    assert_eq!(unseen(&mut recording), ["create on a in batch 0: MissingPod"]);
}

#[test]
fn no_budget_is_spent_twice_while_a_delete_is_in_flight() {
    let fleet = || given(rolling(1)).memory(&Memory::default()).nodes(["a", "b"], old());
    let mut recording = fleet().recording();
    assert_eq!(unseen(&mut recording), ["delete a-1: OutdatedAvailable"]);
    assert_eq!(unseen(&mut recording), [format!("requeue at {}: InFlightExpiry", at(300))]);
    later(&mut recording, 300);
    assert_eq!(unseen(&mut recording), ["delete a-1: OutdatedAvailable"]);
    let mut forgetful = fleet().recording();
    unseen(&mut forgetful);
    forgetful.memory = None;
    assert_eq!(steps(&daemonset::plan(&forgetful.snapshot().unwrap())), ["delete a-1: OutdatedAvailable"]);
}

#[test]
fn a_create_in_flight_holds_its_place_in_max_surge() {
    let mut recording = given(surging(1)).memory(&Memory::default()).nodes(["a", "b"], old()).recording();
    assert_eq!(unseen(&mut recording), ["create on a in batch 0: Surge"]);
    assert_eq!(unseen(&mut recording), [format!("requeue at {}: InFlightExpiry", at(300))]);
}

#[test]
fn a_node_with_a_create_in_flight_gets_no_third_pod_whatever_the_room() {
    let mut recording = given(surging(2)).memory(&Memory::default()).node(node("a").has(old())).recording();
    assert_eq!(unseen(&mut recording), ["create on a in batch 0: Surge"]);
    assert_eq!(unseen(&mut recording), [format!("requeue at {}: InFlightExpiry", at(300))]);
}

#[test]
fn a_create_in_flight_counts_as_present_and_unavailable() {
    let mut recording =
        given(rolling(1)).memory(&Memory::default()).node(node("a")).node(node("b").has(old())).recording();
    unseen(&mut recording);
    let plan = daemonset::plan(&recording.snapshot().unwrap());
    let status = plan.status.unwrap();
    assert_eq!((status.current_number_scheduled, status.updated_number_scheduled), (2, 1));
    assert_eq!(plan.report.budget.unwrap().unavailable, 1);
}

#[test]
fn memory_forgets_the_actions_that_a_snapshot_shows() {
    let mut recording = given(rolling(1))
        .memory(&Memory::default())
        .node(node("a"))
        .node(node("b").has(new()).has(new().not_ready()))
        .recording();
    let plan = daemonset::plan(&recording.snapshot().unwrap());
    apply(&mut recording, &plan);
    assert_ne!(recording.memory, Some(Memory::default()));
    observe(&mut recording);
    assert_eq!(recording.memory, Some(Memory::default()));
}

#[test]
fn memory_forgets_a_delete_when_its_pod_terminates() {
    let stable = given(rolling(1)).node(node("a").has(old()));
    let mut memory = Memory::default();
    for action in stable.plan().actions {
        memory.record(&action, &ActionOutcome::Done, now());
    }
    assert_ne!(memory, Memory::default());
    let stale = stable.recording();
    memory.observe(&stale.snapshot().unwrap());
    assert_ne!(memory, Memory::default(), "the snapshot does not show it yet");
    let fresh = given(rolling(1)).node(node("a").has(old().terminating(30))).recording();
    memory.observe(&fresh.snapshot().unwrap());
    let left = serde_json::to_value(&memory).unwrap();
    assert_eq!(left, json!({"taken": {"a": {"uid": "uid-a-1", "at": now()}}}), "the node is not back yet");
}

#[test]
fn failures_are_forgotten_after_half_an_hour() {
    let failed = json!({"failures": {"a": {"generation": 2, "count": 3, "at": at(0)}}});
    let memory: Memory = serde_json::from_value(failed).unwrap();
    let mut recording = given(rolling(1)).memory(&memory).node(node("a")).recording();
    later(&mut recording, 30 * 60 - 1);
    observe(&mut recording);
    assert_eq!(recording.memory, Some(memory));
    later(&mut recording, 1);
    observe(&mut recording);
    assert_eq!(recording.memory, Some(Memory::default()));
}

#[test]
fn rejected_actions_change_no_plan_and_unknown_ones_do() {
    let plan = given(rolling(1)).node(node("a")).node(node("b").has(new().failed())).plan();
    let remembers = |outcome: ActionOutcome| {
        let mut memory = Memory::default();
        for action in &plan.actions {
            memory.record(action, &outcome, now());
        }
        memory
    };
    let rejected = remembers(ActionOutcome::Rejected);
    let again =
        given(rolling(1)).memory(&rejected).node(node("a")).node(node("b").has(new().failed())).plan();
    assert_eq!(again.actions, plan.actions);
    assert!(rejected.rejections("a").is_some() && rejected.rejections("b").is_some(), "a person sees them");
    let lost = remembers(ActionOutcome::Unknown);
    let held = given(rolling(1)).memory(&lost).node(node("a")).steps();
    assert_eq!(held, [format!("requeue at {}: InFlightExpiry", at(300))]);
}

#[test]
fn a_create_in_flight_with_a_duplicates_hash_is_updated() {
    let mut twin = revision("twin", 3);
    twin["data"] = revision("new", 2)["data"].clone();
    let create = json!({"uid": "uid-created", "revision": "new", "at": at(-10)});
    let plan = given(rolling(1))
        .revisions([revision("new", 2), twin])
        .node(node("a"))
        .with("/memory", json!({"creates": {"a": create}}))
        .plan();
    let status = plan.status.unwrap();
    assert_eq!((status.updated_number_scheduled, status.current_number_scheduled), (1, 1));
}

#[test]
fn reconcile_does_not_need_observe() {
    let create = given(rolling(1)).node(node("a")).plan().actions;
    let created = ObjectRef { uid: "uid-a-1".into(), name: "a-1".into(), ..ObjectRef::default() };
    let mut memory = Memory::default();
    for action in &create {
        memory.record(action, &ActionOutcome::Created(created.clone()), now());
    }
    let seen = given(rolling(1)).memory(&memory).node(node("a").has(new())).node(node("b").has(old()));
    assert_eq!(
        seen.steps(),
        ["delete b-1: OutdatedAvailable"],
        "the created pod is there: it does not count twice"
    );
}

#[test]
fn a_create_in_flight_keeps_its_revision() {
    let stable = given(rolling(1)).node(node("a"));
    let mut memory = Memory::default();
    for action in stable.plan().actions.iter().filter(|a| matches!(a, Action::CreatePod { .. })) {
        memory.record(action, &ActionOutcome::Unknown, now());
    }
    let edited = stable.memory(&memory).revisions([crate::support::revision("newer", 3)]);
    let edited = edited.with("/daemonSet/spec/template", crate::support::template("newer"));
    let status = edited.plan().status.unwrap();
    assert_eq!((status.current_number_scheduled, status.updated_number_scheduled), (1, 0));
}

#[test]
fn memory_survives_serialization() {
    let stable =
        given(rolling(1)).memory(&Memory::default()).node(node("a")).node(node("b").has(pod("new").failed()));
    let mut recording = stable.recording();
    unseen(&mut recording);
    let text = serde_json::to_string(&recording).unwrap();
    let again = Recording::from_json(text.as_bytes()).unwrap();
    assert_eq!(again.memory, recording.memory);
    assert_eq!(reconcile(&again.snapshot().unwrap()), reconcile(&recording.snapshot().unwrap()));
    assert_eq!(serde_json::from_str::<Memory>("{}").unwrap(), Memory::default());
}

#[test]
fn the_policy_sets_the_expiry() {
    let policy = serde_json::json!({"inFlightExpirySeconds": 10});
    let mut recording =
        given(rolling(1)).policy(policy).memory(&Memory::default()).node(node("a")).recording();
    unseen(&mut recording);
    assert_eq!(unseen(&mut recording), [format!("requeue at {}: InFlightExpiry", at(10))]);
}

#[test]
fn a_snapshot_with_the_memory_may_be_observed_by_it() {
    let recording = given(rolling(1)).node(node("a").has(new())).recording();
    let mut memory = Memory::default();
    let Recording { daemon_set, nodes, pods, revisions, .. } = &recording;
    let observed = Observed { daemon_set, nodes, pods, revisions };
    let snapshot = Snapshot::builder(observed, recording.now).memory(&memory).check().unwrap();
    memory.observe(&snapshot);
    assert_eq!(snapshot.now(), now(), "the actions of a plan are recorded at its time");
    for action in reconcile(&snapshot) {
        memory.record(&action, &ActionOutcome::Done, snapshot.now());
    }
}

#[test]
fn a_revision_whose_pod_is_in_flight_is_live_history() {
    let mut memory = Memory::default();
    for action in given(rolling(1)).node(node("a")).plan().actions {
        memory.record(&action, &ActionOutcome::Unknown, now());
    }
    let edited = given(rolling(1))
        .revisions([crate::support::revision("new", 2), crate::support::revision("newer", 3)])
        .with("/daemonSet/spec/template", crate::support::template("newer"))
        .with("/daemonSet/spec/revisionHistoryLimit", serde_json::json!(0));
    assert_eq!(edited.steps(), ["delete agent-new: HistoryLimit"]);
    let kept = edited.memory(&memory).node(node("a"));
    assert_eq!(kept.steps(), [format!("requeue at {}: InFlightExpiry", at(300))]);
}

#[test]
fn a_pod_that_may_be_gone_gets_no_label() {
    let unlabelled =
        given(rolling(1)).generation(4).node(node("a").has(new().without_hash().generation("4")));
    assert_eq!(unlabelled.steps().len(), 1);
    let gone: Memory = serde_json::from_value(serde_json::json!({"deletes": {"uid-a-1": now()}})).unwrap();
    assert_eq!(unlabelled.memory(&gone).steps(), [format!("requeue at {}: InFlightExpiry", at(300))]);
    let mut twin = crate::support::revision("new", 1);
    twin["metadata"]["name"] = serde_json::json!("agent-twin");
    twin["metadata"]["uid"] = serde_json::json!("uid-twin");
    twin["metadata"]["labels"]["controller-revision-hash"] = serde_json::json!("twin");
    let relabel = given(rolling(1))
        .revisions([twin, crate::support::revision("new", 2)])
        .node(node("a").has(pod("twin")));
    assert_eq!(relabel.steps().len(), 2);
    let relabel: Vec<_> = relabel.memory(&gone).steps();
    assert!(!relabel.iter().any(|step| step.starts_with("label")), "{relabel:?}");
}

#[test]
fn an_entry_from_the_far_future_is_ignored() {
    let create = |seconds| {
        let json = serde_json::json!({"creates": {"a": {"revision": "new", "at": at(seconds)}}});
        let memory: Memory = serde_json::from_value(json).unwrap();
        given(rolling(1)).memory(&memory).node(node("a")).steps()
    };
    assert_eq!(create(300), [format!("requeue at {}: InFlightExpiry", at(600))]);
    assert_eq!(create(301), ["create on a in batch 0: MissingPod"]);
    let failure = |seconds| {
        let entry = serde_json::json!({"generation": 2, "count": 1, "at": at(seconds)});
        let memory: Memory = serde_json::from_value(serde_json::json!({"failures": {"a": entry}})).unwrap();
        given(rolling(1)).memory(&memory).node(node("a").has(new().failed())).steps().len()
    };
    assert_eq!((failure(60), failure(1800)), (1, 2));
}

/// KEP-5647. A pod that was created and is gone before the cache saw it holds its node no longer than the cache lags.
#[test]
fn a_list_at_the_version_of_a_create_shows_it() {
    let stable = given(rolling(1)).node(node("a"));
    let create = stable.plan().actions.swap_remove(0);
    let created = |version: &str| {
        let resource_version = version.to_owned();
        let pod =
            ObjectRef { name: "a-1".into(), uid: "uid-a-1".into(), resource_version, ..ObjectRef::default() };
        let mut memory = Memory::default();
        memory.record(&create, &ActionOutcome::Created(pod), now());
        memory
    };
    let creates = |version: &str, read: Option<u64>| {
        let mut recording = stable.clone().memory(&created(version)).recording();
        recording.pods_version = read;
        let written = serde_json::to_string(&recording).unwrap();
        let replayed = Recording::from_json(written.as_bytes()).unwrap();
        let snapshot = replayed.snapshot().unwrap();
        let actions = reconcile(&snapshot);
        assert_eq!(audit(&snapshot, &actions), []);
        let mut memory = created(version);
        memory.observe(&snapshot);
        assert_eq!(memory.is_in_flight(&create), !actions.iter().any(|action| action.kind() == "CreatePod"));
        !memory.is_in_flight(&create)
    };
    assert!(!creates("1042", None), "without a version as ever");
    assert!(!creates("", Some(1042)));
    assert!(!creates("unknown", Some(1042)), "a text that is no number says nothing");
    assert!(!creates("1042", Some(999)), "versions compare as numbers");
    assert!(!creates("1042", Some(1041)));
    assert!(creates("1042", Some(1042)));
    assert!(creates("1042", Some(10_000)));
}

#[test]
fn a_list_at_the_version_of_a_delete_shows_it() {
    let stable = given(rolling(1)).node(node("a").has(old()));
    let delete = stable.plan().actions.swap_remove(0);
    let Action::DeletePod { pod, .. } = &delete else { panic!() };
    let deleted = ObjectRef { resource_version: "1042".into(), ..pod.clone() };
    let mut memory = Memory::default();
    memory.record(&delete, &ActionOutcome::Changed(deleted), now());
    let written = json!({"uid-a-1": {"at": now(), "version": 1042}});
    assert_eq!(serde_json::to_value(&memory).unwrap()["deletes"], written);
    assert!(serde_json::from_value::<Memory>(json!({"deletes": written})).unwrap().is_in_flight(&delete));
    for (read, in_flight) in [(1041, true), (1042, false)] {
        let mut recording = stable.recording();
        recording.pods_version = Some(read);
        let mut memory = memory.clone();
        memory.observe(&recording.snapshot().unwrap());
        assert_eq!(memory.is_in_flight(&delete), in_flight, "{read}");
    }
    let mut memory = Memory::default();
    memory.record(&delete, &ActionOutcome::Done, now());
    assert_eq!(serde_json::to_value(&memory).unwrap()["deletes"], json!({"uid-a-1": now()}), "as ever");
}
