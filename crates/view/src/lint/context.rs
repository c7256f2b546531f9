//! The objects of a cluster beside the plan of a controller: the input of the rules about the cluster.

use super::manifest::Manifest;
use super::preflight::Preflight;
use daemonset::internal::{Mismatch, Placement};
use daemonset::model::NodeName;
use daemonset::report::{Budget, NodePlacement, NodeVerdict, PodState, PodVerdict};
use daemonset::{NodeView, Plan, Snapshot};
use std::collections::BTreeMap;

/// The input of the rules about the cluster.
pub(super) struct LintContext<'a> {
    pub(super) preflight: &'a Preflight<'a>,
    pub(super) manifest: Manifest<'a>,
    pub(super) snapshot: &'a Snapshot<'a>,
    pub(super) plan: &'a Plan,
    pub(super) budget: Budget,
    /// By name.
    pub(super) nodes: Vec<PlacedNode<'a>>,
}

/// A node of the cluster, with the plan's verdict on it.
#[derive(Clone, Copy)]
pub(super) struct PlacedNode<'a> {
    pub(super) view: &'a NodeView<'a>,
    /// By the DaemonSet's template: the goal of a rollout may be another one.
    pub(super) placement: Placement,
    pub(super) verdict: &'a NodeVerdict,
}

impl<'a> LintContext<'a> {
    pub(super) fn new(
        preflight: &'a Preflight<'a>,
        manifest: Manifest<'a>,
        snapshot: &'a Snapshot<'a>,
        plan: &'a Plan,
    ) -> Self {
        let views: BTreeMap<&str, _> = preflight.nodes.iter().map(|view| (view.name(), view)).collect();
        let template = &snapshot.spec().template;
        let node = |verdict: &'a NodeVerdict| {
            let view = *views.get(verdict.node.as_str())?;
            Some(PlacedNode { view, placement: template.decide(view).placement, verdict })
        };
        let nodes = plan.report.nodes.iter().filter_map(node).collect();
        let budget = plan.report.budget.unwrap_or_default();
        LintContext { preflight, manifest, snapshot, plan, budget, nodes }
    }

    /// The number of target nodes.
    pub(super) fn desired(&self) -> u32 {
        self.budget.desired
    }

    /// The pods of the DaemonSet on its nodes.
    pub(super) fn pods(&self) -> impl Iterator<Item = &'a PodVerdict> {
        self.nodes.iter().flat_map(|node| &node.verdict.pods)
    }

    /// The names of the nodes that the rule finds.
    pub(super) fn names(&self, found: impl Fn(&PlacedNode<'a>) -> bool) -> Vec<NodeName> {
        self.nodes.iter().filter(|node| found(node)).map(|node| node.name()).collect()
    }
}

impl PlacedNode<'_> {
    pub(super) fn name(&self) -> NodeName {
        self.verdict.node.clone()
    }

    pub(super) fn is_target(&self) -> bool {
        self.verdict.placement == NodePlacement::Run
    }

    /// Whether a pod of the DaemonSet runs there, or may.
    pub(super) fn has_pod(&self) -> bool {
        let mut pods = self.verdict.pods.iter();
        pods.any(|pod| !matches!(pod.state, PodState::Failed | PodState::Succeeded))
    }

    pub(super) fn has_available_pod(&self) -> bool {
        self.verdict.pods.iter().any(|pod| matches!(pod.state, PodState::Available { .. }))
    }

    /// Whether a taint keeps pods of the template away that the name and the labels of the node let in.
    pub(super) fn is_tainted(&self) -> bool {
        matches!(self.placement, Placement::ContinueOnly(_) | Placement::Exclude(Mismatch::NoExecuteTaint(_)))
    }
}

/// Neither terminating nor finished.
pub(super) fn is_live(pod: &PodVerdict) -> bool {
    matches!(
        pod.state,
        PodState::Available { .. }
            | PodState::Ready { .. }
            | PodState::NotReady { .. }
            | PodState::Pending { .. }
    )
}
