//! The part of a strategic merge patch that turns one list into another (v1.36 `strategicpatch` patch.go diffLists).

use super::PatchError;
use super::diff::{RetainKeys, Scope, diff_maps};
use super::directives::PATCH;
use super::items::{Elements, elements, identity, sorted};
use super::lookup::ListSchema;
use crate::go::go_value;
use crate::schema::{Kind, PatchStrategy};
use serde_json::{Map, Value};
use std::cmp::Ordering;

/// The entries of a patch for one list.
#[derive(Debug, Default)]
pub(super) struct ListPatch {
    /// To merge.
    pub(super) patch: Vec<Value>,
    /// For `$deleteFromPrimitiveList`.
    pub(super) deleted: Vec<Value>,
    /// For `$setElementOrder`.
    pub(super) order: Vec<Value>,
}

/// The patch of a list that is merged.
///
/// A list without items has nothing to merge with, so all new items are the patch. Other lists are compared by merge key,
/// or as sets; either way the patch contains only changed items, and the server can't derive the order of the new list
/// from these. So the patch lists that order separately whenever it matters: if an item or the order itself changes.
pub(super) fn diff_lists(
    original: &[Value],
    modified: &[Value],
    list: ListSchema,
    scope: Scope,
) -> Result<ListPatch, PatchError> {
    if original.is_empty() {
        return Ok(match scope {
            Scope::All | Scope::WithoutDeletions => {
                ListPatch { patch: modified.to_vec(), ..ListPatch::default() }
            }
            Scope::DeletionsOnly => ListPatch::default(),
        });
    }
    match elements([original, modified])? {
        Elements::Maps => diff_maps_by_key(original, modified, list, scope),
        Elements::Scalars => diff_scalars(original, modified, scope),
    }
}

fn diff_maps_by_key(
    original: &[Value],
    modified: &[Value],
    list: ListSchema,
    scope: Scope,
) -> Result<ListPatch, PatchError> {
    let key = list.merge_key().unwrap_or_default();
    let (patch, deletions) = changed_and_deleted(original, modified, key, list, scope)?;
    let mut patch = sorted(patch, modified, Some(key))?;
    // The order needs no entry only if the same keys come in the same order and no item changes.
    let same_order = original.len() == modified.len() && {
        let old: Vec<&Value> =
            original.iter().map(|item| identity(item, Some(key))).collect::<Result<_, _>>()?;
        let new: Vec<&Value> =
            modified.iter().map(|item| identity(item, Some(key))).collect::<Result<_, _>>()?;
        old == new
    };
    patch.extend(deletions);
    let has_order = !patch.is_empty() || (scope != Scope::DeletionsOnly && !same_order);
    let order =
        if has_order { modified.iter().map(|item| key_only(item, key)).collect() } else { Vec::new() };
    Ok(ListPatch { patch, deleted: Vec::new(), order })
}

fn key_only(item: &Value, key: &str) -> Value {
    let value = item.get(key).cloned().unwrap_or_default();
    Value::Object(Map::from_iter([(key.to_owned(), value)]))
}

/// The items that are new or changed, and a directive to delete each item that is gone.
fn changed_and_deleted(
    original: &[Value],
    modified: &[Value],
    key: &str,
    list: ListSchema,
    scope: Scope,
) -> Result<(Vec<Value>, Vec<Value>), PatchError> {
    let (mut patch, mut deletions) = (Vec::new(), Vec::new());
    let (old, new) = (by_key(original, key)?, by_key(modified, key)?);
    let (mut old, mut new) = (old.into_iter().peekable(), new.into_iter().peekable());
    // Both lists are sorted by key, so one pass over the two, as in a merge sort, pairs the items with equal keys. A key
    // that only one list has is an added or a deleted item.
    loop {
        let order = match (old.peek(), new.peek()) {
            (None, None) => return Ok((patch, deletions)),
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
            (Some((old, _)), Some((new, _))) => old.cmp(new),
        };
        match order {
            Ordering::Equal => {
                if let (Some((_, old)), Some((_, new))) = (old.next(), new.next()) {
                    patch.extend(changed(old, new, key, list, scope)?);
                }
            }
            Ordering::Greater => {
                let added = new.next().filter(|_| scope != Scope::DeletionsOnly);
                patch.extend(added.map(|(_, item)| item.clone()));
            }
            Ordering::Less => {
                let gone = old.next().filter(|_| scope != Scope::WithoutDeletions);
                deletions.extend(gone.map(|(_, item)| deletion(item, key)));
            }
        }
    }
}

/// Items by their keys, sorted by the key's text. Items with one key come in reverse order, as Go's sort leaves them
/// in short lists.
fn by_key<'a>(items: &'a [Value], key: &str) -> Result<Vec<(String, &'a Value)>, PatchError> {
    let mut keyed: Vec<(String, &Value)> = items
        .iter()
        .rev()
        .map(|item| Ok((go_value(identity(item, Some(key))?), item)))
        .collect::<Result<_, PatchError>>()?;
    keyed.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(keyed)
}

fn changed(
    old: &Value,
    new: &Value,
    key: &str,
    list: ListSchema,
    scope: Scope,
) -> Result<Option<Value>, PatchError> {
    let (Value::Object(old), Value::Object(fields)) = (old, new) else {
        return Err(PatchError::expected_map(new));
    };
    let retain_keys = match list.patch {
        PatchStrategy::MergeByRetainingKeys(_) => RetainKeys::Listed,
        PatchStrategy::Default | PatchStrategy::MergeSet | PatchStrategy::MergeBy(_) => RetainKeys::Unlisted,
    };
    let of: Kind = list.items;
    let mut patch = diff_maps(old, fields, of, scope, retain_keys)?;
    if patch.is_empty() {
        return Ok(None);
    }
    patch.insert(key.to_owned(), identity(new, Some(key))?.clone());
    Ok(Some(Value::Object(patch)))
}

fn deletion(item: &Value, key: &str) -> Value {
    let mut deletion = key_only(item, key);
    if let Some(fields) = deletion.as_object_mut() {
        fields.insert(PATCH.to_owned(), Value::from("delete"));
    }
    deletion
}

fn diff_scalars(original: &[Value], modified: &[Value], scope: Scope) -> Result<ListPatch, PatchError> {
    let sort = |items: &[Value]| {
        let mut items = items.to_vec();
        items.sort_by_key(go_value);
        items
    };
    let (old, new) = (sort(original), sort(modified));
    let added = if scope == Scope::DeletionsOnly { Vec::new() } else { surplus(&new, &old) };
    let mut deleted = if scope == Scope::WithoutDeletions { Vec::new() } else { surplus(&old, &new) };
    deleted.dedup();
    // Go sorts the list in place and compares the sorted one. It may therefore include an order that did not change,
    // or omit one that did `[order-told-if-changed]`.
    let has_order = !deleted.is_empty() || (scope != Scope::DeletionsOnly && original != modified);
    let order = if has_order { modified.to_vec() } else { Vec::new() };
    Ok(ListPatch { patch: sorted(added, modified, None)?, deleted, order })
}

/// The items that occur more often here than among the others.
fn surplus(items: &[Value], others: &[Value]) -> Vec<Value> {
    let mut left: Vec<String> = others.iter().map(go_value).collect();
    let is_surplus = |item: &&Value| match left.iter().position(|other| *other == go_value(item)) {
        Some(place) => {
            left.swap_remove(place);
            false
        }
        None => true,
    };
    items.iter().filter(is_surplus).cloned().collect()
}
