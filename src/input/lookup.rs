//! Finds elements of a list by a key that they hold, and results that are known already.

use crate::objects::bug;
use crate::objects::position::Position;
use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The positions of a list's elements, found by the hashes of their keys.
///
/// A map would hold a second reference to each key, and look at the key for each candidate. Here a slot has the position and
/// half of the hash, which decides nearly every comparison; the caller compares the keys where these halves are equal.
///
/// The hashes are the same on every run, and so a person can choose names that all want the same places. An element that finds
/// no place within [`MOST_STEPS`] is kept in the order of the keys: a search costs no more than these steps and the logarithm.
#[derive(Debug, Clone)]
pub(crate) struct Lookup<K, I> {
    /// A power of two, of which at most half are taken.
    slots: Vec<Slot>,
    /// The elements without a slot: of names that nobody has chosen for the purpose, none.
    crowded_out: BTreeMap<K, I>,
}

/// The upper half of a hash, and in the lower half the position from 1 on; 0 if it is free. The place of the slot is from the
/// lower half of the hash.
type Slot = u64;

/// How many slots a search looks at. The longest row of taken ones among a million places, half of them taken at random, is
/// shorter.
const MOST_STEPS: usize = 128;

/// The end of a search.
enum Found<I> {
    Element(I),
    /// There is none, and this is the place where it would be.
    Free(usize),
    /// All places that it may have are taken.
    Crowded,
}

impl<K: Ord, I: Position> Lookup<K, I> {
    /// Has room for so many elements.
    pub(crate) fn with_capacity(elements: usize) -> Self {
        // Half of the slots stay free, so that a search ends after one or two of them.
        Lookup { slots: vec![0; (2 * elements).next_power_of_two()], crowded_out: BTreeMap::new() }
    }

    /// The element with this key and hash.
    #[inline]
    pub(crate) fn find<Q: Ord + ?Sized>(&self, hash: u64, key: &Q, has_key: impl Fn(I) -> bool) -> Option<I>
    where
        K: Borrow<Q>,
    {
        match self.search(hash, has_key) {
            Found::Element(element) => Some(element),
            Found::Free(_) => None,
            Found::Crowded => self.crowded_out.get(key).copied(),
        }
    }

    /// Adds an element, unless there is one with the same key: that one is returned.
    #[inline]
    pub(crate) fn insert(
        &mut self,
        hash: u64,
        key: K,
        element: I,
        has_same_key: impl Fn(I) -> bool,
    ) -> Option<I> {
        match self.search(hash, has_same_key) {
            Found::Element(first) => return Some(first),
            Found::Free(place) => {
                let free = self.slots.get_mut(place);
                debug_assert!(free.is_some(), "room for another element");
                if let Some(slot) = bug::expected(free) {
                    *slot = upper_half(hash) | (element.index() as u64 + 1);
                }
            }
            Found::Crowded => return self.crowd_out(key, element),
        }
        None
    }

    #[cold]
    fn crowd_out(&mut self, key: K, element: I) -> Option<I> {
        match self.crowded_out.entry(key) {
            Entry::Occupied(first) => Some(*first.get()),
            Entry::Vacant(free) => {
                free.insert(element);
                None
            }
        }
    }

    #[inline]
    fn search(&self, hash: u64, is_wanted: impl Fn(I) -> bool) -> Found<I> {
        let mask = self.slots.len().wrapping_sub(1);
        let mut place = hash as usize & mask;
        for _ in 0..MOST_STEPS {
            let Some(slot @ 1..) = self.slots.get(place) else { return Found::Free(place) };
            let found = I::new((slot - upper_half(*slot)) as usize - 1);
            if upper_half(*slot) == upper_half(hash) && is_wanted(found) {
                return Found::Element(found);
            }
            place = (place + 1) & mask;
        }
        Found::Crowded
    }
}

fn upper_half(number: u64) -> u64 {
    number & !u64::from(u32::MAX)
}

/// How many different keys [`Recent`] remembers.
const REMEMBERED: usize = 8;

/// Results for the last different keys.
///
/// Thousands of objects differ little in the facts that matter, and comparing these facts costs less than deciding about them
/// again. The keys are few, so that the search costs little where all objects are different.
#[derive(Debug)]
pub(crate) struct Recent<K, V>(Vec<(K, V)>);

impl<K: PartialEq, V: Copy> Recent<K, V> {
    pub(crate) fn new() -> Self {
        Recent(Vec::with_capacity(REMEMBERED))
    }

    #[inline]
    pub(crate) fn get(&self, key: &K) -> Option<V> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| *value)
    }

    /// Remembers a result, and forgets the oldest one if they are too many.
    pub(crate) fn add(&mut self, key: K, value: V) {
        if self.0.len() == REMEMBERED {
            self.0.remove(0);
        }
        self.0.push((key, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::objects::position::NodeIx;
    use std::cell::Cell;

    fn position(index: usize) -> NodeIx {
        NodeIx::new(index)
    }

    #[test]
    fn different_keys_with_the_same_hash_are_told_apart() {
        let keys = ["a", "b", "a", "c", "b"];
        for hash in [0, 7, u64::MAX] {
            let mut lookup = Lookup::with_capacity(keys.len());
            let mut insert = |index: usize| {
                lookup.insert(hash, keys[index], position(index), |first| keys[first.index()] == keys[index])
            };
            let first = [0, 1, 2, 3, 4].map(|index| insert(index).map(NodeIx::index));
            assert_eq!(first, [None, None, Some(0), None, Some(1)]);
            let found = |key: &str| lookup.find(hash, key, |found| keys[found.index()] == key);
            assert_eq!(
                ["a", "b", "c", "d"].map(found),
                [Some(0), Some(1), Some(3), None].map(|i| i.map(position))
            );
        }
    }

    #[test]
    fn keys_are_compared_only_where_their_hashes_are_equal() {
        let mut lookup = Lookup::with_capacity(3);
        // The same place in the table, and different upper halves.
        for index in 0..3 {
            let hash = (index as u64) << 32;
            let first = lookup.insert(hash, index, position(index), |_| panic!("different hashes"));
            assert_eq!(first, None);
        }
        assert_eq!(lookup.find(2 << 32, &2, |_| true), Some(position(2)));
        assert_eq!(lookup.find(3 << 32, &3, |_| true), None);
    }

    /// As if somebody had chosen all names: the place of each is the same, and the whole hash.
    #[test]
    fn no_choice_of_names_makes_a_search_long() {
        let count = if cfg!(miri) { 100 } else { 2_000 };
        let keys: Vec<String> = (0..count).map(|number| format!("name-{number:04}")).collect();
        let hashes: [fn(usize) -> u64; 2] = [|_| 5, |index| (index as u64) << 32 | 5];
        for hash in hashes {
            let compared = Cell::new(0);
            let is = |key: &str, found: NodeIx| {
                compared.set(compared.get() + 1);
                keys[found.index()] == key
            };
            let mut lookup: Lookup<&str, NodeIx> = Lookup::with_capacity(keys.len());
            for (index, key) in keys.iter().enumerate() {
                let first = lookup.insert(hash(index), key, position(index), |found| is(key, found));
                assert_eq!(first, None, "{key}");
            }
            for (index, key) in keys.iter().enumerate() {
                assert_eq!(
                    lookup.find(hash(index), key.as_str(), |found| is(key, found)),
                    Some(position(index))
                );
                let again = lookup.insert(hash(index), key, position(0), |found| is(key, found));
                assert_eq!(again, Some(position(index)), "a name that is there twice");
            }
            assert_eq!(lookup.find(5, "another", |found| is("another", found)), None);
            assert!(compared.get() <= 3 * keys.len() * MOST_STEPS, "{}", compared.get());
        }
    }

    #[test]
    fn the_oldest_result_is_forgotten() {
        let mut recent = Recent::new();
        for key in 0..=REMEMBERED {
            assert_eq!(recent.get(&key), None);
            recent.add(key, 2 * key);
        }
        assert_eq!(recent.get(&0), None);
        assert!((1..=REMEMBERED).all(|key| recent.get(&key) == Some(2 * key)));
    }

    #[test]
    fn an_empty_list_has_no_element() {
        assert_eq!(Lookup::<&str, NodeIx>::with_capacity(0).find(5, "", |_| true), None);
    }
}
