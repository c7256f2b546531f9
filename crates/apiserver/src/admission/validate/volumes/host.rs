//! Volumes on the node itself: directories, the files of an image, a git repository.

use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::pod::Pod;
use crate::admission::validate::values;
use crate::go::GoValue;
use crate::json::{number_if_set, text, text_if_set};
use crate::quantity::Quantity;
use crate::syntax;
use serde_json::Value;

/// v1.37 core/validation `validateVolumeSource`.
pub(super) fn empty_dir(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let limit = source.get("sizeLimit").and_then(|limit| Quantity::from_json(limit).ok());
    if limit.is_some_and(|limit| limit.is_negative()) {
        errors.forbidden(&path.child("sizeLimit"), "SizeLimit field must be a valid resource quantity");
    }
    if let Some(mode) = number_if_set(source, "mode").filter(|mode| !(0..=0o1777).contains(mode)) {
        let detail = "must be a number between 0 and 01777 (octal), both inclusive";
        errors.invalid(&path.child("mode"), mode, detail);
    }
}

/// v1.36 core/validation `validateHostPathVolumeSource`.
pub(super) fn host_path(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let (directory, at) = (text(source, "path"), path.child("path"));
    if directory.is_empty() {
        return errors.required(&at, "");
    }
    values::each(syntax::backstep_error(directory), directory, &at, errors);
    host_path_type(source, &path.child("type"), errors);
}

/// v1.36 core/validation `validateHostPathType`.
fn host_path_type(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let supported =
        ["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];
    let kind = text_if_set(source, "type");
    if let Some(kind) = kind.filter(|kind| !supported.contains(kind)) {
        errors.not_supported(path, GoValue::named(kind), &supported);
    }
}

/// v1.36 core/validation `validateGitRepoVolumeSource`.
pub(super) fn git_repo(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    values::required(text(source, "repository"), &path.child("repository"), errors);
    let directory = text(source, "directory");
    let messages = syntax::descending_path_errors(directory);
    values::each(messages, directory, &path.child("directory"), errors);
}

/// A stored template may keep an image without a reference: before v1.37 it was optional (v1.37 core/validation
/// `validateImageVolumeSource`).
pub(super) fn image(source: &Value, pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if !pod.options.allow_empty_image_reference {
        values::required(text(source, "reference"), &path.child("reference"), errors);
    }
    values::pull_policy(text(source, "pullPolicy"), &path.child("pullPolicy"), errors);
}
