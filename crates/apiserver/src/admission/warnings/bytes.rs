//! Amounts of bytes with a fraction of a byte.

use crate::admission::path::FieldPath;
use crate::json::{at, member};
use crate::quantity::Quantity;
use serde_json::Value;

const MEMORY: &str = "memory";
const EPHEMERAL_STORAGE: &str = "ephemeral-storage";

pub(super) fn overhead(pod: &Value, path: &FieldPath<'_>, found: &mut Vec<String>) {
    for name in [MEMORY, EPHEMERAL_STORAGE] {
        found.extend(fractional(at(pod, &["overhead"]), name, &path.child("overhead")));
    }
}

/// `path` is the container's.
pub(super) fn container(container: &Value, path: &FieldPath<'_>, found: &mut Vec<String>) {
    for name in [MEMORY, EPHEMERAL_STORAGE] {
        resources(container, name, &["limits", "requests"], path, found);
    }
}

/// `of` has the field `resources`.
pub(super) fn resources(
    of: &Value,
    name: &str,
    lists: &[&str],
    path: &FieldPath<'_>,
    found: &mut Vec<String>,
) {
    let path = path.child("resources");
    for amounts in lists {
        found.extend(fractional(at(of, &["resources", amounts]), name, &path.child(amounts)));
    }
}

fn fractional(amounts: &Value, name: &str, path: &FieldPath<'_>) -> Option<String> {
    let amount = Quantity::from_json(member(amounts, name)?).ok()?;
    let path = path.key(name);
    let fraction = !amount.is_integer();
    fraction.then(|| format!("{path}: fractional byte value \"{amount}\" is invalid, must be an integer"))
}
