//! The goal of each node: the revision that its pod should have.
//!
//! Without [`Policy::rollout`](field@crate::Policy::rollout) it is the current one everywhere. All global questions of a rollout are answered
//! here, once: its marks, its stable revision, its waves, and whether it is over, paused or failed. Later steps ask for the goal of
//! one node.

use crate::input::placement::Placement;
use crate::pods::history::History;
use crate::position::{IndexVec, NodeIx};
use crate::rollout::decision::RolloutDecision;
use crate::rollout::facts::{RolloutNode, WaveNodes};
use crate::rollout::goal::NodeGoal;
use crate::rollout::report::FailingNode;
use crate::rollout::stable::{KnownStable, Stable};
use std::borrow::Cow;
use std::sync::Arc;

/// The goals of all nodes.
#[derive(Debug, Default)]
pub struct Goals<'a>(Option<Box<Rollout<'a>>>);

/// The rollout of the current revision.
#[derive(Debug)]
pub struct Rollout<'a> {
    pub stable: Option<Stable<'a>>,
    pub known: Cow<'a, KnownRollout>,
}

/// A rollout without references to the history, with the nodes of a snapshot: a tracker keeps it from plan to plan.
#[derive(Debug, Clone)]
pub struct KnownRollout {
    pub stable: Option<KnownStable>,
    pub decision: Arc<RolloutDecision>,
    pub nodes: IndexVec<NodeIx, RolloutNode>,
    /// The nodes of each wave.
    pub waves: Vec<WaveNodes>,
    /// The nodes that fail, by name.
    pub failing: Arc<[FailingNode]>,
}

impl<'a> Goals<'a> {
    /// `None` where no rollout is steered.
    pub fn of_rollout(known: Option<Cow<'a, KnownRollout>>, history: &History<'a>) -> Self {
        Goals(known.map(|known| {
            // The kept stable revision has no references: its view and its position are found in this plan's history.
            let stable = known.stable.as_ref().and_then(|stable| Stable::find(stable, history));
            Box::new(Rollout { stable, known })
        }))
    }

    /// The rollout, if the policy steers it.
    #[inline]
    pub fn rollout(&self) -> Option<&Rollout<'a>> {
        self.0.as_deref()
    }

    #[inline]
    pub fn of(&self, node: NodeIx) -> NodeGoal {
        match &self.0 {
            Some(rollout) => rollout.known.nodes.at(node).goal,
            // Without a steered rollout every step behaves as if no goals existed.
            None => NodeGoal::Current,
        }
    }

    pub fn stable(&self) -> Option<&Stable<'a>> {
        self.rollout().and_then(|rollout| rollout.stable.as_ref())
    }

    /// The placement of a node by the template of the stable revision, where the stable revision is its goal.
    pub fn stable_placement(&self, node: NodeIx) -> Option<Placement> {
        self.rollout().and_then(|rollout| rollout.known.nodes.at(node).stable_placement)
    }

    /// The stable revision, for a node whose goal it is.
    #[inline]
    pub fn stable_of(&self, node: NodeIx) -> Option<&Stable<'a>> {
        self.stable().filter(|_| self.of(node).is_stable())
    }
}
