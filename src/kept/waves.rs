//! The nodes of a wave, and the order of their turns where it has a limit.

use super::facts::Slot;
use super::standing::Named;
use crate::model::{IntOrString, NodeName};
use crate::reconcile::goal::WaveFigures;
use crate::reconcile::goal::waves::size_of_wave;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Its turn in a wave: nodes that have the new version come first, then it goes by name.
pub(super) type Turn = (bool, Named);

/// The place of a node in a wave.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Place {
    /// The wave does not match it.
    #[default]
    Elsewhere,
    /// The wave matches it, but it does not take part or is beyond the limit.
    Beyond,
    Inside,
}

/// The nodes that match a wave.
#[derive(Debug, Clone)]
pub(super) struct Members {
    /// By slot.
    places: Vec<Place>,
    /// `None` where no node is beyond a limit.
    turns: Option<Turns>,
    /// Of those of the wave.
    pub(super) figures: WaveFigures,
    /// Those of the wave, by name; `None` where they must be listed anew.
    names: Option<Arc<[NodeName]>>,
}

/// The nodes that match and take part, by their turns.
#[derive(Debug, Clone)]
struct Turns {
    up_to: IntOrString,
    /// Those of the wave.
    inside: BTreeSet<Turn>,
    /// Those beyond its limit.
    beyond: BTreeSet<Turn>,
}

impl Members {
    /// Nodes with these places and figures; `nodes` are those that take part, by name, with their turns.
    pub(super) fn of(
        up_to: Option<IntOrString>,
        places: Vec<Place>,
        figures: WaveFigures,
        names: Option<Arc<[NodeName]>>,
        nodes: impl Iterator<Item = Turn>,
    ) -> Self {
        let place = |slot: Slot| places.get(slot as usize).copied().unwrap_or_default();
        let turns = up_to.map(|up_to| {
            // First those with the new version, then the others: a set that is made of a sorted list takes no search.
            let mut orders = [(); 2].map(|()| [Vec::new(), Vec::new()]);
            let [inside, beyond] = &mut orders;
            for turn in nodes {
                let [with_it, without_it] = match place(turn.1.1) {
                    Place::Inside => &mut *inside,
                    Place::Beyond => &mut *beyond,
                    Place::Elsewhere => continue,
                };
                (if turn.0 { without_it } else { with_it }).push(turn);
            }
            let [inside, beyond] = orders.map(|parts| parts.into_iter().flatten().collect());
            Turns { up_to, inside, beyond }
        });
        Members { places, turns, figures, names }
    }

    fn place(&self, slot: Slot) -> Place {
        self.places.get(slot as usize).copied().unwrap_or_default()
    }

    fn set_place(&mut self, slot: Slot, place: Place) {
        let index = slot as usize;
        if self.places.len() <= index {
            self.places.resize(index + 1, Place::Elsewhere);
        }
        if let Some(found) = self.places.get_mut(index) {
            *found = place;
        }
    }

    pub(super) fn matches(&self, slot: Slot) -> bool {
        self.place(slot) != Place::Elsewhere
    }

    pub(super) fn is_inside(&self, slot: Slot) -> bool {
        self.place(slot) == Place::Inside
    }

    /// Sets whether the wave matches a node that does not take part.
    pub(super) fn set_match(&mut self, slot: Slot, matches: bool) {
        self.set_place(slot, if matches { Place::Beyond } else { Place::Elsewhere });
    }

    /// Puts a node that matches in another turn. Returns the nodes that came or went, that node included.
    pub(super) fn exchange(&mut self, slot: Slot, old: Option<&Turn>, new: Option<&Turn>) -> BTreeSet<Slot> {
        let moved = match &mut self.turns {
            Some(turns) => turns.exchange(old, new),
            None if old.is_some() == new.is_some() => BTreeSet::new(),
            None => BTreeSet::from([slot]),
        };
        for slot in &moved {
            self.set_place(*slot, if self.is_inside(*slot) { Place::Beyond } else { Place::Inside });
        }
        if !moved.is_empty() {
            self.names = None;
        }
        moved
    }

    /// `name` gives the name of each node.
    pub(super) fn list_names<'n>(&mut self, name: impl Fn(Slot) -> Option<&'n NodeName>) {
        if self.names.is_some() {
            return;
        }
        let mut names: Vec<NodeName> = match &self.turns {
            Some(turns) => turns.inside.iter().map(|(_, (name, _))| name.clone()).collect(),
            None => {
                let inside = (0..).zip(&self.places).filter(|(_, place)| **place == Place::Inside);
                inside.filter_map(|(slot, _)| name(slot).cloned()).collect()
            }
        };
        names.sort_unstable();
        self.names = Some(names.into());
    }

    pub(super) fn names(&self) -> Arc<[NodeName]> {
        self.names.clone().unwrap_or_default()
    }
}

impl Turns {
    fn exchange(&mut self, old: Option<&Turn>, new: Option<&Turn>) -> BTreeSet<Slot> {
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
        let size = size_of_wave(Some(self.up_to), self.inside.len() + self.beyond.len());
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
        moved
    }
}
