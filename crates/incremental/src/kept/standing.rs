//! The movement of the nodes that a plan can't touch, and their sums: a report without their verdicts tells the obstacles all the same.

use super::Kept;
use super::evaluate::Steps;
use super::evaluation::{KeptEvaluation, change};
use super::facts::Slot;
use daemonset::internal::{AtRest, Budget, Choice, HeldNode, HeldPod, Movement, NodeIx, RolloutDecision};
use daemonset::outlook::{ObstacleKind, Obstacles};
use daemonset::report::{BudgetUse, NodeOutcome, Wait};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

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
    HeldByRollout(Part, OwnPod),
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

/// The pod of a held node, without the instant, which is in its evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum OwnPod {
    Stays,
    Waits,
    Ends,
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
    const ALL: [Part; 3] = [Part::Outside, Part::InNoWave, Part::InWave];

    fn movement(self, decision: &RolloutDecision, pod: HeldPod) -> Movement {
        let node = match self {
            Part::Outside => HeldNode::Outside,
            Part::InNoWave => HeldNode::InNoWave,
            Part::InWave => HeldNode::InWave(0),
        };
        Movement::held_by_rollout(&node.reason(decision), pod)
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
    /// By the part, those whose pod stays and those that wait.
    held_by_rollout: [[u32; 2]; Part::ALL.len()],
    blocked: [u32; ObstacleKind::ALL.len()],
}

impl Counts {
    fn change(&mut self, standing: Standing, change: impl Fn(&mut u32)) {
        let nodes = match standing {
            Standing::Ends => &mut self.ends,
            Standing::Acting => &mut self.acting,
            Standing::Waiting => &mut self.waiting,
            Standing::Held => &mut self.held,
            // One whose pod ends has no place here.
            Standing::HeldByRollout(part, pod) => {
                let pods = self.held_by_rollout.get_mut(part as usize);
                match pods.and_then(|pods| pods.get_mut(pod as usize)) {
                    Some(nodes) => nodes,
                    None => return,
                }
            }
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
    blocked_from: BTreeMap<ObstacleKind, Instants>,
    /// The held nodes whose pod ends, with the instants at which it is overdue.
    held_ends: BTreeMap<Part, Instants>,
}

/// Nodes with an instant each.
type Instants = BTreeSet<(Timestamp, Slot)>;

impl Standings {
    /// Adds a node, or takes it out.
    pub(super) fn change(&mut self, slot: Slot, evaluation: &KeptEvaluation, is_added: bool) {
        let standing = evaluation.standing;
        self.counts.change(standing, |nodes| {
            *nodes = if is_added { *nodes + 1 } else { nodes.saturating_sub(1) };
        });
        let since = evaluation.instants.as_ref().and_then(|instants| instants.blocked_from);
        match (standing, since) {
            (Standing::BlockedFrom(kind), Some(at)) => {
                change(self.blocked_from.entry(kind).or_default(), Some((at, slot)), is_added);
            }
            (Standing::HeldByRollout(part, OwnPod::Ends), Some(at)) => {
                change(self.held_ends.entry(part).or_default(), Some((at, slot)), is_added);
            }
            _ => {}
        }
    }
}

impl Kept {
    /// The obstacles of the nodes that are not among these. The decision about the rollout is that of the plan.
    pub(super) fn obstacles_beside(&self, slots: &BTreeSet<Slot>) -> Obstacles {
        let Standings { mut counts, ref blocked_from, ref held_ends } = self.evaluations.standings;
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
        if let Some(decision) = self.rollout.as_ref().and_then(|rollout| rollout.decision()) {
            for (part, [stays, waits]) in Part::ALL.into_iter().zip(counts.held_by_rollout) {
                let ends = held_ends.get(&part).and_then(|ends| last(ends, slots)).map(HeldPod::Ends);
                let stays = (stays > 0).then_some(HeldPod::Stays);
                let waits = (waits > 0).then_some(HeldPod::Waits);
                let pods = [stays, waits, ends].into_iter().flatten();
                pods.for_each(|pod| obstacles.add(part.movement(decision, pod)));
            }
        }
        let blocked = ObstacleKind::ALL.into_iter().zip(counts.blocked).filter(|(_, nodes)| *nodes > 0);
        blocked.for_each(|(kind, _)| obstacles.add(Movement::Blocked(kind)));
        // The last node of each kind decides.
        for (kind, instants) in blocked_from {
            let last = last(instants, slots);
            last.into_iter().for_each(|since| obstacles.add(Movement::BlockedFrom(*kind, since)));
        }
        obstacles
    }
}

/// The last instant, without these nodes.
fn last(of: &Instants, without: &BTreeSet<Slot>) -> Option<Timestamp> {
    of.iter().rev().find(|(_, slot)| !without.contains(slot)).map(|(at, _)| *at)
}

impl Steps<'_> {
    /// The standing of a node, with the instant from which on it blocks.
    pub(super) fn standing(&self, node: NodeIx) -> (Standing, Option<Timestamp>) {
        let Steps { fleet, node_sync, evaluations, .. } = *self;
        if fleet.is_settled(node) && !fleet.goals.of(node).is_held() {
            return (Standing::Settled, None);
        }
        // The kind of an outcome does not depend on the figures of a plan.
        let choice = &Choice::new(Budget::default());
        let at_rest = AtRest { fleet, node_sync, evaluations, choice };
        let outcome = at_rest.beyond_plan(node);
        let figures = BudgetUse::from(evaluations.figures(node));
        if let (NodeOutcome::Waits(Wait::Rollout { .. }), false, Some(rollout)) =
            (&outcome, figures.deleted_by_update || figures.down_after_update, fleet.goals.rollout())
        {
            // Its reason changes with the rollout, and not with the node.
            let part = Part::from(HeldNode::new(rollout.known.nodes.at(node)));
            return match at_rest.pod_times(node).held() {
                HeldPod::Stays => (Standing::HeldByRollout(part, OwnPod::Stays), None),
                HeldPod::Waits => (Standing::HeldByRollout(part, OwnPod::Waits), None),
                HeldPod::Ends(at) => (Standing::HeldByRollout(part, OwnPod::Ends), Some(at)),
            };
        }
        Standing::of(Movement::new(figures, &outcome, || at_rest.pod_times(node)))
    }
}
