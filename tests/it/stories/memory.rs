//! What is remembered between two reconciles.

use crate::support::{apply, at, given, new, node, now, observe, old, pod, rolling, steps, surging};
use daemonset::model::ObjectRef;
use daemonset::{Action, Memory, Outcome, Recording, reconcile};
use jiff::SignedDuration;

/// Executes a plan without the snapshot seeing anything of it.
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
fn no_second_pod_is_created_while_the_first_is_not_seen() {
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
fn no_budget_is_spent_twice_while_a_delete_is_not_seen() {
    let fleet =
        || given(rolling(1)).memory(&Memory::default()).node(node("a").has(old())).node(node("b").has(old()));
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
fn a_create_that_is_not_seen_holds_its_place_in_max_surge() {
    let mut recording = given(surging(1))
        .memory(&Memory::default())
        .node(node("a").has(old()))
        .node(node("b").has(old()))
        .recording();
    assert_eq!(unseen(&mut recording), ["create on a in batch 0: Surge"]);
    assert_eq!(unseen(&mut recording), [format!("requeue at {}: InFlightExpiry", at(300))]);
}

#[test]
fn a_create_that_is_not_seen_counts_as_present_and_unavailable() {
    let mut recording =
        given(rolling(1)).memory(&Memory::default()).node(node("a")).node(node("b").has(old())).recording();
    unseen(&mut recording);
    let plan = daemonset::plan(&recording.snapshot().unwrap());
    let status = plan.status.unwrap();
    assert_eq!((status.current_number_scheduled, status.updated_number_scheduled), (2, 1));
    assert_eq!(plan.report.budget.unwrap().unavailable, 1);
}

#[test]
fn what_a_snapshot_shows_is_forgotten() {
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
fn a_delete_is_seen_when_its_pod_terminates() {
    let base = given(rolling(1)).node(node("a").has(old()));
    let mut memory = Memory::default();
    for action in base.plan().actions {
        memory.record(&action, &Outcome::Done, now());
    }
    assert_ne!(memory, Memory::default());
    let stale = base.recording();
    memory.observe(&stale.snapshot().unwrap());
    assert_ne!(memory, Memory::default(), "the snapshot does not show it yet");
    let fresh = given(rolling(1)).node(node("a").has(old().terminating(30))).recording();
    memory.observe(&fresh.snapshot().unwrap());
    assert_eq!(memory, Memory::default());
}

#[test]
fn what_failed_leaves_no_trace_and_what_is_unknown_does() {
    let plan = given(rolling(1)).node(node("a")).node(node("b").has(new().failed())).plan();
    let remembers = |outcome: Outcome| {
        let mut memory = Memory::default();
        for action in &plan.actions {
            memory.record(action, &outcome, now());
        }
        memory
    };
    assert_eq!(remembers(Outcome::Failed), Memory::default());
    let lost = remembers(Outcome::Unknown);
    let held = given(rolling(1)).memory(&lost).node(node("a")).steps();
    assert_eq!(held, [format!("requeue at {}: InFlightExpiry", at(300))]);
}

#[test]
fn reconcile_does_not_need_observe() {
    let create = given(rolling(1)).node(node("a")).plan().actions;
    let created = ObjectRef { uid: "uid-a-1".into(), name: "a-1".into(), ..ObjectRef::default() };
    let mut memory = Memory::default();
    for action in &create {
        memory.record(action, &Outcome::Created(created.clone()), now());
    }
    let seen = given(rolling(1)).memory(&memory).node(node("a").has(new())).node(node("b").has(old()));
    assert_eq!(
        seen.steps(),
        ["delete b-1: OutdatedAvailable"],
        "the created pod is there: it does not count twice"
    );
}

#[test]
fn a_create_in_flight_is_of_the_revision_that_it_was_made_from() {
    let base = given(rolling(1)).node(node("a"));
    let mut memory = Memory::default();
    for action in base.plan().actions.iter().filter(|a| matches!(a, Action::CreatePod { .. })) {
        memory.record(action, &Outcome::Unknown, now());
    }
    let edited = base.memory(&memory).revisions([crate::support::revision("newer", 3)]);
    let edited = edited.with("/daemonSet/spec/template", crate::support::template("newer"));
    let status = edited.plan().status.unwrap();
    assert_eq!((status.current_number_scheduled, status.updated_number_scheduled), (1, 0));
}

#[test]
fn memory_survives_serialization() {
    let base =
        given(rolling(1)).memory(&Memory::default()).node(node("a")).node(node("b").has(pod("new").failed()));
    let mut recording = base.recording();
    unseen(&mut recording);
    let text = serde_json::to_string(&recording).unwrap();
    let again = Recording::from_json(text.as_bytes()).unwrap();
    assert_eq!(again.memory, recording.memory);
    assert_eq!(reconcile(&again.snapshot().unwrap()), reconcile(&recording.snapshot().unwrap()));
    assert_eq!(serde_json::from_str::<Memory>("{}").unwrap(), Memory::default());
}

#[test]
fn the_expiry_is_the_policys() {
    let policy = serde_json::json!({"inFlightExpirySeconds": 10});
    let mut recording =
        given(rolling(1)).policy(policy).memory(&Memory::default()).node(node("a")).recording();
    unseen(&mut recording);
    assert_eq!(unseen(&mut recording), [format!("requeue at {}: InFlightExpiry", at(10))]);
}
