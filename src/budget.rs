//! Limits and what counts against them: all arithmetic on budgets, and nowhere else.
//!
//! v1.36 `update.go updatedDesiredNodeCounts`, with node sync's deletes already gone `[after-node-sync]`.

use crate::fleet::{Fleet, Readiness};
use crate::node_sync::NodeSync;
use crate::snapshot::Strategy;
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
}

impl Budget {
    pub(crate) fn of(fleet: &Fleet<'_>, sync: &NodeSync) -> Self {
        let mut budget = Budget::default();
        for node in fleet.targets() {
            let mut best = None;
            let mut outdated = false;
            for (_, pod) in sync.survivors(fleet, node) {
                best = Some(best.map_or(pod.readiness, |other: Readiness| other.min(pod.readiness)));
                outdated |= !pod.is_updated();
            }
            let unavailable = best != Some(Readiness::Available);
            budget.desired += 1;
            budget.unavailable += u32::from(unavailable);
            budget.not_ready += u32::from(!best.is_some_and(Readiness::is_ready));
            budget.being_replaced += u32::from(unavailable && !outdated);
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
            }
        }
        budget
    }

    /// How many not Ready outdated pods may go when they, too, wait for the budget.
    pub(crate) fn room_for_unready(&self) -> u32 {
        self.max_unavailable.saturating_sub(self.being_replaced)
    }

    /// How many Ready pods may go that are not yet available `[young-pods-need-budget]`.
    pub(crate) fn room_for_young(&self) -> u32 {
        self.max_unavailable.saturating_sub(self.not_ready)
    }

    /// How many available pods may go beside `young` that are not yet available.
    pub(crate) fn room_for_available(&self, young: u32) -> u32 {
        let room = self.max_unavailable.saturating_sub(self.unavailable);
        room.min(self.room_for_young().saturating_sub(young))
    }

    /// How many nodes may get a second pod when `doubled` have one.
    pub(crate) fn room_for_surge(&self, doubled: u32) -> u32 {
        self.max_surge.saturating_sub(doubled)
    }
}
