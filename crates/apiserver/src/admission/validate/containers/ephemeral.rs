//! Ephemeral containers. No template may have one, but the API server reports the other errors of each, too.

use super::common;
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::pod::{Pod, Volumes};
use crate::json::{list, member, text};
use serde_json::Value;
use std::collections::BTreeSet;

/// Forbidden fields, in the order of Go's struct (v1.36 core/validation `allowedEphemeralContainerFields`).
const NEVER: [&str; 9] = [
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
];
const REFUSED: &str = "cannot be set for an Ephemeral Container";

/// v1.36 core/validation `validateEphemeralContainers`.
pub(super) fn ephemeral_containers(
    pod: &Pod<'_>,
    volumes: &Volumes<'_>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let others = ["containers", "initContainers"].into_iter().flat_map(|field| list(pod.spec, field));
    let others: BTreeSet<&str> = others.map(|container| text(container, "name")).collect();
    let mut names = others.clone();
    for (position, container) in list(pod.spec, "ephemeralContainers").iter().enumerate() {
        let path = path.index(position);
        common::container_common(container, pod, volumes, &path, errors);
        image(container, &path, errors);
        if !names.insert(text(container, "name")) {
            errors.duplicate(&path.child("name"), text(container, "name"));
        }
        target(container, &others, &path, errors);
        for field in NEVER {
            if is_set(container, field) {
                errors.forbidden(&path.child(field), REFUSED);
            }
        }
        mounts(container, &path, errors);
    }
}

/// v1.36 core/validation `validateContainerOnlyForPod`.
fn image(container: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let image = text(container, "image");
    if image != image.trim() {
        errors.invalid(&path.child("image"), image, "must not have leading or trailing whitespace");
    }
}

/// The target must be a regular or an init container.
fn target(container: &Value, others: &BTreeSet<&str>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let target = text(container, "targetContainerName");
    if !target.is_empty() && !others.contains(target) {
        errors.not_found(&path.child("targetContainerName"), target, "");
    }
}

/// Go's `resources` is a struct, so it counts as set only if it has a member; every other field counts if it is there
/// (v1.36 core/validation `validateFieldAllowList`).
fn is_set(container: &Value, field: &str) -> bool {
    let lists = ["limits", "requests", "claims"];
    match member(container, field) {
        Some(resources) if field == "resources" => lists.iter().any(|list| member(resources, list).is_some()),
        Some(_) => true,
        None => false,
    }
}

/// A subpath would stay on the node until the pod ends.
fn mounts(container: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let mounts = path.child("volumeMounts");
    for (position, mount) in list(container, "volumeMounts").iter().enumerate() {
        for field in ["subPath", "subPathExpr"] {
            if !text(mount, field).is_empty() {
                errors.forbidden(&mounts.index(position).child(field), REFUSED);
            }
        }
    }
}
