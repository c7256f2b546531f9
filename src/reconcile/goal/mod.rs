//! The goal of each node: the revision that its pod should have.
//!
//! Without [`Policy::rollout`](field@crate::Policy::rollout) it is the current one everywhere. All global questions of a rollout are answered
//! here, once: its marks, its base, its waves, and whether it is over, paused or failed. Later steps ask for the goal of
//! one node.

pub(crate) mod base;
pub(crate) mod course;
pub(crate) mod failure;
pub(crate) mod node;
pub(crate) mod tally;
pub(crate) mod waves;

use crate::model::NodeName;
use crate::reconcile::fleet::Fleet;
use crate::reconcile::history::History;
use crate::rollout_report::FailingNode;
use crate::snapshot::RolloutPolicy;
use crate::snapshot::placement::Placement;
use crate::snapshot::position::{IndexVec, NodeIx};
use base::{Base, KnownBase, live_pods};
use course::{Course, judged_by};
use node::{RolloutFacts, RolloutNode};
use std::borrow::Cow;
use std::sync::Arc;
use tally::Tally;

/// The goals of all nodes.
#[derive(Debug, Default)]
pub struct Goal<'a>(Option<Box<Rollout<'a>>>);

/// The goal of one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeGoal {
    /// The current revision.
    Current,
    /// The base, since the rollout is rolled back.
    Base,
    /// The base, since the rollout has not reached the node: it is not updated.
    HeldOnBase,
    /// As [`HeldOnBase`](Self::HeldOnBase), but there is no base: a missing pod is created from the current revision.
    HeldOnCurrent,
}

impl NodeGoal {
    pub fn is_held(self) -> bool {
        match self {
            NodeGoal::HeldOnBase | NodeGoal::HeldOnCurrent => true,
            NodeGoal::Current | NodeGoal::Base => false,
        }
    }

    pub fn is_base(self) -> bool {
        match self {
            NodeGoal::Base | NodeGoal::HeldOnBase => true,
            NodeGoal::Current | NodeGoal::HeldOnCurrent => false,
        }
    }
}

/// The rollout of the current revision.
#[derive(Debug)]
pub struct Rollout<'a> {
    pub base: Option<Base<'a>>,
    pub state: Cow<'a, RolloutState>,
}

/// The state of a rollout, with the nodes of a snapshot.
#[derive(Debug, Clone)]
pub struct RolloutState {
    pub base: Option<KnownBase>,
    pub course: Arc<Course>,
    pub nodes: IndexVec<NodeIx, RolloutNode>,
    /// The nodes of each wave.
    pub waves: Vec<WaveNodes>,
    /// The nodes that fail, by name.
    pub failing: Arc<[FailingNode]>,
}

/// The nodes of a wave.
#[derive(Debug, Clone)]
pub enum WaveNodes {
    /// The nodes of the snapshot that match, in no order but for this: the first ones are so many as the wave has.
    Matching(Vec<NodeIx>, usize),
    /// By name.
    Named(Arc<[NodeName]>, WaveFigures),
}

/// How many nodes of a wave have a live pod of the new version, and an available one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WaveFigures {
    pub updated: u32,
    pub available: u32,
}

impl WaveFigures {
    /// Those of one node.
    pub fn new(facts: &RolloutFacts) -> Self {
        WaveFigures { updated: facts.has_updated.into(), available: facts.is_available.into() }
    }

    pub fn add(&mut self, other: WaveFigures) {
        self.updated += other.updated;
        self.available += other.available;
    }

    pub fn subtract(&mut self, other: WaveFigures) {
        self.updated -= other.updated;
        self.available -= other.available;
    }
}

impl WaveNodes {
    pub fn inside(&self) -> &[NodeIx] {
        match self {
            WaveNodes::Matching(nodes, size) => nodes.get(..*size).unwrap_or_default(),
            WaveNodes::Named(..) => &[],
        }
    }

    /// Whether the wave has no node.
    pub fn is_empty(&self) -> bool {
        match self {
            WaveNodes::Matching(_, size) => *size == 0,
            WaveNodes::Named(names, _) => names.is_empty(),
        }
    }

    /// Those that match, but are beyond the limit.
    pub fn beyond(&self) -> &[NodeIx] {
        match self {
            WaveNodes::Matching(nodes, size) => nodes.get(*size..).unwrap_or_default(),
            WaveNodes::Named(..) => &[],
        }
    }
}

/// How far the rollout may go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stage {
    /// It is complete: later troubles are not the rollout's.
    Over,
    /// It goes on, wave after wave.
    GoingOn,
    /// A person has paused it.
    Paused,
    /// The new version has failed: no further node gets it.
    Stopped(String),
    /// The new version has failed: all nodes go back to base.
    RolledBack(String),
}

impl<'a> Goal<'a> {
    /// The goals for this fleet, which is still the one of the current revision alone. `known` is the state of the rollout where
    /// the nodes of the fleet do not suffice to find it.
    pub fn new(fleet: &Fleet<'a>, history: &History<'a>, known: Option<&'a RolloutState>) -> Self {
        let Some(policy) = &fleet.snapshot.spec.policy.rollout else { return Goal(None) };
        let state = match known {
            Some(state) => Cow::Borrowed(state),
            None => Cow::Owned(RolloutState::new(fleet, history, policy)),
        };
        Goal::of_state(Some(state), history)
    }

    /// `None` where no rollout is steered.
    pub fn of_state(state: Option<Cow<'a, RolloutState>>, history: &History<'a>) -> Self {
        Goal(state.map(|state| {
            let base = state.base.as_ref().and_then(|base| Base::find(base, history));
            Box::new(Rollout { base, state })
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
            Some(rollout) => rollout.state.nodes.at(node).goal,
            None => NodeGoal::Current,
        }
    }

    pub fn base(&self) -> Option<&Base<'a>> {
        self.rollout().and_then(|rollout| rollout.base.as_ref())
    }

    /// The placement of a node by the template of base, where base is its goal.
    pub fn base_placement(&self, node: NodeIx) -> Option<Placement> {
        self.rollout().and_then(|rollout| rollout.state.nodes.at(node).base_placement)
    }

    /// The base, for a node whose goal it is.
    #[inline]
    pub fn base_of(&self, node: NodeIx) -> Option<&Base<'a>> {
        self.base().filter(|_| self.of(node).is_base())
    }
}

impl RolloutState {
    /// The state of a rollout, all of whose nodes are in the snapshot.
    fn new(fleet: &Fleet<'_>, history: &History<'_>, policy: &RolloutPolicy) -> Self {
        let judged_by = judged_by(policy, history);
        let facts = |node| RolloutNode::from(RolloutFacts::new(fleet, node, judged_by));
        let mut nodes: IndexVec<NodeIx, RolloutNode> = fleet.nodes.positions().map(facts).collect();
        let waves = waves::choose_nodes(fleet, &mut nodes, &policy.waves);
        let mut tally = Tally::new(policy.waves.len());
        nodes.iter().for_each(|node| tally.add(node));
        let live = live_pods(fleet, history, fleet.pods.iter());
        let base = KnownBase::choose(fleet.snapshot, history, &live, None);
        let by_base = |base: &KnownBase, node| base.placement(fleet.node_view(node), fleet.placement(node));
        let keeps_others = || {
            let mut others = nodes.enumerated().filter(|(_, node)| !node.facts.takes_part);
            let is_wanted = |base: &KnownBase, node| by_base(base, node) == Placement::Run;
            base.as_ref().is_some_and(|base| others.any(|(node, _)| is_wanted(base, node)))
        };
        let course = Course::new(fleet.snapshot, history, policy, &tally, base.is_some(), keeps_others);
        for position in fleet.nodes.positions() {
            nodes.change(position, |node| {
                node.goal = course.goal(node);
                let base = base.as_ref().filter(|_| node.goal.is_base());
                node.base_placement = base.map(|base| by_base(base, position));
            });
        }
        let failing = nodes.enumerated().filter_map(|(position, node)| {
            let evidence = node.facts.failing.evidence()?.clone();
            Some(FailingNode { node: fleet.node_view(position).name.into(), evidence })
        });
        let mut failing: Vec<FailingNode> = failing.collect();
        failing.sort_unstable_by(|a, b| a.node.cmp(&b.node));
        RolloutState { base, course: Arc::new(course), nodes, waves, failing: failing.into() }
    }
}
