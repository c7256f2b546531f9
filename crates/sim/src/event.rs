//! Events of a simulated cluster, as data. A trace holds one event a line, and can be checked without this crate.

use daemonset::DeleteReason;
use daemonset::model::{DaemonSetSpec, Labels, Node, NodeCondition, NodeName, Taint, Uid};
use daemonset::report::{Budget, RolloutReport};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One event. In JSON, `t`, `by` and the fields of the change are members of one object, and `event` names the
/// change.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "programs that draw or test traces build events")]
pub struct Event {
    /// The instant. Events are in order; the events of loaded objects are before the start of the simulation.
    pub t: Timestamp,
    /// The cause.
    pub by: Actor,
    /// The change.
    #[serde(flatten)]
    pub change: Change,
}

/// The cause of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Actor {
    /// The DaemonSet controller.
    Controller,
    /// Kubernetes' own DaemonSet controller, where the other one only drives the update ([`Policy::external_controller`]).
    ///
    /// [`Policy::external_controller`]: field@daemonset::Policy::external_controller
    OtherController,
    /// API server, scheduler, kubelets, other controllers, and chance. `world` in JSON.
    #[serde(rename = "world")]
    Environment,
    /// A user.
    User,
}

impl Actor {
    /// Whether it is one of the DaemonSet controllers.
    #[must_use]
    pub fn is_controller(self) -> bool {
        match self {
            Actor::Controller | Actor::OtherController => true,
            Actor::Environment | Actor::User => false,
        }
    }
}

/// A change of the cluster.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Change {
    /// A pod of the DaemonSet was created.
    PodCreated(Arc<PodIdentity>),
    /// A pod was deleted and is terminating: it is no longer available.
    PodTerminating {
        /// The pod.
        #[serde(flatten)]
        pod: Arc<PodIdentity>,
        /// The reason, if a controller deleted it.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<DeleteReason>,
    },
    /// A pod was changed in its place, and is no longer available until it is Ready again. From now on it has this revision.
    PodChanged {
        /// The pod.
        #[serde(flatten)]
        pod: Arc<PodIdentity>,
        /// The reason, if a controller changed it.
        #[serde(skip_serializing_if = "Option::is_none")]
        reason: Option<DeleteReason>,
    },
    /// A pod's object is gone.
    PodGone(Arc<PodIdentity>),
    /// A pod's condition Ready became True; of a pod that was changed in its place, also that its new containers run while the
    /// condition has stayed True.
    PodReady(Arc<PodIdentity>),
    /// A pod's condition Ready became False.
    PodUnready {
        /// The pod.
        #[serde(flatten)]
        pod: Arc<PodIdentity>,
        /// The cause.
        reason: PodTrouble,
    },
    /// A pod's phase became Failed.
    PodFailed {
        /// The pod.
        #[serde(flatten)]
        pod: Arc<PodIdentity>,
        /// The cause.
        reason: PodTrouble,
    },
    /// A node joined.
    NodeAdded(NodeState),
    /// A node left.
    NodeGone {
        /// The node.
        node: NodeName,
    },
    /// A node's condition Ready became True.
    NodeReady(NodeState),
    /// A node's condition Ready became False or Unknown.
    NodeUnready(NodeState),
    /// A node's taints changed.
    NodeTainted(NodeState),
    /// A node's labels changed.
    NodeLabelled(NodeState),
    /// The turn of a node began.
    TurnBegan {
        /// The node.
        node: NodeName,
        /// The key of the turn's DaemonSet.
        turn: String,
        /// The turn cordoned the node.
        cordons: bool,
    },
    /// The turn of a node lost its cordon, which a user has taken back.
    TurnLostCordon {
        /// The node.
        node: NodeName,
        /// The key of the turn's DaemonSet.
        turn: String,
    },
    /// The turn of a node ended.
    TurnEnded {
        /// The node.
        node: NodeName,
        /// The key of the turn's DaemonSet.
        turn: String,
        /// The node is schedulable again by it.
        uncordons: bool,
    },
    /// A gate of a node was opened.
    GateOpened {
        /// The node.
        node: NodeName,
        /// The key of the turn's DaemonSet.
        turn: String,
        /// The gate.
        gate: String,
    },
    /// A drain evicted a pod of somebody else.
    PodEvicted {
        /// The node.
        node: NodeName,
        /// The pod's namespace and name.
        pod: String,
    },
    /// A disruption budget forbade the eviction of a pod.
    EvictionRefused {
        /// The node.
        node: NodeName,
        /// The pod's namespace and name.
        pod: String,
    },
    /// An image has been pulled.
    ImagePulled {
        /// The node.
        node: NodeName,
        /// The image.
        image: String,
        /// When the pull began.
        since: Timestamp,
    },
    /// The DaemonSet was created, or its spec changed.
    DaemonSetChanged {
        /// `metadata.generation`.
        generation: i64,
        /// Whether the template changed.
        template_changed: bool,
        /// The new spec.
        spec: Box<DaemonSetSpec>,
    },
    /// A user changed annotations that steer the rollout.
    RolloutSteered {
        /// The annotations that changed, with their new values; `None` for removed ones.
        annotations: BTreeMap<String, Option<String>>,
    },
    /// A plan found that the rollout that the policy steers has moved: its stage, its stable revision, its waves or its failing nodes.
    RolloutMoved {
        /// The hash of the revision that is rolled out.
        revision: String,
        /// The rollout, in that plan.
        #[serde(flatten)]
        report: Box<RolloutReport>,
    },
    /// The controller reconciled, and executed its plan up to the end or up to the first refused action. Kubernetes' own one
    /// beside a driver is only seen by its actions.
    Reconciled(Box<Reconciled>),
    /// The controller crashed. It restarts with fresh lists, and without its memory unless `memory_kept`.
    ControllerCrashed {
        /// The number of actions of its plan that it had executed.
        after_actions: u32,
        /// Whether its memory survived.
        memory_kept: bool,
    },
    /// Kubernetes' own controller, beside one that drives, crashed. It restarts with fresh lists.
    OtherControllerCrashed {
        /// The number of actions of its plan that it had executed.
        after_actions: u32,
    },
}

/// A pod and its target node. The events of a pod share it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "programs that draw or test traces build events")]
pub struct PodIdentity {
    /// Its target node.
    pub node: NodeName,
    /// Its name.
    pub pod: String,
    /// Its uid.
    pub uid: Uid,
    /// The hash of its revision; empty if it has none.
    pub revision: String,
}

/// A node after a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "programs that draw or test traces build events")]
pub struct NodeState {
    /// The node.
    pub node: NodeName,
    /// Whether the condition Ready is True.
    pub ready: bool,
    /// Its labels.
    pub labels: Labels,
    /// Its taints.
    pub taints: Vec<Taint>,
}

/// Whether the node is Ready; one without a Ready condition is.
pub(crate) fn is_up(node: &Node) -> bool {
    node.readiness().is_none_or(NodeCondition::is_true)
}

impl NodeState {
    pub(crate) fn from_node(node: &Node) -> Self {
        NodeState {
            node: node.metadata.name.clone(),
            ready: is_up(node),
            labels: node.metadata.labels.clone(),
            taints: node.spec.taints.clone(),
        }
    }
}

/// Why a pod is not Ready or has failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub enum PodTrouble {
    /// Its container ended.
    Crashed,
    /// Its readiness probe failed.
    ProbeFailed,
    /// Its node is not Ready.
    NodeUnready,
    /// Its node was short of a resource.
    Evicted,
    /// Its node shuts down: the kubelet ended or rejected it.
    NodeShutdown,
}

impl PodTrouble {
    /// `status.reason` of a pod that fails for it (v1.36 `kubelet/eviction/helpers.go Reason`, `kubelet/nodeshutdown
    /// nodeShutdownNotAdmittedReason`).
    pub(crate) fn status_reason(self) -> &'static str {
        match self {
            PodTrouble::Evicted => "Evicted",
            PodTrouble::NodeShutdown => "NodeShutdown",
            PodTrouble::Crashed | PodTrouble::ProbeFailed | PodTrouble::NodeUnready => "",
        }
    }
}

/// One reconcile.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "programs that draw or test traces build events")]
pub struct Reconciled {
    /// Its number, from 1.
    pub number: u64,
    /// The hash of the revision that was current in its snapshot; empty if the reconcile stopped before that decision.
    pub revision: String,
    /// The figures of the budget in its snapshot, which may lag behind the API server.
    pub budget: Budget,
    /// Pods created.
    pub created: u32,
    /// Pods deleted.
    pub deleted: u32,
    /// Actions planned.
    pub planned: u32,
    /// Actions that the API server refused.
    pub refused: u32,
    /// When the controller reconciles again, if no event comes first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requeue: Option<Timestamp>,
}
