//! The limit of a wave, over which nodes move in and out.

use daemonset::model::IntOrString;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The turn of a node in a wave: the nodes that have the new version come first, then it goes by name; the key of the node is last.
pub(super) type Turn = (bool, Arc<str>, u32);

/// The nodes that a wave with a limit matches and that take part, in the order of their turns.
#[derive(Debug)]
pub(super) struct Limit {
    up_to: IntOrString,
    inside: BTreeSet<Turn>,
    /// Later in the order than all that are inside.
    beyond: BTreeSet<Turn>,
}

impl Limit {
    pub(super) fn new(up_to: IntOrString) -> Self {
        Limit { up_to, inside: BTreeSet::new(), beyond: BTreeSet::new() }
    }

    pub(super) fn insert(&mut self, turn: Turn) {
        let nodes = if self.is_inside(&turn) { &mut self.inside } else { &mut self.beyond };
        nodes.insert(turn);
    }

    /// Of a node that the wave matches and that takes part.
    pub(super) fn is_inside(&self, turn: &Turn) -> bool {
        self.beyond.first().is_none_or(|first| turn < first)
    }

    pub(super) fn remove(&mut self, turn: &Turn) {
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
    pub(super) fn settle(&mut self, moved: &mut Vec<u32>) {
        let size = self.size();
        let first = self.inside.iter().nth(size).filter(|_| self.beyond.is_empty()).cloned();
        if let Some(first) = first {
            // All nodes are new: the sets are cut once.
            self.beyond = self.inside.split_off(&first);
            moved.extend(self.beyond.iter().map(|(.., key)| *key));
        }
        while self.inside.len() > size {
            let Some(last) = self.inside.pop_last() else { break };
            moved.push(last.2);
            self.beyond.insert(last);
        }
        while self.inside.len() < size {
            let Some(first) = self.beyond.pop_first() else { break };
            moved.push(first.2);
            self.inside.insert(first);
        }
    }
}
