//! Rules for pods that share namespaces with their host.

use super::pod::Pod;
use super::values;
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::json::{flag, list, number, text_if_set};

const MAX_HOSTNAME_LENGTH: usize = 64;

/// On the host's network the host port is the container port (v1.36 core/validation `validatePodHostNetworkDeps`).
pub(super) fn ports_of_host_network(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if !pod.host_network() {
        return;
    }
    for (position, container) in list(pod.spec, "containers").iter().enumerate() {
        for (port, entry) in list(container, "ports").iter().enumerate() {
            let on_host = number(entry, "hostPort");
            if on_host != 0 && on_host != number(entry, "containerPort") {
                let containers = path.child("containers");
                let ports = containers.index(position);
                let detail = "must match `containerPort` when `hostNetwork` is true";
                errors.invalid(&ports.child("ports").index(port).child("hostPort"), on_host, detail);
            }
        }
    }
}

/// A user namespace excludes the host's other namespaces. Upstream reports two of the fields with a capital letter
/// (v1.36 core/validation `validateHostUsers`).
pub(super) fn users(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let detail = "when `hostUsers` is false";
    if pod.host_users() {
        return;
    }
    if pod.host_network() && !pod.options.allow_host_users_false_on_host_network {
        errors.forbidden(&path.child("hostNetwork"), detail);
    }
    for (field, reported_as) in [("hostPID", "HostPID"), ("hostIPC", "HostIPC")] {
        if flag(pod.spec, field) {
            errors.forbidden(&path.child(reported_as), detail);
        }
    }
    let with_devices = |value| !list(value, "volumeDevices").is_empty();
    for container in pod.containers().filter(|container| with_devices(container.value)) {
        if !pod.options.allow_host_users_false_with_devices {
            let list = path.child(container.list);
            errors.forbidden(&list.index(container.position).child("volumeDevices"), detail);
        }
    }
}

/// v1.36 core/validation `validatePodHostName`.
pub(super) fn name_override(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let Some(name) = text_if_set(pod.spec, "hostnameOverride") else { return };
    if flag(pod.spec, "setHostnameAsFQDN") {
        errors.forbidden(path, "may not be specified when setHostnameAsFQDN is true");
    }
    if pod.host_network() {
        errors.forbidden(path, "may not be specified when hostNetwork is true");
    }
    if name.len() > MAX_HOSTNAME_LENGTH {
        errors.too_long(path, MAX_HOSTNAME_LENGTH);
    }
    values::dns_subdomain(name, path, errors);
}
