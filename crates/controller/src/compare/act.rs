//! What can be done to a cluster, named so that two controllers' doing the same is seen: a new pod is known by its node, since
//! nobody chooses its name, and a new revision by its number, since each controller has a hash of its own `[own-hash]`.

use daemonset::model::{NodeName, Uid};
use daemonset::{Action, CreateReason, DeleteReason};
use serde_json::Value;

/// Something that one controller does or would do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Act {
    /// A pod is created for this node.
    CreatePod(NodeName),
    /// This pod is deleted.
    DeletePod(Uid),
    /// This pod gets the DaemonSet as its controller.
    AdoptPod(Uid),
    /// This pod loses it.
    ReleasePod(Uid),
    /// This pod's hash label is changed.
    LabelPod(Uid),
    /// A revision of this number is created.
    CreateRevision(i64),
    /// This revision is deleted.
    DeleteRevision(Uid),
    /// This revision gets the DaemonSet as its controller.
    AdoptRevision(Uid),
    /// This revision loses it.
    ReleaseRevision(Uid),
    /// This revision's hash label is changed.
    LabelRevision(Uid),
    /// This revision gets this number.
    RenumberRevision(Uid, i64),
}

/// Which of several nodes has its turn is one controller's own choice; how many have it at a time is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// A pod deleted within maxUnavailable.
    Update,
    /// A pod created within maxSurge.
    Surge,
    /// A pod created on a node that has none: at most so many in one plan.
    Missing,
    /// A pod deleted whatever the budget is: at most so many in one plan.
    Sync,
}

impl Act {
    /// None for what is not compared action by action: the status, which everybody paces as they like, events and wake-ups.
    pub fn of(action: &Action) -> Option<Act> {
        Some(match action {
            Action::CreatePod { node, .. } => Act::CreatePod(node.clone()),
            Action::DeletePod { pod, .. } => Act::DeletePod(pod.uid.clone()),
            Action::AdoptPod { pod, .. } => Act::AdoptPod(pod.uid.clone()),
            Action::ReleasePod { pod, .. } => Act::ReleasePod(pod.uid.clone()),
            Action::LabelPod { pod, .. } => Act::LabelPod(pod.uid.clone()),
            Action::CreateRevision { revision, .. } => {
                Act::CreateRevision(revision.get("revision").and_then(Value::as_i64).unwrap_or_default())
            }
            Action::DeleteRevision { revision, .. } => Act::DeleteRevision(revision.uid.clone()),
            Action::AdoptRevision { revision, .. } => Act::AdoptRevision(revision.uid.clone()),
            Action::ReleaseRevision { revision, .. } => Act::ReleaseRevision(revision.uid.clone()),
            Action::LabelRevision { revision, .. } => Act::LabelRevision(revision.uid.clone()),
            Action::RenumberRevision { revision, number, .. } => {
                Act::RenumberRevision(revision.uid.clone(), *number)
            }
            Action::UpdateStatus { .. } | Action::RecordEvent { .. } | Action::Requeue { .. } => return None,
        })
    }
}

impl Place {
    /// The place that a planned action takes.
    pub fn of(action: &Action) -> Option<Place> {
        match action {
            Action::CreatePod { reason: CreateReason::Surge, .. } => Some(Place::Surge),
            Action::CreatePod { .. } => Some(Place::Missing),
            Action::DeletePod {
                reason: DeleteReason::OutdatedAvailable | DeleteReason::OutdatedNotYetAvailable,
                ..
            } => Some(Place::Update),
            Action::DeletePod { .. } => Some(Place::Sync),
            _ => None,
        }
    }
}
