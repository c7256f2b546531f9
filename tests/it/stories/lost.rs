//! Lost answers: the action may have been executed.

use crate::support::{at, given, new, node, now, old, revision, rolling, steps, surging};
use daemonset::model::ObjectRef;
use daemonset::{ActionOutcome, Memory};

/// The plan's actions were sent, and their outcomes are unknown.
fn lost(plan: &daemonset::Plan) -> Memory {
    let mut memory = Memory::default();
    for action in &plan.actions {
        memory.record(action, &ActionOutcome::Unknown, now());
    }
    memory
}

#[test]
fn a_create_whose_answer_was_lost_is_found_again_by_node_and_revision() {
    let mut memory = Memory::default();
    for action in given(rolling(1)).node(node("a")).plan().actions {
        memory.record(&action, &ActionOutcome::Unknown, now());
    }
    let shown = given(rolling(1)).memory(&memory).node(node("a").has(new())).node(node("b").has(old()));
    assert_eq!(shown.steps(), ["delete b-1: OutdatedAvailable"]);
    let another = given(rolling(1)).memory(&memory).node(node("a").has(old().terminating(30)));
    assert_eq!(another.steps(), [format!("requeue at {}: InFlightExpiry", at(300))]);
    memory.observe(&shown.recording().snapshot().unwrap());
    assert_eq!(memory, Memory::default());
}

#[test]
fn a_pod_that_may_be_gone_is_no_evidence_of_its_successors_create() {
    let given = || given(surging(1)).node(node("a").has(new().not_ready()));
    let deleted = serde_json::json!({"deletes": {"uid-a-1": now()}});
    let mut memory: Memory = serde_json::from_value(deleted).unwrap();
    let plan = given().memory(&memory).plan();
    assert_eq!(steps(&plan)[0], "create on a in batch 0: MissingPod");
    for action in &plan.actions {
        memory.record(action, &ActionOutcome::Unknown, now());
    }
    let stale = given().memory(&memory);
    assert_eq!(stale.steps(), [format!("requeue at {}: InFlightExpiry", at(300))]);
}

#[test]
fn a_lost_create_that_storage_does_not_show_is_planned_again() {
    let missing = || given(rolling(1)).node(node("a"));
    let plan = missing().plan();
    let create = &plan.actions[0];
    let mut memory = lost(&plan);
    assert!(memory.is_in_flight(create));
    memory.settle(create, &missing().node(node("b").has(new())).recording().snapshot().unwrap());
    assert!(!memory.is_in_flight(create));
    assert_eq!(missing().memory(&memory).steps(), ["create on a in batch 0: MissingPod"]);
}

#[test]
fn a_lost_create_that_storage_shows_stays_in_flight_until_the_watch_shows_it() {
    let missing = || given(rolling(1)).node(node("a"));
    let plan = missing().plan();
    let mut memory = lost(&plan);
    let stored = given(rolling(1)).node(node("a").has(new().not_ready())).recording();
    memory.settle(&plan.actions[0], &stored.snapshot().unwrap());
    assert_eq!(missing().memory(&memory).steps(), [format!("requeue at {}: InFlightExpiry", at(300))]);
}

#[test]
fn a_create_that_was_accepted_is_not_taken_back() {
    let missing = || given(rolling(1)).node(node("a"));
    let plan = missing().plan();
    let created = ObjectRef { uid: "uid-a-1".into(), name: "a-1".into(), ..ObjectRef::default() };
    let mut memory = Memory::default();
    memory.record(&plan.actions[0], &ActionOutcome::Created(created), now());
    memory.settle(&plan.actions[0], &missing().recording().snapshot().unwrap());
    assert!(memory.is_in_flight(&plan.actions[0]), "a list may come from a cache");
}

#[test]
fn only_the_action_that_is_settled_is_taken_back() {
    let missing = || given(rolling(1)).node(node("a")).node(node("b"));
    let plan = missing().plan();
    let mut memory = lost(&plan);
    memory.settle(&plan.actions[1], &missing().recording().snapshot().unwrap());
    assert_eq!(missing().memory(&memory).steps()[0], "create on b in batch 0: MissingPod");
    assert!(memory.is_in_flight(&plan.actions[0]));
    let edited = missing()
        .revisions([revision("newer", 3)])
        .with("/daemonSet/spec/template", crate::support::template("newer"))
        .plan();
    assert_eq!(steps(&edited)[0], "create on a in batch 0: MissingPod");
    assert!(!memory.is_in_flight(&edited.actions[0]), "the pod belongs to another revision");
}

#[test]
fn a_lost_delete_is_planned_again_if_its_pod_still_exists() {
    let outdated = || given(rolling(1)).node(node("a").has(old()));
    let plan = outdated().plan();
    let delete = &plan.actions[0];
    let gone =
        [given(rolling(1)).node(node("a").has(old().terminating(30))), given(rolling(1)).node(node("a"))];
    for stored in gone {
        let mut memory = lost(&plan);
        memory.settle(delete, &stored.recording().snapshot().unwrap());
        assert!(memory.is_in_flight(delete), "the delete was executed, and the watch has not shown it");
    }
    let mut memory = lost(&plan);
    memory.settle(delete, &outdated().recording().snapshot().unwrap());
    assert_eq!(outdated().memory(&memory).steps(), ["delete a-1: OutdatedAvailable"]);
}
