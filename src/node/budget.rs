//! The figures of the budget in which one node counts.
//!
//! v1.36 `update.go updatedDesiredNodeCounts`, as if node sync's deletes were done `[after-node-sync]`.

use crate::input::placement::{Placement, is_down, kept_out_only_by_being_down};
use crate::node::figures::{Figure, NodeFigures};
use crate::node::fleet::{Fleet, FleetPod, PodStage, Readiness};
use crate::node::sync::NodeSync;
use crate::position::NodeIx;
use crate::rules::down_nodes::excuse;
use crate::rules::turn::updates;
use daemonset_objects::internal::is_default;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The figures that one node counts in, once node sync's deletes are done. A node that is not a target counts only when
/// it is down after the update.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BudgetUse {
    /// It has no available pod, or is in turn.
    pub unavailable: bool,
    /// It has no Ready pod, or is in turn.
    pub not_ready: bool,
    /// It has neither an available pod nor a live outdated one.
    pub being_replaced: bool,
    /// It has two or more unfinished pods; never without surge.
    #[serde(rename = "doubled")]
    pub surging: bool,
    /// It is not Ready itself, and its updated pod is not Ready either. Never together with another figure of the same
    /// limit, so that no node counts twice. Also a node whose pod the update deleted, and a node in turn that is no target node.
    #[serde(rename = "lost")]
    pub down_after_update: bool,
    /// An update deleted its pod; it has had no Ready pod since, and it is no longer a Ready target node.
    #[serde(default, rename = "taken", skip_serializing_if = "is_default")]
    pub deleted_by_update: bool,
    /// It is a target node that went down before anything of this update reached it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub down_before: bool,
    /// It has no Ready pod, and the policy excuses it: of the other figures it counts in `surging` and `down_before`
    /// only.
    #[serde(default, skip_serializing_if = "is_default")]
    pub excused: bool,
}

/// The figures of the budget in which a node counts.
#[inline]
pub(crate) fn budget_figures(fleet: &Fleet<'_>, node_sync: &NodeSync, node: NodeIx) -> NodeFigures {
    let of_other = |is_deleted_by_update, is_down_after_update| {
        NodeFigures::default()
            .with(Figure::DeletedByUpdate, is_deleted_by_update)
            .with(Figure::DownAfterUpdate, is_deleted_by_update || is_down_after_update)
    };
    match fleet.placement(node) {
        Placement::Run => of_target(fleet, node_sync, node),
        Placement::ContinueOnly(_) => {
            let is_down_after_update =
                is_down_after_update(fleet, node_sync, node) && is_only_down(fleet, node);
            of_other(is_deleted_by_update(fleet, node_sync, node), is_down_after_update)
        }
        // Something else than being down keeps the pod away: that alone does not make it one that is down after the update.
        Placement::Exclude(_) => of_other(is_deleted_by_update(fleet, node_sync, node), false),
    }
}

/// The figures of a node in turn, beside those that it has: its daemon is about to go. So it has its place in the budget, whatever its
/// pods are and whatever keeps them away.
pub(crate) fn in_turn(fleet: &Fleet<'_>, node: NodeIx, figures: NodeFigures) -> NodeFigures {
    let counts = !figures.has(Figure::Excused);
    let figures = match fleet.placement(node) {
        Placement::Run => figures
            .with(Figure::Unavailable, counts)
            .with(Figure::NotReady, counts)
            // It is about to be replaced, unless the choice finds no room for it.
            .with(Figure::BeingReplaced, counts && updates(fleet.snapshot)),
        Placement::ContinueOnly(_) | Placement::Exclude(_) => figures.with(Figure::DownAfterUpdate, true),
    };
    let reports = !fleet.node_view(node).unreachable;
    figures
        .with(Figure::InTurn, counts)
        .with(Figure::TurnPlace, reports && counts)
        .with(Figure::ExcusedTurnPlace, reports && !counts)
}

#[inline]
fn of_target(fleet: &Fleet<'_>, node_sync: &NodeSync, node: NodeIx) -> NodeFigures {
    let mut best = None;
    let mut has_outdated = false;
    for (_, pod) in node_sync.survivors(fleet, node) {
        // The best readiness is the least. A pod of any version serves.
        best = Some(best.map_or(pod.readiness, |other: Readiness| other.min(pod.readiness)));
        has_outdated |= !pod.of_goal;
    }
    let not_ready = !best.is_some_and(Readiness::is_ready);
    let unavailable = best != Some(Readiness::Available);
    let is_surge = fleet.is_surge();
    let surging = is_surge && places(fleet, node_sync, node) >= 2;
    // A Ready pod is the proof that the node works: nothing is to be excused.
    let excuse = if not_ready { excuse(fleet, node) } else { NodeFigures::default() };
    let counts = !excuse.has(Figure::Excused);
    // Without surge a target node is among the unavailable ones already, and with surge a pair among the surging ones.
    let may_count = is_surge && !surging && counts;
    let deleted = may_count && is_deleted_by_update(fleet, node_sync, node);
    excuse
        .with(Figure::Unavailable, unavailable && counts)
        .with(Figure::NotReady, not_ready && counts)
        .with(Figure::BeingReplaced, unavailable && !has_outdated && counts)
        // An excused node still has its two pods.
        .with(Figure::Surging, surging)
        .with(Figure::DownAfterUpdate, deleted || (may_count && is_down_after_update(fleet, node_sync, node)))
        .with(Figure::DeletedByUpdate, deleted)
}

/// Whether an update deleted the node's pod, it has no Ready pod, and no other figure counts it: a taint or a label that
/// appears because the daemon is away must not let the update go on to the next node `[taken-nodes-count]`.
fn is_deleted_by_update(fleet: &Fleet<'_>, node_sync: &NodeSync, node: NodeIx) -> bool {
    if planted::deleted_at(fleet.deleted_by_update_at(node)).is_none() || fleet.is_ready_target(node) {
        return false;
    }
    // A pod that leaves last is no sign that the daemon is back: whether it goes in this plan is not decided yet.
    let leaves_last = |pod| node_sync.leaving(fleet, node).any(|(index, _)| index == pod);
    !node_sync.survivors(fleet, node).any(|(index, pod)| pod.is_ready() && !leaves_last(index))
}

/// Whether a node went down with the updated pod on it `[lost-nodes-count]`. The new version may have taken it down, and
/// must then not be rolled out to the others (review of kubernetes#117658, the first fix of kubernetes#117204). A node
/// that went down with an outdated pod is not counted and holds up no other node.
///
/// Checked for nodes that stopped being targets only because they are down and, under surge, for targets that no longer
/// hold two pods: a pair counts as surging already, and without surge every target counts in maxUnavailable.
fn is_down_after_update(fleet: &Fleet<'_>, node_sync: &NodeSync, node: NodeIx) -> bool {
    if !is_down(fleet.node_view(node)) {
        return false;
    }
    // A pod that the list does not show yet may be the one that took the node down.
    let mut has_updated = fleet.in_flight(node).is_some_and(|create| create.of_goal);
    for (_, pod) in node_sync.survivors(fleet, node) {
        if pod.of_goal && pod.is_ready() {
            return false;
        }
        has_updated |= pod.of_goal;
    }
    has_updated
}

/// Whether a node would be a target if it were not down.
fn is_only_down(fleet: &Fleet<'_>, node: NodeIx) -> bool {
    kept_out_only_by_being_down(fleet.tolerations(node), fleet.node_view(node))
}

/// The unfinished pods of a node, with node sync's create and the one in flight `[surge-counts-doubled-nodes]`.
fn places(fleet: &Fleet<'_>, node_sync: &NodeSync, node: NodeIx) -> usize {
    // The two never meet: node sync creates nothing where a create is in flight.
    let unseen = usize::from(node_sync.creates_on(node)) + usize::from(fleet.in_flight(node).is_some());
    unseen + fleet.pods_of(node).filter(|(_, pod)| holds_a_place(fleet, pod)).count()
}

/// Whether a pod counts in maxSurge. A terminating one does until its deletionTimestamp has passed: an overdue one is
/// stuck, perhaps on a dead node, and must not hold up the other nodes.
fn holds_a_place(fleet: &Fleet<'_>, pod: &FleetPod) -> bool {
    match pod.stage {
        PodStage::Live => true,
        // A delete that the list does not show has no such instant.
        PodStage::Terminating => fleet.view(pod).deleted_at.is_none_or(|at| fleet.snapshot.now < at),
        PodStage::Failed | PodStage::Succeeded | PodStage::Gone => false,
    }
}

/// When the first surging node of the fleet stops being one because its terminating pods are overdue.
pub(crate) fn place_free_at(fleet: &Fleet<'_>, node_sync: &NodeSync) -> Option<Timestamp> {
    let targets = fleet.nodes.positions().filter(|node| fleet.placement(*node) == Placement::Run);
    targets.filter_map(|node| node_free_at(fleet, node_sync, node)).min()
}

/// When a surging node stops being one: from then on at most one of its pods is not overdue.
pub fn node_free_at(fleet: &Fleet<'_>, node_sync: &NodeSync, node: NodeIx) -> Option<Timestamp> {
    // A node with n places stops surging once n - 1 of its pods are overdue: the last of these has the index n - 2.
    let to_go = places(fleet, node_sync, node).checked_sub(2)?;
    let pods = fleet.pods_of(node).filter(|(_, pod)| holds_a_place(fleet, pod));
    // A live pod has no such instant, nor has a delete that the list does not show: time alone may not suffice.
    let mut overdue: Vec<_> = pods.filter_map(|(_, pod)| fleet.view(pod).deleted_at).collect();
    overdue.sort_unstable();
    overdue.get(to_go).copied()
}

impl From<NodeFigures> for BudgetUse {
    fn from(figures: NodeFigures) -> Self {
        BudgetUse {
            unavailable: figures.has(Figure::Unavailable),
            not_ready: figures.has(Figure::NotReady),
            being_replaced: figures.has(Figure::BeingReplaced),
            surging: figures.has(Figure::Surging),
            down_after_update: figures.has(Figure::DownAfterUpdate),
            deleted_by_update: figures.has(Figure::DeletedByUpdate),
            down_before: figures.has(Figure::DownBefore),
            excused: figures.has(Figure::Excused),
        }
    }
}

/// The deliberate errors in this file.
mod planted {
    use jiff::Timestamp;

    crate::planted::planted! {
        deleted_at(right: Option<Timestamp>): TakenForgotten => None;
    }
}
