//! Items of a list: their type, their identity, and their order after a merge.

use super::PatchError;
use super::directives;
use crate::go::{go_list, go_type};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The type of a list's items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Elements {
    Maps,
    Scalars,
}

/// The common type of the items (v1.36 patch.go sliceElementType). It is an error if types differ, or if an item is a
/// list.
pub(super) fn elements(lists: [&[Value]; 2]) -> Result<Elements, PatchError> {
    let mut items = lists.into_iter().flatten();
    let first = items.next().ok_or(PatchError::NoElements)?;
    if first.is_array() {
        return Err(PatchError::ListOfLists);
    }
    if first.is_null() || items.any(|item| go_type(item) != go_type(first)) {
        let lists: Vec<String> = lists.iter().map(|list| go_list(list)).collect();
        return Err(PatchError::MixedElements { lists: format!("[{}]", lists.join(" ")) });
    }
    Ok(if first.is_object() { Elements::Maps } else { Elements::Scalars })
}

pub(super) fn distinct<'a>(items: impl Iterator<Item = &'a Value>) -> Vec<Value> {
    let mut seen = BTreeSet::new();
    items.filter(|item| seen.insert(item.to_string())).cloned().collect()
}

/// The identity of an item: the value under the merge key, or the item itself.
pub(super) fn identity<'a>(item: &'a Value, key: Option<&str>) -> Result<&'a Value, PatchError> {
    match key {
        None => Ok(item),
        Some(_) if !item.is_object() => Err(PatchError::expected_map(item)),
        Some(key) => item.get(key).ok_or_else(|| PatchError::no_merge_key(item, key)),
    }
}

/// Splits items into those that a list contains and the others.
pub(super) fn partition(
    items: Vec<Value>,
    by: &[Value],
    key: Option<&str>,
) -> Result<(Vec<Value>, Vec<Value>), PatchError> {
    if let (Some(_), Some(index)) = (key, by.iter().position(|item| !item.is_object())) {
        return Err(PatchError::NotAMap { index });
    }
    let known: BTreeSet<String> = match key {
        None => by.iter().map(Value::to_string).collect(),
        Some(key) => by.iter().filter_map(|item| item.get(key)).map(Value::to_string).collect(),
    };
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for item in items {
        if known.contains(&identity(&item, key)?.to_string()) {
            inside.push(item)
        } else {
            outside.push(item)
        }
    }
    Ok((inside, outside))
}

/// Merges two sorted sequences: `named`, the items that the patch names, in the patch's order, and `others` in the
/// object's order (v1.36 patch.go mergeSortedSlice).
///
/// Both orders can't hold at once when they contradict each other. The patch's order always wins: `named` items never
/// swap. An item of `others` goes in front of the next named item only if the object has both and had it in front;
/// otherwise it waits, and ends up behind the named items that the object does not order.
pub(super) fn ordered(
    named: Vec<Value>,
    others: Vec<Value>,
    patch_order: &[Value],
    object_order: &[Value],
    key: Option<&str>,
) -> Result<Vec<Value>, PatchError> {
    let named = sorted(named, patch_order, key)?;
    let others = sorted(others, object_order, key)?;
    let places = places(object_order, key)?;
    let place = |item: &Value| identity(item, key).ok().and_then(|item| places.get(&item.to_string()));
    let mut all = Vec::with_capacity(named.len() + others.len());
    let (mut named, mut others) = (named.into_iter().peekable(), others.into_iter().peekable());
    loop {
        let other_is_next = match (others.peek(), named.peek()) {
            (Some(other), Some(item)) => match (place(other), place(item)) {
                (Some(other), Some(item)) => other < item,
                (Some(_) | None, _) => false,
            },
            (Some(_), None) => true,
            (None, _) => false,
        };
        let next = if other_is_next { others.next() } else { named.next() };
        match next {
            Some(item) => all.push(item),
            None => return Ok(all),
        }
    }
}

/// The items in the order of another list, followed by the items to delete (v1.36 patch.go normalizeSliceOrder).
pub(super) fn sorted(
    items: Vec<Value>,
    order: &[Value],
    key: Option<&str>,
) -> Result<Vec<Value>, PatchError> {
    let places = places(order, key)?;
    let mut to_keep: Vec<(Option<usize>, Value)> = Vec::new();
    let mut to_delete = Vec::new();
    for item in items {
        let place = places.get(&identity(&item, key)?.to_string()).copied();
        if key.is_some() && item.get(directives::PATCH) == Some(&Value::from("delete")) {
            to_delete.push(item);
        } else {
            to_keep.push((place, item));
        }
    }
    // Go's comparison lets an item go before another one whenever one of the two has no position. That is no consistent
    // order, so the result depends on the algorithm: this is the insertion sort that Go runs on short lists. An item
    // without a position moves to the front of the items before it.
    let mut sorted: Vec<(Option<usize>, Value)> = Vec::with_capacity(to_keep.len());
    for (place, item) in to_keep {
        let behind = sorted.iter().rev().take_while(|(other, _)| goes_before(place, *other)).count();
        sorted.insert(sorted.len() - behind, (place, item));
    }
    Ok(sorted.into_iter().map(|(_, item)| item).chain(to_delete).collect())
}

fn goes_before(place: Option<usize>, other: Option<usize>) -> bool {
    match (place, other) {
        (Some(place), Some(other)) => place < other,
        (Some(_) | None, _) => true,
    }
}

/// The first position of each item.
fn places(order: &[Value], key: Option<&str>) -> Result<BTreeMap<String, usize>, PatchError> {
    let mut places = BTreeMap::new();
    for (index, item) in order.iter().enumerate() {
        places.entry(identity(item, key)?.to_string()).or_insert(index);
    }
    Ok(places)
}
