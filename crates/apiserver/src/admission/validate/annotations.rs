//! Annotations of a pod template that Kubernetes itself reads.

use super::pod::Pod;
use super::{labels, tolerations, values};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::go::quoted;
use crate::json::{member, text, text_entries, text_if_set};
use crate::syntax::descending_path_errors;
use serde_json::Value;

const MIRROR: &str = "kubernetes.io/config.mirror";
const TOLERATIONS: &str = "scheduler.alpha.kubernetes.io/tolerations";
pub(super) const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";
const RUNTIME_DEFAULT: &str = "runtime/default";
const DOCKER_DEFAULT: &str = "docker/default";
const UNCONFINED: &str = "unconfined";
const LOCALHOST: &str = "localhost/";
const SECCOMP_OF_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_OF_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";
const APP_ARMOR_OF_CONTAINER: &str = "container.apparmor.security.beta.kubernetes.io/";

/// The rules for all annotations, then those for single ones (v1.36 core/validation `ValidateAnnotations`,
/// `ValidatePodSpecificAnnotations`).
pub(super) fn pod_annotations(meta: &Value, pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    labels::annotations(text_entries(meta, "annotations"), path, errors);
    mirror_has_node(meta, pod, path, errors);
    tolerations(meta, pod, path, errors);
    deletion_cost(meta, pod, path, errors);
    seccomp(meta, path, errors);
    app_armor(meta, pod, path, errors);
}

fn annotation<'a>(meta: &'a Value, key: &str) -> Option<&'a str> {
    meta.get("annotations").and_then(|annotations| text_if_set(annotations, key))
}

/// Only a kubelet creates mirror pods, and it knows its node.
fn mirror_has_node(meta: &Value, pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let Some(mirror) = annotation(meta, MIRROR) else { return };
    if text(pod.spec, "nodeName").is_empty() {
        let detail = "must set spec.nodeName if mirror pod annotation is set";
        errors.invalid(&path.key(MIRROR), mirror, detail);
    }
}

/// v1.36 core/validation `ValidateTolerationsInPodAnnotations`. The error for an annotation that can't be decoded is
/// in this library's words.
fn tolerations(meta: &Value, pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let text = annotation(meta, TOLERATIONS).unwrap_or_default();
    if text.is_empty() {
        return;
    }
    match serde_json::from_str::<Option<Vec<Value>>>(text) {
        Ok(list) => {
            let list: Vec<Value> = list.unwrap_or_default().iter().map(tolerations::from_any_case).collect();
            tolerations::tolerations(&list, pod.options, &path.child(TOLERATIONS), errors);
        }
        Err(error) => errors.invalid(path, TOLERATIONS, error.to_string()),
    }
}

fn deletion_cost(meta: &Value, pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if pod.options.allow_invalid_deletion_cost {
        return;
    }
    if let Some(cost) = annotation(meta, DELETION_COST).filter(|cost| !is_deletion_cost(cost)) {
        errors.invalid(&path.key(DELETION_COST), cost, "must be a 32bit integer");
    }
}

/// No plus sign and no leading zero (v1.36 core/helper `GetDeletionCostFromPodAnnotations`).
pub(super) fn is_deletion_cost(text: &str) -> bool {
    let starts = text == "0" || text.starts_with(|c: char| c == '-' || ('1'..='9').contains(&c));
    starts && text.parse::<i32>().is_ok()
}

/// v1.36 core/validation `ValidateSeccompPodAnnotations`.
fn seccomp(meta: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if let Some(profile) = annotation(meta, SECCOMP_OF_POD) {
        seccomp_profile(profile, &path.child(SECCOMP_OF_POD), errors);
    }
    for (key, profile) in text_entries(meta, "annotations") {
        if key.starts_with(SECCOMP_OF_CONTAINER) {
            seccomp_profile(profile, &path.child(key), errors);
        }
    }
}

/// v1.36 core/validation `ValidateSeccompProfile`.
fn seccomp_profile(profile: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    match profile.strip_prefix(LOCALHOST) {
        Some(file) => values::each(descending_path_errors(file), file, path, errors),
        None if matches!(profile, RUNTIME_DEFAULT | DOCKER_DEFAULT | UNCONFINED) => {}
        None => errors.invalid(path, profile, "must be a valid seccomp profile"),
    }
}

/// v1.36 core/validation `ValidateAppArmorPodAnnotations`.
fn app_armor(meta: &Value, pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    for (key, profile) in text_entries(meta, "annotations") {
        let Some(container) = key.strip_prefix(APP_ARMOR_OF_CONTAINER) else { continue };
        if !pod.containers().any(|known| text(known.value, "name") == container) {
            errors.invalid(&path.key(key), container, "container not found");
        }
        let known = matches!(profile, "" | RUNTIME_DEFAULT | UNCONFINED) || profile.starts_with(LOCALHOST);
        if !known {
            let detail = format!("invalid AppArmor profile name: {}", quoted(profile));
            errors.invalid(&path.key(key), profile, detail);
        }
    }
}

/// An annotation and a field for the same setting must agree (v1.36 core/validation
/// `validateSeccompAnnotationsAndFields`).
pub(super) fn seccomp_annotations_and_fields(
    meta: &Value,
    pod: &Pod<'_>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let of = |holder: &'_ Value| {
        member(holder, "securityContext").and_then(|context| member(context, "seccompProfile")).cloned()
    };
    if let (Some(profile), Some(annotation)) = (of(pod.spec), annotation(meta, SECCOMP_OF_POD)) {
        let context = path.child("securityContext");
        annotation_and_field("seccomp", &profile, annotation, &context.child("seccompProfile"), errors);
    }
    for container in pod.containers() {
        let key = format!("{SECCOMP_OF_CONTAINER}{}", text(container.value, "name"));
        if let (Some(profile), Some(annotation)) = (of(container.value), annotation(meta, &key)) {
            let (list, context) = (path.child(container.list), "securityContext");
            let path = list.index(container.position);
            annotation_and_field(
                "seccomp",
                &profile,
                annotation,
                &path.child(context).child("seccompProfile"),
                errors,
            );
        }
    }
}

/// A container without a profile has the pod's (v1.36 core/validation
/// `validateAppArmorAnnotationsAndFieldsMatchOnCreate`).
pub(super) fn app_armor_annotations_and_fields(
    meta: &Value,
    pod: &Pod<'_>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    if pod.os() == Some("windows") {
        return;
    }
    let of =
        |context: Option<&'_ Value>| context.and_then(|context| member(context, "appArmorProfile")).cloned();
    let of_pod = of(pod.security_context());
    for container in pod.containers() {
        let profile = of(member(container.value, "securityContext")).or_else(|| of_pod.clone());
        let key = format!("{APP_ARMOR_OF_CONTAINER}{}", text(container.value, "name"));
        if let (Some(profile), Some(annotation)) = (profile, annotation(meta, &key)) {
            let (list, context) = (path.child(container.list), "securityContext");
            let path = list.index(container.position);
            annotation_and_field(
                "apparmor",
                &profile,
                annotation,
                &path.child(context).child("appArmorProfile"),
                errors,
            );
        }
    }
}

/// v1.36 core/validation `validateSeccompAnnotationsAndFieldsMatch`.
fn annotation_and_field(
    kind: &str,
    profile: &Value,
    annotation: &str,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let docker = kind == "seccomp" && annotation == DOCKER_DEFAULT;
    let same_type = match text(profile, "type") {
        "Unconfined" => annotation == UNCONFINED,
        "RuntimeDefault" => annotation == RUNTIME_DEFAULT || docker,
        "Localhost" => annotation.starts_with(LOCALHOST),
        _ => true,
    };
    if !same_type {
        let detail = format!("{kind} type in annotation and field must match");
        return errors.forbidden(&path.child("type"), &detail);
    }
    let file = text_if_set(profile, "localhostProfile");
    if text(profile, "type") == "Localhost" && file != annotation.strip_prefix(LOCALHOST) {
        let detail = format!("{kind} profile in annotation and field must match");
        errors.forbidden(&path.child("localhostProfile"), &detail);
    }
}
