//! The facts about one node that decide a rollout. Each node has its own, from its own pods alone.

use crate::input::placement::Placement;
use crate::position::{NodeIx, neutral};
use crate::rollout::goal::NodeGoal;
use crate::rollout::report::FailureEvidence;
use daemonset_objects::model::NodeName;
use jiff::Timestamp;
use std::sync::Arc;

/// A node, its place in the rollout, and its goal.
#[derive(Debug, Clone)]
pub struct RolloutNode {
    pub facts: RolloutFacts,
    /// The first wave that it belongs to.
    pub first_wave: Option<u32>,
    pub goal: NodeGoal,
    /// Its placement by the template of the stable revision, where the stable revision is its goal.
    pub stable_placement: Option<Placement>,
}

neutral!(RolloutNode, RolloutNode::new(RolloutFacts::NONE));

impl RolloutNode {
    /// A node before its wave and its goal are known.
    pub const fn new(facts: RolloutFacts) -> Self {
        // Until the rollout is decided the node is held, so that nothing updates it by mistake.
        RolloutNode { facts, first_wave: None, goal: NodeGoal::HeldOnCurrent, stable_placement: None }
    }

    /// The group of a node that takes part.
    pub fn group(&self) -> RolloutGroup {
        let first_wave = self.first_wave.map(|wave| wave as usize);
        RolloutGroup { first_wave, has_new_version: self.facts.has_new_version }
    }
}

/// Nodes that take part and that a rollout treats alike: it reaches all of them or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RolloutGroup {
    /// The first wave to which they belong; `None` for nodes in no wave.
    pub first_wave: Option<usize>,
    pub has_new_version: bool,
}

/// A node, as the rollout of the current revision sees it. The facts depend on the objects of the node, the current template, the
/// memory, and the policies of failures and turns. Time alone changes [`is_available`](field@Self::is_available),
/// [`failing`](field@Self::failing) and [`waits_for_gates`](field@Self::waits_for_gates), and ends creates in flight.
#[derive(Debug, Clone)]
pub struct RolloutFacts {
    /// It takes part in the rollout: it is a target node of the current template, or keeps the pod that it has.
    pub takes_part: bool,
    /// It is a target node of the current template.
    pub is_target: bool,
    /// A live updated pod is there, or one is in flight.
    pub has_new_version: bool,
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
    /// The newest creation of an updated pod that is not terminating, and the newest Ready transition of one that is Ready; also
    /// the beginning of its turn, and the creation of a pull pod of the current revision.
    pub progressed_at: Option<Timestamp>,
    /// It is in turn, and a gate is not open.
    pub waits_for_gates: bool,
    /// Its failure, now or later.
    pub failing: Failing,
}

impl RolloutFacts {
    /// Nothing is there, and nothing should be.
    pub const NONE: RolloutFacts = RolloutFacts {
        takes_part: false,
        is_target: false,
        has_new_version: false,
        is_down: false,
        has_updated: false,
        has_outdated: false,
        is_available: false,
        is_ready: false,
        ready_since: None,
        progressed_at: None,
        waits_for_gates: false,
        failing: Failing::NEVER,
    };

    /// No wave and no deadline waits for the node: it is down and lacks the new version, which can't be the cause.
    pub fn holds_nobody_up(&self) -> bool {
        self.is_down && !self.has_new_version
    }
}

/// Whether a node fails, and when time alone changes that.
#[derive(Debug, Clone, Default)]
pub struct Failing {
    /// Why it fails now.
    pub evidence: Option<FailureEvidence>,
    /// When time alone lets it fail, or brings other evidence.
    pub changes_at: Option<Timestamp>,
}

impl Failing {
    pub const NEVER: Failing = Failing { evidence: None, changes_at: None };

    pub fn is_now(&self) -> bool {
        self.evidence.is_some()
    }

    /// When time alone lets the node fail.
    pub fn due_at(&self) -> Option<Timestamp> {
        // The instant of a node that fails already brings other evidence only.
        self.changes_at.filter(|_| !self.is_now())
    }

    /// Adds another pod of the node, or another rule.
    pub fn add(&mut self, other: Failing) {
        if other.is_now() {
            // Where two have failed, the same one is reported in each plan, whatever the order of the lists.
            self.evidence = self.evidence.take().into_iter().chain(other.evidence).min();
        }
        // Kept beside evidence of now: evidence that comes then may be reported before it.
        self.changes_at = self.changes_at.into_iter().chain(other.changes_at).min();
    }
}

/// The nodes of a wave.
#[derive(Debug, Clone)]
pub enum WaveNodes {
    /// The nodes of the snapshot that match. The first `size` ones are in the wave, and the others are beyond its limit; within
    /// each part they are in no order.
    Matching { nodes: Vec<NodeIx>, size: usize },
    /// The nodes of the wave, by name.
    Named(Arc<[NodeName]>, WaveFigures),
}

/// How many nodes of a wave have a live pod of the new version, and an available one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WaveFigures {
    pub updated: u32,
    pub available: u32,
}

impl WaveFigures {
    /// The figures of one node.
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
    /// The nodes that match, within the limit.
    pub fn inside(&self) -> &[NodeIx] {
        match self {
            WaveNodes::Matching { nodes, size } => nodes.get(..*size).unwrap_or_default(),
            // A plan from changes has not all of these nodes in its snapshot: it names and counts them instead.
            WaveNodes::Named(..) => &[],
        }
    }

    /// Whether the wave has no node.
    pub fn is_empty(&self) -> bool {
        match self {
            WaveNodes::Matching { size, .. } => *size == 0,
            WaveNodes::Named(names, _) => names.is_empty(),
        }
    }

    /// The nodes that match, beyond the limit.
    pub fn beyond(&self) -> &[NodeIx] {
        match self {
            WaveNodes::Matching { nodes, size } => nodes.get(*size..).unwrap_or_default(),
            WaveNodes::Named(..) => &[],
        }
    }
}
