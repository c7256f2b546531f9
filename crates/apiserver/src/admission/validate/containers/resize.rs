//! What becomes of a container when its resources change.

use super::common::one_of;
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::pod::Pod;
use crate::fields::{list, text};
use crate::go::GoValue;
use serde_json::Value;
use std::collections::BTreeSet;

/// Most errors are told about the list (v1.36 core/validation `validateResizePolicy`).
pub(super) fn validate(container: &Value, pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let (path, mut named) = (path.child("resizePolicy"), BTreeSet::new());
    for (position, policy) in list(container, "resizePolicy").iter().enumerate() {
        let (resource, restart) = (text(policy, "resourceName"), text(policy, "restartPolicy"));
        if !named.insert(resource) {
            errors.duplicate(&path.index(position), GoValue::named(resource));
        }
        one_of(resource, &["cpu", "memory"], &path, errors);
        one_of(restart, &["NotRequired", "RestartContainer"], &path, errors);
        if text(pod.spec, "restartPolicy") == "Never" && restart != "NotRequired" {
            let detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
            errors.invalid(&path, GoValue::named(restart), detail);
        }
    }
}
