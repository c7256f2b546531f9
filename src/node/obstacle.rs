//! The obstacles of a rollout, in words.

use daemonset_objects::model::NodeName;
use serde::Serialize;
use std::fmt;

/// An obstacle, with its nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Obstacle {
    /// The kind.
    pub kind: ObstacleKind,
    /// The nodes with this obstacle, by name; empty for an obstacle of the whole DaemonSet.
    pub nodes: Vec<NodeName>,
}

/// The kind of an obstacle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub enum ObstacleKind {
    /// The selector is empty: the controller does nothing.
    SelectingAll,
    /// The DaemonSet is being deleted: the controller does nothing. With [`Hints::last_change`](crate::outlook::Hints::last_change) only once
    /// nothing has changed for the caller's patience.
    BeingDeleted,
    /// The strategy is OnDelete: a person deletes the outdated pods.
    WaitsForDelete,
    /// The updated pod has not been Ready for longer than the caller's patience.
    NotReady,
    /// The updated pod fails again and again.
    Failing,
    /// The updated pod's Ready condition has no transition time, so that minReadySeconds never pass.
    NoReadyTime,
    /// A terminating pod is overdue: its kubelet does not answer, or a finalizer holds it.
    Overdue,
    /// The node went down with the updated pod on it, and counts against the limit; or its kubelet is silent for longer than the caller's
    /// patience ([`Hints::silent_node`](crate::outlook::Hints::silent_node)).
    #[serde(rename = "NodeLost")]
    DownAfterUpdate,
    /// The update deleted the node's pod, and the node is no Ready target node any more: it counts against the limit.
    #[serde(rename = "NodeTaken")]
    DeletedByUpdate,
    /// The node leaves, and the policy leaves it alone.
    NodeLeaves,
    /// The rollout is paused.
    RolloutPaused,
    /// The next wave waits for approval.
    WaitsForApproval,
    /// The new version has failed, and no further node gets it.
    RolloutFailed,
    /// The API server rejects the node's create or delete again and again.
    Rejected,
    /// The plan has acted on the node for longer than the caller's patience, and nothing is done: no controller runs, or its calls are
    /// refused.
    NotDone,
    /// The policy of turns can't be read.
    #[serde(rename = "TurnsKept")]
    TurnsFrozen,
    /// Gates of the node's turn have not opened for longer than the caller's patience, or for so long since they are overdue. Where the
    /// policy takes the pod all the same, they are no obstacle.
    ClosedGates,
    /// The node does not report: its pod can neither end nor become Ready, and no turn begins.
    NodeUnreachable,
    /// The new pod does not fit on the node.
    DoesNotFit,
    /// Each pod of the node has one name, and another pod has it.
    NameTaken,
    /// The limit is used up for another reason than those above.
    NoRoom,
}

// The last variant must stay the last one.
const _: () = assert!(ObstacleKind::ALL.len() == ObstacleKind::NoRoom as usize + 1);

impl ObstacleKind {
    /// All kinds, in their order.
    pub const ALL: [ObstacleKind; 21] = [
        ObstacleKind::SelectingAll,
        ObstacleKind::BeingDeleted,
        ObstacleKind::WaitsForDelete,
        ObstacleKind::NotReady,
        ObstacleKind::Failing,
        ObstacleKind::NoReadyTime,
        ObstacleKind::Overdue,
        ObstacleKind::DownAfterUpdate,
        ObstacleKind::DeletedByUpdate,
        ObstacleKind::NodeLeaves,
        ObstacleKind::RolloutPaused,
        ObstacleKind::WaitsForApproval,
        ObstacleKind::RolloutFailed,
        ObstacleKind::Rejected,
        ObstacleKind::NotDone,
        ObstacleKind::TurnsFrozen,
        ObstacleKind::ClosedGates,
        ObstacleKind::NodeUnreachable,
        ObstacleKind::DoesNotFit,
        ObstacleKind::NameTaken,
        ObstacleKind::NoRoom,
    ];
}

/// A clause that names the obstacle and, where one exists, the way out.
impl fmt::Display for ObstacleKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ObstacleKind::SelectingAll => {
                "the selector is empty, so that the controller does nothing: give it labels"
            }
            ObstacleKind::BeingDeleted => "the DaemonSet is being deleted, so that the controller does nothing",
            ObstacleKind::WaitsForDelete => "the strategy is OnDelete: delete the outdated pods yourself",
            ObstacleKind::NotReady => {
                "the updated pod has not been Ready for too long: look at its events and logs"
            }
            ObstacleKind::Failing => {
                "the updated pod fails again and again: repair the template, or undo the update"
            }
            ObstacleKind::NoReadyTime => {
                "the updated pod's Ready condition tells no time, so that minReadySeconds never pass"
            }
            ObstacleKind::Overdue => {
                "a pod should be gone and is not: its kubelet does not answer, or a finalizer holds it"
            }
            ObstacleKind::DownAfterUpdate => {
                "the node went down with the updated pod: repair or remove it, or undo the update"
            }
            ObstacleKind::DeletedByUpdate => {
                "the update deleted the node's pod, and the node is no Ready target node any more: look at its taints, labels \
                 and conditions, or remove it"
            }
            ObstacleKind::NodeLeaves => "the node leaves, and the policy leaves it alone",
            ObstacleKind::RolloutPaused => "the rollout is paused",
            ObstacleKind::WaitsForApproval => "the next wave waits for approval",
            ObstacleKind::RolloutFailed => "the new version has failed",
            ObstacleKind::Rejected => {
                "the API server rejects the action on the node again and again: look at webhooks, quotas and rights"
            }
            ObstacleKind::NotDone => {
                "actions are due and nobody does them: look whether a controller runs, and whether a webhook or a quota refuses its calls"
            }
            ObstacleKind::TurnsFrozen => "the policy of turns can't be read, so that no node is changed: repair it",
            ObstacleKind::ClosedGates => "gates of the node's turn are not open: look at those who open them",
            ObstacleKind::NodeUnreachable => "the node does not report: repair or remove it",
            ObstacleKind::DoesNotFit => {
                "the new pod requests more than the node has: make room, or give the pods a priority"
            }
            ObstacleKind::NameTaken => "another pod has the name of the node's: delete it, or rename the DaemonSet",
            ObstacleKind::NoRoom => "the limit is used up",
        })
    }
}
