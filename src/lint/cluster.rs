//! The DaemonSet among its nodes and pods: the values of a decision, and what a rule asks of them.

use super::manifest::Manifest;
use crate::model::NodeName;
use crate::reconcile::steps::Steps;
use crate::snapshot::Snapshot;
use crate::snapshot::position::NodeIx;

/// A DaemonSet, and what a plan for it would be made from.
pub(super) struct Cluster<'a> {
    pub(super) manifest: Manifest<'a>,
    pub(super) snapshot: &'a Snapshot<'a>,
    pub(super) sync: Box<Steps<'a>>,
}

impl Cluster<'_> {
    /// D: how many nodes should run the pod.
    pub(super) fn desired(&self) -> u32 {
        self.sync.budget.desired
    }

    pub(super) fn node_name(&self, node: NodeIx) -> NodeName {
        self.snapshot.node(node).name.into()
    }

    /// Whether the DaemonSet has a pod there that is not finished.
    pub(super) fn has_pod(&self, node: NodeIx) -> bool {
        self.sync.fleet.pods_of(node).any(|(_, pod)| pod.is_unfinished())
    }
}
