//! Tables of positions by their keys.

use daemonset::internal::{Lookup, NodeIx, Position, Recent};
use std::cell::Cell;

/// How many slots a search looks at.
const MOST_STEPS: usize = 128;

/// How many different keys are remembered.
const REMEMBERED: usize = 8;

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
            assert_eq!(lookup.find(hash(index), key.as_str(), |found| is(key, found)), Some(position(index)));
            let again = lookup.insert(hash(index), key, position(0), |found| is(key, found));
            assert_eq!(again, Some(position(index)), "a name that is there twice");
        }
        assert_eq!(lookup.find(5, "another", |found| is("another", found)), None);
        assert!(compared.get() <= 3 * keys.len() * MOST_STEPS, "{}", compared.get());
    }
}

#[test]
fn the_oldest_result_is_forgotten() {
    let mut recent = Recent::default();
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
