//! Updates that the API server refuses.

use crate::support::{at, given, node, now, observe, old, rolling, steps, surging};
use daemonset::{ActionOutcome, Memory, Recording};
use jiff::SignedDuration;
use serde_json::json;

/// One pod that nobody may delete must not be the end of a rollout.
#[test]
fn a_node_whose_update_is_refused_comes_last() {
    let fleet = |strategy: &serde_json::Value| {
        ["a", "b", "c"]
            .into_iter()
            .fold(given(strategy.clone()), |given, name| given.node(node(name).has(old())))
    };
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
        assert_eq!(steps(&second)[0], step[1], "another one's turn");
        memory.record(&second.actions[0], &ActionOutcome::Rejected, now() + SignedDuration::from_secs(1));
        let third = plan(&memory);
        assert!(steps(&third)[0].contains(" c"), "{:?}", steps(&third));
        memory.record(&third.actions[0], &ActionOutcome::Rejected, now() - SignedDuration::from_secs(1));
        assert_eq!(steps(&plan(&memory))[0], steps(&third)[0], "all were refused: the first of them again");
        memory.record(&first.actions[0], &ActionOutcome::Done, now());
        let written = serde_json::to_value(&memory).unwrap();
        let refused: Vec<_> = written["refusals"].as_object().unwrap().keys().collect();
        assert_eq!(refused, ["b", "c"], "what is done was not refused");
    }
}

#[test]
fn a_refusal_is_forgotten_after_half_an_hour() {
    let fleet = || given(rolling(1)).node(node("a").has(old())).node(node("b").has(old()));
    let refused = json!({"refusals": {"a": at(0)}});
    let memory: Memory = serde_json::from_value(refused).unwrap();
    let mut recording = fleet().memory(&memory).recording();
    recording.now += SignedDuration::from_secs(30 * 60 - 1);
    observe(&mut recording);
    assert_eq!(recording.memory, Some(memory.clone()));
    let plan = |recording: &Recording| steps(&daemonset::plan(&recording.snapshot().unwrap()));
    assert_eq!(plan(&recording)[0], "delete b-1: OutdatedAvailable");
    recording.now += SignedDuration::from_secs(1);
    assert_eq!(plan(&recording)[0], "delete a-1: OutdatedAvailable", "also where nobody observes");
    observe(&mut recording);
    assert_eq!(recording.memory, Some(Memory::default()));
}
