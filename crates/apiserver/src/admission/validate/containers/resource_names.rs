//! Names of resources that a container or a pod may request.

use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::go::GoValue;
use crate::syntax;
use daemonset_objects::kubernetes::names::is_label_key;

/// The holder of resource requirements; it decides which names are allowed.
#[derive(Debug, Clone, Copy)]
pub(in crate::admission::validate) enum Names {
    /// A container, or the overhead of a pod.
    Container,
    /// A pod as a whole.
    Pod,
}

/// v1.36 core/helper `standardContainerResources`.
const OF_CONTAINERS: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];

/// v1.36 core/helper `standardResources`, except for [`OF_CONTAINERS`].
const STANDARD: [&str; 17] = [
    "requests.cpu",
    "requests.memory",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "storage",
    "requests.storage",
    "services.nodeports",
    "services.loadbalancers",
];

/// v1.36 core/helper `integerResources`.
const INTEGER_RESOURCES: [&str; 9] = [
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

pub(super) fn resource_name(name: &str, names: Names, path: &FieldPath<'_>, errors: &mut ErrorList) {
    match names {
        Names::Container => of_container(name, path, errors),
        Names::Pod => of_pod(name, path, errors),
    }
}

/// v1.36 core/validation `validateContainerResourceName`.
fn of_container(name: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    for message in messages(name) {
        errors.invalid(path, GoValue::named(name), message);
    }
    if !name.contains('/') {
        if !OF_CONTAINERS.contains(&name) && !is_huge_pages(name) {
            errors.invalid(path, GoValue::named(name), "must be a standard resource for containers");
        }
    } else if !is_native(name) && !is_extended(name) {
        errors.invalid(path, GoValue::named(name), "doesn't follow extended resource name standard");
    }
}

/// v1.36 core/validation `validatePodResourceName`.
fn of_pod(name: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let messages = messages(name);
    if messages.is_empty() && !["cpu", "memory"].contains(&name) && !is_huge_pages(name) {
        errors.not_supported(path, GoValue::named(name), &["cpu", "hugepages-", "memory"]);
    }
    for message in messages {
        errors.invalid(path, GoValue::named(name), message);
    }
}

/// v1.36 core/validation `validateResourceName`.
fn messages(name: &str) -> Vec<String> {
    let mut messages = syntax::label_key_errors(name);
    let huge = is_huge_pages(name) || name.starts_with("requests.hugepages-");
    let standard = huge || OF_CONTAINERS.contains(&name) || STANDARD.contains(&name);
    if messages.is_empty() && !name.contains('/') && !standard {
        messages.push("must be a standard resource type or fully qualified".to_owned());
    }
    messages
}

/// Huge pages of some size (v1.36 core/helper `IsHugePageResourceName`).
pub(super) fn is_huge_pages(name: &str) -> bool {
    name.starts_with("hugepages-")
}

/// A resource of Kubernetes itself (v1.36 core/helper `IsNativeResource`).
fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// A resource of another vendor (v1.36 core/helper `IsExtendedResourceName`).
fn is_extended(name: &str) -> bool {
    let in_quota = || format!("requests.{name}");
    !is_native(name) && !name.starts_with("requests.") && is_label_key(&in_quota())
}

/// Whether a limit may exceed the request (v1.36 core/helper `IsOvercommitAllowed`).
pub(super) fn may_overcommit(name: &str) -> bool {
    is_native(name) && !is_huge_pages(name)
}

/// Whether only whole numbers are valid (v1.36 core/helper `IsIntegerResourceName`).
pub(super) fn is_integer_resource(name: &str) -> bool {
    INTEGER_RESOURCES.contains(&name) || is_extended(name)
}
