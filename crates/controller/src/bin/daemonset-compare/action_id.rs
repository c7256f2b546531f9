//! The identity of an action, by which the same action of two controllers is recognized: a new pod is identified by its node,
//! because its name is generated, and a new revision by its number, because each controller has its own hash `[own-hash]`.

use daemonset::model::{NodeName, Uid};
use daemonset::{Action, CreateReason, DeleteReason};
use serde_json::Value;

/// The identity of an action.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ActionId {
    /// Create a pod for this node.
    CreatePod(NodeName),
    /// Delete this pod.
    DeletePod(Uid),
    /// Make the DaemonSet this pod's controller.
    AdoptPod(Uid),
    /// Remove the DaemonSet from this pod's owners.
    ReleasePod(Uid),
    /// Change this pod's hash label.
    LabelPod(Uid),
    /// Create a revision with this number.
    CreateRevision(i64),
    /// Delete this revision.
    DeleteRevision(Uid),
    /// Make the DaemonSet this revision's controller.
    AdoptRevision(Uid),
    /// Remove the DaemonSet from this revision's owners.
    ReleaseRevision(Uid),
    /// Change this revision's hash label.
    LabelRevision(Uid),
    /// Give this revision this number.
    RenumberRevision(Uid, i64),
}

/// A limit, one unit of which an action uses up. Each controller chooses the nodes that use the units; their number is the
/// same for both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum UsedLimit {
    /// maxUnavailable: deletes of outdated pods.
    MaxUnavailable,
    /// maxSurge: creates of new pods beside outdated ones.
    MaxSurge,
    /// The most creates of one plan: creates on nodes without a pod.
    CreateBurst,
    /// The most deletes of one plan: deletes that no rollout limit holds back.
    DeleteBurst,
}

impl ActionId {
    /// `None` for actions that are not compared one by one: status updates, which each controller paces differently, events,
    /// requeues, and marks of a rollout, turns of nodes and changes in place, which the other controller does not have.
    pub(crate) fn new(action: &Action) -> Option<ActionId> {
        Some(match action {
            Action::CreatePod { node, .. } => ActionId::CreatePod(node.clone()),
            Action::DeletePod { pod, .. } => ActionId::DeletePod(pod.uid.clone()),
            Action::AdoptPod { pod, .. } => ActionId::AdoptPod(pod.uid.clone()),
            Action::ReleasePod { pod, .. } => ActionId::ReleasePod(pod.uid.clone()),
            Action::LabelPod { pod, .. } => ActionId::LabelPod(pod.uid.clone()),
            Action::CreateRevision { revision, .. } => {
                let number = revision.get("revision").and_then(Value::as_i64);
                ActionId::CreateRevision(number.unwrap_or_default())
            }
            Action::DeleteRevision { revision, .. } => ActionId::DeleteRevision(revision.uid.clone()),
            Action::AdoptRevision { revision, .. } => ActionId::AdoptRevision(revision.uid.clone()),
            Action::ReleaseRevision { revision, .. } => ActionId::ReleaseRevision(revision.uid.clone()),
            Action::LabelRevision { revision, .. } => ActionId::LabelRevision(revision.uid.clone()),
            Action::RenumberRevision { revision, number, .. } => {
                ActionId::RenumberRevision(revision.uid.clone(), *number)
            }
            Action::UpdateStatus { .. }
            | Action::RestoreTemplate { .. }
            | Action::RecordEvent { .. }
            | Action::Requeue { .. }
            | Action::AnnotateRevision { .. }
            | Action::UpdatePodInPlace { .. }
            | Action::PatchNode { .. } => return None,
        })
    }
}

impl UsedLimit {
    /// The limit that a planned action uses; `None` where there is none.
    pub(crate) fn used_by(action: &Action) -> Option<UsedLimit> {
        match action {
            Action::CreatePod { reason: CreateReason::Surge, .. } => Some(UsedLimit::MaxSurge),
            Action::CreatePod { .. } => Some(UsedLimit::CreateBurst),
            Action::DeletePod {
                reason: DeleteReason::OutdatedAvailable | DeleteReason::OutdatedNotYetAvailable,
                ..
            } => Some(UsedLimit::MaxUnavailable),
            Action::DeletePod { .. } => Some(UsedLimit::DeleteBurst),
            _ => None,
        }
    }
}
