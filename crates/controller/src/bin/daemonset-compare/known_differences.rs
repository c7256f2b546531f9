//! The deliberate differences from Kubernetes that one node's verdict reveals, with their names in UPSTREAM.md.

use crate::action_id::ActionId;
use daemonset::model::NodeName;
use daemonset::report::{Budget, NodeOutcome, NodePlacement, NodeVerdict, PodState, StrategyInForce, Wait};
use daemonset::{Action, DeleteReason, Plan};
use std::mem::{Discriminant, discriminant};

/// The difference that explains an action of theirs which this plan does not contain.
pub(crate) fn explaining_theirs(id: &ActionId, verdict: &NodeVerdict, plan: &Plan) -> Option<&'static str> {
    match id {
        ActionId::DeletePod(uid) => {
            let pod = verdict.pods.iter().find(|pod| pod.pod.uid == *uid);
            let is_outdated = pod.is_some_and(|pod| !pod.updated);
            let is_not_yet_available = pod.is_some_and(|pod| matches!(pod.state, PodState::Ready { .. }));
            match &verdict.outcome {
                NodeOutcome::Delete { reason: DeleteReason::ExcessPod, .. } => Some("keep-the-available-one"),
                NodeOutcome::Waits(Wait::MaxUnavailable { .. }) if is_outdated && is_not_yet_available => {
                    Some("young-pods-need-budget")
                }
                outcome
                    if is_held(outcome) && counts_nodes_down_after_update(plan.report.budget.as_ref()) =>
                {
                    Some("lost-nodes-count")
                }
                _ if is_outdated && !matches!(verdict.placement, NodePlacement::Run) => {
                    Some("only-target-nodes")
                }
                _ => None,
            }
        }
        ActionId::CreatePod(_) => match &verdict.outcome {
            NodeOutcome::Delete {
                reason: DeleteReason::OutdatedNotReady | DeleteReason::OutdatedPending,
                ..
            } if is_surge(plan) => Some("surge-replaces-unready"),
            NodeOutcome::Waits(Wait::MaxSurge { .. })
                if counts_nodes_down_after_update(plan.report.budget.as_ref()) =>
            {
                Some("lost-nodes-count")
            }
            NodeOutcome::Waits(Wait::MaxSurge { .. }) => Some("surge-counts-doubled-nodes"),
            _ => None,
        },
        ActionId::LabelPod(_) => Some("relabel-only-duplicates"),
        _ => None,
    }
}

/// The difference that explains why they do not do an action of this plan.
pub(crate) fn explaining_ours(action: &Action, verdict: &NodeVerdict, plan: &Plan) -> Option<&'static str> {
    let failed_pods = || verdict.pods.iter().filter(|pod| matches!(pod.state, PodState::Failed)).count();
    match action {
        Action::DeletePod { reason: DeleteReason::FailedPod, .. } if failed_pods() > 1 => {
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

/// The difference that explains a counter of the status.
pub(crate) fn explaining_counter(field: &str, plan: &Plan) -> Option<&'static str> {
    let nodes = &plan.report.nodes;
    let has_finished = |node: &NodeVerdict| {
        node.pods.iter().any(|pod| matches!(pod.state, PodState::Failed | PodState::Succeeded))
    };
    let has_terminating =
        |node: &NodeVerdict| node.pods.iter().any(|pod| matches!(pod.state, PodState::Terminating { .. }));
    if field == "updatedNumberScheduled" && nodes.iter().any(has_finished) {
        Some("finished-is-not-updated")
    } else if nodes.iter().any(|node| node.pods.len() > 1) {
        Some("any-pod-counts")
    } else if nodes.iter().any(has_terminating) {
        Some("terminating-is-unavailable")
    } else {
        None
    }
}

fn is_held(outcome: &NodeOutcome) -> bool {
    matches!(
        outcome,
        NodeOutcome::Waits(Wait::MaxUnavailable { .. }) | NodeOutcome::Waits(Wait::MaxSurge { .. })
    )
}

fn counts_nodes_down_after_update(budget: Option<&Budget>) -> bool {
    budget.is_some_and(|budget| budget.down_after_update > 0)
}

fn is_surge(plan: &Plan) -> bool {
    matches!(plan.report.strategy, Some(StrategyInForce::Surge(_)))
}

/// Each node with the kind of its placement.
pub(crate) fn placements(plan: &Plan) -> Vec<(&NodeName, Discriminant<NodePlacement>)> {
    plan.report.nodes.iter().map(|node| (&node.node, discriminant(&node.placement))).collect()
}
