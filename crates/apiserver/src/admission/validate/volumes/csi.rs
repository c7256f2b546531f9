//! Volumes of drivers that are installed in the cluster.

use super::network::required;
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::values;
use crate::json::{member, text, text_entries};
use crate::syntax;
use serde_json::Value;

/// Upstream reports an invalid name of the secret at the volume (v1.36 core/validation `validateCSIVolumeSource`).
pub(super) fn csi(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    driver(text(source, "driver"), &path.child("driver"), errors);
    let Some(secret) = member(source, "nodePublishSecretRef") else { return };
    required(secret, &["name"], &path.child("nodePublishSecretRef"), errors);
    let name = text(secret, "name");
    if !name.is_empty() {
        values::dns_subdomain(name, &path.child("name"), errors);
    }
}

/// v1.36 core/validation `ValidateCSIDriverName`.
fn driver(name: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if name.is_empty() {
        return errors.required(path, "");
    }
    if name.len() > 63 {
        errors.too_long(path, 63);
    }
    values::each(syntax::dns_subdomain_errors(&name.to_lowercase()), name, path, errors);
}

/// Go iterates over the options in random order; here the order is by name (v1.36 core/validation
/// `validateFlexVolumeSource`).
pub(super) fn flex_volume(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    required(source, &["driver"], path, errors);
    for (option, _) in text_entries(source, "options").filter(|(option, _)| is_reserved(option)) {
        let detail = "kubernetes.io and k8s.io namespaces are reserved";
        errors.invalid(&path.child("options").key(option), option, detail);
    }
}

fn is_reserved(option: &str) -> bool {
    let namespace = option.split_once('/').map_or(option, |(namespace, _)| namespace);
    let namespace = format!(".{}", namespace.to_lowercase());
    [".kubernetes.io", ".k8s.io"].iter().any(|reserved| namespace.ends_with(reserved))
}
