//! The nodes of a wave, in the order of their turns.

use super::facts::Slot;
use super::standing::Named;
use crate::model::{IntOrString, NodeName};
use crate::reconcile::goal::WaveFigures;
use crate::reconcile::goal::waves::size_of_wave;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Its turn in a wave: nodes that have the new version come first, then it goes by name.
pub(super) type Turn = (bool, Named);

/// The nodes that match a wave.
#[derive(Debug, Clone)]
pub(super) struct Members {
    up_to: Option<IntOrString>,
    /// Those of the wave.
    inside: BTreeSet<Turn>,
    /// Those beyond its limit.
    beyond: BTreeSet<Turn>,
    /// Of those of the wave.
    pub(super) figures: WaveFigures,
    /// Those of the wave, by name; `None` where they must be listed anew.
    names: Option<Arc<[NodeName]>>,
}

impl Members {
    /// Nodes by name, with their turns, whether they are within the limit, and their figures.
    pub(super) fn of(
        up_to: Option<IntOrString>,
        nodes: impl Iterator<Item = (Turn, bool, WaveFigures)>,
    ) -> Self {
        let mut sum = WaveFigures::default();
        // A set that is made of one or two sorted lists takes no search.
        let [mut first, mut last, mut beyond] = [Vec::new(), Vec::new(), Vec::new()];
        for (turn, is_inside, figures) in nodes {
            match (is_inside, turn.0) {
                (true, false) => first.push(turn),
                (true, true) => last.push(turn),
                (false, _) => beyond.push(turn),
            }
            if is_inside {
                sum.add(figures);
            }
        }
        first.append(&mut last);
        let (inside, beyond) = (first.into_iter().collect(), beyond.into_iter().collect());
        Members { up_to, inside, beyond, figures: sum, names: None }
    }

    /// Puts a node in another turn. Returns the nodes that came or went, that node included.
    pub(super) fn exchange(&mut self, old: Option<&Turn>, new: Option<&Turn>) -> BTreeSet<Slot> {
        // A node that leaves and comes back is neither.
        let mut moved = BTreeSet::new();
        let mut toggle = |slot: Slot| {
            if !moved.remove(&slot) {
                moved.insert(slot);
            }
        };
        if let Some(old) = old {
            if self.inside.remove(old) {
                toggle(old.1.1);
            }
            self.beyond.remove(old);
        }
        if let Some(new) = new {
            if self.beyond.first().is_some_and(|first| first < new) {
                self.beyond.insert(new.clone());
            } else {
                self.inside.insert(new.clone());
                toggle(new.1.1);
            }
        }
        let size = size_of_wave(self.up_to, self.inside.len() + self.beyond.len());
        while self.inside.len() > size {
            let Some(last) = self.inside.pop_last() else { break };
            toggle(last.1.1);
            self.beyond.insert(last);
        }
        while self.inside.len() < size {
            let Some(first) = self.beyond.pop_first() else { break };
            toggle(first.1.1);
            self.inside.insert(first);
        }
        if !moved.is_empty() {
            self.names = None;
        }
        moved
    }

    pub(super) fn list_names(&mut self) {
        if self.names.is_none() {
            let mut names: Vec<&str> = self.inside.iter().map(|(_, (name, _))| &**name).collect();
            names.sort_unstable();
            self.names = Some(names.into_iter().map(NodeName::from).collect());
        }
    }

    pub(super) fn names(&self) -> Arc<[NodeName]> {
        self.names.clone().unwrap_or_default()
    }
}
