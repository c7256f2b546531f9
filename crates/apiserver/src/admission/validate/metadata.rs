//! Metadata of a DaemonSet, and the fields of it that never change.

use super::labels;
use super::owners;
use super::values;
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::go::{GoValue, quoted};
use crate::json::{list, member, number, text, text_entries, texts};
use crate::syntax::{dns_label_errors, dns_subdomain_errors, dns_subdomain_prefix_errors, label_key_errors};
use daemonset_objects::kubernetes::well_known::TEMPLATE_GENERATION_ANNOTATION;
use serde_json::Value;
use std::collections::BTreeSet;

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// Metadata of a new DaemonSet (v1.36 core/validation `ValidateObjectMeta`).
pub(super) fn object_meta(meta: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    generate_name(meta, dns_subdomain_prefix_errors, path, errors);
    name(meta, dns_subdomain_errors, path, errors);
    common(meta, path, errors);
    qualified_finalizers(meta, path, errors);
}

/// Metadata of an updated DaemonSet: first the rules for every kind, then those for this one (v1.36 registry/rest
/// `validateCommonFields`, core/validation `ValidateObjectMetaUpdate`). A resource version is not required: the
/// server fills in the stored one.
pub(super) fn object_meta_update(old: &Value, new: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    generate_name(new, path_segment_prefix_errors, path, errors);
    name(new, path_segment_errors, path, errors);
    common(new, path, errors);
    no_new_finalizers(old, new, path, errors);
    if number(new, "generation") < number(old, "generation") {
        let generation = number(new, "generation");
        errors.invalid(&path.child("generation"), generation, "must not be decremented");
    }
    immutable(old, new, path, errors);
    qualified_finalizers(new, path, errors);
}

/// v1.36 api/validation `ValidateObjectMetaAccessor`.
fn generate_name(
    meta: &Value,
    messages: impl Fn(&str) -> Vec<String>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let prefix = text(meta, "generateName");
    if !prefix.is_empty() {
        values::each(messages(prefix), prefix, &path.child("generateName"), errors);
    }
}

/// v1.36 api/validation `ValidateObjectMetaAccessor`.
fn name(meta: &Value, messages: impl Fn(&str) -> Vec<String>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let name = text(meta, "name");
    if name.is_empty() {
        errors.required(&path.child("name"), "name or generateName is required");
    } else {
        values::each(messages(name), name, &path.child("name"), errors);
    }
}

/// A name that can be a segment of a URL path (v1.36 content `IsPathSegmentName`).
fn path_segment_errors(name: &str) -> Vec<String> {
    if name == "." || name == ".." {
        return vec![format!("may not be '{name}'")];
    }
    path_segment_prefix_errors(name)
}

/// The first part of such a name (v1.36 content `IsPathSegmentPrefix`).
fn path_segment_prefix_errors(prefix: &str) -> Vec<String> {
    let contained = ["/", "%"].into_iter().filter(|part| prefix.contains(part));
    contained.map(|part| format!("may not contain '{part}'")).collect()
}

/// v1.36 api/validation `validateObjectMetaAccessorWithOptsCommon`, without `managedFields`, which the server writes.
fn common(meta: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let namespace = text(meta, "namespace");
    if namespace.is_empty() {
        errors.required(&path.child("namespace"), "");
    } else {
        values::each(dns_label_errors(namespace), namespace, &path.child("namespace"), errors);
    }
    errors.negative(&path.child("generation"), number(meta, "generation"));
    labels::labels(meta, "labels", &path.child("labels"), errors);
    labels::annotations(annotations(meta), &path.child("annotations"), errors);
    owners::owner_references(list(meta, "ownerReferences"), &path.child("ownerReferences"), errors);
    finalizers(meta, &path.child("finalizers"), errors);
}

/// The annotations without the template generation, which is a field of the spec inside the API server (v1.36 apps/v1
/// conversion.go).
fn annotations(meta: &Value) -> impl Iterator<Item = (&str, &str)> {
    text_entries(meta, "annotations").filter(|(key, _)| *key != TEMPLATE_GENERATION_ANNOTATION)
}

/// v1.36 api/validation `ValidateFinalizers`.
fn finalizers(meta: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    for finalizer in texts(meta, "finalizers") {
        values::each(label_key_errors(finalizer), finalizer, path, errors);
    }
    let has = |name| texts(meta, "finalizers").any(|finalizer| finalizer == name);
    if has(ORPHAN) && has(FOREGROUND) {
        let detail = format!("finalizer {ORPHAN} and {FOREGROUND} cannot be both set");
        errors.invalid(path, go_list(meta, "finalizers"), detail);
    }
}

/// v1.36 core/validation `validateKubeFinalizerName`.
fn qualified_finalizers(meta: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    for (position, finalizer) in texts(meta, "finalizers").enumerate() {
        if !finalizer.contains('/') && !["kubernetes", ORPHAN, FOREGROUND].contains(&finalizer) {
            let detail = "name is neither a standard finalizer name nor is it fully qualified";
            errors.invalid(&path.child("finalizers").index(position), finalizer, detail);
        }
    }
}

/// v1.36 api/validation `ValidateNoNewFinalizers`.
fn no_new_finalizers(old: &Value, new: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let old_ones: BTreeSet<&str> = texts(old, "finalizers").collect();
    let new_ones: BTreeSet<&str> = texts(new, "finalizers").filter(|name| !old_ones.contains(name)).collect();
    if member(old, "deletionTimestamp").is_some() && !new_ones.is_empty() {
        let list: Vec<String> = new_ones.into_iter().map(quoted).collect();
        let detail = format!(
            "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
            list.join(", ")
        );
        errors.forbidden(&path.child("finalizers"), &detail);
    }
}

/// Immutable fields, and how Go prints each if it is absent (v1.36 api/validation
/// `ValidateObjectMetaAccessorUpdate`).
const IMMUTABLE: [(&str, Value); 6] = [
    ("name", Value::String(String::new())),
    ("namespace", Value::String(String::new())),
    ("uid", Value::String(String::new())),
    ("creationTimestamp", Value::Null),
    ("deletionTimestamp", Value::Null),
    ("deletionGracePeriodSeconds", Value::Null),
];

fn immutable(old: &Value, new: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    for (field, absent) in &IMMUTABLE {
        let value = |meta| member(meta, field).unwrap_or(absent);
        if value(old) == value(new) {
            continue;
        }
        let printed = match value(new) {
            // The other immutable strings have a Go type of their own, which prints as JSON.
            Value::String(text) if matches!(*field, "name" | "namespace") => GoValue::from(text.as_str()),
            other => GoValue::json(other),
        };
        errors.invalid(&path.child(field), printed, "field is immutable");
    }
}

fn go_list(meta: &Value, name: &str) -> GoValue {
    member(meta, name).map_or_else(GoValue::null, GoValue::json)
}
