//! What happens in a simulated cluster, as data: one event a line of a trace, which can be checked without this crate.

use crate::action::DeleteReason;
use crate::model::{DaemonSetSpec, Labels, Node, NodeName, Taint, Uid};
use crate::reconcile::budget::Budget;
use jiff::Timestamp;
use serde::Serialize;

/// One change of the world. In JSON `t`, `by` and the fields of the change lie side by side, and `event` names the
/// change.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Event {
    /// When. Events are in order; what a simulation starts from lies before its start.
    pub t: Timestamp,
    /// Who did it.
    pub by: Actor,
    /// What.
    #[serde(flatten)]
    pub change: Change,
}

/// Who changes the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Actor {
    /// The DaemonSet controller.
    Controller,
    /// API server, scheduler, kubelets, other controllers, and chance.
    World,
    /// A person.
    User,
}

/// What changes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Change {
    /// A pod of the DaemonSet was created.
    PodCreated(PodIdentity),
    /// Its deletion was asked for: it is available no more.
    PodTerminating {
        /// The pod.
        #[serde(flatten)]
        pod: PodIdentity,
        /// Why, where the controller did it.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<DeleteReason>,
    },
    /// Its object is gone.
    PodGone(PodIdentity),
    /// Its condition Ready became True.
    PodReady(PodIdentity),
    /// Its condition Ready became False.
    PodUnready {
        /// The pod.
        #[serde(flatten)]
        pod: PodIdentity,
        /// Why.
        reason: PodTrouble,
    },
    /// Its phase became Failed.
    PodFailed {
        /// The pod.
        #[serde(flatten)]
        pod: PodIdentity,
        /// Why.
        reason: PodTrouble,
    },
    /// A node joined.
    NodeAdded(NodeState),
    /// A node left.
    NodeGone {
        /// The node.
        node: NodeName,
    },
    /// Its condition Ready became True.
    NodeReady(NodeState),
    /// Its condition Ready became False or Unknown.
    NodeUnready(NodeState),
    /// Its taints changed.
    NodeTainted(NodeState),
    /// Its labels changed.
    NodeLabelled(NodeState),
    /// The DaemonSet was created, or its spec changed.
    DaemonSetChanged {
        /// `metadata.generation`.
        generation: i64,
        /// Whether the template changed.
        template_changed: bool,
        /// The new spec.
        spec: Box<DaemonSetSpec>,
    },
    /// The controller reconciled and executed its plan, as far as it came.
    Reconciled(Reconciled),
    /// The controller died and was started again; what it knew is gone, unless it says otherwise.
    ControllerCrashed {
        /// How many actions of its plan it had executed.
        after_actions: u32,
        /// Whether its memory survived.
        memory_kept: bool,
    },
}

/// Which pod, and where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PodIdentity {
    /// Its target node.
    pub node: NodeName,
    /// Its name.
    pub pod: String,
    /// Its uid.
    pub uid: Uid,
    /// The hash of its revision; empty where it has none.
    pub revision: String,
}

/// A node as it is after a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct NodeState {
    /// The node.
    pub node: NodeName,
    /// Condition Ready is True.
    pub ready: bool,
    /// Its labels.
    pub labels: Labels,
    /// Its taints.
    pub taints: Vec<Taint>,
}

impl NodeState {
    /// A node without a Ready condition is taken as Ready.
    pub(super) fn of(node: &Node) -> Self {
        NodeState {
            node: node.metadata.name.clone(),
            ready: node.ready() != Some(false),
            labels: node.metadata.labels.clone(),
            taints: node.spec.taints.clone(),
        }
    }
}

/// Why a pod is in trouble.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub enum PodTrouble {
    /// Its container ended.
    Crashed,
    /// Its readiness probe failed.
    ProbeFailed,
    /// Its node is not Ready.
    NodeUnready,
    /// Its node was short of something.
    Evicted,
}

/// One reconcile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reconciled {
    /// Its number, from 1.
    pub number: u64,
    /// The hash of the revision that was current in its snapshot; empty where it came to none.
    pub revision: String,
    /// The budget's figures in its snapshot, which may be older than the world.
    pub budget: Budget,
    /// Pods created.
    pub created: u32,
    /// Pods deleted.
    pub deleted: u32,
    /// Actions planned.
    pub planned: u32,
    /// Actions that the API server refused.
    pub refused: u32,
    /// When the controller wants to look again, if nothing happens before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requeue: Option<Timestamp>,
}
