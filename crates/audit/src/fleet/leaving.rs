//! Nodes that leave by a toleration that the template has withdrawn.

use super::Fleet;
use super::context::Context;
use crate::facts::stage::PodStage;
use daemonset::PodView;
use daemonset::internal::{NodeIx, Placement, TaintView, tolerated, tolerated_by_pod};

/// Whether a pod is an available outdated one.
pub(crate) fn is_last(stage: PodStage) -> bool {
    match stage {
        PodStage::Live(rank) => rank.is_outdated() && rank.is_available(),
        PodStage::Failed | PodStage::Succeeded | PodStage::Terminating | PodStage::Gone => false,
    }
}

/// Whether the node leaves with this pod, whose toleration the template has withdrawn.
pub(crate) fn leaves_last(context: &Context<'_>, fleet: &Fleet, node: NodeIx, pod: &PodView<'_>) -> bool {
    let may_stay = matches!(context.goals.placement(node), Placement::ContinueOnly(_));
    let successor = fleet.nodes.at(node).staying(|rank| !rank.is_outdated() && rank.is_available());
    may_stay && !context.goals.is_held(node) && successor == 0 && is_withdrawn(context, node, pod)
}

/// Whether the template has withdrawn the toleration that the pod stays by (kubernetes#118823): the pod tolerates each
/// NoSchedule taint that keeps the node from being a target, and none of these is a condition of the node itself.
pub(crate) fn is_withdrawn(context: &Context<'_>, node: NodeIx, pod: &PodView<'_>) -> bool {
    let template = context.goals.tolerations(node);
    let blocks = |taint: &TaintView<'_>| taint.effect == "NoSchedule" && !tolerated(*taint, template);
    let mut blocking = context.snapshot.node(node).taints.iter().filter(blocks).peekable();
    blocking.peek().is_some()
        && blocking.all(|taint| {
            tolerated_by_pod(taint, pod.tolerations) && !taint.key.starts_with("node.kubernetes.io/")
        })
}
