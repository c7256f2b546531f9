//! Regular containers of a pod.

use super::{common, lifecycle, ports, probes, restart};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::pod::{Pod, Volumes};
use crate::json::{list, text};
use serde_json::Value;
use std::collections::BTreeSet;

/// v1.36 core/validation `validateContainers`.
pub(super) fn regular_containers(
    pod: &Pod<'_>,
    volumes: &Volumes<'_>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let containers = list(pod.spec, "containers");
    if containers.is_empty() {
        return errors.required(path, "");
    }
    let mut names = BTreeSet::new();
    for (position, container) in containers.iter().enumerate() {
        let path = path.index(position);
        common::container_common(container, pod, volumes, &path, errors);
        if !names.insert(text(container, "name")) {
            errors.duplicate(&path.child("name"), text(container, "name"));
        }
        lifecycle_and_probes(container, pod, &path, errors);
        restart::policy(container, &path, errors);
    }
    ports::host_port_conflicts(containers.iter().enumerate(), path, errors);
}

/// Fields that only containers have that run as long as the pod: lifecycle hooks and probes (v1.36 core/validation
/// `validateContainers`, `validateInitContainers`).
pub(super) fn lifecycle_and_probes(
    container: &Value,
    pod: &Pod<'_>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    lifecycle::lifecycle(container, pod, path, errors);
    probes::liveness(container, pod, path, errors);
    probes::readiness(container, pod, path, errors);
    probes::startup(container, pod, path, errors);
}
