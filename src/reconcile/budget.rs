//! Limits and what counts against them: all arithmetic on budgets, and nowhere else.
//!
//! v1.36 `update.go updatedDesiredNodeCounts`, with node sync's deletes already gone `[after-node-sync]`.

#[cfg(daemonset_mutants)]
use crate::mutants::{Mutant, is_active};
use crate::reconcile::fleet::{Fleet, FleetPod, Readiness, Stage};
use crate::reconcile::node_sync::NodeSync;
use crate::snapshot::placement::{Placement, is_down, kept_out_only_by_being_down};
use crate::snapshot::position::NodeIx;
use crate::snapshot::strategy::Strategy;
use jiff::Timestamp;
use serde::Serialize;

/// The budget's figures; all are numbers of target nodes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    /// D: target nodes.
    pub desired: u32,
    /// M: how many may be without an available pod. Under surge it plays no part, and is only told; 0 under OnDelete and
    /// SurgingRollingUpdate.
    pub max_unavailable: u32,
    /// S: how many may have two pods; 0 where the strategy does not surge.
    pub max_surge: u32,
    /// U: those without an available pod, once node sync's deletes are gone.
    pub unavailable: u32,
    /// NR: those without a Ready pod, once node sync's deletes are gone.
    pub not_ready: u32,
    /// Those being replaced: no available pod, and no live outdated one either.
    pub being_replaced: u32,
    /// Those with two or more unfinished pods, node sync's creates included; 0 where the strategy does not surge.
    pub doubled: u32,
    /// Nodes lost to the update: they are not Ready themselves, and their updated pod is not Ready either. They count
    /// against M where they are no target nodes any more for it, and under surge against S.
    pub lost: u32,
}

/// What one node counts for, once node sync's deletes are gone. One that is no target node counts only when it is lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BudgetUse {
    /// It has no available pod.
    pub unavailable: bool,
    /// It has no Ready pod.
    pub not_ready: bool,
    /// It has no available pod, and no live outdated one either.
    pub being_replaced: bool,
    /// It has two or more unfinished pods; never where the strategy does not surge.
    pub doubled: bool,
    /// It is not Ready itself, and its updated pod is not Ready either; not where it counts by another figure that its
    /// limit is compared with.
    pub lost: bool,
}

impl BudgetUse {
    /// What a node counts for.
    pub(crate) fn of(fleet: &Fleet<'_>, sync: &NodeSync, node: NodeIx) -> Self {
        match fleet.placement(node) {
            Placement::Run => BudgetUse::of_target(fleet, sync, node),
            Placement::ContinueOnly(_) => {
                let only_down =
                    kept_out_only_by_being_down(&fleet.snapshot.tolerations, fleet.node_view(node));
                BudgetUse { lost: only_down && is_lost(fleet, sync, node), ..BudgetUse::default() }
            }
            Placement::Exclude(_) => BudgetUse::default(),
        }
    }

    fn of_target(fleet: &Fleet<'_>, sync: &NodeSync, node: NodeIx) -> Self {
        let mut best = None;
        let mut outdated = false;
        for (_, pod) in sync.survivors(fleet, node) {
            best = Some(best.map_or(pod.readiness, |other: Readiness| other.min(pod.readiness)));
            outdated |= !pod.is_updated();
        }
        let unavailable = best != Some(Readiness::Available);
        let doubled = match fleet.snapshot.strategy {
            Strategy::Surge { .. } => Some(places(fleet, sync, node) >= 2),
            Strategy::OnDelete | Strategy::Replace(_) => None,
        };
        BudgetUse {
            unavailable,
            not_ready: !best.is_some_and(Readiness::is_ready),
            being_replaced: unavailable && !outdated,
            doubled: doubled == Some(true),
            lost: doubled == Some(false) && is_lost(fleet, sync, node),
        }
    }
}

/// Whether a node went down with the updated pod on it `[lost-nodes-count]`. The new version may be what took it down,
/// and must then not be rolled out to the others (review of kubernetes#117658, the first fix of kubernetes#117204). A
/// node that went down with an outdated pod is not lost to the update, and stops nobody.
///
/// It is asked of nodes that are no targets any more for being down; under surge also of targets whose pair has gone: as
/// long as both pods are there they hold a place, and without surge maxUnavailable counts targets anyway.
fn is_lost(fleet: &Fleet<'_>, sync: &NodeSync, node: NodeIx) -> bool {
    if !is_down(fleet.node_view(node)) {
        return false;
    }
    let mut updated = sync.survivors(fleet, node).filter(|(_, pod)| pod.is_updated()).peekable();
    let unseen = fleet.in_flight(node).is_some_and(|create| create.updated);
    (updated.peek().is_some() || unseen) && !updated.any(|(_, pod)| pod.is_ready())
}

/// How many unfinished pods a node has, or will have by node sync's create and by one in flight
/// `[surge-counts-doubled-nodes]`.
fn places(fleet: &Fleet<'_>, sync: &NodeSync, node: NodeIx) -> usize {
    let unseen = usize::from(sync.creates_on(node)) + usize::from(fleet.in_flight(node).is_some());
    unseen + fleet.pods_of(node).filter(|(_, pod)| holds_a_place(fleet, pod)).count()
}

/// A terminating pod does until its deletionTimestamp has passed: an overdue one is stuck, on a dead node perhaps, and
/// must not stop the others.
fn holds_a_place(fleet: &Fleet<'_>, pod: &FleetPod) -> bool {
    match pod.stage {
        Stage::Live | Stage::DeleteInFlight => true,
        Stage::Terminating => fleet.overdue_at(pod).is_some_and(|at| fleet.snapshot.now < at),
        Stage::Failed | Stage::Succeeded => false,
    }
}

/// When the first doubled node stops to be one because its terminating pods are overdue.
pub(crate) fn place_free_at(fleet: &Fleet<'_>, sync: &NodeSync) -> Option<Timestamp> {
    let free_at = |node| {
        // All but one of its pods must be overdue.
        let to_go = places(fleet, sync, node).checked_sub(2)?;
        let pods = fleet.pods_of(node).filter(|(_, pod)| holds_a_place(fleet, pod));
        let mut overdue: Vec<_> = pods.filter_map(|(_, pod)| fleet.overdue_at(pod)).collect();
        overdue.sort_unstable();
        overdue.get(to_go).copied()
    };
    fleet.targets().filter_map(free_at).min()
}

impl Budget {
    pub(crate) fn of(fleet: &Fleet<'_>, sync: &NodeSync) -> Self {
        let mut budget = Budget::default();
        for (node, state) in fleet.nodes.enumerated() {
            let BudgetUse { unavailable, not_ready, being_replaced, doubled, lost } =
                BudgetUse::of(fleet, sync, node);
            budget.desired += u32::from(state.placement == Placement::Run);
            budget.lost += u32::from(lost);
            budget.unavailable += u32::from(unavailable);
            budget.not_ready += u32::from(not_ready);
            budget.being_replaced += u32::from(being_replaced);
            budget.doubled += u32::from(doubled);
        }
        match fleet.snapshot.strategy {
            Strategy::OnDelete => {}
            Strategy::Surge { limit, max_unavailable } => {
                budget.max_surge = limit.of(budget.desired);
                budget.max_unavailable = max_unavailable.map_or(0, |limit| limit.of(budget.desired));
            }
            Strategy::Replace(limit) => {
                // With both limits 0 an update could never go on.
                let at_least = u32::from(budget.desired > 0);
                budget.max_unavailable = limit.of(budget.desired).max(at_least);
                #[cfg(daemonset_mutants)]
                if is_active(Mutant::BudgetOffByOne) {
                    budget.max_unavailable += 1;
                }
            }
        }
        budget
    }

    /// How many not Ready outdated pods may go when they, too, wait for the budget.
    pub(crate) fn room_for_unready(&self) -> u32 {
        self.max_unavailable.saturating_sub(self.being_replaced + self.lost)
    }

    /// How many Ready pods may go that are not yet available `[young-pods-need-budget]`.
    pub(crate) fn room_for_young(&self) -> u32 {
        self.max_unavailable.saturating_sub(self.not_ready + self.lost)
    }

    /// How many available pods may go. The contract asks for NR + groups 2 and 3 below M, too: that is so, since nodes
    /// whose pod is not Ready, or young and chosen, are among the unavailable ones.
    pub(crate) fn room_for_available(&self) -> u32 {
        self.max_unavailable.saturating_sub(self.unavailable + self.lost)
    }

    /// How many more nodes may get a second pod.
    pub(crate) fn room_for_surge(&self) -> u32 {
        self.max_surge.saturating_sub(self.doubled + self.lost)
    }
}
