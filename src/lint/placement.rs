//! Target nodes, and nodes that are probably left out by mistake.

use super::context::Context;
use super::finding::{Finding, Rule, Severity};
use super::format::{count, node_names};
use super::manifest::POD;
use crate::kubernetes::tolerations::tolerated;
use crate::model::NodeName;
use crate::snapshot::placement::{Mismatch, Placement};
use crate::snapshot::position::NodeIx;
use crate::view::TaintView;

/// `None` if the preflight has no nodes.
pub(super) fn no_target_nodes(context: &Context<'_>) -> Option<Finding> {
    let nodes = &context.sync.fleet.nodes;
    let number = |is: fn(Placement) -> bool| nodes.iter().filter(|node| is(node.placement)).count();
    let reasons = [
        ("by nodeName", number(|placement| placement == Placement::Exclude(Mismatch::NodeName))),
        ("by nodeSelector", number(|placement| placement == Placement::Exclude(Mismatch::NodeSelector))),
        ("by node affinity", number(|placement| placement == Placement::Exclude(Mismatch::NodeAffinity))),
        ("by a taint", number(is_tainted)),
    ];
    let present: Vec<String> = reasons
        .iter()
        .filter(|(_, number)| *number > 0)
        .map(|(by, number)| format!("{number} {by}"))
        .collect();
    let finding = Finding::new(Rule::NoTargetNodes, Severity::Warning, POD)
        .why(format_args!(
            "None of {} should run the pod: {}",
            count(nodes.len() as u64, "node"),
            present.join(", ")
        ))
        .remedy("Compare the selection with the nodes' labels, and the tolerations with their taints");
    (nodes.len() > 0).then_some(finding)
}

fn is_tainted(placement: Placement) -> bool {
    match placement {
        Placement::ContinueOnly(_) | Placement::Exclude(Mismatch::NoExecuteTaint(_)) => true,
        Placement::Run
        | Placement::Exclude(Mismatch::NodeName | Mismatch::NodeSelector | Mismatch::NodeAffinity) => false,
    }
}

/// The taint of control-plane nodes, and its name before v1.24.
const CONTROL_PLANE: [&str; 2] = ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"];

/// Nodes that match the selection, and that only their control-plane taint keeps out.
pub(super) fn control_plane(context: &Context<'_>) -> Option<Finding> {
    let fleet = &context.sync.fleet;
    let keeps_out = |taint: &TaintView<'_>| {
        matches!(taint.effect, "NoSchedule" | "NoExecute")
            && !tolerated(*taint, &context.snapshot.tolerations)
    };
    let is_left_out = |node: &NodeIx| {
        let mut against = fleet.node_view(*node).taints.iter().filter(keeps_out);
        is_tainted(fleet.placement(*node)) && against.all(|taint| CONTROL_PLANE.contains(&taint.key))
    };
    let nodes: Vec<NodeName> =
        fleet.nodes.positions().filter(is_left_out).map(|node| context.node_name(node)).collect();
    let number = nodes.len() as u64;
    let finding = Finding::new(Rule::ControlPlaneLeftOut, Severity::Advice, format!("{POD}.tolerations"))
        .why(format_args!(
            "{} get{} no pod for the control-plane taint alone: {}",
            count(number, "node"),
            if number == 1 { "s" } else { "" },
            node_names(&nodes)
        ))
        .remedy("Tolerate node-role.kubernetes.io/control-plane (Exists, NoSchedule) if they are to be served, too")
        .nodes(nodes);
    (number > 0).then_some(finding)
}
