//! What a container's environment variables must be, and where their values come from.

use super::field_refs::{self, Owner};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::words;
use crate::fields::{list, member, text};
use crate::syntax;
use serde_json::Value;

/// v1.36 core/validation `ValidateEnv`.
pub(super) fn validate(container: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let path = path.child("env");
    for (position, variable) in list(container, "env").iter().enumerate() {
        let path = path.index(position);
        variable_name(text(variable, "name"), &path.child("name"), errors);
        if let Some(source) = member(variable, "valueFrom") {
            value_from(source, text(variable, "value"), &path.child("valueFrom"), errors);
        }
    }
}

/// v1.36 core/validation `ValidateEnv`, with RelaxedEnvironmentVariableValidation.
fn variable_name(name: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if name.is_empty() {
        errors.required(path, "");
    } else {
        words::each(syntax::env_var_name_faults(name), name, path, errors);
    }
}

/// The sources in the order in which they are looked at (v1.36 core/validation `validateEnvVarValueFrom`).
fn value_from(source: &Value, value: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    type Rule = fn(&Value, &FieldPath<'_>, &mut ErrorList);
    let rules: [(&str, Rule); 5] = [
        ("fieldRef", |of, path, errors| field_refs::field(of, Owner::Variable, path, errors)),
        ("resourceFieldRef", |of, path, errors| field_refs::resource(of, Owner::Variable, path, errors)),
        ("configMapKeyRef", key_of_object),
        ("secretKeyRef", key_of_object),
        ("fileKeyRef", key_of_file),
    ];
    let mut sources = 0;
    for (field, rule) in rules {
        if let Some(of) = member(source, field) {
            sources += 1;
            rule(of, &path.child(field), errors);
        }
    }
    match sources {
        0 => errors.invalid(path, "", "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"),
        _ if !value.is_empty() => errors.invalid(path, "", "may not be specified when `value` is not empty"),
        1 => {}
        _ => errors.invalid(path, "", "may not have more than one field specified at a time"),
    }
}

/// v1.36 core/validation `validateConfigMapKeySelector`, `validateSecretKeySelector`.
fn key_of_object(reference: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    words::dns_subdomain(text(reference, "name"), &path.child("name"), errors);
    let (key, path) = (text(reference, "key"), path.child("key"));
    if key.is_empty() {
        errors.required(&path, "");
    } else {
        words::each(syntax::config_map_key_faults(key), key, &path, errors);
    }
}

/// v1.36 core/validation `validateFileKeySelector`.
fn key_of_file(reference: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    variable_name(text(reference, "key"), &path.child("key"), errors);
    let (volume, at) = (text(reference, "volumeName"), path.child("volumeName"));
    if volume.is_empty() {
        errors.required(&at, "");
    } else {
        words::dns_label(volume, &at, errors);
    }
    let (file, at) = (text(reference, "path"), path.child("path"));
    if file.is_empty() {
        errors.required(&at, "");
    } else {
        words::each(syntax::backstep_fault(file), file, &at, errors);
    }
}
