//! Volumes from claims: an existing claim, or one that is created and deleted with the pod.

use super::network::required;
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::labels::{self, SelectorValues};
use crate::admission::validate::values;
use crate::go::GoValue;
use crate::json::{member, text, text_entries, text_if_set, texts};
use crate::quantity::Quantity;
use serde_json::Value;

/// v1.36 core/validation `validatePersistentClaimVolumeSource`.
pub(super) fn reference(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    required(source, &["claimName"], path, errors);
}

/// v1.36 core/validation `validateEphemeralVolumeSource`.
pub(super) fn ephemeral(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let path = path.child("volumeClaimTemplate");
    match member(source, "volumeClaimTemplate") {
        None => errors.required(&path, ""),
        Some(template) => {
            metadata(template.get("metadata").unwrap_or(&Value::Null), &path.child("metadata"), errors);
            spec(template.get("spec").unwrap_or(&Value::Null), &path.child("spec"), errors);
        }
    }
}

/// The template of a claim may have labels and annotations only (v1.36 core/validation `ValidateTemplateObjectMeta`).
fn metadata(metadata: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let annotations = text_entries(metadata, "annotations");
    labels::annotations(annotations, &path.child("annotations"), errors);
    labels::labels(metadata, "labels", &path.child("labels"), errors);
    // Upstream reports the Go names of these fields with a lower-case first letter.
    let others = [
        ("name", "name"),
        ("generateName", "generateName"),
        ("namespace", "namespace"),
        ("selfLink", "selfLink"),
        ("uid", "uID"),
        ("resourceVersion", "resourceVersion"),
        ("generation", "generation"),
        ("creationTimestamp", "creationTimestamp"),
        ("deletionTimestamp", "deletionTimestamp"),
        ("deletionGracePeriodSeconds", "deletionGracePeriodSeconds"),
        ("ownerReferences", "ownerReferences"),
        ("finalizers", "finalizers"),
        ("managedFields", "managedFields"),
    ];
    for (field, reported_as) in others {
        if member(metadata, field).is_some() {
            errors.forbidden(&path.child(reported_as), "cannot be set");
        }
    }
}

/// v1.36 core/validation `ValidatePersistentVolumeClaimSpec`.
fn spec(spec: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let modes = path.child("accessModes");
    if texts(spec, "accessModes").next().is_none() {
        errors.required(&modes, "at least 1 access mode is required");
    }
    let selector = member(spec, "selector");
    labels::selector(selector, SelectorValues::OfLabels, &path.child("selector"), errors);
    access_modes(spec, &modes, errors);
    storage(spec, &path.child("resources").key("storage"), errors);
    class(spec, "storageClassName", path, errors);
    let (mode, supported) = (text_if_set(spec, "volumeMode"), ["Block", "Filesystem"]);
    if let Some(mode) = mode.filter(|mode| !supported.contains(mode)) {
        errors.not_supported(&path.child("volumeMode"), GoValue::named(mode), &supported);
    }
    for field in ["dataSource", "dataSourceRef"] {
        if let Some(source) = member(spec, field) {
            data_source(source, &path.child(field), errors);
        }
    }
    one_data_source(spec, path, errors);
    class(spec, "volumeAttributesClassName", path, errors);
}

fn access_modes(spec: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let supported = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
    for mode in texts(spec, "accessModes").filter(|mode| !supported.contains(mode)) {
        errors.not_supported(path, GoValue::named(mode), &supported);
    }
    let has = |wanted: fn(&&str) -> bool| {
        texts(spec, "accessModes").any(|mode| supported.contains(&mode) && wanted(&mode))
    };
    if has(|mode| *mode == "ReadWriteOncePod") && has(|mode| *mode != "ReadWriteOncePod") {
        errors.forbidden(path, "may not use ReadWriteOncePod with other access modes");
    }
}

fn storage(spec: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let requests = member(spec, "resources").and_then(|resources| member(resources, "requests"));
    let storage = requests.and_then(|requests| requests.get("storage"));
    let Some(storage) = storage.and_then(|storage| Quantity::from_json(storage).ok()) else {
        return errors.required(path, "");
    };
    if storage.is_zero() || storage.is_negative() {
        errors.invalid(path, storage.to_string().as_str(), "must be greater than zero");
    }
}

fn class(spec: &Value, field: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let class = text(spec, field);
    if !class.is_empty() {
        values::dns_subdomain(class, &path.child(field), errors);
    }
}

/// v1.36 core/validation `validateDataSource`, `validateDataSourceRef`: only the latter has a namespace.
fn data_source(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    required(source, &["name", "kind"], path, errors);
    let (group, kind) = (text(source, "apiGroup"), text(source, "kind"));
    if !group.is_empty() {
        values::dns_subdomain(group, &path.child("apiGroup"), errors);
    } else if kind != "PersistentVolumeClaim" {
        let detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
        errors.invalid(path, kind, detail);
    }
    let namespace = text(source, "namespace");
    if !namespace.is_empty() {
        values::dns_label(namespace, &path.child("namespace"), errors);
    }
}

/// Both sources must be the same, unless the second has a namespace.
fn one_data_source(spec: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let (source, reference) = (member(spec, "dataSource"), member(spec, "dataSourceRef"));
    let (Some(source), Some(reference)) = (source, reference) else { return };
    let texts = ["kind", "name"].iter().all(|field| text(source, field) == text(reference, field));
    let same = texts && text_if_set(source, "apiGroup") == text_if_set(reference, "apiGroup");
    let detail = if !text(reference, "namespace").is_empty() {
        "may not be specified when dataSourceRef.namespace is specified"
    } else if !same {
        "must match dataSourceRef"
    } else {
        return;
    };
    // Upstream passes a field path as the value, which prints as an empty struct.
    errors.invalid(path, GoValue::record([]), detail);
}
