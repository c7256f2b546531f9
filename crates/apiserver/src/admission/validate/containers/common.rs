//! Rules for every container, in the API server's order.

use super::resource_names::Names;
use super::{devices, env, mounts, ports, resources, security};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::pod::{Pod, Volumes};
use crate::admission::validate::values;
use crate::go::GoValue;
use crate::json::{list, text};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// v1.36 core/validation `validateContainerCommon`.
pub(super) fn container_common(
    container: &Value,
    pod: &Pod<'_>,
    volumes: &Volumes<'_>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    name(container, path, errors);
    values::required(text(container, "image"), &path.child("image"), errors);
    termination_message_policy(container, path, errors);
    ports::container_ports(container, path, errors);
    env::env(container, path, errors);
    env::env_from(container, path, errors);
    mounts::volume_mounts(container, volumes, path, errors);
    devices::volume_devices(container, volumes, path, errors);
    values::pull_policy(text(container, "imagePullPolicy"), &path.child("imagePullPolicy"), errors);
    let (empty, at) = (json!({}), path.child("resources"));
    let requirements = container.get("resources").unwrap_or(&empty);
    resources::resource_requirements(requirements, Names::Container, pod, &at, errors);
    resize_policy(container, pod, path, errors);
    security::security_context(container, pod, path, errors);
}

fn name(container: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let (name, path) = (text(container, "name"), path.child("name"));
    if name.is_empty() {
        errors.required(&path, "");
    } else {
        values::dns_label(name, &path, errors);
    }
}

fn termination_message_policy(container: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let supported = ["File", "FallbackToLogsOnError"];
    let (policy, path) =
        (text(container, "terminationMessagePolicy"), path.child("terminationMessagePolicy"));
    values::one_of(policy, &supported, &path, errors);
}

/// Most errors name the list, not the item (v1.36 core/validation `validateResizePolicy`).
fn resize_policy(container: &Value, pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let (path, mut named) = (path.child("resizePolicy"), BTreeSet::new());
    for (position, policy) in list(container, "resizePolicy").iter().enumerate() {
        let (resource, restart) = (text(policy, "resourceName"), text(policy, "restartPolicy"));
        if !named.insert(resource) {
            errors.duplicate(&path.index(position), GoValue::named(resource));
        }
        values::one_of(resource, &["cpu", "memory"], &path, errors);
        values::one_of(restart, &["NotRequired", "RestartContainer"], &path, errors);
        if text(pod.spec, "restartPolicy") == "Never" && restart != "NotRequired" {
            let detail = "must be 'NotRequired' when pod `restartPolicy` is 'Never'";
            errors.invalid(&path, GoValue::named(restart), detail);
        }
    }
}
