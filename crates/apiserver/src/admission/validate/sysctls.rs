//! Kernel parameters that a pod may set.

use super::pod::Pod;
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::json::{flag, list, text};
use serde_json::Value;

const MAX_LENGTH: usize = 253;
const FORM: &str = "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$";

/// v1.36 component-helpers sysctl/namespace.go: parameters of the IPC namespace.
const OF_IPC: [&str; 10] = [
    "kernel.sem",
    "kernel.shmall",
    "kernel.shmmax",
    "kernel.shmmni",
    "kernel.shm_rmid_forced",
    "kernel.shm",
    "kernel.msgmax",
    "kernel.msgmnb",
    "kernel.msgmni",
    "kernel.msg",
];

/// The sysctls of the pod's security context.
pub(super) fn in_spec<'a>(pod: &Pod<'a>) -> &'a [Value] {
    pod.security_context().map(|context| list(context, "sysctls")).unwrap_or_default()
}

/// v1.36 core/validation `validateSysctls`.
pub(super) fn sysctls(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let sysctls = in_spec(pod);
    for (position, sysctl) in sysctls.iter().enumerate() {
        let (name, path) = (text(sysctl, "name"), path.index(position));
        let path = path.child("name");
        if name.is_empty() {
            errors.required(&path, "");
        } else if !is_name(name) {
            let detail = format!("must have at most {MAX_LENGTH} characters and match regex {FORM}");
            errors.invalid(&path, name, detail);
        } else if sysctls.iter().take(position).any(|before| text(before, "name") == name) {
            errors.duplicate(&path, name);
        }
        if let Some(detail) = host_error(name, pod).filter(|_| !pod.options.allow_host_sysctls) {
            errors.invalid(&path, name, detail);
        }
    }
}

/// Parts separated by dots or slashes (v1.36 core/validation `IsValidSysctlName`).
fn is_name(name: &str) -> bool {
    let outer = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    let is_part = |part: &str| {
        let bytes = part.as_bytes();
        let inner = |b: &u8| outer(Some(b)) || matches!(b, b'-' | b'_');
        outer(bytes.first()) && outer(bytes.last()) && bytes.iter().all(inner)
    };
    name.len() <= MAX_LENGTH && name.split(['.', '/']).all(is_part)
}

/// The error if the sysctl would set a parameter of a namespace that the pod shares with its host (v1.36
/// core/validation `ValidateHostSysctl`).
pub(super) fn host_error(name: &str, pod: &Pod<'_>) -> Option<&'static str> {
    let name = with_dots(name);
    let name = name.split('*').next().unwrap_or_default();
    if OF_IPC.contains(&name) || name.starts_with("fs.mqueue.") {
        return flag(pod.spec, "hostIPC").then_some("may not be specified when 'hostIPC' is true");
    }
    let of_network = name.starts_with("net.") && pod.host_network();
    of_network.then_some("may not be specified when 'hostNetwork' is true")
}

/// `net/ipv4` is another spelling of `net.ipv4` (v1.36 component-helpers sysctl.go `NormalizeName`).
fn with_dots(name: &str) -> String {
    match name.find(['.', '/']).and_then(|first| name.as_bytes().get(first)) {
        Some(b'/') => {
            let swapped = |c| match c {
                '/' => '.',
                '.' => '/',
                c => c,
            };
            name.chars().map(swapped).collect()
        }
        _ => name.to_owned(),
    }
}
