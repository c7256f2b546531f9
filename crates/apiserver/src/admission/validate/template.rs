//! What a pod template must be: its labels and annotations, its spec, and both together.

use super::kept::Kept;
use super::pod::Pod;
use super::{annotations, labels, pod_spec};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::fields::list;
use serde_json::Value;

/// v1.36 core/validation `ValidatePodTemplateSpec`. Labels and annotations are told at the template itself, without
/// `metadata` before them.
pub(super) fn validate(template: &Value, kept: Kept, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let meta = template.get("metadata").unwrap_or(&Value::Null);
    let pod = Pod::new(template.get("spec").unwrap_or(&Value::Null), kept);
    labels::labels(meta, "labels", &path.child("labels"), errors);
    annotations::validate(meta, &pod, &path.child("annotations"), errors);
    let spec = path.child("spec");
    pod_spec::validate(&pod, &spec, errors);
    annotations::seccomp_agrees(meta, &pod, &spec, errors);
    annotations::app_armor_agrees(meta, &pod, &spec, errors);
    if !list(pod.spec, "ephemeralContainers").is_empty() {
        let detail = "ephemeral containers not allowed in pod template";
        errors.forbidden(&spec.child("ephemeralContainers"), detail);
    }
}
