//! Volumes of Azure.

use super::network::required;
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::fields::{text, text_if_set};
use crate::go::GoValue;
use serde_json::Value;

/// v1.36 core/validation `validateAzureFile`.
pub(super) fn file(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    required(source, &["secretName", "shareName"], path, errors);
}

/// v1.36 core/validation `validateAzureDisk`.
pub(super) fn disk(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    required(source, &["diskName", "diskURI"], path, errors);
    known(source, "cachingMode", &["None", "ReadOnly", "ReadWrite"], path, errors);
    known(source, "kind", &["Dedicated", "Managed", "Shared"], path, errors);
    let (start, supported) = match text_if_set(source, "kind") {
        None => return,
        Some("Managed") => (
            "/subscriptions/",
            "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}",
        ),
        Some(_) => {
            ("https://", "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd")
        }
    };
    let uri = text(source, "diskURI");
    if !uri.starts_with(start) {
        errors.not_supported(&path.child("diskURI"), uri, &[supported]);
    }
}

fn known(source: &Value, field: &str, supported: &[&str], path: &FieldPath<'_>, errors: &mut ErrorList) {
    let value = text_if_set(source, field);
    if let Some(value) = value.filter(|value| !supported.contains(value)) {
        errors.not_supported(&path.child(field), GoValue::named(value), supported);
    }
}
