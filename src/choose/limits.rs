//! The limits of a plan and the room they leave: the only arithmetic on budgets.
//!
//! v1.36 `update.go updatedDesiredNodeCounts`, over the [figures](crate::node::budget) of all nodes.

use crate::input::strategy::Strategy;
use crate::node::figures::{Figure, Sums};
use daemonset_objects::internal::is_default;
use serde::{Deserialize, Serialize};

/// The budget's figures: numbers of target nodes, `lost` and `taken` also of other nodes. The JSON form leaves out `taken`,
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
    pub doubled: u32,
    /// Nodes lost to the update: not Ready themselves, with an updated pod that is not Ready either. They count against
    /// M if they are not target nodes only because they are down, and under surge against S. Also taken nodes, and nodes in turn that
    /// are no target nodes.
    pub lost: u32,
    /// Lost nodes whose pod an update deleted, and that have had no Ready pod since.
    #[serde(default, skip_serializing_if = "is_default")]
    pub taken: u32,
    /// Target nodes that went down before anything of this update reached them.
    #[serde(default, skip_serializing_if = "is_default")]
    pub down_before: u32,
    /// Target nodes without a Ready pod that the policy excuses, since they were down before or leave: they count in D, `doubled` and
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
            doubled: sums.get(Figure::Doubled),
            lost: sums.get(Figure::Lost),
            taken: sums.get(Figure::Taken),
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
        self.max_unavailable.saturating_sub(self.being_replaced + self.lost)
    }

    /// How many Ready outdated pods that are not yet available may go `[young-pods-need-budget]`.
    pub(crate) fn room_for_not_yet_available(&self) -> u32 {
        self.max_unavailable.saturating_sub(self.not_ready + self.lost)
    }

    /// How many available outdated pods may go. The rule for pods that are not yet available holds for them, too, without
    /// a second comparison: nodes whose pod is not Ready, or not yet available and chosen, count as unavailable.
    pub(crate) fn room_for_available(&self) -> u32 {
        self.max_unavailable.saturating_sub(self.unavailable + self.lost)
    }

    /// How many more nodes may get a second pod.
    pub(crate) fn room_for_surge(&self) -> u32 {
        self.max_surge.saturating_sub(self.doubled + self.lost)
    }
}

/// The deliberate errors in this file.
mod planted {
    crate::planted::planted! {
        max_unavailable(right: u32): BudgetOffByOne => right + 1;
    }
}
