//! What a container or a pod may ask for: names, amounts, requests under their limits.

use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::pod::Pod;
use serde_json::Value;

/// Which names of resources are taken.
#[derive(Debug, Clone, Copy)]
pub(in crate::admission::validate) enum Names {
    /// Those of a container, and of a pod's overhead.
    Container,
    /// Those that a pod as a whole may ask for.
    Pod,
}

/// `requirements` has `limits`, `requests` and `claims` (v1.36 `validateResourceRequirements`).
pub(in crate::admission::validate) fn validate(
    _requirements: &Value,
    _names: Names,
    _pod: &Pod<'_>,
    _path: &FieldPath<'_>,
    _errors: &mut ErrorList,
) {
}
