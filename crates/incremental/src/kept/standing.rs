//! The movement of the nodes that a plan can't touch, and their sums: a report without their verdicts tells the obstacles all the same.

use super::Kept;
use super::evaluate::Steps;
use super::evaluation::NodeEvaluation;
use super::facts::Slot;
use daemonset::internal::{AtRest, Budget, Choice, HeldNode, Movement, NodeIx, RolloutDecision};
use daemonset::outlook::{ObstacleKind, Obstacles};
use daemonset::report::{BudgetUse, NodeOutcome};
use jiff::Timestamp;
use std::collections::BTreeSet;

/// The movement of a node on which a plan does nothing, as far as it depends on the node alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    #[default]
    Settled,
    /// A pod beside the available one ends, and gives its place to another node.
    Ends,
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
            Movement::Ends => Standing::Ends,
            Movement::Acting => Standing::Acting,
            Movement::Waiting => Standing::Waiting,
            Movement::Held => Standing::Held,
            Movement::Blocked(kind) => Standing::Blocked(kind),
            Movement::BlockedFrom(kind, at) => return (Standing::BlockedFrom(kind), Some(at)),
        };
        (standing, None)
    }
}

/// How many nodes have each standing. Settled ones, which are most, are not counted.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    ends: u32,
    acting: u32,
    waiting: u32,
    held: u32,
    outside: u32,
    in_no_wave: u32,
    in_wave: u32,
    blocked: [u32; ObstacleKind::ALL.len()],
}

impl Counts {
    fn change(&mut self, standing: Standing, change: impl Fn(&mut u32)) {
        let nodes = match standing {
            Standing::Ends => &mut self.ends,
            Standing::Acting => &mut self.acting,
            Standing::Waiting => &mut self.waiting,
            Standing::Held => &mut self.held,
            Standing::HeldByRollout(Part::Outside) => &mut self.outside,
            Standing::HeldByRollout(Part::InNoWave) => &mut self.in_no_wave,
            Standing::HeldByRollout(Part::InWave) => &mut self.in_wave,
            Standing::Blocked(kind) => match self.blocked.get_mut(kind as usize) {
                Some(nodes) => nodes,
                None => return,
            },
            // Nobody asks for the settled ones, and the others are found by their instants.
            Standing::Settled | Standing::BlockedFrom(_) => return,
        };
        change(nodes);
    }
}

/// The standings of all nodes.
#[derive(Debug, Default)]
pub(super) struct Standings {
    counts: Counts,
    blocked_from: BTreeSet<(ObstacleKind, Timestamp, Slot)>,
}

impl Standings {
    /// Adds a node, or takes it out.
    pub(super) fn change(&mut self, slot: Slot, evaluation: &NodeEvaluation, is_added: bool) {
        let standing = evaluation.standing;
        self.counts.change(standing, |nodes| {
            *nodes = if is_added { *nodes + 1 } else { nodes.saturating_sub(1) };
        });
        let since = evaluation.instants.as_ref().and_then(|instants| instants.blocked_from);
        if let (Standing::BlockedFrom(kind), Some(since)) = (standing, since) {
            let element = (kind, since, slot);
            if is_added {
                self.blocked_from.insert(element)
            } else {
                self.blocked_from.remove(&element)
            };
        }
    }
}

impl Kept {
    /// The obstacles of the nodes that are not among these. The decision about the rollout is that of the plan.
    pub(super) fn obstacles_beside(&self, slots: &BTreeSet<Slot>) -> Obstacles {
        let Standings { mut counts, ref blocked_from } = self.evaluations.standings;
        for node in slots.iter().filter_map(|slot| self.objects.node(*slot)) {
            counts.change(node.evaluation.standing, |nodes| *nodes -= 1);
        }
        let mut obstacles = Obstacles::default();
        if counts.acting > 0 {
            // Nothing else matters.
            obstacles.add(Movement::Acting);
            return obstacles;
        }
        if counts.ends > 0 {
            obstacles.add(Movement::Ends);
        }
        if counts.waiting > 0 {
            obstacles.add(Movement::Waiting);
        }
        if counts.held > 0 {
            obstacles.add(Movement::Held);
        }
        let held = [
            (Part::Outside, counts.outside),
            (Part::InNoWave, counts.in_no_wave),
            (Part::InWave, counts.in_wave),
        ];
        if let Some(decision) = self.rollout.as_ref().and_then(|rollout| rollout.decision()) {
            let held = held.into_iter().filter(|(_, nodes)| *nodes > 0);
            held.for_each(|(part, _)| obstacles.add(part.movement(decision)));
        }
        let blocked = ObstacleKind::ALL.into_iter().zip(counts.blocked).filter(|(_, nodes)| *nodes > 0);
        blocked.for_each(|(kind, _)| obstacles.add(Movement::Blocked(kind)));
        if blocked_from.is_empty() {
            return obstacles;
        }
        // These are all kinds of `Movement::BlockedFrom` but closed gates, and no plan of a tracker has those. The last node of each kind
        // decides.
        for kind in [ObstacleKind::NotReady, ObstacleKind::Overdue] {
            let of_kind = (kind, Timestamp::MIN, Slot::MIN)..=(kind, Timestamp::MAX, Slot::MAX);
            let last = blocked_from.range(of_kind).rev().find(|(_, _, slot)| !slots.contains(slot));
            last.iter().for_each(|(kind, since, _)| obstacles.add(Movement::BlockedFrom(*kind, *since)));
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
