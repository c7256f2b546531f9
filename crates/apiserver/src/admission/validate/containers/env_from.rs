//! What the ConfigMaps and Secrets must be of which a container takes every key into its environment.

use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::words;
use crate::fields::{list, member, text};
use crate::syntax;
use serde_json::Value;

/// Errors about the number of sources are told about the list (v1.36 core/validation `ValidateEnvFrom`).
pub(super) fn validate(container: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let path = path.child("envFrom");
    for (position, source) in list(container, "envFrom").iter().enumerate() {
        let at = path.index(position);
        prefix(text(source, "prefix"), &at.child("prefix"), errors);
        let mut sources = 0;
        for field in ["configMapRef", "secretRef"] {
            if let Some(reference) = member(source, field) {
                sources += 1;
                object(text(reference, "name"), &at.child(field), errors);
            }
        }
        match sources {
            0 => errors.invalid(&path, "", "must specify one of: `configMapRef` or `secretRef`"),
            1 => {}
            _ => errors.invalid(&path, "", "may not have more than one field specified at a time"),
        }
    }
}

fn prefix(prefix: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if !prefix.is_empty() {
        words::each(syntax::env_var_name_faults(prefix), prefix, path, errors);
    }
}

/// v1.36 core/validation `validateConfigMapEnvSource`, `validateSecretEnvSource`: the name may be one to which
/// something is added.
fn object(name: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let path = path.child("name");
    if name.is_empty() {
        errors.required(&path, "");
    } else {
        words::each(syntax::dns_subdomain_prefix_faults(name), name, &path, errors);
    }
}
