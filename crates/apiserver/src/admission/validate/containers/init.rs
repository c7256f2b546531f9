//! Init containers of a pod, including sidecars.

use super::{common, ports, regular, restart};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::pod::{Pod, Volumes};
use crate::go::GoValue;
use crate::json::{list, member, text, text_if_set};
use serde_json::Value;
use std::collections::BTreeSet;

/// v1.36 core/validation `validateInitContainers`.
pub(super) fn init_containers(
    pod: &Pod<'_>,
    volumes: &Volumes<'_>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let mut names: BTreeSet<&str> = list(pod.spec, "containers").iter().map(|c| text(c, "name")).collect();
    for (position, container) in list(pod.spec, "initContainers").iter().enumerate() {
        let at = path.index(position);
        common::container_common(container, pod, volumes, &at, errors);
        restart::init_policy(container, &at, errors);
        name(container, &mut names, &at, errors);
        // Upstream reports the ports of every init container at index 0.
        ports::host_port_conflicts([(0, container)], path, errors);
        if is_sidecar(container) {
            regular::lifecycle_and_probes(container, pod, &at, errors);
        } else {
            no_lifecycle_nor_probes(container, &at, errors);
            resize(container, pod, &at, errors);
        }
    }
}

/// An init container with restartPolicy Always: a sidecar (v1.36 core/validation `isRestartableInitContainer`).
fn is_sidecar(container: &Value) -> bool {
    text_if_set(container, "restartPolicy") == Some("Always")
}

/// The name must be unique among init and regular containers. Several containers without a name have one error, for
/// the missing name.
fn name<'a>(
    container: &'a Value,
    names: &mut BTreeSet<&'a str>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let name = text(container, "name");
    if names.contains(name) {
        errors.duplicate(&path.child("name"), name);
    } else if !name.is_empty() {
        names.insert(name);
    }
}

/// A container that runs to completion has neither probes nor lifecycle hooks.
fn no_lifecycle_nor_probes(container: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    for field in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
        if member(container, field).is_some() {
            let detail = "may not be set for init containers without restartPolicy=Always";
            errors.forbidden(&path.child(field), detail);
        }
    }
}

/// A container that runs to completion is not restarted to resize it. A stored template may keep such a policy.
fn resize(container: &Value, pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if pod.options.allow_restart_of_ending_init {
        return;
    }
    for (position, policy) in list(container, "resizePolicy").iter().enumerate() {
        if text(policy, "restartPolicy") == "RestartContainer" {
            let (policies, restart) = (path.child("resizePolicy"), GoValue::named("RestartContainer"));
            let detail = "must not be set to 'RestartContainer' for non-sidecar initContainers";
            errors.invalid(&policies.index(position).child("restartPolicy"), restart, detail);
        }
    }
}
