//! Slots by the names of the objects in them.

use super::facts::Slot;
use daemonset::internal::lookup_hash;
use std::collections::BTreeMap;

/// The slots of named objects, which the caller keeps.
///
/// A search looks at [`MOST_STEPS`] places: the hashes are the same on every run, and so a person can choose names that all want
/// the same ones. An object that finds none of them free is kept in the order of the names.
#[derive(Debug, Default)]
pub(super) struct Slots {
    /// A power of two, of which at most half are used.
    places: Vec<Place>,
    /// How many places are not free.
    used: usize,
    /// The objects without a place: of names that nobody has chosen for the purpose, none.
    crowded_out: BTreeMap<Box<str>, Slot>,
}

/// A slot from 1 on, [`FREE`] or [`REMOVED`].
type Place = u32;

const FREE: Place = 0;
/// Its object is gone. A search goes on behind it, as it did when the object was there.
const REMOVED: Place = Place::MAX;

const MOST_STEPS: usize = 128;

impl Slots {
    /// Makes room in an empty table for so many at once, and for no more.
    pub(super) fn reserve(&mut self, objects: usize) {
        if self.places.is_empty() {
            self.places = vec![FREE; (2 * objects).next_power_of_two()];
        }
    }

    /// The slot of the object with this name.
    pub(super) fn find<'n>(&self, name: &str, name_of: impl Fn(Slot) -> Option<&'n str>) -> Option<Slot> {
        for place in self.way(name) {
            match self.places.get(place) {
                None | Some(&FREE) => return None,
                Some(&REMOVED) => {}
                Some(taken) if name_of(taken - 1) == Some(name) => return Some(taken - 1),
                Some(_) => {}
            }
        }
        self.crowded_out.get(name).copied()
    }

    /// Adds an object whose name no other one has.
    pub(super) fn insert<'n>(&mut self, name: &str, slot: Slot, name_of: impl Fn(Slot) -> Option<&'n str>) {
        if 2 * (self.used + 1) > self.places.len() {
            self.rebuild(name_of);
        }
        self.put(name, slot);
    }

    /// Removes an object.
    pub(super) fn remove(&mut self, name: &str, slot: Slot) {
        let place = self.way(name).find(|place| self.places.get(*place) == Some(&(slot + 1)));
        match place.and_then(|place| self.places.get_mut(place)) {
            Some(place) => *place = REMOVED,
            None => drop(self.crowded_out.remove(name)),
        }
    }

    /// Most of the places stay free, so that the next rebuild is far away.
    fn rebuild<'n>(&mut self, name_of: impl Fn(Slot) -> Option<&'n str>) {
        let is_taken = |place: &Place| *place != FREE && *place != REMOVED;
        let mut slots: Vec<Slot> =
            self.places.iter().copied().filter(is_taken).map(|place| place - 1).collect();
        slots.extend(std::mem::take(&mut self.crowded_out).into_values());
        self.places = vec![FREE; (3 * (slots.len() + 1)).next_power_of_two()];
        self.used = 0;
        for slot in slots {
            if let Some(name) = name_of(slot) {
                self.put(name, slot);
            }
        }
    }

    fn put(&mut self, name: &str, slot: Slot) {
        let way = self.way(name);
        for place in way {
            if let Some(place @ &mut (FREE | REMOVED)) = self.places.get_mut(place) {
                self.used += usize::from(*place == FREE);
                *place = slot + 1;
                return;
            }
        }
        self.crowded_out.insert(name.into(), slot);
    }

    /// The places that an object of this name may have, in the order of a search.
    fn way(&self, name: &str) -> impl Iterator<Item = usize> + use<> {
        let mask = self.places.len().wrapping_sub(1);
        let first = lookup_hash(&name) as usize;
        let steps = MOST_STEPS.min(self.places.len());
        (0..steps).map(move |step| first.wrapping_add(step) & mask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::collections::BTreeMap;

    /// Objects with names, and how often one was looked at.
    #[derive(Default)]
    struct Named {
        names: BTreeMap<Slot, String>,
        looks: Cell<usize>,
    }

    impl Named {
        fn name(&self, slot: Slot) -> Option<&str> {
            self.looks.set(self.looks.get() + 1);
            self.names.get(&slot).map(String::as_str)
        }
    }

    /// Names that want the same few places of a table with 8,192 of them, and so of each smaller one. One of 256 does.
    fn chosen_names(count: usize) -> Vec<String> {
        let is_chosen = |name: &String| lookup_hash(&name.as_str()) % 8192 < 32;
        (0..).map(|number| format!("pod-{number}")).filter(is_chosen).take(count).collect()
    }

    #[test]
    #[cfg_attr(miri, ignore = "to choose the names takes minutes")]
    fn no_choice_of_names_makes_a_search_long() {
        let mut named = Named::default();
        let mut slots = Slots::default();
        for (slot, name) in (0..).zip(chosen_names(2_000)) {
            slots.insert(&name, slot, |slot| named.name(slot));
            named.names.insert(slot, name);
        }
        let find = |slots: &Slots, name: &str| slots.find(name, |slot| named.name(slot));
        named.looks.set(0);
        for (slot, name) in &named.names {
            assert_eq!(find(&slots, name), Some(*slot), "{name}");
        }
        assert_eq!(find(&slots, "other"), None);
        assert!(!slots.crowded_out.is_empty() && slots.places.len() <= 8192, "{}", slots.places.len());
        assert!(named.looks.get() <= 2_001 * MOST_STEPS, "{}", named.looks.get());
        for (slot, name) in &named.names {
            slots.remove(name, *slot);
            assert_eq!(find(&slots, name), None, "{name}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "to choose the names takes minutes")]
    fn objects_come_and_go_as_in_a_map() {
        let mut named = Named::default();
        let mut slots = Slots::default();
        slots.reserve(10);
        // Some names by chance, and some that want the same places.
        let chosen = chosen_names(200);
        let names: Vec<String> = (0..200).map(|number| format!("node-{number}")).chain(chosen).collect();
        for step in 0_usize..20_000 {
            let number = step * 7919 % 400;
            let (slot, name) = (number as Slot, &names[number]);
            let is_there = named.names.contains_key(&slot);
            assert_eq!(slots.find(name, |slot| named.name(slot)), is_there.then_some(slot), "step {step}");
            if is_there {
                slots.remove(name, slot);
                named.names.remove(&slot);
            } else if step % 3 > 0 {
                slots.insert(name, slot, |slot| named.name(slot));
                named.names.insert(slot, name.clone());
            }
        }
        assert!(slots.places.len() <= 2048, "removed places are used again: {}", slots.places.len());
    }
}
