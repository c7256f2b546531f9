//! The nodes of a wave, and the order of their turns where it has a limit.

use super::evaluation::Named;
use super::facts::Slot;
use daemonset::internal::{WaveFigures, size_of_wave};
use daemonset::model::{IntOrString, NodeName};
use std::collections::BTreeSet;
use std::ops::Bound;
use std::sync::Arc;

/// Its turn in a wave: nodes that have the new version come first, then it goes by name.
pub(super) type Turn = (bool, Named);

/// The place of a node in a wave.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum WavePlace {
    /// The wave does not match it.
    #[default]
    Elsewhere,
    /// The wave matches it, but it does not take part or is beyond the limit.
    Beyond,
    Inside,
}

/// The nodes that a wave matches.
#[derive(Debug, Clone)]
pub(super) struct Members {
    /// By slot.
    places: Vec<WavePlace>,
    limit: Option<Limit>,
    /// Of the nodes inside.
    pub(super) figures: WaveFigures,
    /// The nodes inside, by name; `None` where they must be listed anew.
    names: Option<Arc<[NodeName]>>,
}

/// The limit of a wave, which cuts an order of turns.
#[derive(Debug, Clone)]
struct Limit {
    up_to: IntOrString,
    order: usize,
    /// How many nodes are within it: the first ones of the order.
    size: usize,
    /// The turn of the last of these.
    last: Option<Turn>,
}

/// For each wave with a limit the nodes that it matches and that take part, by their turns. Waves with the same selector share
/// the order of the first one; the others have none.
#[derive(Debug, Clone, Default)]
pub(super) struct Orders(Vec<BTreeSet<Turn>>);

impl Orders {
    fn get(&self, limit: &Limit) -> Option<&BTreeSet<Turn>> {
        self.0.get(limit.order)
    }

    /// Adds the order of the next wave. The nodes are by name.
    pub(super) fn push(&mut self, nodes: impl Iterator<Item = Turn>) {
        // A set that is made of a sorted list takes no search.
        let (mut nodes, without_it): (Vec<Turn>, Vec<Turn>) = nodes.partition(|(lacks_it, _)| !lacks_it);
        nodes.extend(without_it);
        self.0.push(nodes.into_iter().collect());
    }

    /// Puts a node that a wave matches in another turn.
    pub(super) fn exchange(&mut self, wave: &Members, old: Option<&Turn>, new: Option<&Turn>) {
        let order = wave.limit.as_ref().and_then(|limit| self.0.get_mut(limit.order));
        if let Some(order) = order {
            old.map(|old| order.remove(old));
            new.map(|new| order.insert(new.clone()));
        }
    }
}

impl Members {
    /// A wave with these places; its limit, if it has one, cuts the given order.
    pub(super) fn new(
        places: Vec<WavePlace>,
        limit: Option<(IntOrString, usize)>,
        orders: &Orders,
        figures: WaveFigures,
        names: Option<Arc<[NodeName]>>,
    ) -> Self {
        let limit = limit.map(|(up_to, order)| {
            let size = places.iter().filter(|place| **place == WavePlace::Inside).count();
            let mut limit = Limit { up_to, order, size, last: None };
            let before_last = size.checked_sub(1).zip(orders.get(&limit));
            limit.last = before_last.and_then(|(index, order)| order.iter().nth(index)).cloned();
            limit
        });
        Members { places, limit, figures, names }
    }

    fn place(&self, slot: Slot) -> WavePlace {
        self.places.get(slot as usize).copied().unwrap_or_default()
    }

    fn set_place(&mut self, slot: Slot, place: WavePlace) {
        let index = slot as usize;
        if self.places.len() <= index {
            self.places.resize(index + 1, WavePlace::Elsewhere);
        }
        if let Some(found) = self.places.get_mut(index) {
            *found = place;
        }
    }

    pub(super) fn matches(&self, slot: Slot) -> bool {
        self.place(slot) != WavePlace::Elsewhere
    }

    pub(super) fn is_inside(&self, slot: Slot) -> bool {
        self.place(slot) == WavePlace::Inside
    }

    /// Sets whether the wave matches a node that does not take part.
    pub(super) fn set_match(&mut self, slot: Slot, matches: bool) {
        self.set_place(slot, if matches { WavePlace::Beyond } else { WavePlace::Elsewhere });
    }

    /// A node that matches has another turn, which the orders have already. Returns the nodes that came or went, that node
    /// included.
    pub(super) fn exchange(
        &mut self,
        slot: Slot,
        orders: &Orders,
        old: Option<&Turn>,
        new: Option<&Turn>,
    ) -> BTreeSet<Slot> {
        let old = old.filter(|_| self.is_inside(slot));
        let moved = match &mut self.limit {
            Some(limit) => limit.exchange(orders.get(limit), old, new),
            // Without a limit each node that takes part is inside: it comes and goes with its turn.
            None if old.is_some() == new.is_some() => BTreeSet::new(),
            None => BTreeSet::from([slot]),
        };
        for slot in &moved {
            self.set_place(*slot, if self.is_inside(*slot) { WavePlace::Beyond } else { WavePlace::Inside });
        }
        if !moved.is_empty() {
            self.names = None;
        }
        moved
    }

    /// `name` gives the name of each node.
    pub(super) fn list_names<'n>(&mut self, orders: &Orders, name: impl Fn(Slot) -> Option<&'n NodeName>) {
        if self.names.is_some() {
            return;
        }
        let mut names: Vec<NodeName> = match &self.limit {
            Some(limit) => {
                let inside = orders.get(limit).into_iter().flatten().take(limit.size);
                inside.map(|(_, (name, _))| name.clone()).collect()
            }
            None => {
                let inside = (0..).zip(&self.places).filter(|(_, place)| **place == WavePlace::Inside);
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

impl Limit {
    /// `old` was within the limit, if it is given; the order has `new` instead. Returns the nodes that came or went.
    fn exchange(
        &mut self,
        order: Option<&BTreeSet<Turn>>,
        old: Option<&Turn>,
        new: Option<&Turn>,
    ) -> BTreeSet<Slot> {
        let mut moved = BTreeSet::new();
        // A node that leaves and comes back is neither.
        let mut toggle = |turn: &Turn| {
            if !moved.remove(&turn.1.1) {
                moved.insert(turn.1.1);
            }
        };
        let Some(order) = order else { return moved };
        if let Some(old) = old {
            toggle(old);
            self.size -= 1;
            if self.last.as_ref() == Some(old) {
                // `new` is in the order already, and not counted yet.
                self.last = order.range(..old).rev().find(|turn| Some(*turn) != new).cloned();
            }
        }
        // Behind the last one it is beyond, until the limit lets it in below.
        if let Some(new) = new.filter(|new| self.last.as_ref() > Some(new)) {
            toggle(new);
            self.size += 1;
        }
        let size = size_of_wave(Some(self.up_to), order.len());
        while self.size > size {
            let Some(last) = self.last.take() else { break };
            toggle(&last);
            self.last = order.range(..&last).next_back().cloned();
            self.size -= 1;
        }
        while self.size < size {
            let after = self.last.as_ref().map_or(Bound::Unbounded, Bound::Excluded);
            let Some(next) = order.range((after, Bound::Unbounded)).next() else { break };
            toggle(next);
            self.last = Some(next.clone());
            self.size += 1;
        }
        moved
    }
}
