//! Nodes that lose their pod by the new template, independent of every budget: at once, or where a policy steers the rollout at its end.
//!
//! v1.36 `daemon_controller.go podsShouldBeOnNode`: node sync deletes the pods of excluded nodes.

use super::context::{LintContext, PlacedNode};
use super::finding::{Finding, Rule, Severity};
use super::format::node_names;
use super::manifest::POD;
use daemonset::Snapshot;
use daemonset::internal::{Mismatch, Placement, Strategy, TolerationsView, toleration_withdrawn};
use daemonset::model::NodeName;
use std::collections::BTreeMap;

/// The reason why a node loses its pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum PlacementLoss {
    NodeName,
    NodeSelector,
    NodeAffinity,
    Tolerations,
}

/// One finding for each reason, with its nodes.
pub(super) fn nodes_losing_pods(context: &LintContext<'_>, stored: &Snapshot<'_>) -> Vec<Finding> {
    let mut lost: BTreeMap<PlacementLoss, Vec<NodeName>> = BTreeMap::new();
    let mut targets = 0;
    for node in &context.nodes {
        let before = stored.spec().template.decide(node.view).placement;
        targets += usize::from(before == Placement::Run);
        if let Some(loss) = loss(context, stored, node).filter(|_| had_pod(context, node, before)) {
            lost.entry(loss).or_default().push(node.name());
        }
    }
    // Then these nodes wait as the others do, but for those of another controller, which knows no waves.
    let policy = &context.preflight.policy;
    let is_steered = policy.rollout.is_some() && policy.external_controller.is_none();
    lost.into_iter().map(|(loss, nodes)| finding(loss, nodes, (targets, is_steered))).collect()
}

fn loss(context: &LintContext<'_>, stored: &Snapshot<'_>, node: &PlacedNode<'_>) -> Option<PlacementLoss> {
    match node.placement {
        Placement::Run => None,
        Placement::Exclude(Mismatch::NodeName) => Some(PlacementLoss::NodeName),
        Placement::Exclude(Mismatch::NodeSelector) => Some(PlacementLoss::NodeSelector),
        Placement::Exclude(Mismatch::NodeAffinity) => Some(PlacementLoss::NodeAffinity),
        Placement::Exclude(Mismatch::NoExecuteTaint(_)) => Some(PlacementLoss::Tolerations),
        Placement::ContinueOnly(_) => {
            let withdrawn = toleration_withdrawn(
                &context.snapshot.spec().template.tolerations,
                node.view,
                TolerationsView::Model(&stored.spec().template.tolerations),
            );
            // A driver deletes for an update only, and the controller beside it knows OnDelete.
            let rolls = context.manifest.strategy != Strategy::OnDelete
                && context.preflight.policy.external_controller.is_none();
            (withdrawn && rolls).then_some(PlacementLoss::Tolerations)
        }
    }
}

/// Whether a node may run a pod of the stored DaemonSet. If the preflight has no pods, every target node of the stored
/// DaemonSet counts.
fn had_pod(context: &LintContext<'_>, node: &PlacedNode<'_>, before: Placement) -> bool {
    if context.preflight.pods.is_empty() {
        return before == Placement::Run;
    }
    let may_run = matches!(before, Placement::Run | Placement::ContinueOnly(_));
    may_run && node.has_pod()
}

fn finding(loss: PlacementLoss, nodes: Vec<NodeName>, (targets, is_steered): (usize, bool)) -> Finding {
    let (rule, field) = match loss {
        PlacementLoss::NodeName => (Rule::SelectionNarrowed, "nodeName"),
        PlacementLoss::NodeSelector => (Rule::SelectionNarrowed, "nodeSelector"),
        PlacementLoss::NodeAffinity => (Rule::SelectionNarrowed, "affinity.nodeAffinity"),
        PlacementLoss::Tolerations => (Rule::TolerationsWithdrawn, "tolerations"),
    };
    let remedy = match rule {
        Rule::TolerationsWithdrawn => "Keep the tolerations until these nodes may be without a pod",
        _ => "Roll such a change out node by node with labels on the nodes, or keep the selection",
    };
    let loses = if nodes.len() == 1 { "loses its pod" } else { "lose their pods" };
    let of = if targets == 1 { "1 target node".to_owned() } else { format!("{targets} target nodes") };
    let (severity, when) = if is_steered {
        (Severity::Warning, "together, once the rollout has released all nodes that take part")
    } else {
        (Severity::Error, "at once, whatever maxUnavailable is")
    };
    Finding::new(rule, severity, format!("{POD}.{field}"))
        .why(format_args!("{} of {of} {loses} {when}: {}", nodes.len(), node_names(&nodes)))
        .remedy(remedy)
        .nodes(nodes)
}
