//! The input of the rules about the cluster: the manifest, the snapshot and the decision.

use super::manifest::Manifest;
use crate::model::NodeName;
use crate::reconcile::steps::Steps;
use crate::snapshot::Snapshot;
use crate::snapshot::position::NodeIx;

/// A DaemonSet with the snapshot and the intermediate results from which its plan would be made.
pub(super) struct Context<'a> {
    pub(super) manifest: Manifest<'a>,
    pub(super) snapshot: &'a Snapshot<'a>,
    pub(super) sync: Box<Steps<'a>>,
}

impl Context<'_> {
    /// D: the number of nodes that should run the pod.
    pub(super) fn desired(&self) -> u32 {
        self.sync.budget.desired
    }

    pub(super) fn node_name(&self, node: NodeIx) -> NodeName {
        self.snapshot.node(node).name.into()
    }

    /// Whether the DaemonSet has an unfinished pod on this node.
    pub(super) fn has_pod(&self, node: NodeIx) -> bool {
        self.sync.fleet.pods_of(node).any(|(_, pod)| pod.is_unfinished())
    }
}
