//! The nodes of a rollout in groups, from whose sums it follows how far the rollout may go.
//!
//! Nodes with the same part in the rollout are a group. A change of one node changes the sums of its group; over the limit of a wave it may
//! also move one other node into another group.

use super::limit::{Limit, Turn};
use super::nodes::NodeFacts;
use super::sums::{Change, GroupSums, Instants, Total};
use daemonset::policy::Wave;
use std::collections::BTreeMap;
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
pub(super) struct GroupedNode {
    pub(super) name: Arc<str>,
    pub(super) facts: NodeFacts,
    /// It is to run a pod of the current revision.
    pub(super) runs: bool,
    /// It is to run a pod of the stable revision, if there is one.
    pub(super) runs_stable: bool,
    /// For each wave, whether its labels match.
    pub(super) matches: Arc<[bool]>,
}

impl GroupedNode {
    fn part(&self) -> Part {
        match (self.facts.takes_part, self.facts.has_it) {
            (false, _) => Part::Outside,
            (true, true) => Part::HasIt,
            (true, false) => Part::LacksIt,
        }
    }

    fn turn(&self, key: u32) -> Turn {
        (!self.facts.has_it, Arc::clone(&self.name), key)
    }
}

/// All nodes.
#[derive(Debug)]
pub(crate) struct NodeGroups {
    /// By their keys.
    nodes: Vec<Option<Member>>,
    /// For each wave its limit, if it has one.
    limits: Vec<Option<Limit>>,
    groups: BTreeMap<Group, GroupSums<Instants>>,
    /// Nodes that may be in other waves than their group says.
    moved: Vec<u32>,
}

#[derive(Debug)]
struct Member {
    node: GroupedNode,
    /// In whose sums it is: none until it is settled.
    group: Option<Group>,
}

impl NodeGroups {
    pub(crate) fn new(waves: &[Wave]) -> Self {
        NodeGroups {
            nodes: Vec::new(),
            limits: waves.iter().map(|wave| wave.up_to.map(Limit::new)).collect(),
            groups: BTreeMap::new(),
            moved: Vec::new(),
        }
    }

    /// Takes a node out.
    pub(crate) fn remove(&mut self, key: u32) {
        let Some(Member { node, group }) = self.nodes.get_mut(key as usize).and_then(Option::take) else {
            return;
        };
        if let Some(group) = group {
            self.groups.entry(group).or_default().change(&node, Change::Take);
        }
        let turn = node.turn(key);
        for limit in self.limits.iter_mut().flatten() {
            limit.remove(&turn);
        }
    }

    /// Puts a node in, which is not in; its group is known once the groups are [settled](Self::settle).
    pub(super) fn put(&mut self, key: u32, node: GroupedNode) {
        let matching = self.limits.iter_mut().zip(&*node.matches).filter(|(_, matches)| **matches);
        for limit in matching.filter_map(|(limit, _)| limit.as_mut()).filter(|_| node.facts.takes_part) {
            limit.insert(node.turn(key));
        }
        let index = key as usize;
        if self.nodes.len() <= index {
            self.nodes.resize_with(index + 1, || None);
        }
        if let Some(slot) = self.nodes.get_mut(index) {
            *slot = Some(Member { node, group: None });
        }
        self.moved.push(key);
    }

    /// Moves nodes over the limits of waves. Returns the nodes whose group has changed, and those that were put in.
    pub(super) fn settle(&mut self) -> Regrouped {
        for limit in self.limits.iter_mut().flatten() {
            limit.settle(&mut self.moved);
        }
        self.moved.sort();
        self.moved.dedup();
        let NodeGroups { nodes, limits, groups, moved } = self;
        let mut regrouped = Vec::with_capacity(moved.len());
        for key in moved.drain(..) {
            let Some(Member { node, group }) = nodes.get_mut(key as usize).and_then(Option::as_mut) else {
                continue;
            };
            let new = Group { part: node.part(), wave: first_wave(limits, key, node) };
            if *group != Some(new) {
                if let Some(old) = *group {
                    groups.entry(old).or_default().change(node, Change::Take);
                }
                groups.entry(new).or_default().change(node, Change::Add);
                *group = Some(new);
            }
            regrouped.push((key, new));
        }
        groups.retain(|_, sums| sums.nodes > 0);
        regrouped
    }

    pub(crate) fn group(&self, key: u32) -> Group {
        let member = self.nodes.get(key as usize).and_then(Option::as_ref);
        member.and_then(|member| member.group).unwrap_or_default()
    }

    /// The sums of some groups.
    pub(super) fn total(&self, is_counted: impl Fn(Group) -> bool) -> Total {
        let mut total = Total::default();
        for (_, sums) in self.groups.iter().filter(|(group, _)| is_counted(**group)) {
            total.add(sums);
        }
        total
    }
}

/// The first wave that a node is in.
fn first_wave(limits: &[Option<Limit>], key: u32, node: &GroupedNode) -> Option<usize> {
    let turn = node.turn(key);
    let is_inside = |limit: &Option<Limit>| limit.as_ref().is_none_or(|limit| limit.is_inside(&turn));
    let mut waves = limits.iter().zip(&*node.matches);
    let first = waves.position(|(limit, matches)| *matches && is_inside(limit));
    first.filter(|_| node.facts.takes_part)
}
