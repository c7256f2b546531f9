//! The items of a list: of which type they are, what identifies one, and in which order a merged list has them.

use super::PatchError;
use super::directives;
use crate::go::{go_list, go_type};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What the items of a list are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Elements {
    Maps,
    Scalars,
}

/// v1.36 patch.go sliceElementType: all of one type, and no lists.
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

/// What tells an item from others: the value under the merge key, or itself.
pub(super) fn identity<'a>(item: &'a Value, key: Option<&str>) -> Result<&'a Value, PatchError> {
    match key {
        None => Ok(item),
        Some(_) if !item.is_object() => Err(PatchError::expected_map(item)),
        Some(key) => item.get(key).ok_or_else(|| PatchError::no_merge_key(item, key)),
    }
}

/// The items that are in a list, and the others.
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

/// What the patch names in the patch's order, everything else in the object's, put together with best effort.
pub(super) fn ordered(
    named: Vec<Value>,
    others: Vec<Value>,
    patch_order: &[Value],
    held_order: &[Value],
    key: Option<&str>,
) -> Result<Vec<Value>, PatchError> {
    let named = sorted(named, patch_order, key)?;
    let others = sorted(others, held_order, key)?;
    let places = places(held_order, key)?;
    let place = |item: &Value| identity(item, key).ok().and_then(|item| places.get(&item.to_string()));
    let mut all = Vec::with_capacity(named.len() + others.len());
    let (mut named, mut others) = (named.into_iter().peekable(), others.into_iter().peekable());
    loop {
        let goes_first = match (others.peek(), named.peek()) {
            (Some(other), Some(item)) => match (place(other), place(item)) {
                (Some(other), Some(item)) => other < item,
                (Some(_) | None, _) => false,
            },
            (Some(_), None) => true,
            (None, _) => false,
        };
        let next = if goes_first { others.next() } else { named.next() };
        match next {
            Some(item) => all.push(item),
            None => return Ok(all),
        }
    }
}

/// The items in the order of another list; those to delete last (v1.36 patch.go normalizeSliceOrder).
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
    // Go lets an item that has no place go before whatever stands in front of it.
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

/// The first place of each item.
fn places(order: &[Value], key: Option<&str>) -> Result<BTreeMap<String, usize>, PatchError> {
    let mut places = BTreeMap::new();
    for (index, item) in order.iter().enumerate() {
        places.entry(identity(item, key)?.to_string()).or_insert(index);
    }
    Ok(places)
}
