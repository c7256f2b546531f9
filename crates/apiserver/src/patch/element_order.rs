//! The order of a merged list: as `$setElementOrder/…` has it, then as the patch, then as the object (v1.36
//! `strategicpatch` patch.go mergePatchIntoOriginal, normalizeElementOrder).

use super::PatchError;
use super::directives::{self, ELEMENT_ORDER, Use};
use super::lists::{elements, merge_list};
use super::lookup::{self, ListSchema};
use crate::go::go_list;
use crate::schema::Kind;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Merges each list that the patch gives an order for, and takes both from the patch.
pub(super) fn apply(
    original: &mut Map<String, Value>,
    patch: &mut Map<String, Value>,
    of: Kind,
) -> Result<(), PatchError> {
    let keys: Vec<String> = patch.keys().filter(|key| key.starts_with(ELEMENT_ORDER)).cloned().collect();
    for key in keys {
        let Some(order) = patch.remove(&key) else { continue };
        let order = into_list(order)?;
        let field = directives::ordered_list(&key)?;
        let held = original.get(field).cloned().map(into_list).transpose()?;
        let given = patch.get(field).cloned().map(into_list).transpose()?;
        let list = lookup::list(of, field)?;
        check(given.as_deref().unwrap_or_default(), &order, list.merge_key())?;
        if let Some(merged) = merged(held, given, &order, list)? {
            original.insert(field.to_owned(), Value::Array(merged));
            patch.remove(field);
        }
    }
    Ok(())
}

fn into_list(value: Value) -> Result<Vec<Value>, PatchError> {
    match value {
        Value::Array(items) => Ok(items),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            Err(PatchError::expected_list(&value))
        }
    }
}

fn merged(
    held: Option<Vec<Value>>,
    given: Option<Vec<Value>>,
    order: &[Value],
    list: ListSchema,
) -> Result<Option<Vec<Value>>, PatchError> {
    let merged = match (&held, &given) {
        (None, None) => return Ok(None),
        (Some(held), None) => held.clone(),
        (None, Some(given)) => given.iter().cloned().filter_map(directives::without_directives).collect(),
        (Some(held), Some(given)) => merge_list(held.clone(), given.clone(), list, Use::Set)?,
    };
    let (held, given) = (held.unwrap_or_default(), given.unwrap_or_default());
    let (named, others) = partition(merged, order, list.merge_key())?;
    elements([&held, &given])?;
    let held_order = match list.merge_key() {
        Some(key) => with_gaps_filled(held, &given, key),
        None => held,
    };
    ordered(named, others, order, &held_order, list.merge_key()).map(Some)
}

/// What Go takes for the object's order: items that the patch adds stand where the list in memory has room left by
/// those it deletes.
fn with_gaps_filled(mut held: Vec<Value>, given: &[Value], key: &str) -> Vec<Value> {
    let length = held.len();
    let says = |item: &&Value, directive: &str| item.get(directives::PATCH) == Some(&Value::from(directive));
    for item in given.iter().filter(|item| says(item, "delete")) {
        held.retain(|other| other.get(key) != item.get(key));
    }
    if !given.iter().any(|item| says(&item, "replace")) {
        let is_new = |item: &&Value| {
            item.get(directives::PATCH).is_none() && !held.iter().any(|other| other.get(key) == item.get(key))
        };
        let added: Vec<Value> = given.iter().filter(is_new).take(length - held.len()).cloned().collect();
        held.extend(added);
    }
    held
}

/// The items of the patch must come in the order that is given, and be in it (v1.36 patch.go
/// validatePatchWithSetOrderList).
fn check(patch: &[Value], order: &[Value], key: Option<&str>) -> Result<(), PatchError> {
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    let mut places = order.iter();
    for item in patch {
        if let (Some(_), false) = (key, item.is_object()) {
            return Err(PatchError::expected_map(item));
        }
        if item.get(directives::PATCH).is_some() {
            continue;
        }
        if !find_from(&mut places, item, key)? {
            return Err(PatchError::ElementOrderMismatch { patch: go_list(patch), order: go_list(order) });
        }
    }
    Ok(())
}

fn find_from<'a>(
    places: &mut impl Iterator<Item = &'a Value>,
    item: &Value,
    key: Option<&str>,
) -> Result<bool, PatchError> {
    for place in places {
        if identity(item, key)? == identity(place, key)? {
            return Ok(true);
        }
    }
    Ok(false)
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
