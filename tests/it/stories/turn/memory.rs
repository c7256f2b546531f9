//! What a memory has of turns, pulls and changes in place until a snapshot shows it.

use super::{begun, outcome, running, taken};
use crate::support::{Given, PodStory, at, given, new, node, now, old, pod, rolling, surging};
use daemonset::model::ObjectRef;
use daemonset::{Action, ActionOutcome, Memory};
use serde_json::json;

fn turns(given: Given) -> Given {
    given.policy(json!({"turn": {}}))
}

/// The memory after the first action of this fleet's plan.
fn after(given: &Given, outcome: &ActionOutcome) -> (Action, Memory) {
    let action = given
        .plan()
        .actions
        .into_iter()
        .find(|action| !matches!(action, Action::UpdateStatus { .. }))
        .unwrap();
    let mut memory = Memory::default();
    memory.record(&action, outcome, now());
    (action, memory)
}

/// A node as it was before a patch.
#[test]
fn a_node_whose_patch_is_not_shown_counts_as_in_turn_and_keeps_its_pod() {
    let fleet = turns(given(rolling(1)).nodes(["a", "b"], old()));
    let (begin, memory) = after(&fleet, &ActionOutcome::Done);
    assert!(memory.is_in_flight(&begin));
    let stale = fleet.memory(&memory);
    assert_eq!(begun(&stale), [""; 0]);
    assert_eq!(outcome(&stale, "a"), json!({"type": "InFlight", "until": at(300)}));
    assert_eq!(stale.plan().report.budget.unwrap().unavailable, 1);
    assert_eq!(stale.plan().requeue_at(), Some(at(300)));
}

#[test]
fn a_patch_is_in_flight_until_the_list_of_nodes_is_as_new_or_it_expires() {
    let fleet = turns(given(rolling(1)).node(node("a").in_turn(0).has(old())));
    let begin = turns(given(rolling(1)).node(node("a").has(old())));
    let patched =
        ObjectRef { name: "a".to_owned(), resource_version: "7".to_owned(), ..ObjectRef::default() };
    let (_, memory) = after(&begin, &ActionOutcome::Changed(patched));
    let seen = |version: u64| taken(&fleet.clone().memory(&memory).with("/nodesVersion", json!(version)));
    assert_eq!(seen(6), [""; 0]);
    assert_eq!(seen(7), ["a-1"]);
    let later = fleet.memory(&memory).with("/now", json!(at(300).to_string()));
    assert_eq!(taken(&later), ["a-1"]);
}

#[test]
fn nothing_ends_where_a_patch_is_in_flight() {
    let fleet = turns(given(rolling(1)).node(node("a").in_turn(60).has(new())));
    let (_, memory) = after(&fleet, &ActionOutcome::Unknown);
    let again = fleet.memory(&memory).plan();
    assert!(!again.actions.iter().any(|action| matches!(action, Action::PatchNode { .. })));
}

#[test]
fn the_pod_of_a_node_whose_patch_is_in_flight_stays_after_the_policy_is_gone() {
    let fleet = turns(given(rolling(1)).node(node("a").has(old())));
    let (_, memory) = after(&fleet, &ActionOutcome::Unknown);
    assert_eq!(taken(&fleet.policy(json!({})).memory(&memory)), [""; 0]);
}

#[test]
fn a_conflict_leaves_nothing_behind() {
    let fleet = turns(given(rolling(1)).node(node("a").has(old())));
    let (_, memory) = after(&fleet, &ActionOutcome::Conflict);
    assert!(memory.is_empty());
}

#[test]
fn a_refused_beginning_comes_last() {
    let fleet = turns(given(rolling(1)).nodes(["a", "b"], old()));
    let (_, memory) = after(&fleet, &ActionOutcome::Rejected);
    assert_eq!(begun(&fleet.memory(&memory)), ["b"]);
}

#[test]
fn a_pull_pod_that_is_not_shown_is_not_created_again_and_holds_its_place() {
    let fleet = given(rolling(1)).nodes(["a", "b"], old()).policy(json!({"pull": {"parallel": 1}}));
    let (create, memory) = after(&fleet, &ActionOutcome::Done);
    assert!(memory.is_in_flight(&create));
    let stale = fleet.memory(&memory).plan();
    assert!(!stale.actions.iter().any(|action| matches!(action, Action::CreatePod { .. })));
    assert_eq!(stale.requeue_at(), Some(at(300)));
}

#[test]
fn a_pull_pod_that_was_refused_is_waited_for_half_an_hour_later() {
    let fleet = given(rolling(1)).node(node("a").has(old())).policy(json!({"pull": {"parallel": 1}}));
    let (_, memory) = after(&fleet, &ActionOutcome::Rejected);
    let refused = fleet.memory(&memory);
    assert_eq!(taken(&refused), ["a-1"]);
    assert_eq!(taken(&refused.with("/now", json!(at(1800).to_string()))), [""; 0]);
}

fn pull() -> PodStory {
    let labels = json!({"pull.daemonset/owner": "uid-agent", "pull.daemonset/revision": "new"});
    pod("x").named("agent-pull-qnwtr87lww").with("/metadata/labels", labels).orphan()
}

#[test]
fn a_pull_pod_is_not_deleted_twice() {
    let fleet = given(rolling(1)).node(node("a").has(new()).has(pull())).policy(json!({"pull": {}}));
    let (delete, mut memory) = after(&fleet, &ActionOutcome::Done);
    let recording = fleet.recording();
    memory.observe(&recording.snapshot().unwrap());
    assert!(memory.is_in_flight(&delete), "the list still shows it");
    assert_eq!(
        fleet.memory(&memory).steps(),
        [format!("requeue at {}: InFlightExpiry", at(300))],
        "it is asked for again after that"
    );
    let gone = given(rolling(1)).node(node("a").has(new())).recording();
    memory.observe(&gone.snapshot().unwrap());
    assert!(!memory.is_in_flight(&delete));
}

fn in_place(pod: PodStory) -> Given {
    given(rolling(1))
        .node(node("a").has(pod))
        .node(node("b").has(running()))
        .policy(json!({"inPlace": "IfPossible"}))
}

#[test]
fn a_pod_whose_change_is_not_shown_serves_nobody_and_is_not_changed_again() {
    let fleet = in_place(running());
    let (change, memory) = after(&fleet, &ActionOutcome::Done);
    assert!(memory.is_in_flight(&change));
    let stale = fleet.memory(&memory);
    assert_eq!(taken(&stale), [""; 0]);
    assert_eq!(stale.plan().report.budget.unwrap().unavailable, 1);
}

/// It stays, and comes back: a pod beside it would be one too many.
#[test]
fn under_surge_too_no_pod_is_created_beside_one_whose_change_is_not_shown() {
    let fleet = in_place(running());
    let (_, memory) = after(&fleet, &ActionOutcome::Done);
    let surge = fleet.with("/daemonSet/spec/updateStrategy", surging(2)).memory(&memory);
    assert_eq!(surge.steps()[0], "create on b in batch 0: Surge");
    assert_eq!(surge.steps().len(), 2, "{:?}", surge.steps());
}

#[test]
fn a_changed_pod_is_back_once_its_new_container_is_ready() {
    let (change, memory) = after(&in_place(running()), &ActionOutcome::Done);
    let observed = |pod: PodStory| {
        let recording = in_place(pod).recording();
        let mut memory = memory.clone();
        memory.observe(&recording.snapshot().unwrap());
        let is_taken = !serde_json::to_value(&memory).unwrap()["taken"].is_null();
        (memory.is_in_flight(&change), is_taken)
    };
    let changed = |container, image| new().changed(0, "old", "runtime://1").runs(image, container, 0);
    assert_eq!(observed(running()), (true, true), "the list is stale");
    assert_eq!(observed(changed("runtime://1", "old")), (false, true), "it settles");
    assert_eq!(observed(changed("runtime://2", "new")), (false, false), "it is back");
}

#[test]
fn an_earlier_change_of_a_pod_does_not_show_a_later_one() {
    let before = old().changed(100, "older", "runtime://0").runs("old", "runtime://1", 90);
    let (change, mut memory) = after(&in_place(before.clone()), &ActionOutcome::Done);
    let recording = in_place(before).recording();
    memory.observe(&recording.snapshot().unwrap());
    assert!(memory.is_in_flight(&change));
}

#[test]
fn a_pod_whose_change_was_refused_is_deleted() {
    let fleet = in_place(running());
    let (_, memory) = after(&fleet, &ActionOutcome::Rejected);
    // Node a comes last now.
    assert_eq!(fleet.clone().memory(&memory).steps(), ["change b-1 in place: OutdatedAvailable"]);
    let both = fleet.with("/daemonSet/spec/updateStrategy", rolling(2)).memory(&memory);
    assert_eq!(both.steps(), ["change b-1 in place: OutdatedAvailable", "delete a-1: OutdatedAvailable"]);
}

#[test]
fn a_change_whose_answer_was_lost_is_forgotten_where_storage_shows_the_old_pod() {
    let fleet = in_place(running());
    let (change, mut memory) = after(&fleet, &ActionOutcome::Unknown);
    let stored = fleet.recording();
    memory.settle(&change, &stored.snapshot().unwrap());
    assert!(memory.is_empty());
}

#[test]
fn a_memory_of_turns_survives_its_json() {
    let (_, memory) = after(&in_place(running()), &ActionOutcome::Done);
    let json = serde_json::to_value(&memory).unwrap();
    assert_eq!(serde_json::from_value::<Memory>(json).unwrap(), memory);
}

/// No gate opens before the node shows its turn, and no pod is taken there: the rollout is not late for it.
#[test]
fn a_turn_in_flight_puts_the_progress_deadline_off_though_its_gates_are_overdue() {
    let turn = json!({"gates": ["drained"], "timeoutSeconds": 60, "onTimeout": "Proceed"});
    let rollout = json!({"onFailure": {"progressDeadlineSeconds": 120}});
    let policy = json!({"turn": turn, "rollout": rollout});
    let mut fleet = given(rolling(1)).node(node("a").has(old())).policy(policy);
    let started = json!({"rollout.daemonset/started": format!("2 {}", now())});
    fleet.json["revisions"][1]["metadata"]["annotations"] = started;
    let (begin, memory) = after(&fleet, &ActionOutcome::Done);
    assert!(matches!(begin, Action::PatchNode { .. }), "{begin}");
    let late = fleet.memory(&memory).with("/now", json!(at(130).to_string()));
    assert_eq!(outcome(&late, "a"), json!({"type": "InFlight", "until": at(300)}));
    let failed = late.steps().into_iter().find(|step| step.contains("RolloutFailed"));
    assert_eq!((failed, late.plan().requeue_at()), (None, Some(at(300))));
}
