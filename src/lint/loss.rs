//! Nodes that lose their pod at once when the new template is applied: no budget holds that back.
//!
//! v1.36 `daemon_controller.go podsShouldBeOnNode`: what a node must not run is deleted by node sync.

use super::cluster::Cluster;
use super::finding::{Finding, Rule, Severity};
use super::manifest::POD;
use super::words::node_names;
use crate::model::NodeName;
use crate::snapshot::Snapshot;
use crate::snapshot::placement::{Mismatch, Placement, toleration_withdrawn};
use crate::snapshot::position::NodeIx;
use crate::snapshot::strategy::Strategy;
use crate::view::TolerationsView;
use std::collections::BTreeMap;

/// Why a node loses its pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Loss {
    NodeName,
    NodeSelector,
    NodeAffinity,
    Tolerations,
}

/// One finding for each reason.
pub(super) fn of_nodes(cluster: &Cluster<'_>, stored: &Snapshot<'_>) -> Vec<Finding> {
    let mut lost: BTreeMap<Loss, Vec<NodeName>> = BTreeMap::new();
    for node in cluster.sync.fleet.nodes.positions() {
        if let Some(loss) = loss(cluster, stored, node).filter(|_| had_a_pod(cluster, stored, node)) {
            lost.entry(loss).or_default().push(cluster.node_name(node));
        }
    }
    let targets = stored.placements.iter().filter(|placement| **placement == Placement::Run).count();
    lost.into_iter().map(|(loss, nodes)| finding(loss, nodes, targets)).collect()
}

fn loss(cluster: &Cluster<'_>, stored: &Snapshot<'_>, node: NodeIx) -> Option<Loss> {
    match cluster.snapshot.placement(node) {
        Placement::Run => None,
        Placement::Exclude(Mismatch::NodeName) => Some(Loss::NodeName),
        Placement::Exclude(Mismatch::NodeSelector) => Some(Loss::NodeSelector),
        Placement::Exclude(Mismatch::NodeAffinity) => Some(Loss::NodeAffinity),
        Placement::Exclude(Mismatch::NoExecuteTaint(_)) => Some(Loss::Tolerations),
        Placement::ContinueOnly(_) => {
            let withdrawn = toleration_withdrawn(
                &cluster.snapshot.tolerations,
                cluster.snapshot.node(node),
                TolerationsView::Model(&stored.tolerations),
            );
            (withdrawn && cluster.snapshot.strategy != Strategy::OnDelete).then_some(Loss::Tolerations)
        }
    }
}

/// Without pods to look at, a node that should have run one counts.
fn had_a_pod(cluster: &Cluster<'_>, stored: &Snapshot<'_>, node: NodeIx) -> bool {
    let before = stored.placement(node);
    if cluster.snapshot.pods.is_empty() {
        return before == Placement::Run;
    }
    let may_run = matches!(before, Placement::Run | Placement::ContinueOnly(_));
    may_run && cluster.has_pod(node)
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
