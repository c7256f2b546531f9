//! Sums over the nodes of a rollout. The decision about the rollout follows from them alone: a plan of all nodes counts each
//! node once, and a tracker keeps the sums and counts the changed nodes anew.

use crate::rollout::facts::{RolloutFacts, RolloutGroup, RolloutNode};
use jiff::Timestamp;

/// Timestamps of many nodes, of which the first and the last matter.
pub trait TimestampSet: Default {
    fn range(&self) -> TimeRange;
}

/// The first and the last of some timestamps. It forgets the others, so that no timestamp can be taken out again.
#[derive(Debug, Clone, Copy, Default)]
pub struct TimeRange {
    pub first: Option<Timestamp>,
    pub last: Option<Timestamp>,
}

impl TimestampSet for TimeRange {
    fn range(&self) -> TimeRange {
        *self
    }
}

impl TimeRange {
    fn add(&mut self, at: Timestamp) {
        self.merge(TimeRange { first: Some(at), last: Some(at) });
    }

    fn merge(&mut self, other: TimeRange) {
        self.first = self.first.into_iter().chain(other.first).min();
        // `None` is less than each timestamp: only `max` takes the known one.
        self.last = self.last.max(other.last);
    }
}

/// The sums of a rollout.
#[derive(Debug, Clone)]
pub struct RolloutSums<I> {
    /// The nodes that take part: two groups for each first wave, and two for the nodes without a wave, which come last.
    groups: Vec<(RolloutGroup, GroupSums<I>)>,
    pub counts: NodeCounts,
    /// When time alone lets a node fail.
    failing_at: I,
}

/// Counts of nodes, whether they take part or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NodeCounts {
    /// With a live updated pod.
    pub updated: u32,
    /// With a live outdated pod, or one in flight.
    pub outdated: u32,
    /// They take part, are up, and lack the new version.
    pub missing: u32,
    /// Target nodes of the current template.
    pub targets: u32,
    /// Target nodes that lack an available updated pod or have a live outdated one.
    pub unfinished: u32,
}

/// Sums over nodes that take part. The two are apart since only a sum over whole waves tells whether the failing nodes are few
/// enough to be tolerated.
#[derive(Debug, Clone, Default)]
pub struct GroupSums<I> {
    healthy: NodeSums<I>,
    failing: NodeSums<I>,
}

/// Sums over nodes. All but the first three leave out the nodes that [hold nobody up](RolloutFacts::holds_nobody_up).
#[derive(Debug, Clone, Default)]
pub struct NodeSums<I> {
    pub nodes: u32,
    /// When their new pods last came or became Ready, and when their turns and pulls began.
    pub progressed_at: I,
    /// In turn, with a gate that is not open.
    pub gated: u32,
    /// Without a Ready updated pod.
    pub not_ready: u32,
    /// Without an available updated pod.
    pub unavailable: u32,
    /// Without a known instant from which on an updated pod has been Ready.
    pub since_unknown: u32,
    /// Since when the others have a Ready updated pod.
    pub ready_since: I,
}

impl<I: Default> RolloutSums<I> {
    pub fn new(waves: usize) -> Self {
        let first_waves = (0..waves).map(Some).chain([None]);
        let groups = first_waves.flat_map(|first_wave| {
            [false, true]
                .map(|has_new_version| (RolloutGroup { first_wave, has_new_version }, GroupSums::default()))
        });
        RolloutSums { groups: groups.collect(), counts: NodeCounts::default(), failing_at: I::default() }
    }

    /// Changes the sums to which a node belongs: `count` changes a number, `instant` adds or removes an instant. A node is taken
    /// out with the facts and the first wave with which it was added.
    pub fn change(
        &mut self,
        node: &RolloutNode,
        count: impl Fn(&mut u32),
        instant: impl Fn(&mut I, Timestamp),
    ) {
        let facts = &node.facts;
        // The counts stand before the return below: nodes that take no part have pods, too, and these keep a fleet unsettled.
        self.counts.change(facts, &count);
        if let Some(at) = facts.failing.due_at() {
            instant(&mut self.failing_at, at);
        }
        if !facts.takes_part {
            return;
        }
        let waves = self.groups.len() / 2 - 1;
        // There are groups for each wave of the policy, so that a node of a wave never falls into the last ones.
        let wave = node.first_wave.map_or(waves, |wave| (wave as usize).min(waves));
        let Some((_, group)) = self.groups.get_mut(2 * wave + usize::from(facts.has_new_version)) else {
            return;
        };
        let sums = if facts.failing.is_now() { &mut group.failing } else { &mut group.healthy };
        sums.change(facts, count, instant);
    }
}

impl RolloutSums<TimeRange> {
    pub fn add(&mut self, node: &RolloutNode) {
        self.change(node, |sum| *sum += 1, TimeRange::add);
    }
}

impl<I: TimestampSet> RolloutSums<I> {
    /// Adds the nodes whose first wave is this one.
    pub fn add_wave(&self, wave: usize, sum: &mut GroupSums<TimeRange>) {
        self.groups.iter().skip(2 * wave).take(2).for_each(|(_, group)| sum.merge(group));
    }

    /// How many nodes take part, in the chosen groups.
    pub fn count(&self, is_chosen: impl Fn(RolloutGroup) -> bool) -> u32 {
        self.groups(is_chosen).map(GroupSums::nodes).sum()
    }

    /// The sums over the nodes that take part, in the chosen groups.
    pub fn sum(&self, is_chosen: impl Fn(RolloutGroup) -> bool) -> GroupSums<TimeRange> {
        let mut sum = GroupSums::default();
        self.groups(is_chosen).for_each(|group| sum.merge(group));
        sum
    }

    fn groups(&self, is_chosen: impl Fn(RolloutGroup) -> bool) -> impl Iterator<Item = &GroupSums<I>> {
        self.groups.iter().filter(move |(group, _)| is_chosen(*group)).map(|(_, sums)| sums)
    }

    /// When time alone lets the next node fail.
    pub fn next_failing_at(&self) -> Option<Timestamp> {
        self.failing_at.range().first
    }
}

impl NodeCounts {
    fn change(&mut self, facts: &RolloutFacts, count: impl Fn(&mut u32)) {
        // Without `..`, so that a new count is not forgotten here.
        let NodeCounts { updated, outdated, missing, targets, unfinished } = self;
        let is_finished = facts.is_available && !facts.has_outdated;
        for (counts, sum) in [
            (facts.has_updated, updated),
            (facts.has_outdated, outdated),
            // Only a node that is up shows that a pause came midway: one that is down lacks its pod for another reason.
            (facts.takes_part && !facts.has_new_version && !facts.is_down, missing),
            (facts.is_target, targets),
            (facts.is_target && !is_finished, unfinished),
        ] {
            if counts {
                count(sum);
            }
        }
    }
}

impl<I> NodeSums<I> {
    fn change(
        &mut self,
        facts: &RolloutFacts,
        count: impl Fn(&mut u32),
        instant: impl Fn(&mut I, Timestamp),
    ) {
        // These stand before the return below: maxFailures is a percentage of all nodes of the waves, a new pod is progress on
        // each of them, and a closed gate puts the deadline off also where the node is down.
        count(&mut self.nodes);
        if let Some(at) = facts.progressed_at {
            instant(&mut self.progressed_at, at);
        }
        if facts.waits_for_gates {
            count(&mut self.gated);
        }
        if facts.holds_nobody_up() {
            return;
        }
        if !facts.is_ready {
            count(&mut self.not_ready);
        }
        if !facts.is_available {
            count(&mut self.unavailable);
        }
        // This is another number than `not_ready`: a Ready pod may lack the instant, and then has never baked for long enough.
        match facts.ready_since {
            Some(since) => instant(&mut self.ready_since, since),
            None => count(&mut self.since_unknown),
        }
    }
}

impl NodeSums<TimeRange> {
    fn merge(&mut self, other: &NodeSums<impl TimestampSet>) {
        // Most groups have no failing node, and many no node at all.
        if other.nodes == 0 {
            return;
        }
        self.nodes += other.nodes;
        self.gated += other.gated;
        self.progressed_at.merge(other.progressed_at.range());
        self.not_ready += other.not_ready;
        self.unavailable += other.unavailable;
        self.since_unknown += other.since_unknown;
        self.ready_since.merge(other.ready_since.range());
    }
}

impl<I> GroupSums<I> {
    pub fn nodes(&self) -> u32 {
        self.healthy.nodes + self.failing.nodes
    }
}

impl GroupSums<TimeRange> {
    fn merge(&mut self, other: &GroupSums<impl TimestampSet>) {
        self.healthy.merge(&other.healthy);
        self.failing.merge(&other.failing);
    }

    pub fn failing(&self) -> u32 {
        self.failing.nodes
    }

    /// How many of them wait for a gate in their turn.
    pub fn gated(&self) -> u32 {
        self.healthy.gated + self.failing.gated
    }

    /// Progress on a failing node is progress, too.
    pub fn last_progress(&self) -> Option<Timestamp> {
        self.healthy.progressed_at.last.max(self.failing.progressed_at.last)
    }

    /// The nodes that a wave waits for. It does not wait for a node that is down and lacks the new version, nor for failing nodes
    /// while at most `may_fail` nodes fail, and not all.
    pub fn waited_for(mut self, may_fail: u32) -> NodeSums<TimeRange> {
        // A wave on which all nodes fail has shown nothing: it stays unfinished whatever number may fail.
        let is_tolerated = self.failing.nodes <= may_fail && self.healthy.nodes > 0;
        if !is_tolerated {
            self.healthy.merge(&self.failing);
        }
        self.healthy
    }
}
