//! Create first: nodes from which the template has withdrawn a toleration lose their available pods last
//! `[surge-leaves-last]`.
//!
//! v1.36 `update.go rollingUpdate`, "shouldNotRunPods"; `TestDaemonSetRollingUpdateWithTolerations`.

use crate::reconcile::burst::is_leaving;
use crate::reconcile::figures::{Counts, Figure, Sums};
use crate::reconcile::fleet::Fleet;
use crate::reconcile::node_sync::NodeSync;
use crate::snapshot::position::NodeIx;

/// How many of these nodes go in this plan: W − U, of the W nodes that would lose an available pod.
///
/// The users of a daemon under surge expect all of it to be there. A template whose tolerations move from one zone to another
/// must not leave nobody serving: while U target nodes have no available pod, U of the leaving nodes keep theirs.
pub(crate) fn may_go(sums: &Sums) -> u32 {
    sums.get(Figure::LeavesLast).saturating_sub(sums.get(Figure::Unavailable))
}

/// Lets the first of these nodes go, by name; the others keep their available pods.
pub(crate) fn leave_last(mut node_sync: NodeSync, fleet: &Fleet<'_>, counts: &Counts) -> NodeSync {
    let may_go = may_go(&counts.sums);
    // Most plans: no node is looked at.
    if may_go == 0 {
        return node_sync;
    }
    let mut nodes: Vec<NodeIx> = counts.with(Figure::LeavesLast).collect();
    nodes.sort_unstable_by_key(|node| (is_leaving(fleet, *node), fleet.node_view(*node).name));
    for node in nodes.into_iter().take(may_go as usize) {
        node_sync.delete_leaving(fleet, node);
    }
    node_sync
}
