//! Environment variables of a container, and the sources of their values.

use super::field_refs::{self, Holder};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::pod::Pod;
use crate::admission::validate::values;
use crate::json::{list, member, text};
use crate::syntax;
use serde_json::Value;

/// v1.36 core/validation `ValidateEnv`.
pub(super) fn env(container: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
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
        values::each(syntax::env_var_name_error(name), name, path, errors);
    }
}

/// The sources, in the API server's order (v1.36 core/validation `validateEnvVarValueFrom`).
fn value_from(source: &Value, value: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    type EnvRule = fn(&Value, &FieldPath<'_>, &mut ErrorList);
    let rules: [(&str, EnvRule); 5] = [
        ("fieldRef", |of, path, errors| field_refs::field(of, Holder::Variable, path, errors)),
        ("resourceFieldRef", |of, path, errors| field_refs::resource(of, Holder::Variable, path, errors)),
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
    values::dns_subdomain(text(reference, "name"), &path.child("name"), errors);
    let (key, path) = (text(reference, "key"), path.child("key"));
    if key.is_empty() {
        errors.required(&path, "");
    } else {
        values::each(syntax::config_map_key_errors(key), key, &path, errors);
    }
}

/// v1.36 core/validation `validateFileKeySelector`.
fn key_of_file(reference: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    variable_name(text(reference, "key"), &path.child("key"), errors);
    let (volume, at) = (text(reference, "volumeName"), path.child("volumeName"));
    if volume.is_empty() {
        errors.required(&at, "");
    } else {
        values::dns_label(volume, &at, errors);
    }
    let (file, at) = (text(reference, "path"), path.child("path"));
    if file.is_empty() {
        errors.required(&at, "");
    } else {
        values::each(syntax::backstep_error(file), file, &at, errors);
    }
}

/// Errors about the number of sources name the list, not the item (v1.36 core/validation `ValidateEnvFrom`).
pub(super) fn env_from(container: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let path = path.child("envFrom");
    for (position, source) in list(container, "envFrom").iter().enumerate() {
        let at = path.index(position);
        prefix(text(source, "prefix"), &at.child("prefix"), errors);
        let mut sources = 0;
        for field in ["configMapRef", "secretRef"] {
            if let Some(reference) = member(source, field) {
                sources += 1;
                object_name(text(reference, "name"), &at.child(field), errors);
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
        values::each(syntax::env_var_name_error(prefix), prefix, path, errors);
    }
}

/// v1.36 core/validation `validateConfigMapEnvSource`, `validateSecretEnvSource`: the name may be a prefix.
fn object_name(name: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let path = path.child("name");
    if name.is_empty() {
        errors.required(&path, "");
    } else {
        values::each(syntax::dns_subdomain_prefix_errors(name), name, &path, errors);
    }
}

/// Files with environment variables must be in an emptyDir of the pod, even one that is invalid for another reason;
/// `path` is the pod spec's (v1.36 core/validation `validateFileKeyRefVolumes`).
pub(in crate::admission::validate) fn file_key_ref_volumes(
    pod: &Pod<'_>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    for containers in ["initContainers", "containers", "ephemeralContainers"] {
        let path = path.child(containers);
        for (position, container) in list(pod.spec, containers).iter().enumerate() {
            file_key_refs_of_container(container, pod, &path.index(position), errors);
        }
    }
}

fn file_key_refs_of_container(
    container: &Value,
    pod: &Pod<'_>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let path = path.child("env");
    for (position, variable) in list(container, "env").iter().enumerate() {
        let file = member(variable, "valueFrom").and_then(|source| member(source, "fileKeyRef"));
        let Some(name) = file.map(|file| text(file, "volumeName")) else { continue };
        let (at, parts) = (path.index(position), ["valueFrom", "fileKeyRef", "volumeName"]);
        let [from, reference, volume_name] = parts;
        let (at, volumes) = (at.child(from), list(pod.spec, "volumes"));
        let at = at.child(reference);
        let at = at.child(volume_name);
        // If several volumes have this name, the last one counts.
        match volumes.iter().rfind(|volume| text(volume, "name") == name) {
            None => errors.not_found(&at, name, ""),
            Some(volume) if member(volume, "emptyDir").is_none() => {
                errors.invalid(&at, name, "referenced volume must be of type emptyDir");
            }
            Some(_) => {}
        }
    }
}
