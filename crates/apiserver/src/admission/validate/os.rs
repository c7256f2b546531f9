//! Fields that a pod may set only on some operating systems.

use super::pod::Pod;
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::go::GoValue;
use crate::json::{flag, list, member};
use serde_json::Value;

/// Fields that a Windows pod can't have, in the order of v1.37 core/validation `validateWindows`.
const NOT_ON_WINDOWS: [(ContextHolder, &str); 15] = [
    (ContextHolder::SecurityContext, "appArmorProfile"),
    (ContextHolder::SecurityContext, "seLinuxOptions"),
    (ContextHolder::SecurityContext, "seccompProfile"),
    (ContextHolder::SecurityContext, "fsGroup"),
    (ContextHolder::SecurityContext, "fsGroupChangePolicy"),
    (ContextHolder::SecurityContext, "sysctls"),
    (ContextHolder::SecurityContext, "runAsUser"),
    (ContextHolder::SecurityContext, "runAsGroup"),
    (ContextHolder::SecurityContext, "supplementalGroups"),
    (ContextHolder::SecurityContext, "supplementalGroupsPolicy"),
    (ContextHolder::SecurityContext, "seLinuxChangePolicy"),
    (ContextHolder::Spec, "hostUsers"),
    (ContextHolder::Spec, "hostPID"),
    (ContextHolder::Spec, "hostIPC"),
    (ContextHolder::Spec, "shareProcessNamespace"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ContextHolder {
    Spec,
    SecurityContext,
}

/// Fields that the security context of a Windows container can't have.
const NOT_IN_WINDOWS_CONTAINERS: [&str; 10] = [
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
];

/// `path` is the spec's (v1.36 core/validation `validateOS`).
pub(super) fn os(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    match pod.os() {
        None => {}
        Some("") => errors.required(&path.child("os").child("name"), ""),
        Some("linux") => linux(pod, path, errors),
        Some("windows") => windows(pod, path, errors),
        Some(other) => errors.not_supported(&path.child("os"), GoValue::named(other), &["linux", "windows"]),
    }
}

/// v1.36 core/validation `validateLinux`.
fn linux(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let detail = "windows options cannot be set for a linux pod";
    if pod.security_context().is_some_and(|context| member(context, "windowsOptions").is_some()) {
        errors.forbidden(&path.child("securityContext").child("windowsOptions"), detail);
    }
    for container in pod.containers() {
        let context = member(container.value, "securityContext");
        if context.is_some_and(|context| member(context, "windowsOptions").is_some()) {
            let list = path.child(container.list);
            let at = list.index(container.position);
            errors.forbidden(&at.child("securityContext").child("windowsOptions"), detail);
        }
    }
}

/// v1.36 core/validation `validateWindows`.
fn windows(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let detail = "cannot be set for a windows pod";
    let context = pod.security_context().unwrap_or(&Value::Null);
    let inside = path.child("securityContext");
    for (holder, field) in NOT_ON_WINDOWS {
        let (value, path) = match holder {
            ContextHolder::Spec => (pod.spec, path),
            ContextHolder::SecurityContext => (context, &inside),
        };
        if is_set(value, field) {
            errors.forbidden(&path.child(field), detail);
        }
    }
    for container in pod.containers() {
        let Some(context) = member(container.value, "securityContext") else { continue };
        let list = path.child(container.list);
        let at = list.index(container.position);
        let at = at.child("securityContext");
        for field in NOT_IN_WINDOWS_CONTAINERS {
            if member(context, field).is_some() {
                errors.forbidden(&at.child(field), detail);
            }
        }
    }
}

/// `hostPID` and `hostIPC` are plain bools in Go, and a list counts as set if it has items.
fn is_set(holder: &Value, field: &str) -> bool {
    match field {
        "hostPID" | "hostIPC" => flag(holder, field),
        "sysctls" => !list(holder, field).is_empty(),
        _ => member(holder, field).is_some(),
    }
}

/// Windows HostProcess containers: all containers of a pod, or no container, and only on the host's network (v1.36
/// core/validation `validateWindowsHostProcessPod`, for a server with `--allow-privileged`).
pub(super) fn host_process(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let of_pod = host_process_of(pod.spec);
    let (mut all, mut on_host) = (0_usize, 0_usize);
    for container in pod.containers() {
        let own = host_process_of(container.value);
        if let (Some(pod), Some(own)) = (of_pod, own) {
            if pod != own {
                let detail =
                    format!("pod hostProcess value must be identical if both are specified, was {pod}");
                let list = path.child(container.list);
                let at = list.index(container.position);
                let at = at.child("securityContext");
                errors.invalid(&at.child("windowsOptions").child("hostProcess"), own, detail);
            }
        }
        all += 1;
        on_host += usize::from(own.or(of_pod).unwrap_or(false));
    }
    if on_host == 0 {
        return;
    }
    if on_host != all {
        let detail =
            "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        errors.invalid(path, "", detail);
    }
    if !pod.host_network() {
        let detail = "hostNetwork must be true if pod contains any hostProcess containers";
        errors.invalid(&path.child("hostNetwork"), false, detail);
    }
}

fn host_process_of(holder: &Value) -> Option<bool> {
    let options = holder.get("securityContext")?.get("windowsOptions")?;
    options.get("hostProcess").and_then(Value::as_bool)
}
