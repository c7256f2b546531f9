//! The conditions and the causes behind them, on random fleets.

use super::{is_at_rest, planned, world};
use crate::support::{apply, cases, observe};
use daemonset::model::ContainerStatus;
use daemonset::report::{
    NodeOutcome, NodePlacement, NodeVerdict, PodState, Situation, UnavailableCause, Wait,
};
use daemonset::{Plan, Recording};
use jiff::SignedDuration;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// A random fleet with waiting containers, stored conditions, and the policy on.
fn recording() -> impl Strategy<Value = Recording> {
    let reasons = vec!["", "CrashLoopBackOff", "ImagePullBackOff", "ContainerCreating"];
    let waits = prop::collection::vec(select(reasons), 1..4);
    (world::world(), waits, select(stored())).prop_map(|(world, waits, conditions)| {
        let mut recording = world.recording();
        recording.policy.conditions = true;
        recording.daemon_set.status.conditions = conditions;
        for (pod, reason) in recording.pods.iter_mut().zip(waits.iter().cycle()) {
            let container = ContainerStatus {
                restart_count: 2,
                waiting_reason: (*reason).to_owned(),
                ..ContainerStatus::default()
            };
            pod.status.container_statuses.push(container);
        }
        recording
    })
}

/// Conditions that an earlier plan, another program or nobody has stored.
fn stored() -> Vec<Vec<Value>> {
    let condition = |kind: &str, status: &str, reason: &str| json!({"type": kind, "status": status, "reason": reason, "lastTransitionTime": "2025-12-01T00:00:00Z"});
    let complete = condition("Progressing", "True", "Complete");
    vec![
        vec![],
        vec![complete.clone()],
        vec![
            condition("Progressing", "True", "Updating"),
            condition("Available", "False", "TooManyUnavailable"),
        ],
        vec![
            json!(7),
            condition("Odd", "True", "x"),
            complete.clone(),
            json!({"type": "Available"}),
            complete,
        ],
    ]
}

fn conditions(plan: &Plan) -> Option<&[Value]> {
    plan.status.as_ref().map(|status| status.conditions.as_slice())
}

fn is_available(node: &NodeVerdict) -> bool {
    node.pods.iter().any(|pod| matches!(pod.state, PodState::Available { .. }))
}

/// The first condition of this type.
fn find<'c>(conditions: &'c [Value], kind: &str) -> Option<&'c Value> {
    conditions.iter().find(|condition| condition["type"] == kind)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(300), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn conditions_change_nothing_else(recording in recording()) {
        let on = planned(&recording);
        let mut off = recording.clone();
        off.policy.conditions = false;
        let off = planned(&off);
        let before = &recording.daemon_set.status.conditions;
        prop_assert_eq!(off.conditions(before, recording.now), on.conditions(before, recording.now));
        if let Some(after) = conditions(&on) {
            // A name collision leaves them alone, and so does the function.
            prop_assert_eq!(after, on.conditions(before, recording.now));
        }
        let without = |plan: &Plan| {
            let mut status = plan.status.clone();
            status.iter_mut().for_each(|status| status.conditions.clear());
            (status, crate::support::steps(plan), plan.report.clone())
        };
        prop_assert_eq!(without(&on), without(&off));
    }

    #[test]
    fn a_status_is_written_once(mut recording in recording()) {
        let first = planned(&recording);
        // A name collision writes another status: the next plan has another name.
        if let Some(status) = first.status.clone().filter(|_| first.report.situation == Situation::Synced) {
            recording.daemon_set.status = status;
            prop_assert!(!planned(&recording).actions.iter().any(|action| action.kind() == "UpdateStatus"));
        }
    }

    #[test]
    fn a_transition_time_changes_with_its_status_alone(mut recording in recording()) {
        for _ in 0..12 {
            let plan = planned(&recording);
            let before = &recording.daemon_set.status.conditions;
            for kind in ["Available", "Progressing"] {
                let found = conditions(&plan).map(|after| (find(before, kind), find(after, kind)));
                if let Some((Some(old), Some(new))) = found.filter(|(old, _)| old.is_some_and(|old| old["lastTransitionTime"].is_string())) {
                    let same_status = old["status"] == new["status"];
                    let same_time = old["lastTransitionTime"] == new["lastTransitionTime"];
                    prop_assert_eq!(same_status, same_time, "{:?} {:?}", old, new);
                }
            }
            if is_at_rest(&plan) {
                break;
            }
            apply(&mut recording, &plan);
            observe(&mut recording);
            recording.now += SignedDuration::from_secs(1);
        }
    }

    #[test]
    fn the_message_counts_the_nodes_that_a_limit_or_a_person_holds(recording in recording()) {
        let plan = planned(&recording);
        let progressing = conditions(&plan).and_then(|after| find(after, "Progressing"));
        if let Some(condition) = progressing.filter(|condition| condition["reason"] == "Updating" && plan.report.budget.is_some()) {
            let done = condition["message"].as_str().unwrap_or_default().split(';').next().unwrap_or_default();
            let held = done.split_once(", ").map_or("0", |(_, held)| held.split(' ').next().unwrap_or_default());
            let is_held = |node: &&NodeVerdict| matches!(
                node.outcome,
                NodeOutcome::Waits(Wait::MaxUnavailable { .. }) | NodeOutcome::Waits(Wait::MaxSurge { .. }) | NodeOutcome::Waits(Wait::ManualDelete)
            );
            prop_assert_eq!(held, plan.report.nodes.iter().filter(is_held).count().to_string(), "{}", condition);
        }
    }

    #[test]
    fn each_target_node_without_an_available_pod_has_one_cause(recording in recording()) {
        let report = planned(&recording).report;
        for node in &report.nodes {
            let is_target = node.placement == NodePlacement::Run;
            let in_turn = node.unavailable == Some(UnavailableCause::InTurn);
            prop_assert_eq!(
                node.unavailable.is_some(),
                is_target && (in_turn || !is_available(node)) || !is_target && node.counts.deleted_by_update
            );
        }
        let sum: u32 = report.unavailable.iter().map(|(_, nodes)| nodes).sum();
        let budget = report.budget.unwrap_or_default();
        prop_assert_eq!(sum - report.unavailable.deleted_by_update, budget.unavailable);
    }

    #[test]
    fn causes_and_conditions_are_the_same_in_a_replay(recording in recording()) {
        let taken = Recording::from(&recording.snapshot().unwrap());
        let text = serde_json::to_string(&taken).unwrap();
        let replayed = Recording::from_json(text.as_bytes()).unwrap();
        prop_assert_eq!(planned(&replayed), planned(&recording));
    }
}
