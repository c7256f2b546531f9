//! Merging lists (v1.36 `strategicpatch` patch.go mergeSlice).

use super::PatchError;
use super::directives::{self, Directive, Use};
use super::items::{Elements, distinct, elements, ordered, partition};
use super::lookup::{ListSchema, go_kind};
use super::strategic::merge_map;
use crate::schema::{Kind, PatchStrategy};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The list after the patch.
pub(super) fn merge_list(
    original: Vec<Value>,
    patch: Vec<Value>,
    list: ListSchema,
    for_what: Use,
) -> Result<Vec<Value>, PatchError> {
    match (list.patch, for_what) {
        (PatchStrategy::Default, Use::Set) => Ok(patch),
        (PatchStrategy::Default, Use::DeleteItems)
        | (
            PatchStrategy::MergeSet | PatchStrategy::MergeBy(_) | PatchStrategy::MergeByRetainingKeys(_),
            Use::Set | Use::DeleteItems,
        ) => merge_items(original, patch, list, for_what),
    }
}

fn merge_items(
    original: Vec<Value>,
    patch: Vec<Value>,
    list: ListSchema,
    for_what: Use,
) -> Result<Vec<Value>, PatchError> {
    if original.is_empty() && patch.is_empty() {
        return Ok(original);
    }
    match (elements([&original, &patch])?, for_what) {
        (Elements::Scalars, Use::DeleteItems) => {
            let gone: BTreeSet<String> = patch.iter().map(Value::to_string).collect();
            Ok(original.into_iter().filter(|item| !gone.contains(&item.to_string())).collect())
        }
        (Elements::Scalars, Use::Set) => {
            let merged = distinct(original.iter().chain(&patch));
            let (named, others) = partition(merged, &patch, None)?;
            ordered(named, others, &patch, &original, None)
        }
        (Elements::Maps, Use::Set | Use::DeleteItems) => {
            let key = list.merge_key().ok_or(PatchError::NoMergeKeyDeclared { of: go_kind(list.items) })?;
            merge_maps(original, patch, key, list.items)
        }
    }
}

fn merge_maps(
    original: Vec<Value>,
    patch: Vec<Value>,
    key: &str,
    items: Kind,
) -> Result<Vec<Value>, PatchError> {
    let (original, patch) = follow_directives(original, patch, key)?;
    // `original` is still needed after the merge: it defines the order of the items that the patch does not name.
    let mut merged = original.clone();
    for item in &patch {
        let Value::Object(fields) = item else { return Err(PatchError::expected_map(item)) };
        let value = fields.get(key).ok_or_else(|| PatchError::no_merge_key(item, key))?;
        match find(&mut merged, key, value)? {
            Some(held) => *held = merge_map(std::mem::take(held), fields.clone(), items)?,
            None => merged.push(item.clone()),
        }
    }
    let (named, others) = partition(merged, &patch, Some(key))?;
    ordered(named, others, &patch, &original, Some(key))
}

/// Removes items with `$patch` from the patch and follows them (v1.36 patch.go mergeSliceWithSpecialElements).
fn follow_directives(
    mut original: Vec<Value>,
    patch: Vec<Value>,
    key: &str,
) -> Result<(Vec<Value>, Vec<Value>), PatchError> {
    let mut rest = Vec::new();
    let mut replaces = false;
    for item in patch {
        let Value::Object(fields) = &item else { return Err(PatchError::expected_map(&item)) };
        match directives::directive(fields)? {
            None => rest.push(item),
            Some(Directive::Replace) => replaces = true,
            Some(Directive::Merge) => return Err(PatchError::MergeDirectiveInList),
            Some(Directive::Delete) => {
                let value = fields.get(key).ok_or_else(|| PatchError::no_merge_key(&item, key))?;
                all_maps(&original)?;
                original.retain(|held| held.get(key) != Some(value));
            }
        }
    }
    Ok(if replaces { (rest, Vec::new()) } else { (original, rest) })
}

fn all_maps(items: &[Value]) -> Result<(), PatchError> {
    match items.iter().position(|item| !item.is_object()) {
        Some(index) => Err(PatchError::NotAMap { index }),
        None => Ok(()),
    }
}

/// The first item with this value under the key.
fn find<'a>(
    items: &'a mut [Value],
    key: &str,
    value: &Value,
) -> Result<Option<&'a mut Map<String, Value>>, PatchError> {
    for (index, item) in items.iter_mut().enumerate() {
        let Value::Object(fields) = item else { return Err(PatchError::NotAMap { index }) };
        if fields.get(key) == Some(value) {
            return Ok(Some(fields));
        }
    }
    Ok(None)
}
