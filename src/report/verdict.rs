//! The verdict on one node and its pods.

use crate::action::DeleteReason;
use crate::node::budget::BudgetUse;
use crate::node::unavailable::UnavailableCause;
use crate::pods::classify::Evidence;
use crate::report::NodeOutcome;
use daemonset_objects::model::{NodeName, ObjectRef, Taint};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The verdict on one node.
///
/// See the example of [`Report`](crate::report::Report).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct NodeVerdict {
    /// The node.
    pub node: NodeName,
    /// Condition Ready of the node; `None` if it has no such condition.
    pub node_ready: Option<bool>,
    /// Cordoned; no decision depends on it.
    pub unschedulable: bool,
    /// Whether it should run the pod.
    pub placement: NodePlacement,
    /// The figures of the budget that it counts in.
    pub counts: BudgetUse,
    /// Why it has no available pod; `None` if it has one, or is no target node and not taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<UnavailableCause>,
    /// The pods of the DaemonSet on it, by name.
    pub pods: Vec<PodVerdict>,
    /// The action on it or, without one, the reason.
    pub outcome: NodeOutcome,
}

/// Whether a node should run the pod, with the reason if not.
#[doc(alias = "nodeShouldRunDaemonPod")]
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum NodePlacement {
    /// A target node.
    Run,
    /// A pod may stay, but no pod is created: the template does not tolerate this NoSchedule taint.
    #[non_exhaustive]
    ContinueOnly {
        /// The first such taint.
        taint: Taint,
    },
    /// The template names another node.
    OtherNodeName,
    /// The template's node selector does not match.
    NodeSelectorMismatch,
    /// The template's required node affinity does not match.
    NodeAffinityMismatch,
    /// The template does not tolerate this NoExecute taint.
    #[non_exhaustive]
    UntoleratedNoExecute {
        /// The first such taint.
        taint: Taint,
    },
}

/// The verdict on one pod.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PodVerdict {
    /// The pod.
    pub pod: ObjectRef,
    /// Whether it runs the current template.
    pub updated: bool,
    /// The rule that decides so.
    pub evidence: Evidence,
    /// The hash in its label.
    pub hash: Option<String>,
    /// The number of the revision that this hash names.
    pub revision: Option<i64>,
    /// Its state.
    pub state: PodState,
    /// The reason for which this plan deletes it; `None` if it does not.
    pub deleted: Option<DeleteReason>,
}

/// The state of a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum PodState {
    /// Ready for minReadySeconds.
    #[non_exhaustive]
    Available {
        /// The start of its being Ready.
        ready_since: Option<Timestamp>,
    },
    /// Ready, but not for minReadySeconds yet.
    #[non_exhaustive]
    Ready {
        /// When it becomes available; `None` when its Ready condition has no transition time.
        available_at: Option<Timestamp>,
    },
    /// It runs, but is not Ready.
    #[non_exhaustive]
    NotReady {
        /// The start of this state, if known.
        since: Option<Timestamp>,
    },
    /// Pending, or its phase is unknown.
    #[non_exhaustive]
    Pending {
        /// The time of its creation.
        since: Option<Timestamp>,
    },
    /// It is being deleted.
    #[non_exhaustive]
    Terminating {
        /// When it is overdue; `None` for a delete that the snapshot does not show yet.
        overdue_at: Option<Timestamp>,
    },
    /// It has failed.
    Failed,
    /// It has succeeded, though a daemon should run forever.
    Succeeded,
}

/// A word or two, without the instant.
impl fmt::Display for PodState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PodState::Available { .. } => "available",
            PodState::Ready { .. } => "Ready, not yet available",
            PodState::NotReady { .. } => "not Ready",
            PodState::Pending { .. } => "Pending",
            PodState::Terminating { .. } => "terminating",
            PodState::Failed => "Failed",
            PodState::Succeeded => "Succeeded",
        })
    }
}
