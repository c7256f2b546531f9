//! How one node moves for a caller who knows more than the plan: how long it has waited, and which kubelets are silent.

use crate::action::{CreateReason, DeleteReason};
use crate::node::wait::Wait;
use crate::report::movement::{Movement, blocked_if};
use crate::report::outlook::{Hints, ObstacleKind};
use crate::report::{NodeOutcome, NodeVerdict};
use jiff::{SignedDuration, Timestamp};

/// The time, the caller's patience, and the facts that no plan has.
pub(super) struct Watch<'s> {
    pub(super) now: Timestamp,
    pub(super) patience: SignedDuration,
    pub(super) hints: &'s Hints,
}

impl Watch<'_> {
    pub(super) fn movement(&self, node: &NodeVerdict) -> Movement {
        // Before the outcome, which knows no kubelet: the plan deletes a pod that cannot end.
        let known = self.without_kubelet(node).or_else(|| self.failing(node));
        match known.unwrap_or_else(|| Movement::of(node).at(self.now, self.patience)) {
            Movement::Acting => self.acting(),
            movement => movement,
        }
    }

    /// Where a node would move by its kubelet, and its kubelet does not report. A node that boots is back within the patience.
    fn without_kubelet(&self, node: &NodeVerdict) -> Option<Movement> {
        let since = self.hints.silent_nodes.get(&node.node)?;
        if node.counts.deleted_by_update || node.counts.down_after_update {
            return None;
        }
        let is_long = since.is_none_or(|since| self.is_long_ago(since));
        match &node.outcome {
            NodeOutcome::Waits(Wait::Ready) if is_long => {
                Some(Movement::Blocked(ObstacleKind::DownAfterUpdate))
            }
            NodeOutcome::Waits(Wait::Termination { .. }) if is_long => {
                Some(Movement::Blocked(ObstacleKind::NodeUnreachable))
            }
            // The API server itself removes these pods.
            NodeOutcome::Delete { reason, .. } if ends_without_kubelet(*reason) => None,
            NodeOutcome::Create { .. } | NodeOutcome::UpdateInPlace { .. } | NodeOutcome::Delete { .. } => {
                Some(blocked_if(is_long, ObstacleKind::NodeUnreachable))
            }
            _ => None,
        }
    }

    /// A pod that fails is deleted and made again, and one that crashes is Ready for a moment: neither is progress.
    fn failing(&self, node: &NodeVerdict) -> Option<Movement> {
        self.hints.failing_nodes.get(&node.node).filter(|since| self.is_long_ago(**since))?;
        match &node.outcome {
            NodeOutcome::UpToDate
            | NodeOutcome::Create { reason: CreateReason::MissingPod, .. }
            | NodeOutcome::Delete { reason: DeleteReason::FailedPod, .. }
            | NodeOutcome::Waits(Wait::Ready | Wait::MinReadySeconds { .. } | Wait::BackOff { .. }) => {
                Some(Movement::Blocked(ObstacleKind::Failing))
            }
            _ => None,
        }
    }

    /// Actions on a node: a controller does them at once, if there is one.
    fn acting(&self) -> Movement {
        if self.hints.last_change.is_some_and(|at| self.is_long_ago(at)) {
            Movement::Blocked(ObstacleKind::NotDone)
        } else {
            Movement::Acting
        }
    }

    /// Whether an object of the DaemonSet has changed within the patience.
    pub(super) fn is_in_motion(&self) -> bool {
        self.hints.last_change.is_some_and(|at| !self.is_long_ago(at))
    }

    fn is_long_ago(&self, at: Timestamp) -> bool {
        self.now.duration_since(at) >= self.patience
    }
}

/// Whether the API server removes the pod at once: it has ended, or was never bound (v1.36 `registry/core/pod/strategy.go
/// CheckGracefulDelete`).
fn ends_without_kubelet(reason: DeleteReason) -> bool {
    matches!(reason, DeleteReason::SucceededPod | DeleteReason::FailedPod | DeleteReason::NodeGone)
}
