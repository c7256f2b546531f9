//! Nodes that lose their pod at once when the new template is applied, independent of every budget.
//!
//! v1.36 `daemon_controller.go podsShouldBeOnNode`: node sync deletes the pods of excluded nodes.

use super::context::Context;
use super::finding::{Finding, Rule, Severity};
use super::format::node_names;
use super::manifest::POD;
use crate::model::NodeName;
use crate::snapshot::Snapshot;
use crate::snapshot::placement::{Mismatch, Placement, toleration_withdrawn};
use crate::snapshot::position::NodeIx;
use crate::snapshot::strategy::Strategy;
use crate::view::TolerationsView;
use std::collections::BTreeMap;

/// The reason why a node loses its pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Loss {
    NodeName,
    NodeSelector,
    NodeAffinity,
    Tolerations,
}

/// One finding for each reason, with its nodes.
pub(super) fn nodes_losing_pods(context: &Context<'_>, stored: &Snapshot<'_>) -> Vec<Finding> {
    let mut lost: BTreeMap<Loss, Vec<NodeName>> = BTreeMap::new();
    for node in context.sync.fleet.nodes.positions() {
        if let Some(loss) = loss(context, stored, node).filter(|_| had_a_pod(context, stored, node)) {
            lost.entry(loss).or_default().push(context.node_name(node));
        }
    }
    let targets = stored.placements.iter().filter(|placement| **placement == Placement::Run).count();
    lost.into_iter().map(|(loss, nodes)| finding(loss, nodes, targets)).collect()
}

fn loss(context: &Context<'_>, stored: &Snapshot<'_>, node: NodeIx) -> Option<Loss> {
    match context.snapshot.placement(node) {
        Placement::Run => None,
        Placement::Exclude(Mismatch::NodeName) => Some(Loss::NodeName),
        Placement::Exclude(Mismatch::NodeSelector) => Some(Loss::NodeSelector),
        Placement::Exclude(Mismatch::NodeAffinity) => Some(Loss::NodeAffinity),
        Placement::Exclude(Mismatch::NoExecuteTaint(_)) => Some(Loss::Tolerations),
        Placement::ContinueOnly(_) => {
            let withdrawn = toleration_withdrawn(
                &context.snapshot.spec.template.tolerations,
                context.snapshot.node(node),
                TolerationsView::Model(&stored.spec.template.tolerations),
            );
            // A driver deletes for an update only, and the controller beside it knows OnDelete.
            let rolls = context.snapshot.spec.strategy != Strategy::OnDelete && !context.snapshot.drives();
            (withdrawn && rolls).then_some(Loss::Tolerations)
        }
    }
}

/// Whether a node may run a pod of the stored DaemonSet. If the preflight has no pods, every target node of the stored
/// DaemonSet counts.
fn had_a_pod(context: &Context<'_>, stored: &Snapshot<'_>, node: NodeIx) -> bool {
    let before = stored.placement(node);
    if context.snapshot.pods.is_empty() {
        return before == Placement::Run;
    }
    let may_run = matches!(before, Placement::Run | Placement::ContinueOnly(_));
    may_run && context.has_pod(node)
}

fn finding(loss: Loss, nodes: Vec<NodeName>, targets: usize) -> Finding {
    let (rule, field) = match loss {
        Loss::NodeName => (Rule::SelectionNarrowed, "nodeName"),
        Loss::NodeSelector => (Rule::SelectionNarrowed, "nodeSelector"),
        Loss::NodeAffinity => (Rule::SelectionNarrowed, "affinity.nodeAffinity"),
        Loss::Tolerations => (Rule::TolerationsWithdrawn, "tolerations"),
    };
    let remedy = match rule {
        Rule::TolerationsWithdrawn => "Keep the tolerations until these nodes may be without a pod",
        _ => "Roll such a change out node by node with labels on the nodes, or keep the selection",
    };
    let loses = if nodes.len() == 1 { "loses its pod" } else { "lose their pods" };
    let of = if targets == 1 { "1 target node".to_owned() } else { format!("{targets} target nodes") };
    Finding::new(rule, Severity::Error, format!("{POD}.{field}"))
        .why(format_args!(
            "{} of {of} {loses} at once, whatever maxUnavailable is: {}",
            nodes.len(),
            node_names(&nodes)
        ))
        .remedy(remedy)
        .nodes(nodes)
}
