//! Sums over the nodes of a group, which change with each node, and over several groups.

use super::groups::GroupedNode;
use super::nodes::NodeFacts;
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    Add,
    Take,
}

impl Change {
    fn apply(self, count: &mut u32, counts: bool) {
        match self {
            Change::Add => *count += u32::from(counts),
            Change::Take => *count = count.saturating_sub(counts.into()),
        }
    }
}

/// Instants, each with the number of nodes that have it.
#[derive(Debug, Default)]
pub(super) struct Instants(BTreeMap<Timestamp, u32>);

impl Instants {
    fn change(&mut self, at: Option<Timestamp>, change: Change) {
        let Some(at) = at else { return };
        let nodes = self.0.entry(at).or_default();
        change.apply(nodes, true);
        if *nodes == 0 {
            self.0.remove(&at);
        }
    }

    fn last(&self) -> Option<Timestamp> {
        self.0.last_key_value().map(|(last, _)| *last)
    }
}

/// The sums of a group or, with the last instants alone, of several groups.
#[derive(Debug, Default)]
pub(super) struct GroupSums<T> {
    pub(super) nodes: u32,
    /// With a live updated pod.
    pub(super) updated: u32,
    /// With a live outdated pod, or with one in flight.
    pub(super) outdated: u32,
    /// Without the new version, though not down.
    pub(super) waiting: u32,
    pub(super) failing: u32,
    sound: ReadinessSums<T>,
    broken: ReadinessSums<T>,
    pub(super) progressed_at: T,
    /// In turn, with a gate that is not open.
    pub(super) gated: u32,
    /// To run a pod of the current revision.
    pub(super) targets: u32,
    /// Of these, those without an available pod of it, or with a live outdated one.
    pub(super) unfinished: u32,
    /// Nodes that count as unfinished where the stable revision is their goal.
    pub(super) waiting_for_stable: u32,
    /// Nodes that count as unfinished where the rollout has not reached them.
    pub(super) held: u32,
}

/// The nodes that hold a wave up while they are not good.
#[derive(Debug, Default)]
struct ReadinessSums<T> {
    not_ready: u32,
    undated: u32,
    /// Since when the others are Ready.
    ready_since: T,
    unavailable: u32,
}

/// The sums of several groups.
pub(super) type Total = GroupSums<Option<Timestamp>>;

impl GroupSums<Instants> {
    pub(super) fn change(&mut self, node: &GroupedNode, change: Change) {
        let GroupedNode { facts, runs, runs_stable, .. } = node;
        change.apply(&mut self.nodes, true);
        change.apply(&mut self.updated, facts.has_updated);
        change.apply(&mut self.outdated, facts.has_outdated);
        change.apply(&mut self.waiting, !facts.has_it && !facts.is_down);
        change.apply(&mut self.failing, facts.fails);
        self.progressed_at.change(facts.progressed_at, change);
        change.apply(&mut self.gated, facts.is_gated);
        change.apply(&mut self.targets, *runs);
        change.apply(&mut self.unfinished, *runs && (facts.has_outdated || !facts.is_available));
        change.apply(&mut self.waiting_for_stable, *runs_stable || facts.takes_part);
        change.apply(&mut self.held, *runs || facts.takes_part);
        // A node that is down without the new version holds nothing up.
        if facts.has_it || !facts.is_down {
            let readiness = if facts.fails { &mut self.broken } else { &mut self.sound };
            readiness.change(facts, change);
        }
    }
}

impl ReadinessSums<Instants> {
    fn change(&mut self, facts: &NodeFacts, change: Change) {
        change.apply(&mut self.not_ready, !facts.is_ready);
        change.apply(&mut self.undated, facts.is_ready && facts.ready_since.is_none());
        self.ready_since.change(facts.ready_since.filter(|_| facts.is_ready), change);
        change.apply(&mut self.unavailable, !facts.is_available);
    }
}

impl Total {
    pub(super) fn add(&mut self, group: &GroupSums<Instants>) {
        self.nodes += group.nodes;
        self.updated += group.updated;
        self.outdated += group.outdated;
        self.waiting += group.waiting;
        self.failing += group.failing;
        self.sound.add(&group.sound);
        self.broken.add(&group.broken);
        self.progressed_at = self.progressed_at.max(group.progressed_at.last());
        self.gated += group.gated;
        self.targets += group.targets;
        self.unfinished += group.unfinished;
        self.waiting_for_stable += group.waiting_for_stable;
        self.held += group.held;
    }

    /// Whether those that hold a wave up have been Ready for so long; failing ones hold nothing up while they `may_fail` and are not all.
    pub(super) fn are_ready_for(&self, duration: SignedDuration, now: Timestamp, may_fail: usize) -> bool {
        self.waited_for(may_fail).all(|readiness| readiness.are_ready_for(duration, now))
    }

    /// The same of those that are available.
    pub(super) fn are_available(&self, may_fail: usize) -> bool {
        self.waited_for(may_fail).all(|readiness| readiness.unavailable == 0)
    }

    fn waited_for(&self, may_fail: usize) -> impl Iterator<Item = &ReadinessSums<Option<Timestamp>>> {
        let are_overlooked = self.failing as usize <= may_fail && self.failing < self.nodes;
        std::iter::once(&self.sound).chain((!are_overlooked).then_some(&self.broken))
    }
}

impl ReadinessSums<Option<Timestamp>> {
    fn add(&mut self, group: &ReadinessSums<Instants>) {
        self.not_ready += group.not_ready;
        self.undated += group.undated;
        self.ready_since = self.ready_since.max(group.ready_since.last());
        self.unavailable += group.unavailable;
    }

    fn are_ready_for(&self, duration: SignedDuration, now: Timestamp) -> bool {
        let until_now = |since: Timestamp| now.duration_since(since) >= duration;
        let are_long = self.undated == 0 && self.ready_since.is_none_or(until_now);
        self.not_ready == 0 && (duration.is_zero() || are_long)
    }
}
