//! Properties of every plan, on random fleets, and a proof that the fleets reach every reason.

mod brute_force;
pub mod changes;
mod conditions;
mod faults;
mod inert;
mod invariants;
#[cfg(daemonset_mutants)]
mod mutants;
mod oracle;
mod reach;
mod rollout;
mod turn_invariants;
mod undo;
mod upstream;
mod walks;
pub mod world;

use crate::support::{apply, cases, observe};
use daemonset::{Action, Plan, Recording, plan, reconcile};
use daemonset_audit::audit;
use proptest::prelude::*;

/// Plans a recording. The audit checks every plan of every property.
fn planned(recording: &Recording) -> Plan {
    let snapshot = recording.snapshot().unwrap();
    let plan = plan(&snapshot);
    let violations = audit(&snapshot, &plan.actions);
    assert!(violations.is_empty(), "{violations:#?}\n{:#?}", crate::support::everything(&plan));
    plan
}

/// Whether the plan contains only events and requeues.
fn is_at_rest(plan: &Plan) -> bool {
    plan.actions.iter().all(|a| matches!(a, Action::RecordEvent { .. } | Action::Requeue { .. }))
}

fn bytes(recording: &Recording) -> String {
    serde_json::to_string(&planned(recording)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(600), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_keeps_its_promises(world in world::world()) {
        let recording = world.recording();
        let plan = planned(&recording);
        prop_assert_eq!(&plan.actions, &reconcile(&recording.snapshot().unwrap()));
        let broken = invariants::broken(&recording, &plan);
        prop_assert!(broken.is_empty(), "{broken:#?}\n{:#?}", crate::support::everything(&plan));
    }

    #[test]
    fn the_order_of_the_input_changes_nothing(world in world::world(), turn in 0_usize..7) {
        let recording = world.recording();
        let expected = bytes(&recording);
        let mut other = recording.clone();
        other.nodes.reverse();
        other.pods.reverse();
        other.revisions.reverse();
        prop_assert_eq!(&bytes(&other), &expected);
        let mut other = recording;
        let turned = |len: usize| if len == 0 { 0 } else { turn % len };
        let by = turned(other.nodes.len());
        other.nodes.rotate_left(by);
        let by = turned(other.pods.len());
        other.pods.rotate_left(by);
        let by = turned(other.revisions.len());
        other.revisions.rotate_left(by);
        prop_assert_eq!(&bytes(&other), &expected);
    }

    #[test]
    fn a_recording_replays_to_the_same_bytes(world in world::world()) {
        let recording = world.recording();
        let expected = bytes(&recording);
        let taken = Recording::from(&recording.snapshot().unwrap());
        let text = serde_json::to_string(&taken).unwrap();
        let replayed = Recording::from_json(text.as_bytes()).unwrap();
        prop_assert_eq!(bytes(&replayed), expected);
    }

    #[test]
    fn repeated_execution_of_plans_ends(world in world::world()) {
        let mut recording = world.recording();
        let bound = 2 * (recording.pods.len() + recording.nodes.len() + recording.revisions.len()) + 6;
        let mut steps = 0;
        loop {
            let plan = planned(&recording);
            if is_at_rest(&plan) {
                break;
            }
            steps += 1;
            prop_assert!(steps <= bound, "still busy: {:#?}", crate::support::everything(&plan));
            apply(&mut recording, &plan);
            observe(&mut recording);
        }
    }

    #[test]
    fn a_settled_plan_does_not_change_before_its_requeue(world in world::world()) {
        let mut recording = world.recording();
        loop {
            let plan = planned(&recording);
            if is_at_rest(&plan) {
                break;
            }
            apply(&mut recording, &plan);
            observe(&mut recording);
        }
        let still = |recording: &Recording| -> Vec<Action> {
            planned(recording).actions.into_iter().filter(Action::acts).collect()
        };
        let settled = planned(&recording);
        let wake_up = settled.requeue_at();
        let expected = still(&recording);
        let now = recording.now;
        for seconds in [1, 2, 10, 29, 30, 31, 49, 50, 59, 60, 61, 200, 299, 300, 301, 900, 1900, 4000] {
            recording.now = now + jiff::SignedDuration::from_secs(seconds);
            if wake_up.is_none_or(|at| recording.now < at) {
                prop_assert_eq!(&still(&recording), &expected, "after {} s, wake-up {:?}", seconds, wake_up);
            }
        }
    }

    #[test]
    fn a_frozen_cache_does_not_spend_the_budget_twice(world in world::world()) {
        let mut stale = world.recording();
        stale.memory.get_or_insert_default();
        let mut real = stale.clone();
        let before = oracle::Fleet::of(&stale).unavailable_targets();
        let limit = oracle::max_unavailable(&stale).map(|limit| limit.max(before));
        for _ in 0..3 {
            let mut plan = planned(&stale);
            let broken = invariants::broken(&stale, &plan);
            prop_assert!(broken.is_empty(), "{broken:#?}");
            let gone = |a: &Action| matches!(a, Action::DeletePod { pod, .. }
                if real.pods.iter().all(|p| p.metadata.uid != pod.uid));
            let twice: Vec<_> = plan.actions.iter().filter(|a| gone(a)).collect();
            prop_assert!(twice.is_empty(), "deleted twice: {twice:#?}");
            for action in &plan.actions {
                if let Action::CreatePod { node, .. } = action {
                    let created = real.pods.iter().filter(|p| p.metadata.name.starts_with("created-"));
                    let there = created.filter(|p| p.spec.affinity_node.as_ref() == Some(node)).count();
                    prop_assert!(there == 0, "created twice on {node}");
                }
            }
            // Only pods: the API server refuses all other repeated actions of a stale cache.
            plan.actions.retain(|a| matches!(a, Action::CreatePod { .. } | Action::DeletePod { .. }));
            apply(&mut real, &plan);
            stale.memory.clone_from(&real.memory);
            let down = oracle::Fleet::of(&real).unavailable_targets();
            prop_assert!(limit.is_none_or(|limit| down <= limit), "{down} nodes down, {limit:?} allowed");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_is_read_from_its_form(recording in prop_oneof![world::world().prop_map(|world| world.recording()), rollout::steered()]) {
        crate::support::round_trip(&planned(&recording), &recording);
    }
}

proptest! {
    // Each case has about thirty faults, each with its own plan.
    #![proptest_config(ProptestConfig { cases: cases(80), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_audit_finds_every_planted_fault(world in world::world(), pick in 0_usize..1000) {
        for planted in faults::planted(&world.recording(), pick) {
            let found = planted.found();
            let steps = planted.steps();
            prop_assert!(found.iter().any(|rule| rule == planted.rule), "no {} in {found:?}\n{steps:#?}", planted.rule);
        }
    }
}
