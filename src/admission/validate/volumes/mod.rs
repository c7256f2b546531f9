//! What a pod template's volumes must be.

use super::pod::Pod;
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use serde_json::Value;
use std::collections::BTreeMap;

/// The volumes by their names, for what mounts them.
pub(super) type Volumes<'a> = BTreeMap<&'a str, &'a Value>;

/// `path` is that of the list (v1.36 `ValidateVolumes`).
pub(super) fn validate<'a>(_pod: &Pod<'a>, _path: &FieldPath<'_>, _errors: &mut ErrorList) -> Volumes<'a> {
    Volumes::new()
}
