//! The nodes of a rollout in sums, from which it follows how far the rollout may go.
//!
//! Nodes with the same part in the rollout are a group. A change of one node changes the sums of its group; over the limit of a wave it may
//! also move one other node into another group.

use super::nodes::NodeFacts;
use daemonset::model::IntOrString;
use daemonset::policy::Wave;
use jiff::{SignedDuration, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The nodes that the rollout treats alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Group {
    part: Part,
    /// The first wave that they are in.
    wave: Option<usize>,
}

/// The slots of nodes that have come to another group, each with that group.
pub(crate) type Regrouped = Vec<(u32, Group)>;

/// The part of a node in the rollout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Outside,
    HasIt,
    LacksIt,
}

impl Default for Group {
    fn default() -> Self {
        Group::OUTSIDE
    }
}

impl Group {
    /// The nodes that take no part; all nodes where no rollout is steered.
    pub(crate) const OUTSIDE: Group = Group { part: Part::Outside, wave: None };

    pub(super) fn takes_part(self) -> bool {
        match self.part {
            Part::Outside => false,
            Part::HasIt | Part::LacksIt => true,
        }
    }

    pub(super) fn has_it(self) -> bool {
        self.part == Part::HasIt
    }

    /// Whether they are in a wave up to this one.
    pub(super) fn is_open(self, last_open: Option<usize>) -> bool {
        self.wave.zip(last_open).is_some_and(|(wave, last)| wave <= last)
    }
}

/// A node, with the facts that depend on its labels.
#[derive(Debug, Clone)]
pub(super) struct Tallied {
    pub(super) name: Arc<str>,
    pub(super) facts: NodeFacts,
    /// It is to run a pod of the current revision.
    pub(super) runs: bool,
    /// It is to run a pod of base, if there is one.
    pub(super) runs_base: bool,
    /// For each wave, whether its labels match.
    pub(super) matches: Arc<[bool]>,
}

impl Tallied {
    fn part(&self) -> Part {
        match (self.facts.takes_part, self.facts.has_it) {
            (false, _) => Part::Outside,
            (true, true) => Part::HasIt,
            (true, false) => Part::LacksIt,
        }
    }

    /// The nodes that have the new version come first, then it goes by name.
    fn turn(&self, key: u32) -> Turn {
        (!self.facts.has_it, Arc::clone(&self.name), key)
    }
}

type Turn = (bool, Arc<str>, u32);

/// All nodes.
#[derive(Debug)]
pub(crate) struct Tally {
    nodes: BTreeMap<u32, (Tallied, Group)>,
    /// For each wave its limit, if it has one.
    limits: Vec<Option<Limit>>,
    groups: BTreeMap<Group, Figures>,
    /// Nodes that may be in other waves than their group says.
    moved: BTreeSet<u32>,
}

impl Tally {
    pub(crate) fn new(waves: &[Wave]) -> Self {
        Tally {
            nodes: BTreeMap::new(),
            limits: waves.iter().map(|wave| wave.up_to.map(Limit::new)).collect(),
            groups: BTreeMap::new(),
            moved: BTreeSet::new(),
        }
    }

    /// Takes a node out.
    pub(crate) fn remove(&mut self, key: u32) {
        let Some((node, group)) = self.nodes.remove(&key) else { return };
        self.groups.entry(group).or_default().change(&node, Change::Take);
        let turn = node.turn(key);
        for limit in self.limits.iter_mut().flatten() {
            limit.remove(&turn);
        }
    }

    /// Puts a node in, which is not in; its group is known once the tally is [settled](Self::settle).
    pub(super) fn put(&mut self, key: u32, node: Tallied) {
        let matching = self.limits.iter_mut().zip(&*node.matches).filter(|(_, matches)| **matches);
        for limit in matching.filter_map(|(limit, _)| limit.as_mut()).filter(|_| node.facts.takes_part) {
            limit.insert(node.turn(key));
        }
        let group = Group { part: node.part(), wave: None };
        self.groups.entry(group).or_default().change(&node, Change::Add);
        self.nodes.insert(key, (node, group));
        self.moved.insert(key);
    }

    /// Moves nodes over the limits of waves. Returns the nodes whose group has changed, and those that were put in.
    pub(super) fn settle(&mut self) -> Regrouped {
        for limit in self.limits.iter_mut().flatten() {
            limit.settle(&mut self.moved);
        }
        let Tally { nodes, limits, groups, moved } = self;
        let mut regrouped = Vec::with_capacity(moved.len());
        for key in std::mem::take(moved) {
            let Some((node, group)) = nodes.get_mut(&key) else { continue };
            let new = Group { part: node.part(), wave: first_wave(limits, key, node) };
            if new != *group {
                groups.entry(*group).or_default().change(node, Change::Take);
                groups.entry(new).or_default().change(node, Change::Add);
                *group = new;
            }
            regrouped.push((key, new));
        }
        groups.retain(|_, figures| figures.nodes > 0);
        regrouped
    }

    pub(crate) fn group(&self, key: u32) -> Group {
        self.nodes.get(&key).map_or(Group::OUTSIDE, |(_, group)| *group)
    }

    /// The sums of some groups.
    pub(super) fn total(&self, is_counted: impl Fn(Group) -> bool) -> Total {
        let mut total = Total::default();
        for (_, figures) in self.groups.iter().filter(|(group, _)| is_counted(**group)) {
            total.add(figures);
        }
        total
    }
}

/// The first wave that a node is in.
fn first_wave(limits: &[Option<Limit>], key: u32, node: &Tallied) -> Option<usize> {
    let turn = node.turn(key);
    let is_inside = |limit: &Option<Limit>| limit.as_ref().is_none_or(|limit| limit.inside.contains(&turn));
    let mut waves = limits.iter().zip(&*node.matches);
    let first = waves.position(|(limit, matches)| *matches && is_inside(limit));
    first.filter(|_| node.facts.takes_part)
}

/// The nodes that a wave with a limit matches and that take part, in the order of their turns.
#[derive(Debug)]
struct Limit {
    up_to: IntOrString,
    inside: BTreeSet<Turn>,
    /// Later in the order than all that are inside.
    beyond: BTreeSet<Turn>,
}

impl Limit {
    fn new(up_to: IntOrString) -> Self {
        Limit { up_to, inside: BTreeSet::new(), beyond: BTreeSet::new() }
    }

    fn insert(&mut self, turn: Turn) {
        let is_beyond = self.beyond.first().is_some_and(|first| *first < turn);
        if is_beyond {
            self.beyond.insert(turn)
        } else {
            self.inside.insert(turn)
        };
    }

    fn remove(&mut self, turn: &Turn) {
        if !self.inside.remove(turn) {
            self.beyond.remove(turn);
        }
    }

    /// Percentages of the matching nodes round up.
    fn size(&self) -> usize {
        let matching = self.inside.len() + self.beyond.len();
        match self.up_to {
            IntOrString::Int(limit) => limit as usize,
            IntOrString::Percent(percent) => matching.saturating_mul(percent as usize).div_ceil(100),
        }
    }

    /// Lets nodes in or out until as many are inside as the limit says.
    fn settle(&mut self, moved: &mut BTreeSet<u32>) {
        let size = self.size();
        while self.inside.len() > size {
            let Some(last) = self.inside.pop_last() else { break };
            moved.insert(last.2);
            self.beyond.insert(last);
        }
        while self.inside.len() < size {
            let Some(first) = self.beyond.pop_first() else { break };
            moved.insert(first.2);
            self.inside.insert(first);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Change {
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
struct Instants(BTreeMap<Timestamp, u32>);

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

/// The sums of a group.
#[derive(Debug, Default)]
struct Figures {
    nodes: u32,
    updated: u32,
    outdated: u32,
    waiting: u32,
    failing: u32,
    sound: Standing,
    broken: Standing,
    progressed_at: Instants,
    targets: u32,
    undone: u32,
    waiting_for_base: u32,
    held: u32,
}

/// The nodes that hold a wave up while they are not good.
#[derive(Debug, Default)]
struct Standing {
    not_ready: u32,
    undated: u32,
    ready_since: Instants,
    unavailable: u32,
}

impl Figures {
    fn change(&mut self, node: &Tallied, change: Change) {
        let Tallied { facts, runs, runs_base, .. } = node;
        change.apply(&mut self.nodes, true);
        change.apply(&mut self.updated, facts.has_updated);
        change.apply(&mut self.outdated, facts.has_outdated);
        change.apply(&mut self.waiting, !facts.has_it && !facts.is_down);
        change.apply(&mut self.failing, facts.fails);
        self.progressed_at.change(facts.progressed_at, change);
        change.apply(&mut self.targets, *runs);
        change.apply(&mut self.undone, *runs && (facts.has_outdated || !facts.is_available));
        change.apply(&mut self.waiting_for_base, *runs_base || facts.takes_part);
        change.apply(&mut self.held, *runs || facts.takes_part);
        // A node that is down without the new version holds nothing up.
        if facts.has_it || !facts.is_down {
            let standing = if facts.fails { &mut self.broken } else { &mut self.sound };
            standing.change(facts, change);
        }
    }
}

impl Standing {
    fn change(&mut self, facts: &NodeFacts, change: Change) {
        change.apply(&mut self.not_ready, !facts.is_ready);
        change.apply(&mut self.undated, facts.is_ready && facts.ready_since.is_none());
        self.ready_since.change(facts.ready_since.filter(|_| facts.is_ready), change);
        change.apply(&mut self.unavailable, !facts.is_available);
    }
}

/// The sums of several groups.
#[derive(Debug, Default)]
pub(super) struct Total {
    pub(super) nodes: u32,
    /// With a live updated pod.
    pub(super) updated: u32,
    /// With a live outdated pod, or with one in flight.
    pub(super) outdated: u32,
    /// Without the new version, though not down.
    pub(super) waiting: u32,
    pub(super) failing: u32,
    sound: Bake,
    broken: Bake,
    pub(super) progressed_at: Option<Timestamp>,
    /// To run a pod of the current revision.
    pub(super) targets: u32,
    /// Of these, those without an available pod of it, or with a live outdated one.
    pub(super) undone: u32,
    /// Those that count as undone where base is their goal.
    pub(super) waiting_for_base: u32,
    /// Those that count as undone where the rollout has not reached them.
    pub(super) held: u32,
}

/// For how long nodes have been good.
#[derive(Debug, Default)]
struct Bake {
    not_ready: u32,
    undated: u32,
    /// Since when the last one is Ready.
    ready_since: Option<Timestamp>,
    unavailable: u32,
}

impl Total {
    fn add(&mut self, figures: &Figures) {
        self.nodes += figures.nodes;
        self.updated += figures.updated;
        self.outdated += figures.outdated;
        self.waiting += figures.waiting;
        self.failing += figures.failing;
        self.sound.add(&figures.sound);
        self.broken.add(&figures.broken);
        self.progressed_at = self.progressed_at.max(figures.progressed_at.last());
        self.targets += figures.targets;
        self.undone += figures.undone;
        self.waiting_for_base += figures.waiting_for_base;
        self.held += figures.held;
    }

    /// Whether those that hold a wave up have been Ready for so long; failing ones hold nothing up while they `may_fail` and are not all.
    pub(super) fn are_ready_for(&self, duration: SignedDuration, now: Timestamp, may_fail: usize) -> bool {
        self.standing(may_fail).all(|bake| bake.are_ready_for(duration, now))
    }

    /// The same of those that are available.
    pub(super) fn are_available(&self, may_fail: usize) -> bool {
        self.standing(may_fail).all(|bake| bake.unavailable == 0)
    }

    fn standing(&self, may_fail: usize) -> impl Iterator<Item = &Bake> {
        let are_overlooked = self.failing as usize <= may_fail && self.failing < self.nodes;
        std::iter::once(&self.sound).chain((!are_overlooked).then_some(&self.broken))
    }
}

impl Bake {
    fn add(&mut self, standing: &Standing) {
        self.not_ready += standing.not_ready;
        self.undated += standing.undated;
        self.ready_since = self.ready_since.max(standing.ready_since.last());
        self.unavailable += standing.unavailable;
    }

    fn are_ready_for(&self, duration: SignedDuration, now: Timestamp) -> bool {
        let until_now = |since: Timestamp| now.duration_since(since) >= duration;
        let are_long = self.undated == 0 && self.ready_since.is_none_or(until_now);
        self.not_ready == 0 && (duration.is_zero() || are_long)
    }
}
