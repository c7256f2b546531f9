//! The limits of a plan and the room they leave: the only arithmetic on budgets.
//!
//! v1.36 `update.go updatedDesiredNodeCounts`, over the [figures](crate::node::budget) of all nodes.

use crate::input::strategy::Strategy;
use crate::node::figures::{Figure, Sums};
use daemonset_objects::internal::is_default;
use serde::{Deserialize, Serialize};

/// The budget's figures: numbers of target nodes, `down_after_update` and `deleted_by_update` also of other nodes. The JSON form leaves out `deleted_by_update`,
/// `down_before` and `excused` while they are 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Budget {
    /// D: the target nodes.
    pub desired: u32,
    /// M: how many may be without an available pod; 0 under OnDelete and SurgingRollingUpdate. Under surge it is only
    /// reported: no decision depends on it.
    pub max_unavailable: u32,
    /// S: how many may have two pods; 0 without surge.
    pub max_surge: u32,
    /// U: those without an available pod, once node sync's deletes are done, and those in turn.
    pub unavailable: u32,
    /// NR: those without a Ready pod, once node sync's deletes are done, and those in turn.
    pub not_ready: u32,
    /// Target nodes being replaced: without an available pod and without a live outdated one.
    pub being_replaced: u32,
    /// Target nodes with two or more unfinished pods, node sync's creates included; 0 without surge.
    #[serde(rename = "doubled")]
    pub surging: u32,
    /// Nodes that went down after the update reached them: not Ready themselves, with an updated pod that is not Ready either. They count against
    /// M if they are not target nodes only because they are down, and under surge against S. Also nodes whose pod the update deleted, and nodes in turn that
    /// are no target nodes.
    #[serde(rename = "lost")]
    pub down_after_update: u32,
    /// Those whose pod an update deleted, and that have had no Ready pod since.
    #[serde(default, rename = "taken", skip_serializing_if = "is_default")]
    pub deleted_by_update: u32,
    /// Target nodes that went down before anything of this update reached them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub down_before: u32,
    /// Target nodes without a Ready pod that the policy excuses, since they were down before or leave: they count in D, `surging` and
    /// `down_before` only.
    #[serde(default, skip_serializing_if = "is_default")]
    pub excused: u32,
}

impl Budget {
    /// The figures of these sums, with the limits, which depend on the number of target nodes.
    pub(crate) fn new(sums: &Sums, strategy: Strategy) -> Self {
        let mut budget = Budget {
            desired: sums.get(Figure::Desired),
            max_unavailable: 0,
            max_surge: 0,
            unavailable: sums.get(Figure::Unavailable),
            not_ready: sums.get(Figure::NotReady),
            being_replaced: sums.get(Figure::BeingReplaced),
            surging: sums.get(Figure::Surging),
            down_after_update: sums.get(Figure::DownAfterUpdate),
            deleted_by_update: sums.get(Figure::DeletedByUpdate),
            down_before: sums.get(Figure::DownBefore),
            excused: sums.get(Figure::Excused),
        };
        match strategy {
            Strategy::OnDelete => {}
            Strategy::Surge { limit, max_unavailable } => {
                // At least 1 by rounding up where there is a target node, so that no minimum is needed here.
                budget.max_surge = limit.scaled(budget.desired);
                budget.max_unavailable = max_unavailable.map_or(0, |limit| limit.scaled(budget.desired));
            }
            Strategy::Replace(limit) => {
                // With both limits 0 an update could never go on.
                let at_least = u32::from(budget.desired > 0);
                let limit = limit.scaled(budget.desired).max(at_least);
                budget.max_unavailable = planted::max_unavailable(limit);
            }
        }
        budget
    }

    /// How many outdated pods that are not Ready may go, under [`UnreadyPolicy::WithinBudget`](crate::policy::UnreadyPolicy).
    pub(crate) fn room_for_unready(&self) -> u32 {
        // More nodes than the limit may be down for other reasons, here and below: then there is no room.
        self.max_unavailable.saturating_sub(self.being_replaced + self.down_after_update)
    }

    /// How many Ready outdated pods that are not yet available may go `[young-pods-need-budget]`.
    pub(crate) fn room_for_not_yet_available(&self) -> u32 {
        self.max_unavailable.saturating_sub(self.not_ready + self.down_after_update)
    }

    /// How many available outdated pods may go. The rule for pods that are not yet available holds for them, too, without
    /// a second comparison: nodes whose pod is not Ready, or not yet available and chosen, count as unavailable.
    pub(crate) fn room_for_available(&self) -> u32 {
        self.max_unavailable.saturating_sub(self.unavailable + self.down_after_update)
    }

    /// How many more nodes may get a second pod.
    pub(crate) fn room_for_surge(&self) -> u32 {
        self.max_surge.saturating_sub(self.surging + self.down_after_update)
    }
}

/// The deliberate errors in this file.
mod planted {
    crate::planted::planted! {
        max_unavailable(right: u32): BudgetOffByOne => right + 1;
    }
}
