//! The input of the rules about the cluster: the manifest, the snapshot and the decision.

use super::manifest::Manifest;
use crate::model::NodeName;
use crate::reconcile::decision::Sync;
use crate::snapshot::Snapshot;

/// A DaemonSet with the snapshot and the intermediate results from which its plan would be made.
pub(super) struct Context<'a> {
    pub(super) manifest: Manifest<'a>,
    pub(super) snapshot: &'a Snapshot<'a>,
    pub(super) sync: Box<Sync<'a>>,
}

impl Context<'_> {
    /// D: the number of nodes that should run the pod.
    pub(super) fn desired(&self) -> u32 {
        self.sync.budget.desired
    }

    pub(super) fn node_name(&self, node: usize) -> NodeName {
        self.sync.fleet.node_name(node).into()
    }

    /// Whether the DaemonSet has an unfinished pod on this node.
    pub(super) fn has_pod(&self, node: usize) -> bool {
        self.sync.fleet.pods_of(node).any(|(_, pod)| pod.is_unfinished())
    }
}
