//! Security context of a container.

use super::{profiles, windows};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::pod::Pod;
use crate::go::GoValue;
use crate::json::{flag, member, number, text, text_if_set, texts};
use crate::syntax;
use serde_json::Value;

/// Privileged containers are allowed, as by a kube-apiserver with `--allow-privileged` (v1.36 core/validation
/// `ValidateSecurityContext`).
pub(super) fn security_context(
    container: &Value,
    pod: &Pod<'_>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let Some(context) = member(container, "securityContext") else { return };
    let path = path.child("securityContext");
    for field in ["runAsUser", "runAsGroup"] {
        let id = number(context, field);
        if let Some(message) = syntax::out_of_range_error(id, 0, i64::from(i32::MAX)) {
            errors.invalid(&path.child(field), id, message);
        }
    }
    proc_mount(context, pod, &path.child("procMount"), errors);
    profiles::seccomp(context, &path, errors);
    escalation(context, pod, &path, errors);
    windows::options(context, &path, errors);
    profiles::app_armor(context, &path, errors);
}

/// v1.36 core/validation `ValidateProcMountType`.
fn proc_mount(context: &Value, pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    match text_if_set(context, "procMount") {
        None | Some("Default") => {}
        Some("Unmasked") => {
            if pod.host_users() {
                let detail = "`hostUsers` must be false to use `Unmasked`";
                errors.invalid(path, GoValue::named("Unmasked"), detail);
            }
        }
        Some(other) => errors.not_supported(path, GoValue::named(other), &["Default", "Unmasked"]),
    }
}

/// A process that may not gain privileges can't be privileged. A stored template may keep the capability.
fn escalation(context: &Value, pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if context.get("allowPrivilegeEscalation") != Some(&Value::Bool(false)) {
        return;
    }
    if flag(context, "privileged") {
        let detail = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true";
        errors.invalid(path, printed(context), detail);
    }
    if pod.options.allow_sys_admin_without_escalation {
        return;
    }
    let capabilities = member(context, "capabilities").into_iter().flat_map(|all| texts(all, "add"));
    for _ in capabilities.filter(|capability| *capability == "CAP_SYS_ADMIN") {
        let detail = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN";
        errors.invalid(path, printed(context), detail);
    }
}

/// The security context as Go prints it: every field, under its Go name.
fn printed(context: &Value) -> GoValue {
    let plain = |field| member(context, field).map_or_else(GoValue::null, GoValue::json);
    let part = |field, print: fn(&Value) -> GoValue| member(context, field).map_or_else(GoValue::null, print);
    GoValue::record([
        ("Capabilities", part("capabilities", printed_capabilities)),
        ("Privileged", plain("privileged")),
        ("SELinuxOptions", part("seLinuxOptions", printed_se_linux)),
        ("WindowsOptions", part("windowsOptions", windows::printed)),
        ("RunAsUser", plain("runAsUser")),
        ("RunAsGroup", plain("runAsGroup")),
        ("RunAsNonRoot", plain("runAsNonRoot")),
        ("ReadOnlyRootFilesystem", plain("readOnlyRootFilesystem")),
        ("AllowPrivilegeEscalation", plain("allowPrivilegeEscalation")),
        ("ProcMount", plain("procMount")),
        ("SeccompProfile", part("seccompProfile", profiles::printed)),
        ("AppArmorProfile", part("appArmorProfile", profiles::printed)),
    ])
}

fn printed_capabilities(capabilities: &Value) -> GoValue {
    let list = |field| member(capabilities, field).map_or_else(GoValue::null, GoValue::json);
    GoValue::record([("Add", list("add")), ("Drop", list("drop"))])
}

fn printed_se_linux(options: &Value) -> GoValue {
    let part = |field| GoValue::named(text(options, field));
    GoValue::record([
        ("User", part("user")),
        ("Role", part("role")),
        ("Type", part("type")),
        ("Level", part("level")),
    ])
}
