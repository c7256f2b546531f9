//! Volumes with files that the kubelet writes: Secrets, ConfigMaps, fields of the pod.

use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::containers::field_refs::{self, Holder};
use crate::admission::validate::values;
use crate::json::{list, member, number_if_set, text};
use crate::syntax;
use serde_json::Value;
use std::collections::BTreeSet;

/// v1.36 core/validation `validateSecretVolumeSource`.
pub(super) fn secret(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    values::required(text(source, "secretName"), &path.child("secretName"), errors);
    keys_of_object(source, path, errors);
}

/// v1.36 core/validation `validateConfigMapVolumeSource`.
pub(super) fn config_map(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    values::required(text(source, "name"), &path.child("name"), errors);
    keys_of_object(source, path, errors);
}

fn keys_of_object(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    mode(source, "defaultMode", path, errors);
    user(source, "defaultUser", path, errors);
    for (position, item) in list(source, "items").iter().enumerate() {
        key_to_path(item, &path.child("items").index(position), errors);
    }
}

/// v1.36 core/validation `validateKeyToPath`.
pub(super) fn key_to_path(item: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    values::required(text(item, "key"), &path.child("key"), errors);
    file_path(item, path, errors);
    mode(item, "mode", path, errors);
    user(item, "user", path, errors);
}

/// v1.36 core/validation `ValidateLocalNonReservedPath` of a required path.
fn file_path(item: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let (file, path) = (text(item, "path"), path.child("path"));
    values::required(file, &path, errors);
    values::each(syntax::unreserved_path_errors(file), file, &path, errors);
}

/// The bits of a file's mode.
pub(super) fn mode(of: &Value, field: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if let Some(mode) = number_if_set(of, field).filter(|mode| !(0..=0o777).contains(mode)) {
        let detail = "must be a number between 0 and 0777 (octal), both inclusive";
        errors.invalid(&path.child(field), mode, detail);
    }
}

/// The owner of files (v1.37 core/validation `validateUserField`).
pub(super) fn user(of: &Value, field: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if let Some(user) = number_if_set(of, field) {
        if let Some(message) = syntax::out_of_range_error(user, 0, i64::from(i32::MAX)) {
            errors.invalid(&path.child(field), user, message);
        }
    }
}

/// Upstream reports the errors of a file at the volume (v1.36 core/validation `validateDownwardAPIVolumeSource`).
pub(super) fn downward_api(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    mode(source, "defaultMode", path, errors);
    user(source, "defaultUser", path, errors);
    for file in list(source, "items") {
        downward_api_file(file, path, errors);
    }
}

/// v1.36 core/validation `validateDownwardAPIVolumeFile`.
pub(super) fn downward_api_file(file: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    file_path(file, path, errors);
    match (member(file, "fieldRef"), member(file, "resourceFieldRef")) {
        (Some(field), resource) => {
            field_refs::field(field, Holder::File, &path.child("fieldRef"), errors);
            if resource.is_some() {
                let detail = "fieldRef and resourceFieldRef can not be specified simultaneously";
                errors.invalid(path, "resource", detail);
            }
        }
        (None, Some(of)) => field_refs::resource(of, Holder::File, &path.child("resourceFieldRef"), errors),
        (None, None) => errors.required(path, "one of fieldRef and resourceFieldRef is required"),
    }
    mode(file, "mode", path, errors);
    user(file, "user", path, errors);
}

/// The paths that earlier sources of a projected volume have taken.
pub(super) struct TakenPaths<'a> {
    taken: BTreeSet<&'a str>,
    /// The path of the volume, at which upstream reports conflicts.
    path: FieldPath<'a>,
}

impl<'a> TakenPaths<'a> {
    pub(super) fn new(path: FieldPath<'a>) -> Self {
        TakenPaths { taken: BTreeSet::new(), path }
    }

    /// Takes a path; a conflict is reported with `value` as the value.
    pub(super) fn add(&mut self, file: &'a str, value: &str, errors: &mut ErrorList) {
        if !self.taken.insert(file) {
            errors.invalid(&self.path, value, "conflicting duplicate paths");
        }
    }
}
