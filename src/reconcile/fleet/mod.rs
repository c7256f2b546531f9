//! Nodes with their placement and their classified pods, with what the caller remembers applied.
//!
//! Everything after this step looks at the fleet only, so that each notion (live, Ready, available, updated) is
//! decided once. It costs a few bytes per pod and node, in two lists.

mod build;

use crate::action::LabelReason;
use crate::reconcile::classify::Evidence;
use crate::snapshot::Snapshot;
use crate::snapshot::placement::{Placement, Taints};
use crate::snapshot::position::{FleetIx, HistoryIx, IndexVec, NodeIx, PodIx, neutral};
use crate::view::{NodeView, PodView};
use jiff::Timestamp;
use std::cmp::Ordering;

/// All nodes of the snapshot and all pods of the DaemonSet.
#[derive(Debug)]
pub(crate) struct Fleet<'a> {
    pub(crate) snapshot: &'a Snapshot<'a>,
    /// As in the snapshot.
    pub(crate) nodes: IndexVec<NodeIx, FleetNode>,
    /// The pods of a node side by side, nodes as in the snapshot; then the pods of nodes that are not in it.
    pub(crate) pods: IndexVec<FleetIx, FleetPod>,
    /// The first pod of an unknown node.
    strays: FleetIx,
    /// Pods without a target node: left alone.
    pub(crate) without_target: Vec<PodIx>,
    /// Creates that the snapshot does not show, by node.
    pub(crate) in_flight: Vec<InFlight>,
    /// Labels that pods need.
    pub(crate) labels: Vec<(PodIx, LabelReason)>,
    /// When the belief in the first of the creates and deletes that the snapshot does not show ends.
    pub(crate) belief_ends: Option<Timestamp>,
    /// Whether a pod carries the hash of this revision.
    carried: IndexVec<HistoryIx, bool>,
    pub(crate) conflicts: u32,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct FleetNode {
    pub(crate) placement: Placement,
    first_pod: FleetIx,
}

// Nothing is done on it, since it has no pods and none may be created.
neutral!(
    FleetNode,
    FleetNode { placement: Placement::ContinueOnly(Taints { first: 0 }), first_pod: FleetIx::BEYOND }
);

/// A pod of the DaemonSet that is not gone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FleetPod {
    /// Its object in the snapshot.
    pub(crate) view: PodIx,
    /// The revision that its hash label names.
    pub(crate) revision: Option<HistoryIx>,
    pub(crate) stage: Stage,
    pub(crate) readiness: Readiness,
    pub(crate) evidence: Evidence,
}

// Not live, and on its way already: nothing is done about it.
neutral!(
    FleetPod,
    FleetPod {
        view: PodIx::BEYOND,
        revision: None,
        stage: Stage::Terminating,
        readiness: Readiness::Pending,
        evidence: Evidence::NoHash,
    }
);

/// Where a pod is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Neither terminating nor finished.
    Live,
    Failed,
    Succeeded,
    /// Has a deletionTimestamp.
    Terminating,
    /// Its deletion was accepted, but the snapshot does not show it.
    DeleteInFlight,
}

/// How ready a live pod is, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Readiness {
    /// Ready for minReadySeconds.
    Available,
    /// Ready, but not for that long yet.
    Young,
    NotReady,
    /// Not Ready, and its phase is Pending or unknown.
    Pending,
}

impl Readiness {
    pub(crate) fn is_ready(self) -> bool {
        match self {
            Readiness::Available | Readiness::Young => true,
            Readiness::NotReady | Readiness::Pending => false,
        }
    }
}

/// A create that the snapshot does not show.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InFlight {
    pub(crate) node: NodeIx,
    pub(crate) until: Timestamp,
    /// It is of the current revision.
    pub(crate) updated: bool,
}

impl FleetPod {
    pub(crate) fn is_live(&self) -> bool {
        self.stage == Stage::Live
    }

    /// Live and Ready.
    pub(crate) fn is_ready(&self) -> bool {
        self.is_live() && self.readiness.is_ready()
    }

    /// Live, and Ready for minReadySeconds. A terminating pod never is `[terminating-is-unavailable]`.
    pub(crate) fn is_available(&self) -> bool {
        self.is_live() && self.readiness == Readiness::Available
    }

    pub(crate) fn is_updated(&self) -> bool {
        self.evidence.is_updated()
    }

    /// Live or terminating: it still runs, or may.
    pub(crate) fn is_unfinished(&self) -> bool {
        match self.stage {
            Stage::Live | Stage::Terminating | Stage::DeleteInFlight => true,
            Stage::Failed | Stage::Succeeded => false,
        }
    }
}

impl<'a> Fleet<'a> {
    pub(crate) fn placement(&self, node: NodeIx) -> Placement {
        self.nodes.at(node).placement
    }

    pub(crate) fn pod(&self, pod: FleetIx) -> &FleetPod {
        self.pods.at(pod)
    }

    /// The pods of a node.
    pub(crate) fn pods_of(&self, node: NodeIx) -> impl Iterator<Item = (FleetIx, &FleetPod)> + Clone {
        let end = self.nodes.after(node).map_or(self.strays, |next| next.first_pod);
        self.pods.range(self.nodes.at(node).first_pod, end)
    }

    /// The pods of nodes that are not in the snapshot.
    pub(crate) fn strays(&self) -> impl Iterator<Item = (FleetIx, &FleetPod)> {
        self.pods.range(self.strays, self.pods.end())
    }

    /// The target nodes.
    pub(crate) fn targets(&self) -> impl Iterator<Item = NodeIx> {
        let targets = self.nodes.enumerated().filter(|(_, node)| node.placement == Placement::Run);
        targets.map(|(position, _)| position)
    }

    /// The create of this node that the snapshot does not show.
    pub(crate) fn in_flight(&self, node: NodeIx) -> Option<&InFlight> {
        let found = self.in_flight.binary_search_by_key(&node, |create| create.node).ok()?;
        self.in_flight.get(found)
    }

    /// Whether a pod of the DaemonSet carries this revision's hash: then it is live history.
    pub(crate) fn carries(&self, revision: HistoryIx) -> bool {
        *self.carried.at(revision)
    }

    pub(crate) fn view(&self, pod: &FleetPod) -> &'a PodView<'a> {
        self.snapshot.pod(pod.view)
    }

    pub(crate) fn node_view(&self, node: NodeIx) -> &'a NodeView<'a> {
        self.snapshot.node(node)
    }

    /// The name of the node that a pod is for.
    pub(crate) fn target_name(&self, pod: &FleetPod) -> &'a str {
        let target = self.view(pod).target;
        debug_assert!(target.is_some(), "pods without a target are not in the fleet");
        target.unwrap_or_default()
    }

    /// When a terminating pod is overdue; none for a delete in flight.
    pub(crate) fn overdue_at(&self, pod: &FleetPod) -> Option<Timestamp> {
        self.view(pod).deleted_at
    }

    /// When a pod that is Ready becomes available; none when it never does by time alone.
    pub(crate) fn available_at(&self, pod: &FleetPod) -> Option<Timestamp> {
        available_at(self.snapshot, self.view(pod))
    }

    /// Which of two live pods of a node is the better one to keep: available before ready before updated before
    /// bound before oldest before name `[keep-the-available-one]`.
    pub(crate) fn by_worth(&self, a: &FleetPod, b: &FleetPod) -> Ordering {
        let rank = |pod: &FleetPod| {
            let view = self.view(pod);
            (!pod.is_available(), !pod.is_ready(), !pod.is_updated(), !view.bound, view.created_at, view.name)
        };
        rank(a).cmp(&rank(b))
    }
}

/// None for a missing transition time, and for an instant beyond time's end.
fn available_at(snapshot: &Snapshot<'_>, pod: &PodView<'_>) -> Option<Timestamp> {
    pod.ready_since.and_then(|since| since.checked_add(snapshot.min_ready()).ok())
}
