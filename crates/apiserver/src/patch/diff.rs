//! The strategic merge patch that turns one object into another (v1.36 `strategicpatch` patch.go diffMaps).

use super::diff_lists::diff_lists;
use super::directives::{DELETE_FROM_LIST, ELEMENT_ORDER, PATCH, RETAIN_KEYS};
use super::{PatchError, lookup, strategic_merge};
use crate::schema::{DAEMON_SET, Kind, PatchStrategy};
use daemonset_objects::kubernetes::canonical_json::sorted;
use serde_json::{Map, Value};

/// Which changes a patch contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scope {
    All,
    WithoutDeletions,
    DeletionsOnly,
}

/// Whether the patch of an object lists the keys to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RetainKeys {
    Listed,
    Unlisted,
}

/// The strategic merge patch that turns one DaemonSet into another, as kubectl computes it; `{}` if they are equal
/// (v1.36 patch.go CreateTwoWayMergePatch).
///
/// # Errors
/// See [`PatchError`]: an item lacks its merge key, a list has items of several types, or an object has a field that
/// the API does not have.
pub fn two_way_merge(original: &Value, modified: &Value) -> Result<Value, PatchError> {
    diff(original, modified, Scope::All)
}

/// The object that `kubectl apply` makes of the one in the cluster: fields that were applied and are no longer in the
/// manifest are removed, fields of the manifest are set, all others stay (v1.36 patch.go CreateThreeWayMergePatch,
/// applied).
pub(crate) fn three_way_merge(
    last_applied: &Value,
    manifest: &Value,
    current: &Value,
) -> Result<Value, PatchError> {
    let changes = diff(current, manifest, Scope::WithoutDeletions)?;
    let deletions = diff(last_applied, manifest, Scope::DeletionsOnly)?;
    strategic_merge(&strategic_merge(current, &deletions)?, &changes)
}

fn diff(original: &Value, modified: &Value, scope: Scope) -> Result<Value, PatchError> {
    let (Value::Object(original), Value::Object(modified)) = (original, modified) else {
        return Err(PatchError::NoObject);
    };
    diff_maps(original, modified, Kind::Struct(&DAEMON_SET), scope, RetainKeys::Unlisted).map(Value::Object)
}

pub(super) fn diff_maps(
    original: &Map<String, Value>,
    modified: &Map<String, Value>,
    of: Kind,
    scope: Scope,
    retain_keys: RetainKeys,
) -> Result<Map<String, Value>, PatchError> {
    let mut patch = Map::new();
    for (key, new) in modified {
        match original.get(key) {
            None => set(&mut patch, key, new, scope),
            Some(old) if key == PATCH => diff_directive(&mut patch, old, new)?,
            Some(old) => diff_values(&mut patch, key, [old, new], of, scope)?,
        }
    }
    // `$retainKeys` lists the fields of a union that stay, so that the server drops another writer's member of the union.
    // Nulls are no fields to keep. An unchanged object needs no list.
    let has_deleted = original.keys().any(|key| !modified.contains_key(key));
    if scope != Scope::WithoutDeletions {
        let deleted = original.keys().filter(|key| !modified.contains_key(*key));
        patch.extend(deleted.map(|key| (key.clone(), Value::Null)));
    }
    if retain_keys == RetainKeys::Listed && (has_deleted || !patch.is_empty()) {
        let keys: Vec<Value> = sorted(modified)
            .filter(|(_, value)| !value.is_null())
            .map(|(key, _)| key.as_str().into())
            .collect();
        if !keys.is_empty() {
            patch.insert(RETAIN_KEYS.to_owned(), Value::Array(keys));
        }
    }
    Ok(patch)
}

fn set(patch: &mut Map<String, Value>, key: &str, new: &Value, scope: Scope) {
    match scope {
        Scope::All | Scope::WithoutDeletions => {
            patch.insert(key.to_owned(), new.clone());
        }
        Scope::DeletionsOnly => {}
    }
}

fn diff_directive(patch: &mut Map<String, Value>, old: &Value, new: &Value) -> Result<(), PatchError> {
    if !old.is_string() || !new.is_string() {
        return Err(PatchError::DirectiveIsNoText);
    }
    if old != new {
        patch.insert(PATCH.to_owned(), new.clone());
    }
    Ok(())
}

fn diff_values(
    patch: &mut Map<String, Value>,
    key: &str,
    [old, new]: [&Value; 2],
    of: Kind,
    scope: Scope,
) -> Result<(), PatchError> {
    if old == new {
        return Ok(());
    }
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let kind = lookup::field(of, key)?.kind;
            let inner = diff_maps(old, new, kind, scope, RetainKeys::Unlisted)?;
            if !inner.is_empty() {
                patch.insert(key.to_owned(), Value::Object(inner));
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            let list = lookup::list(of, key)?;
            if list.patch == PatchStrategy::Default {
                patch.extend(
                    (scope != Scope::DeletionsOnly).then(|| (key.to_owned(), Value::from(new.clone()))),
                );
                return Ok(());
            }
            let lists = diff_lists(old, new, list, scope)?;
            let entries = [
                (key.to_owned(), lists.patch),
                (format!("{DELETE_FROM_LIST}/{key}"), lists.deleted),
                (format!("{ELEMENT_ORDER}/{key}"), lists.order),
            ];
            let present = entries.into_iter().filter(|(_, items)| !items.is_empty());
            patch.extend(present.map(|(key, items)| (key, Value::Array(items))));
        }
        (_, _) => set(patch, key, new, scope),
    }
    Ok(())
}
