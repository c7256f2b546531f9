//! Target nodes, and nodes that are probably left out by mistake.

use super::context::{LintContext, PlacedNode};
use super::finding::{Finding, Rule, Severity};
use super::format::{count, node_names};
use super::manifest::POD;
use daemonset::internal::{TaintView, tolerated};
use daemonset::model::NodeName;
use daemonset::report::NodePlacement;

/// `None` if the preflight has no nodes.
pub(super) fn no_target_nodes(context: &LintContext<'_>) -> Option<Finding> {
    let nodes = &context.nodes;
    let placed =
        |placement: NodePlacement| nodes.iter().filter(|node| node.verdict.placement == placement).count();
    let by_taint = |node: &&PlacedNode<'_>| {
        let placement = &node.verdict.placement;
        matches!(placement, NodePlacement::ContinueOnly { .. } | NodePlacement::UntoleratedNoExecute { .. })
    };
    let reasons = [
        ("by nodeName", placed(NodePlacement::OtherNodeName)),
        ("by nodeSelector", placed(NodePlacement::NodeSelectorMismatch)),
        ("by node affinity", placed(NodePlacement::NodeAffinityMismatch)),
        ("by a taint", nodes.iter().filter(by_taint).count()),
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
    (!nodes.is_empty()).then_some(finding)
}

/// Whether a taint keeps new pods of the template from a node.
fn keeps_out(context: &LintContext<'_>, taint: TaintView<'_>) -> bool {
    matches!(taint.effect, "NoSchedule" | "NoExecute")
        && !tolerated(taint, &context.snapshot.spec().template.tolerations)
}

/// The taint of control-plane nodes, and its name before v1.24.
const CONTROL_PLANE: [&str; 2] = ["node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master"];

/// Nodes that match the selection, and that only their control-plane taint keeps out.
pub(super) fn control_plane(context: &LintContext<'_>) -> Option<Finding> {
    let keeps_out = |taint: &TaintView<'_>| keeps_out(context, *taint);
    let nodes = context.names(|node| {
        let mut against = node.view.taints.iter().filter(keeps_out);
        node.is_tainted() && against.all(|taint| CONTROL_PLANE.contains(&taint.key))
    });
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

/// Agents whose nodes carry a taint until they are Ready, each with a part of its DaemonSet's name (the documentation of
/// Cilium, and of the EBS and EFS CSI drivers).
const AGENTS: [(&str, &str); 3] = [
    ("cilium", "node.cilium.io/agent-not-ready"),
    ("ebs-csi", "ebs.csi.aws.com/agent-not-ready"),
    ("efs-csi", "efs.csi.aws.com/agent-not-ready"),
];

/// The prefix of the taints of the node readiness controller.
const READINESS: &str = "readiness.k8s.io/";

/// A taint that appears because this DaemonSet's pod is away, and that its template does not tolerate. It is one of a
/// known agent of this name, or it is all that keeps nodes without an available pod from being target nodes.
pub(super) fn tainted_by_own_absence(context: &LintContext<'_>) -> Option<Finding> {
    let waits_for_an_agent =
        |taint: &TaintView<'_>| taint.key.ends_with("/agent-not-ready") || taint.key.starts_with(READINESS);
    let is_empty = |node: &&PlacedNode<'_>| node.is_tainted() && !node.has_available_pod();
    let mut tainted: Vec<(NodeName, &str)> = Vec::new();
    for node in context.nodes.iter().filter(is_empty) {
        let against: Vec<TaintView<'_>> =
            node.view.taints.iter().filter(|taint| keeps_out(context, *taint)).collect();
        if let Some(first) = against.first().filter(|_| against.iter().all(waits_for_an_agent)) {
            tainted.push((node.name(), first.key));
        }
    }
    let is_agent = |(name, key): &&(&str, &'static str)| {
        let taint = TaintView { key, value: "", effect: "NoSchedule" };
        context.manifest.daemon_set.metadata.name.contains(name) && keeps_out(context, taint)
    };
    let known = || AGENTS.iter().find(is_agent).map(|(_, taint)| *taint);
    let taint = tainted.first().map(|(_, taint)| *taint).or_else(known)?;
    let nodes: Vec<NodeName> = tainted.into_iter().map(|(node, _)| node).collect();
    let finding = Finding::new(Rule::TaintedByOwnAbsence, Severity::Warning, format!("{POD}.tolerations"))
        .why(format_args!(
            "The template does not tolerate {taint}: if nodes have this taint while this DaemonSet's pod is away, a node that an update takes down gets no pod again ({} {} it now)",
            count(nodes.len() as u64, "node"),
            if nodes.len() == 1 { "has" } else { "have" },
        ))
        .remedy(format_args!("Tolerate {taint} if this DaemonSet is the agent that the taint waits for"))
        .nodes(nodes);
    Some(finding)
}
