//! The movement of the nodes that a plan can't touch, and their sums: a report without their verdicts tells the obstacles all the same.

use super::Kept;
use super::evaluate::Steps;
use super::evaluation::NodeEvaluation;
use super::facts::Slot;
use daemonset::internal::{AtRest, Budget, Choice, HeldNode, Movement, NodeIx, RolloutDecision};
use daemonset::outlook::{ObstacleKind, Obstacles};
use daemonset::report::{BudgetUse, NodeOutcome};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// The movement of a node on which a plan does nothing, as far as it depends on the node alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    #[default]
    Settled,
    /// Node sync is not done with it: a plan that does not look at it is full.
    Acting,
    Waiting,
    Held,
    /// The rollout has not reached it; the reason is that of all nodes of this kind.
    HeldByRollout(Part),
    Blocked(ObstacleKind),
    /// From the instant in its evaluation on.
    BlockedFrom(ObstacleKind),
}

/// The part in the waves, without the number of the wave, which changes no movement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Outside,
    InNoWave,
    InWave,
}

impl From<HeldNode> for Part {
    fn from(node: HeldNode) -> Self {
        match node {
            HeldNode::Outside => Part::Outside,
            HeldNode::InNoWave => Part::InNoWave,
            HeldNode::InWave(_) => Part::InWave,
        }
    }
}

impl Part {
    fn movement(self, decision: &RolloutDecision) -> Movement {
        let node = match self {
            Part::Outside => HeldNode::Outside,
            Part::InNoWave => HeldNode::InNoWave,
            Part::InWave => HeldNode::InWave(0),
        };
        Movement::held_by_rollout(&node.reason(decision))
    }
}

impl Standing {
    /// The standing that leads to this movement, with the instant from which on it blocks.
    fn of(movement: Movement) -> (Self, Option<Timestamp>) {
        let standing = match movement {
            Movement::Settled => Standing::Settled,
            Movement::Acting => Standing::Acting,
            Movement::Waiting => Standing::Waiting,
            Movement::Held => Standing::Held,
            Movement::Blocked(kind) => Standing::Blocked(kind),
            Movement::BlockedFrom(kind, at) => return (Standing::BlockedFrom(kind), Some(at)),
        };
        (standing, None)
    }
}

/// The standings of all nodes.
#[derive(Debug, Default)]
pub(super) struct Standings {
    /// Settled nodes, which are most, are not counted.
    nodes: BTreeMap<Standing, u32>,
    blocked_from: BTreeSet<(ObstacleKind, Timestamp, Slot)>,
}

impl Standings {
    /// Adds a node, or takes it out.
    pub(super) fn change(&mut self, slot: Slot, evaluation: &NodeEvaluation, is_added: bool) {
        let standing = evaluation.standing;
        if standing == Standing::Settled {
            return;
        }
        let nodes = self.nodes.entry(standing).or_default();
        *nodes = if is_added { *nodes + 1 } else { nodes.saturating_sub(1) };
        if *nodes == 0 {
            self.nodes.remove(&standing);
        }
        if let Some(element) = blocked_from(slot, evaluation) {
            if is_added {
                self.blocked_from.insert(element)
            } else {
                self.blocked_from.remove(&element)
            };
        }
    }
}

fn blocked_from(slot: Slot, evaluation: &NodeEvaluation) -> Option<(ObstacleKind, Timestamp, Slot)> {
    let Standing::BlockedFrom(kind) = evaluation.standing else { return None };
    Some((kind, evaluation.instants.as_ref()?.blocked_from?, slot))
}

impl Kept {
    /// The obstacles of the nodes that are not among these. The decision about the rollout is that of the plan.
    pub(super) fn obstacles_beside(&self, slots: &BTreeSet<Slot>) -> Obstacles {
        let Standings { nodes, blocked_from } = &self.evaluations.standings;
        let mut others = nodes.clone();
        for node in slots.iter().filter_map(|slot| self.objects.node(*slot)) {
            if let Some(others) = others.get_mut(&node.evaluation.standing) {
                *others -= 1;
            }
        }
        let mut obstacles = Obstacles::default();
        for (standing, _) in others.into_iter().filter(|(_, nodes)| *nodes > 0) {
            match standing {
                Standing::Settled => {}
                Standing::Acting => obstacles.add(Movement::Acting),
                Standing::Waiting => obstacles.add(Movement::Waiting),
                Standing::Held => obstacles.add(Movement::Held),
                Standing::HeldByRollout(part) => {
                    let decision = self.rollout.as_ref().and_then(|rollout| rollout.decision());
                    decision.iter().for_each(|decision| obstacles.add(part.movement(decision)));
                }
                Standing::Blocked(kind) => obstacles.add(Movement::Blocked(kind)),
                Standing::BlockedFrom(kind) => {
                    // The last of them decides.
                    let of_kind = (kind, Timestamp::MIN, Slot::MIN)..=(kind, Timestamp::MAX, Slot::MAX);
                    let mut of_kind = blocked_from.range(of_kind).rev();
                    let last = of_kind.find(|(_, _, slot)| !slots.contains(slot));
                    last.iter().for_each(|(_, at, _)| obstacles.add(Movement::BlockedFrom(kind, *at)));
                }
            }
        }
        obstacles
    }
}

impl Steps<'_> {
    /// The standing of a node, with the instant from which on it blocks.
    pub(super) fn standing(&self, node: NodeIx) -> (Standing, Option<Timestamp>) {
        let Steps { fleet, node_sync, counts, .. } = *self;
        // No outcome depends on the figures of a plan.
        let (budget, choice) = (&Budget::default(), &Choice::none());
        let at_rest = AtRest { fleet, node_sync, counts, budget, choice };
        let outcome =
            if at_rest.is_synced(node) { at_rest.outcome(node) } else { NodeOutcome::WaitsForNextPlan };
        let figures = BudgetUse::from(*counts.nodes.at(node));
        if let (NodeOutcome::HeldByRollout { .. }, false, Some(rollout)) =
            (&outcome, figures.taken || figures.lost, fleet.goals.rollout())
        {
            // Its reason changes with the rollout, and not with the node.
            let part = Part::from(HeldNode::new(rollout.known.nodes.at(node)));
            return (Standing::HeldByRollout(part), None);
        }
        Standing::of(Movement::new(figures, &outcome, || at_rest.not_ready(node)))
    }
}
