//! Updates that the API server refuses.

use crate::support::{at, given, node, now, observe, old, pod, revision, rolling, steps, surging};
use daemonset::outlook::{ObstacleKind, Outlook, RolloutState};
use daemonset::report::NodeOutcome;
use daemonset::{Action, ActionOutcome, Memory, Plan, Recording};
use jiff::SignedDuration;
use serde_json::{Value, json};

/// One pod that can't be deleted must not block a rollout.
#[test]
fn a_node_whose_update_is_refused_comes_last() {
    let fleet = |strategy: &serde_json::Value| given(strategy.clone()).nodes(["a", "b", "c"], old());
    for (strategy, step) in [
        (rolling(1), ["delete a-1: OutdatedAvailable", "delete b-1: OutdatedAvailable"]),
        (surging(1), ["create on a in batch 0: Surge", "create on b in batch 0: Surge"]),
    ] {
        let plan = |memory: &Memory| fleet(&strategy).memory(memory).plan();
        let mut memory = Memory::default();
        let first = plan(&memory);
        assert_eq!(steps(&first)[0], step[0]);
        memory.record(&first.actions[0], &ActionOutcome::Rejected, now());
        let second = plan(&memory);
        assert_eq!(steps(&second)[0], step[1], "the next node follows");
        memory.record(&second.actions[0], &ActionOutcome::Rejected, now() + SignedDuration::from_secs(1));
        let third = plan(&memory);
        assert!(steps(&third)[0].contains(" c"), "{:?}", steps(&third));
        memory.record(&third.actions[0], &ActionOutcome::Rejected, now() - SignedDuration::from_secs(1));
        assert_eq!(steps(&plan(&memory))[0], steps(&third)[0], "all were refused: the first one again");
        memory.record(&first.actions[0], &ActionOutcome::Done, now());
        let written = serde_json::to_value(&memory).unwrap();
        let refused: Vec<_> = written["refusals"].as_object().unwrap().keys().collect();
        assert_eq!(refused, ["b", "c"], "an executed action clears the refusal");
    }
}

/// A webhook protects a pod: nobody but a person can help, who must see it.
#[test]
fn a_pod_whose_delete_is_rejected_again_and_again_is_told() {
    let fleet = given(rolling(1)).node(node("a").has(old()));
    let mut memory = Memory::default();
    let delete = fleet.plan().actions[0].clone();
    for times in 1..=3 {
        memory.record(&delete, &ActionOutcome::Rejected, at(times));
        assert_eq!(memory.retry_at(), Some(at(times + (1 << (times - 1)))), "the time between tries doubles");
    }
    let plan = given(rolling(1)).node(node("a").has(old())).memory(&memory).plan();
    let NodeOutcome::Delete { rejected: Some(rejected), .. } = &plan.report.nodes[0].outcome else {
        panic!("{:?}", plan.report.nodes[0].outcome)
    };
    assert_eq!((rejected.since, rejected.at, rejected.count), (at(1), at(3), 3));
    let words = plan.report.nodes[0].outcome.to_string();
    assert_eq!(words, "delete: OutdatedAvailable, rejected 3 times since 2026-01-01T12:00:01Z");
    let outlook = Outlook::new(&plan, at(3), SignedDuration::from_secs(600)).unwrap();
    let RolloutState::Stuck { obstacles, .. } = outlook.state else { panic!("{:?}", outlook.state) };
    assert_eq!(obstacles[0].kind, ObstacleKind::Rejected);

    memory.record(&delete, &ActionOutcome::Unknown, at(4));
    assert_eq!(memory.rejections("a").map(|rejected| rejected.count), Some(3), "a lost answer tells nothing");
    memory.record(&delete, &ActionOutcome::Done, at(5));
    assert_eq!((memory.rejections("a"), memory.retry_at()), (None, None));
}

/// The node is gone, or its turn has not come again: its instant is over, and a plan at that instant would follow each rejection at once.
#[test]
fn an_older_rejection_of_another_node_brings_no_try_at_once() {
    let fleet = given(rolling("100%")).nodes(["a", "b"], old());
    let mut memory = Memory::default();
    let deletes = fleet.plan().actions;
    memory.record(&deletes[0], &ActionOutcome::Rejected, at(0));
    memory.record(&deletes[1], &ActionOutcome::Rejected, at(60));
    assert_eq!(memory.retry_at(), Some(at(61)));
}

/// One rejection may be a conflict of the moment, and a rejection of long ago counts no more.
#[test]
fn a_single_rejection_is_no_obstacle_and_an_old_one_is_forgotten() {
    let fleet = given(rolling(1)).node(node("a").has(old()));
    let mut memory = Memory::default();
    memory.record(&fleet.plan().actions[0], &ActionOutcome::Rejected, at(0));
    let given = given(rolling(1)).node(node("a").has(old())).memory(&memory);
    let outlook = Outlook::new(&given.plan(), at(0), SignedDuration::from_secs(600)).unwrap();
    assert!(
        matches!(outlook.state, RolloutState::Moving { acting: 1, waiting: 0, .. }),
        "{:?}",
        outlook.state
    );
    let mut recording = given.recording();
    recording.now = at(30 * 60);
    observe(&mut recording);
    assert_eq!(recording.memory.unwrap().rejections("a"), None);
}

/// The API server refuses the node that is furthest behind. It still comes after nodes that are closer to the current
/// revision, whether the budget has room for some of the nodes or for all of them.
#[test]
fn a_refused_node_comes_after_nodes_that_are_less_far_behind() {
    let plan = |strategy: &Value, refusals: Value| {
        let memory: Memory = serde_json::from_value(json!({"refusals": refusals})).unwrap();
        let versions = [("a", "v1"), ("b", "v2"), ("c", "v3")];
        let revisions = [revision("v1", 1), revision("v2", 2), revision("v3", 3), revision("new", 4)];
        let start = given(strategy.clone()).revisions(revisions).memory(&memory);
        versions
            .into_iter()
            .fold(start, |given, (name, version)| given.node(node(name).has(pod(version))))
            .plan()
    };
    let nodes = |plan: &Plan| -> Vec<String> {
        let node = |action: &Action| match action {
            Action::DeletePod { node, .. } | Action::CreatePod { node, .. } => Some(node.to_string()),
            _ => None,
        };
        plan.actions.iter().filter_map(node).collect()
    };
    for (refusals, order) in [
        (json!({}), ["a", "b", "c"]),
        (json!({"a": at(-60)}), ["b", "c", "a"]),
        (json!({"b": at(-60)}), ["a", "c", "b"]),
        (json!({"a": at(-60), "b": at(-30)}), ["c", "a", "b"]),
        (json!({"a": at(-30), "b": at(-60)}), ["c", "b", "a"]),
    ] {
        for room in 1..=4 {
            let mut chosen = order[..room.min(order.len())].to_vec();
            let deletes = nodes(&plan(&rolling(room), refusals.clone()));
            assert_eq!(deletes, chosen, "deletes, room for {room}, refused: {refusals}");
            // A plan lists its creates by node name.
            chosen.sort_unstable();
            let creates = nodes(&plan(&surging(room), refusals.clone()));
            assert_eq!(creates, chosen, "creates, room for {room}, refused: {refusals}");
        }
    }
}

#[test]
fn a_refusal_is_forgotten_after_half_an_hour() {
    let fleet = || given(rolling(1)).nodes(["a", "b"], old());
    let refused = json!({"refusals": {"a": at(0)}});
    let memory: Memory = serde_json::from_value(refused).unwrap();
    let mut recording = fleet().memory(&memory).recording();
    recording.now += SignedDuration::from_secs(30 * 60 - 1);
    observe(&mut recording);
    assert_eq!(recording.memory, Some(memory.clone()));
    let plan = |recording: &Recording| steps(&daemonset::plan(&recording.snapshot().unwrap()));
    assert_eq!(plan(&recording)[0], "delete b-1: OutdatedAvailable");
    recording.now += SignedDuration::from_secs(1);
    assert_eq!(plan(&recording)[0], "delete a-1: OutdatedAvailable", "also without observing");
    observe(&mut recording);
    assert_eq!(recording.memory, Some(Memory::default()));
}
