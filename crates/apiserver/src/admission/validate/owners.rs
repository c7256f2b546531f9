//! Owner references.

use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::go::GoValue;
use crate::json::{flag, member, text};
use serde_json::Value;

/// v1.37 api/validation `ValidateOwnerReferences`.
pub(super) fn owner_references(references: &[Value], path: &FieldPath<'_>, errors: &mut ErrorList) {
    let mut controller: Option<String> = None;
    for (position, reference) in references.iter().enumerate() {
        owner(reference, &path.index(position), errors);
        if !flag(reference, "controller") {
            continue;
        }
        let this = format!("{}/{}", text(reference, "kind"), text(reference, "name"));
        match &controller {
            Some(first) => {
                let detail = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {first} and {this}"
                );
                errors.invalid(path, GoValue::list(references.iter().map(printed)), detail);
            }
            None => controller = Some(this),
        }
    }
}

/// v1.37 api/validation `validateOwnerReference`; an event can't own an object.
fn owner(reference: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let api_version = text(reference, "apiVersion");
    if !api_version.is_empty() && version(api_version).is_empty() {
        errors.invalid(&path.child("apiVersion"), api_version, "must be <group>/<version> or <version>");
    }
    for name in ["apiVersion", "kind", "name", "uid"] {
        if text(reference, name).is_empty() {
            errors.required(&path.child(name), "must not be empty");
        }
    }
    let core = matches!(api_version, "v1" | "/v1");
    if core && text(reference, "kind") == "Event" {
        errors.invalid(path, printed(reference), "/v1, Kind=Event is disallowed from being an owner");
    }
}

/// The version part of an `apiVersion`; empty if it has more than one slash (v1.36 `schema.ParseGroupVersion`).
fn version(api_version: &str) -> &str {
    match api_version.split_once('/') {
        Some((_, version)) if version.contains('/') => "",
        Some((_, version)) => version,
        None => api_version,
    }
}

fn printed(reference: &Value) -> GoValue {
    let texts = ["apiVersion", "kind", "name", "uid"];
    let texts = texts.map(|name| (name, GoValue::named(text(reference, name))));
    let flags = ["controller", "blockOwnerDeletion"].into_iter();
    let flags = flags.filter_map(|name| Some((name, GoValue::json(member(reference, name)?))));
    GoValue::record(texts.into_iter().chain(flags))
}
