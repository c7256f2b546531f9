//! Finds elements of a list by a key that they hold, and results that are known already.

use super::position::Position;
use std::marker::PhantomData;

/// The positions of a list's elements, found by the hashes of their keys.
///
/// A map would hold a second reference to each key, and look at the key for each candidate. Here a slot has the position and
/// half of the hash, which decides nearly every comparison; the caller compares the keys where these halves are equal.
#[derive(Debug, Clone)]
pub(crate) struct Lookup<I> {
    /// A power of two, of which at most half are taken.
    slots: Vec<Slot>,
    positions: PhantomData<fn(I)>,
}

/// The upper half of a hash, and in the lower half the position from 1 on; 0 if it is free. The place of the slot is from the
/// lower half of the hash.
type Slot = u64;

impl<I: Position> Lookup<I> {
    /// Has room for so many elements.
    pub(crate) fn with_capacity(elements: usize) -> Self {
        // Half of the slots stay free, so that a search ends after one or two of them.
        Lookup { slots: vec![0; (2 * elements).next_power_of_two()], positions: PhantomData }
    }

    /// The element that is wanted, among those whose key has this hash.
    #[inline]
    pub(crate) fn find(&self, hash: u64, is_wanted: impl Fn(I) -> bool) -> Option<I> {
        self.search(hash, is_wanted).ok()
    }

    /// Adds an element, unless there is one with the same key: that one is returned.
    #[inline]
    pub(crate) fn insert(&mut self, hash: u64, element: I, has_same_key: impl Fn(I) -> bool) -> Option<I> {
        let free = match self.search(hash, has_same_key) {
            Ok(first) => return Some(first),
            Err(free) => self.slots.get_mut(free),
        };
        debug_assert!(free.is_some(), "room for another element");
        if let Some(slot) = free {
            *slot = upper_half(hash) | (element.index() as u64 + 1);
        }
        None
    }

    /// The element that is wanted or, without one, the place where it would be.
    #[inline]
    fn search(&self, hash: u64, is_wanted: impl Fn(I) -> bool) -> Result<I, usize> {
        let mask = self.slots.len().wrapping_sub(1);
        let mut place = hash as usize & mask;
        while let Some(slot @ 1..) = self.slots.get(place) {
            let found = I::new((slot - upper_half(*slot)) as usize - 1);
            if upper_half(*slot) == upper_half(hash) && is_wanted(found) {
                return Ok(found);
            }
            place = (place + 1) & mask;
        }
        Err(place)
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
    use crate::snapshot::position::NodeIx;

    fn position(index: usize) -> NodeIx {
        NodeIx::new(index)
    }

    #[test]
    fn different_keys_with_the_same_hash_are_told_apart() {
        let keys = ["a", "b", "a", "c", "b"];
        for hash in [0, 7, u64::MAX] {
            let mut lookup = Lookup::with_capacity(keys.len());
            let mut insert = |index: usize| {
                lookup.insert(hash, position(index), |first| keys[first.index()] == keys[index])
            };
            let first = [0, 1, 2, 3, 4].map(|index| insert(index).map(NodeIx::index));
            assert_eq!(first, [None, None, Some(0), None, Some(1)]);
            let found = |key: &str| lookup.find(hash, |found| keys[found.index()] == key);
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
            let first = lookup.insert((index as u64) << 32, position(index), |_| panic!("different hashes"));
            assert_eq!(first, None);
        }
        assert_eq!(lookup.find(2 << 32, |_| true), Some(position(2)));
        assert_eq!(lookup.find(3 << 32, |_| true), None);
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
        assert_eq!(Lookup::<NodeIx>::with_capacity(0).find(5, |_| true), None);
    }
}
