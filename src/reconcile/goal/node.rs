//! The facts about one node that a rollout is decided by, each from its own pods alone.

use super::NodeGoal;
use super::failure::{Failing, failing};
use crate::reconcile::fleet::{Fleet, PodStage};
use crate::snapshot::FailurePolicy;
use crate::snapshot::placement::Placement;
use crate::snapshot::position::{NodeIx, neutral};
use jiff::Timestamp;

/// A node, its place in the rollout, and its goal.
#[derive(Debug, Clone)]
pub struct RolloutNode {
    pub facts: RolloutFacts,
    /// The first wave that it belongs to.
    pub first_wave: Option<u32>,
    pub goal: NodeGoal,
    /// Its placement by the template of base, where base is its goal.
    pub base_placement: Option<Placement>,
}

neutral!(RolloutNode, RolloutNode::new(RolloutFacts::NONE));

impl RolloutNode {
    /// It has no wave yet, and so it is held.
    const fn new(facts: RolloutFacts) -> Self {
        RolloutNode { facts, first_wave: None, goal: NodeGoal::HeldOnCurrent, base_placement: None }
    }
}

impl From<RolloutFacts> for RolloutNode {
    fn from(facts: RolloutFacts) -> Self {
        RolloutNode::new(facts)
    }
}

/// A node, as the rollout of the current revision sees it. It depends on the objects of the node, the current template and
/// the failure policy; only [`failing`](field@Self::failing) changes with time alone.
#[derive(Debug, Clone)]
pub struct RolloutFacts {
    /// It takes part in the rollout: it is a target node of the current template, or keeps the pod that it has.
    pub takes_part: bool,
    /// It is a target node of the current template.
    pub is_target: bool,
    /// A live updated pod is there, or one is in flight.
    pub has_it: bool,
    /// The node itself is not Ready.
    pub is_down: bool,
    /// A live updated pod is there.
    pub has_updated: bool,
    /// A live outdated pod is there, or one is in flight.
    pub has_outdated: bool,
    /// An updated pod is available.
    pub is_available: bool,
    /// An updated pod is Ready.
    pub is_ready: bool,
    /// Since when the first of its Ready updated pods has been Ready; `None` if that is unknown.
    pub ready_since: Option<Timestamp>,
    /// The newest creation of an updated pod that is not terminating, and the newest Ready transition of one that is Ready.
    pub progressed_at: Option<Timestamp>,
    /// Its failure, now or later.
    pub failing: Failing,
}

impl RolloutFacts {
    /// Nothing is there, and nothing should be.
    pub const NONE: RolloutFacts = RolloutFacts {
        takes_part: false,
        is_target: false,
        has_it: false,
        is_down: false,
        has_updated: false,
        has_outdated: false,
        is_available: false,
        is_ready: false,
        ready_since: None,
        progressed_at: None,
        failing: Failing::Never,
    };

    /// `judged_by` is the failure policy, where the rollout is judged.
    pub fn new(fleet: &Fleet<'_>, node: NodeIx, judged_by: Option<&FailurePolicy>) -> Self {
        let in_flight = fleet.in_flight(node);
        let mut facts = RolloutFacts {
            is_down: fleet.node_view(node).ready == Some(false),
            has_it: in_flight.is_some_and(|create| create.updated),
            has_outdated: in_flight.is_some_and(|create| !create.updated),
            ..RolloutFacts::NONE
        };
        for (_, pod) in fleet.pods_of(node) {
            let view = fleet.view(pod);
            facts.has_updated |= pod.is_live() && pod.is_updated();
            facts.has_outdated |= pod.is_live() && !pod.is_updated();
            let stays = match pod.stage {
                PodStage::Live | PodStage::Failed | PodStage::Succeeded => pod.is_updated(),
                PodStage::Terminating | PodStage::Gone => false,
            };
            if !stays {
                continue;
            }
            // `None` is the least.
            facts.progressed_at = facts.progressed_at.max(view.created_at);
            if pod.is_ready() {
                facts.progressed_at = facts.progressed_at.max(view.ready_since);
                facts.is_available |= pod.is_available();
                facts.ready_since = match (facts.ready_since, view.ready_since) {
                    (Some(first), Some(since)) => Some(first.min(since)),
                    (one, None) | (None, one) => one,
                };
                facts.is_ready = true;
            }
            if let Some(policy) = judged_by {
                facts.failing.add(failing(fleet, node, pod, policy));
            }
        }
        facts.has_it |= facts.has_updated;
        facts.is_target = fleet.placement(node) == Placement::Run;
        facts.takes_part = match fleet.placement(node) {
            Placement::Run => true,
            Placement::ContinueOnly(_) => facts.has_it,
            Placement::Exclude(_) => false,
        };
        if !facts.takes_part {
            facts.failing = Failing::Never;
        }
        facts
    }

    /// A node that is down itself and does not have the new version holds nobody up.
    pub fn is_out_of_reach(&self) -> bool {
        self.is_down && !self.has_it
    }
}
