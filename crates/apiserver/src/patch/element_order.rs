//! Lists whose order the patch sets with `$setElementOrder/…` (v1.36 `strategicpatch` patch.go
//! mergePatchIntoOriginal, normalizeElementOrder).

use super::PatchError;
use super::directives::{self, ELEMENT_ORDER, Use};
use super::items::{elements, identity, ordered, partition};
use super::lists::merge_list;
use super::lookup::{self, ListSchema};
use crate::go::go_list;
use crate::schema::Kind;
use serde_json::{Map, Value};

/// Merges each list that the patch sets an order for, and removes both from the patch.
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
    let object_order = match list.merge_key() {
        Some(key) => with_gaps_filled(held, &given, key),
        None => held,
    };
    ordered(named, others, order, &object_order, list.merge_key()).map(Some)
}

/// The order of the object's list, as Go sees it after the merge.
///
/// Go merges into the backing array of the object's list and then sorts by that same array. Deleting an item shifts
/// the later ones to the front and leaves room at the end of the array; `append` writes added items into this room,
/// and only those that do not fit go to a new array that the sort never sees. So an added item counts as part of the
/// object's order exactly while a deleted item has left a gap for it, and a `$patch: replace`, which starts a new
/// list, fills no gap.
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

/// The items of the patch must all be in the order list, and in the same relative order (v1.36 patch.go
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
