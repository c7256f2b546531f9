//! Applying a strategic merge patch (v1.36 `strategicpatch` patch.go StrategicMergeMapPatch).

use super::directives::{self, Directive, Use};
use super::element_order;
use super::lists::merge_list;
use super::{PatchError, lookup};
use crate::go::go_type;
use crate::schema::{DAEMON_SET, Kind, Struct};
use serde_json::{Map, Value};

/// The DaemonSet after a strategic merge patch: objects are merged, null removes a field, lists are replaced, except
/// that lists with a merge key are merged by it (`containers` by `name`). The directives `$patch`, `$retainKeys`,
/// `$setElementOrder/…` and `$deleteFromPrimitiveList/…` are followed.
///
/// The result is not decoded: it may contain fields that the API does not have.
///
/// # Errors
/// The API server's own, see [`PatchError`].
pub fn strategic_merge(original: &Value, patch: &Value) -> Result<Value, PatchError> {
    merge_as(&DAEMON_SET, original, patch)
}

/// As [`strategic_merge`], with the fields of this struct.
pub(crate) fn merge_as(of: &'static Struct, original: &Value, patch: &Value) -> Result<Value, PatchError> {
    let (Value::Object(original), Value::Object(patch)) = (original, patch) else {
        return Err(PatchError::NoObject);
    };
    merge_map(original.clone(), patch.clone(), Kind::Struct(of)).map(Value::Object)
}

/// v1.36 patch.go mergeMap.
pub(super) fn merge_map(
    mut original: Map<String, Value>,
    mut patch: Map<String, Value>,
    of: Kind,
) -> Result<Map<String, Value>, PatchError> {
    match directives::directive(&patch)? {
        None => {}
        Some(Directive::Replace) => {
            patch.remove(directives::PATCH);
            return Ok(patch);
        }
        Some(Directive::Delete) => return Ok(Map::new()),
        Some(Directive::Merge) => return Err(directives::unknown(&Value::from("merge"), &patch)),
    }
    // `$retainKeys` comes first: it removes the fields of a union's old member before the patch sets the new one. The
    // element orders come second, because a list with an order is merged there, and must not be merged again below.
    directives::retain_keys(&mut original, &mut patch)?;
    element_order::apply(&mut original, &mut patch, of)?;
    for (key, value) in patch {
        let (field, for_what) = directives::target(&key)?;
        let held = original.remove(field);
        if let Some(merged) = merge_value(held, value, of, field, for_what)? {
            original.insert(field.to_owned(), merged);
        }
    }
    Ok(original)
}

/// The field after the patch; `None` if the patch removes it.
fn merge_value(
    held: Option<Value>,
    patch: Value,
    of: Kind,
    field: &str,
    for_what: Use,
) -> Result<Option<Value>, PatchError> {
    match (held, patch) {
        (_, Value::Null) => Ok(None),
        (Some(Value::Object(held)), Value::Object(patch)) => {
            let field = lookup::field(of, field)?;
            Ok(Some(Value::Object(merge_map(held, patch, field.kind)?)))
        }
        (Some(Value::Array(held)), Value::Array(patch)) => {
            let list = lookup::list(of, field)?;
            Ok(Some(Value::Array(merge_list(held, patch, list, for_what)?)))
        }
        (held, patch) => Ok(match for_what {
            Use::Set => put(held.as_ref(), patch),
            Use::DeleteItems => held.filter(|held| go_type(held) != go_type(&patch)).or(None),
        }),
    }
}

/// A scalar replaces one of its own type as it is. In every other case the patch may contain nulls and directives,
/// which are dropped.
fn put(held: Option<&Value>, patch: Value) -> Option<Value> {
    match held {
        Some(held) if go_type(held) == go_type(&patch) => Some(patch),
        Some(_) | None => directives::without_directives(directives::without_nulls(patch)),
    }
}
