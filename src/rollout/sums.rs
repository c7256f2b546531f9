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
pub struct TimeRange(Option<(Timestamp, Timestamp)>);

impl TimestampSet for TimeRange {
    fn range(&self) -> TimeRange {
        *self
    }
}

impl TimeRange {
    pub fn new(first: Timestamp, last: Timestamp) -> Self {
        TimeRange(Some((first, last)))
    }

    pub fn first(self) -> Option<Timestamp> {
        self.0.map(|(first, _)| first)
    }

    pub fn last(self) -> Option<Timestamp> {
        self.0.map(|(_, last)| last)
    }

    fn add(&mut self, at: Timestamp) {
        self.merge(TimeRange::new(at, at));
    }

    fn merge(&mut self, other: TimeRange) {
        self.0 = match (self.0, other.0) {
            (Some((first, last)), Some((other_first, other_last))) => {
                Some((first.min(other_first), last.max(other_last)))
            }
            (one, None) | (None, one) => one,
        };
    }
}

/// The sums of a rollout.
#[derive(Debug, Clone)]
pub struct RolloutSums<I> {
    /// The nodes that take part, by their first wave and by whether they have the new version. Nodes without a wave come last.
    groups: Vec<[GroupSums<I>; 2]>,
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

/// Sums over nodes that take part.
#[derive(Debug, Clone, Default)]
pub struct GroupSums<I> {
    pub nodes: u32,
    pub failing: u32,
    /// Of the nodes that may hold up a wave and do not fail.
    healthy: ReadinessSums<I>,
    /// Of the nodes that may hold up a wave and fail.
    failed: ReadinessSums<I>,
    /// When their new pods last came or became Ready.
    progressed_at: I,
}

/// Sums over nodes that a wave or the deadline waits for.
#[derive(Debug, Clone, Default)]
pub struct ReadinessSums<I> {
    /// Without a Ready updated pod.
    pub not_ready: u32,
    /// Without a known instant from which on an updated pod has been Ready.
    pub since_unknown: u32,
    /// Without an available updated pod.
    pub unavailable: u32,
    /// Since when the others have a Ready updated pod.
    pub ready_since: I,
}

impl<I: Default> RolloutSums<I> {
    pub fn new(waves: usize) -> Self {
        let groups = std::iter::repeat_with(Default::default).take(waves + 1).collect();
        RolloutSums { groups, counts: NodeCounts::default(), failing_at: I::default() }
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
        let last = self.groups.len() - 1;
        // There is a group for each wave of the policy, so that a node of a wave never falls into the last group.
        let group = node.first_wave.map_or(last, |wave| (wave as usize).min(last));
        let Some([without, with]) = self.groups.get_mut(group) else { return };
        (if facts.has_new_version { with } else { without }).change(facts, count, instant);
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
        self.groups.get(wave).into_iter().flatten().for_each(|group| sum.merge(group));
    }

    /// How many nodes take part, in the chosen groups.
    pub fn count(&self, is_chosen: impl Fn(RolloutGroup) -> bool) -> u32 {
        self.groups(is_chosen).map(|group| group.nodes).sum()
    }

    /// The sums over the nodes that take part, in the chosen groups.
    pub fn sum(&self, is_chosen: impl Fn(RolloutGroup) -> bool) -> GroupSums<TimeRange> {
        let mut sum = GroupSums::default();
        self.groups(is_chosen).for_each(|group| sum.merge(group));
        sum
    }

    fn groups(&self, is_chosen: impl Fn(RolloutGroup) -> bool) -> impl Iterator<Item = &GroupSums<I>> {
        let waves = self.groups.len() - 1;
        let groups = self.groups.iter().enumerate().flat_map(move |(wave, [without, with])| {
            // The nodes without a wave are behind all waves.
            let first_wave = (wave < waves).then_some(wave);
            [
                (RolloutGroup { first_wave, has_new_version: false }, without),
                (RolloutGroup { first_wave, has_new_version: true }, with),
            ]
        });
        groups.filter(move |(group, _)| is_chosen(*group)).map(|(_, sums)| sums)
    }

    /// When time alone lets the next node fail.
    pub fn next_failing_at(&self) -> Option<Timestamp> {
        self.failing_at.range().first()
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

impl<I> GroupSums<I> {
    fn change(
        &mut self,
        facts: &RolloutFacts,
        count: impl Fn(&mut u32),
        instant: impl Fn(&mut I, Timestamp),
    ) {
        let fails = facts.failing.is_now();
        // These stand before the return below: maxFailures is a percentage of all nodes of the waves, and a new pod is progress
        // on each of them.
        count(&mut self.nodes);
        if fails {
            count(&mut self.failing);
        }
        if let Some(at) = facts.progressed_at {
            instant(&mut self.progressed_at, at);
        }
        if facts.holds_nobody_up() {
            return;
        }
        // The two are apart since only a sum over whole waves tells whether the failing nodes are few enough to be tolerated.
        let readiness = if fails { &mut self.failed } else { &mut self.healthy };
        if !facts.is_ready {
            count(&mut readiness.not_ready);
        }
        if !facts.is_available {
            count(&mut readiness.unavailable);
        }
        // This is another number than `not_ready`: a Ready pod may lack the instant, and then has never baked for long enough.
        match facts.ready_since {
            Some(since) => instant(&mut readiness.ready_since, since),
            None => count(&mut readiness.since_unknown),
        }
    }
}

impl GroupSums<TimeRange> {
    fn merge(&mut self, other: &GroupSums<impl TimestampSet>) {
        self.nodes += other.nodes;
        self.failing += other.failing;
        self.healthy.merge(&other.healthy);
        self.failed.merge(&other.failed);
        self.progressed_at.merge(other.progressed_at.range());
    }

    /// The nodes that a wave waits for. It does not wait for a node that is down and lacks the new version, nor for failing nodes
    /// while at most `may_fail` nodes fail, and not all.
    pub fn waited_for(mut self, may_fail: u32) -> ReadinessSums<TimeRange> {
        // A wave on which all nodes fail has shown nothing: it stays unfinished whatever number may fail.
        let is_tolerated = self.failing <= may_fail && self.failing < self.nodes;
        if !is_tolerated {
            self.healthy.merge(&self.failed);
        }
        self.healthy
    }

    pub fn last_progress(&self) -> Option<Timestamp> {
        self.progressed_at.last()
    }
}

impl ReadinessSums<TimeRange> {
    fn merge(&mut self, other: &ReadinessSums<impl TimestampSet>) {
        self.not_ready += other.not_ready;
        self.since_unknown += other.since_unknown;
        self.unavailable += other.unavailable;
        self.ready_since.merge(other.ready_since.range());
    }
}
