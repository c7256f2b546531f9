//! The budget in words: how much of it there is, how much is used, and which nodes use it.

use crate::words::names;
use daemonset::report::{Budget, BudgetUse, NodeOutcome, NodeVerdict, StrategyInForce};
use daemonset::{CreateReason, DeleteReason};
use serde::Serialize;

/// Names at most so many nodes.
const MOST_NAMES: usize = 3;

/// One line.
pub fn line(strategy: StrategyInForce, budget: &Budget, nodes: &[NodeVerdict]) -> String {
    match (strategy, spent(strategy, budget, nodes)) {
        (StrategyInForce::Replace(_), Some(spent)) => within_max_unavailable(spent, budget, nodes),
        (StrategyInForce::Surge(_), Some(spent)) => within_max_surge(spent, budget, nodes),
        (StrategyInForce::OnDelete, _) => {
            let unavailable = unavailable(budget, nodes, "unavailable ");
            format!("none: whoever deletes a pod decides; of {} nodes {unavailable}", budget.desired)
        }
        (other, _) => format!("{other:?}: {budget:?}"),
    }
}

/// The limit of the strategy in force, and how far it is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Spent {
    /// How many nodes it allows.
    pub limit: usize,
    /// Nodes that count against it.
    pub used: usize,
    /// Nodes that this plan takes of the rest.
    pub taken: usize,
}

/// `None` where a person deletes the pods.
pub fn spent(strategy: StrategyInForce, budget: &Budget, nodes: &[NodeVerdict]) -> Option<Spent> {
    match strategy {
        StrategyInForce::Replace(_) => Some(Spent {
            limit: budget.max_unavailable as usize,
            used: (budget.unavailable + budget.down_after_update) as usize,
            taken: taken(nodes),
        }),
        StrategyInForce::Surge(_) => Some(Spent {
            limit: budget.max_surge as usize,
            used: surging(nodes).len() + budget.down_after_update as usize,
            taken: nodes.iter().filter(surges).count(),
        }),
        StrategyInForce::OnDelete | _ => None,
    }
}

/// How many nodes of maxUnavailable this plan takes.
fn taken(nodes: &[NodeVerdict]) -> usize {
    let counted = [DeleteReason::OutdatedAvailable, DeleteReason::OutdatedNotYetAvailable];
    let reasons = nodes.iter().flat_map(|node| &node.pods).filter_map(|pod| pod.deleted);
    let changed = nodes.iter().filter_map(|node| match &node.outcome {
        NodeOutcome::UpdateInPlace { reason, .. } => Some(*reason),
        _ => None,
    });
    let begun =
        nodes.iter().filter(|node| node.outcome == NodeOutcome::TurnBegins && !node.counts.unavailable);
    reasons.chain(changed).filter(|reason| counted.contains(reason)).count() + begun.count()
}

fn surging(nodes: &[NodeVerdict]) -> Vec<&NodeVerdict> {
    nodes.iter().filter(|node| node.counts.surging).collect()
}

fn surges(node: &&NodeVerdict) -> bool {
    matches!(node.outcome, NodeOutcome::Create { reason: CreateReason::Surge, .. })
}

fn within_max_unavailable(spent: Spent, budget: &Budget, nodes: &[NodeVerdict]) -> String {
    let Budget { desired, max_unavailable, .. } = *budget;
    let limit = format!("{max_unavailable} of {desired} nodes may be unavailable");
    format!("{}: {limit}, {}", left(spent), unavailable(budget, nodes, ""))
}

fn within_max_surge(spent: Spent, budget: &Budget, nodes: &[NodeVerdict]) -> String {
    let Budget { desired, max_surge, .. } = *budget;
    let users = match surging(nodes).as_slice() {
        [] => "none has".to_owned(),
        [only] => format!("1 has: {}", only.node),
        several => {
            format!("{} have: {}", several.len(), names(several.iter().map(|node| &node.node), MOST_NAMES))
        }
    };
    let unavailable = unavailable(budget, nodes, "unavailable ");
    format!("{}: {max_surge} of {desired} nodes may have two pods, {users}; {unavailable}", left(spent))
}

/// How much is left, and what this plan takes of it.
fn left(Spent { limit, used, taken }: Spent) -> String {
    let left = limit.saturating_sub(used);
    match (left, taken) {
        (0, 0) => "spent".to_owned(),
        // A node that is not yet available counts by the number that is not Ready alone.
        (0, _) => format!("spent but for {taken} not yet available"),
        (_, 0) => format!("{left} left"),
        (_, _) => format!("{left} left, {taken} for this plan"),
    }
}

/// `1 is (1 not Ready): node-2`.
fn unavailable(budget: &Budget, nodes: &[NodeVerdict], what: &str) -> String {
    let Budget { unavailable, not_ready, .. } = *budget;
    let verb = if unavailable == 1 { "is" } else { "are" };
    let down = nodes.iter().filter(|node| node.counts.unavailable).map(|node| &node.node);
    let colon = if unavailable == 0 { "" } else { ": " };
    let beside = beside(budget, nodes);
    format!("{unavailable} {verb} {what}({not_ready} not Ready){colon}{}{beside}", names(down, MOST_NAMES))
}

/// Nodes that count though they are no Ready target nodes, and nodes that do not count though they lack a pod.
fn beside(budget: &Budget, nodes: &[NodeVerdict]) -> String {
    let of = |counts: fn(&BudgetUse) -> bool| {
        names(nodes.iter().filter(|node| counts(&node.counts)).map(|node| &node.node), MOST_NAMES)
    };
    let Budget { down_after_update: lost, excused, .. } = *budget;
    let mut text = String::new();
    if lost > 0 {
        text.push_str(&format!("; {lost} lost: {}", of(|counts| counts.down_after_update)));
    }
    if excused > 0 {
        text.push_str(&format!("; {excused} excused: {}", of(|counts| counts.excused)));
    }
    text
}
