//! Nodes with their placement and their classified pods, with what the caller remembers applied.
//!
//! Everything after this step looks at the fleet only, so that each notion (live, Ready, available, updated) is
//! decided once. It costs a few bytes per pod and node, in two lists.

mod build;

use crate::action::LabelReason;
use crate::reconcile::classify::Evidence;
use crate::snapshot::Snapshot;
use crate::snapshot::placement::Placement;
use crate::view::{NodeView, PodView};
use jiff::Timestamp;
use std::cmp::Ordering;
use std::ops::Range;

/// All nodes of the snapshot and all pods of the DaemonSet.
#[derive(Debug)]
pub(crate) struct Fleet<'a> {
    pub(crate) snapshot: &'a Snapshot<'a>,
    /// As in the snapshot.
    pub(crate) nodes: Vec<FleetNode>,
    /// Those of a node side by side, nodes as in the snapshot; then those of nodes that are not in it.
    pub(crate) pods: Vec<FleetPod>,
    /// Where the pods of unknown nodes begin.
    strays: usize,
    /// Pods without a target node, as positions in the snapshot: left alone.
    pub(crate) without_target: Vec<u32>,
    /// Creates that the snapshot does not show, by node position.
    pub(crate) in_flight: Vec<InFlight>,
    /// Labels that pods need, by position in the snapshot.
    pub(crate) labels: Vec<(u32, LabelReason)>,
    /// When the belief in the first of the creates and deletes that the snapshot does not show ends.
    pub(crate) belief_ends: Option<Timestamp>,
    /// Whether a pod carries the hash of this revision.
    carried: Vec<bool>,
    pub(crate) conflicts: u32,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct FleetNode {
    pub(crate) placement: Placement,
    first_pod: u32,
}

/// A pod of the DaemonSet that is not gone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FleetPod {
    /// Position in the snapshot's list.
    pub(crate) view: u32,
    /// The revision that its hash label names, plus one; 0 for none.
    revision: u32,
    pub(crate) stage: Stage,
    pub(crate) readiness: Readiness,
    pub(crate) evidence: Evidence,
}

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
    pub(crate) node: usize,
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

    pub(crate) fn revision(&self) -> Option<u32> {
        self.revision.checked_sub(1)
    }
}

impl<'a> Fleet<'a> {
    /// The pods of a node, as positions in `pods`.
    pub(crate) fn range(&self, node: usize) -> Range<usize> {
        let first = |node: usize| self.nodes.get(node).map_or(self.strays, |n| n.first_pod as usize);
        first(node)..first(node + 1)
    }

    /// The pods of a node with their positions in `pods`.
    pub(crate) fn pods_of(&self, node: usize) -> impl Iterator<Item = (usize, &FleetPod)> + Clone {
        let range = self.range(node);
        range.clone().zip(self.pods.get(range).unwrap_or_default())
    }

    /// The pods of nodes that are not in the snapshot, with their positions in `pods`.
    pub(crate) fn strays(&self) -> impl Iterator<Item = (usize, &FleetPod)> {
        (self.strays..).zip(self.pods.get(self.strays..).unwrap_or_default())
    }

    /// Positions of the target nodes.
    pub(crate) fn targets(&self) -> impl Iterator<Item = usize> {
        let nodes = self.nodes.iter().enumerate();
        nodes.filter(|(_, node)| node.placement == Placement::Run).map(|(position, _)| position)
    }

    /// The create of this node that the snapshot does not show.
    pub(crate) fn in_flight(&self, node: usize) -> Option<&InFlight> {
        let found = self.in_flight.binary_search_by_key(&node, |create| create.node).ok()?;
        self.in_flight.get(found)
    }

    /// Whether a pod of the DaemonSet carries this revision's hash: then it is live history.
    pub(crate) fn carries(&self, revision: u32) -> bool {
        self.carried.get(revision as usize).copied().unwrap_or(false)
    }

    pub(crate) fn view(&self, pod: &FleetPod) -> Option<&'a PodView<'a>> {
        self.snapshot.pods.get(pod.view as usize)
    }

    pub(crate) fn node_view(&self, node: usize) -> Option<&'a NodeView<'a>> {
        self.snapshot.nodes.get(node)
    }

    pub(crate) fn node_name(&self, node: usize) -> &'a str {
        self.node_view(node).map_or("", |node| node.name)
    }

    /// The name of the node that a pod is for, by the pod's position.
    pub(crate) fn target_name(&self, pod: usize) -> &'a str {
        self.pods.get(pod).and_then(|pod| self.view(pod)?.target).unwrap_or_default()
    }

    /// When a terminating pod is overdue; none for a delete in flight.
    pub(crate) fn overdue_at(&self, pod: &FleetPod) -> Option<Timestamp> {
        self.view(pod)?.deleted_at
    }

    /// When a pod that is Ready becomes available; none when it never does by time alone.
    pub(crate) fn available_at(&self, pod: &FleetPod) -> Option<Timestamp> {
        available_at(self.snapshot, self.view(pod)?)
    }

    /// Which of two live pods of a node is the better one to keep: available before ready before updated before
    /// bound before oldest before name `[keep-the-available-one]`.
    pub(crate) fn by_worth(&self, a: &FleetPod, b: &FleetPod) -> Ordering {
        let rank = |pod: &FleetPod| {
            let view = self.view(pod);
            (
                !pod.is_available(),
                !pod.is_ready(),
                !pod.is_updated(),
                !view.is_some_and(|view| view.bound),
                view.and_then(|view| view.created_at),
                view.map(|view| view.name),
            )
        };
        rank(a).cmp(&rank(b))
    }
}

/// None for a missing transition time, and for an instant beyond time's end.
fn available_at(snapshot: &Snapshot<'_>, pod: &PodView<'_>) -> Option<Timestamp> {
    pod.ready_since.and_then(|since| since.checked_add(snapshot.min_ready()).ok())
}
