//! The deliberate differences to Kubernetes that can be told from one node's verdict; their names are those of UPSTREAM.md.

use super::act::Act;
use daemonset::model::NodeName;
use daemonset::{
    Action, Budget, DeleteReason, NodeOutcome, NodePlacement, NodeVerdict, Plan, PodState, StrategyInForce,
};
use std::mem::{Discriminant, discriminant};

/// Why they did what this plan does not.
pub fn theirs(act: &Act, verdict: &NodeVerdict, plan: &Plan) -> Option<&'static str> {
    match act {
        Act::DeletePod(uid) => {
            let pod = verdict.pods.iter().find(|pod| pod.pod.uid == *uid);
            let is_young = pod.is_some_and(|pod| !pod.updated && matches!(pod.state, PodState::Ready { .. }));
            let is_outdated = pod.is_some_and(|pod| !pod.updated);
            match &verdict.outcome {
                NodeOutcome::Delete { reason: DeleteReason::ExcessPod } => Some("keep-the-available-one"),
                NodeOutcome::HeldByMaxUnavailable { .. } if is_young => Some("young-pods-need-budget"),
                outcome if held(outcome) && has_lost(plan.report.budget.as_ref()) => Some("lost-nodes-count"),
                _ if is_outdated && !matches!(verdict.placement, NodePlacement::Run) => {
                    Some("only-target-nodes")
                }
                _ => None,
            }
        }
        Act::CreatePod(_) => match &verdict.outcome {
            NodeOutcome::Delete {
                reason: DeleteReason::OutdatedNotReady | DeleteReason::OutdatedPending,
            } if is_surge(plan) => Some("surge-replaces-unready"),
            NodeOutcome::HeldByMaxSurge { .. } if has_lost(plan.report.budget.as_ref()) => {
                Some("lost-nodes-count")
            }
            NodeOutcome::HeldByMaxSurge { .. } => Some("surge-counts-doubled-nodes"),
            _ => None,
        },
        Act::LabelPod(_) => Some("relabel-only-duplicates"),
        _ => None,
    }
}

/// Why they do not what this plan does.
pub fn ours(action: &Action, verdict: &NodeVerdict, plan: &Plan) -> Option<&'static str> {
    let failed = || verdict.pods.iter().filter(|pod| matches!(pod.state, PodState::Failed)).count();
    match action {
        Action::DeletePod { reason: DeleteReason::FailedPod, .. } if failed() > 1 => {
            Some("failed-pods-together")
        }
        Action::DeletePod { reason: DeleteReason::ExcessPod, .. } => Some("keep-the-available-one"),
        Action::DeletePod {
            reason: DeleteReason::OutdatedNotReady | DeleteReason::OutdatedPending, ..
        } if is_surge(plan) => Some("surge-replaces-unready"),
        Action::DeletePod { reason: DeleteReason::TolerationWithdrawn, .. } => Some("only-target-nodes"),
        _ => None,
    }
}

/// Why a counter differs.
pub fn counter(field: &str, plan: &Plan) -> Option<&'static str> {
    let nodes = &plan.report.nodes;
    let finished = |node: &NodeVerdict| {
        node.pods.iter().any(|pod| matches!(pod.state, PodState::Failed | PodState::Succeeded))
    };
    let terminating =
        |node: &NodeVerdict| node.pods.iter().any(|pod| matches!(pod.state, PodState::Terminating { .. }));
    if field == "updatedNumberScheduled" && nodes.iter().any(finished) {
        Some("finished-is-not-updated")
    } else if nodes.iter().any(|node| node.pods.len() > 1) {
        Some("any-pod-counts")
    } else if nodes.iter().any(terminating) {
        Some("terminating-is-unavailable")
    } else {
        None
    }
}

fn held(outcome: &NodeOutcome) -> bool {
    matches!(outcome, NodeOutcome::HeldByMaxUnavailable { .. } | NodeOutcome::HeldByMaxSurge { .. })
}

fn has_lost(budget: Option<&Budget>) -> bool {
    budget.is_some_and(|budget| budget.lost > 0)
}

fn is_surge(plan: &Plan) -> bool {
    matches!(plan.report.strategy, Some(StrategyInForce::Surge(_)))
}

/// Which nodes are targets, may keep their pod, or may not.
pub fn placements(plan: &Plan) -> Vec<(&NodeName, Discriminant<NodePlacement>)> {
    plan.report.nodes.iter().map(|node| (&node.node, discriminant(&node.placement))).collect()
}
