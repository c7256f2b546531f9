//! Finds elements of a list by a key that they hold, and results that are known already.

use crate::bug;
use crate::position::Position;
use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The positions of a list's elements, found by the hashes of their keys.
///
/// A map would hold a second reference to each key, and look at the key for each candidate. Here a slot has the position and
/// half of the hash, which decides nearly every comparison; the caller compares the keys where these halves are equal.
///
/// The hashes are the same on every run, and so a person can choose names that all want the same places. An element that finds
/// no place within `MOST_STEPS` is kept in the order of the keys: a search costs no more than these steps and the logarithm.
#[derive(Debug, Clone)]
pub struct Lookup<K, I> {
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
    pub fn with_capacity(elements: usize) -> Self {
        // Half of the slots stay free, so that a search ends after one or two of them.
        Lookup { slots: vec![0; (2 * elements).next_power_of_two()], crowded_out: BTreeMap::new() }
    }

    /// The element with this key and hash.
    #[inline]
    pub fn find<Q: Ord + ?Sized>(&self, hash: u64, key: &Q, has_key: impl Fn(I) -> bool) -> Option<I>
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
    pub fn insert(&mut self, hash: u64, key: K, element: I, has_same_key: impl Fn(I) -> bool) -> Option<I> {
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
pub struct Recent<K, V>(Vec<(K, V)>);

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Recent(Vec::with_capacity(REMEMBERED))
    }
}

impl<K: PartialEq, V: Copy> Recent<K, V> {
    #[inline]
    pub fn get(&self, key: &K) -> Option<V> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| *value)
    }

    /// Remembers a result, and forgets the oldest one if they are too many.
    pub fn add(&mut self, key: K, value: V) {
        if self.0.len() == REMEMBERED {
            self.0.remove(0);
        }
        self.0.push((key, value));
    }
}
