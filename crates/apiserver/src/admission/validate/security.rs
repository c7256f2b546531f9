//! What a pod's security context must be.

use super::containers::{profiles, windows};
use super::pod::Pod;
use super::sysctls;
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::fields::{flag, list, number_if_set, text_if_set};
use crate::go::GoValue;
use crate::syntax::outside;
use serde_json::Value;

/// v1.36 core/validation `validatePodSpecSecurityContext`.
pub(super) fn validate(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let context = pod.security_context().unwrap_or(&Value::Null);
    for field in ["fsGroup", "runAsUser", "runAsGroup"] {
        if let Some(id) = number_if_set(context, field) {
            user_or_group(id, &path.child(field), errors);
        }
    }
    for (position, group) in list(context, "supplementalGroups").iter().enumerate() {
        let path = path.child("supplementalGroups");
        user_or_group(group.as_i64().unwrap_or(0), &path.index(position), errors);
    }
    one_process_namespace(pod, &path.child("shareProcessNamespace"), errors);
    sysctls::validate(pod, &path.child("sysctls"), errors);
    one_of(context, "fsGroupChangePolicy", &["Always", "OnRootMismatch"], path, errors);
    profiles::seccomp(context, path, errors);
    windows::options(context, path, errors);
    profiles::app_armor(context, path, errors);
    one_of(context, "supplementalGroupsPolicy", &["Merge", "Strict"], path, errors);
    let stored = pod.kept.se_linux_change_policy;
    let known: &[&str] = if stored { &["MountOption", "Recursive"] } else { &["Recursive"] };
    one_of(context, "seLinuxChangePolicy", known, path, errors);
}

/// v1.36 util/validation `IsValidUserID`, `IsValidGroupID`.
fn user_or_group(id: i64, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if let Some(fault) = outside(id, 0, i64::from(i32::MAX)) {
        errors.invalid(path, id, fault);
    }
}

/// The field is told below the security context, as upstream tells it.
fn one_process_namespace(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if flag(pod.spec, "shareProcessNamespace") && flag(pod.spec, "hostPID") {
        errors.invalid(path, true, "ShareProcessNamespace and HostPID cannot both be enabled");
    }
}

/// v1.36 core/validation `validateFSGroupChangePolicy`, `validateSupplementalGroupsPolicy`,
/// `validateSELinuxChangePolicy`: the last knows MountOption only where it is stored already, as the feature gate
/// SELinuxMount is off.
fn one_of(context: &Value, field: &str, known: &[&str], path: &FieldPath<'_>, errors: &mut ErrorList) {
    if let Some(policy) = text_if_set(context, field).filter(|policy| !known.contains(policy)) {
        errors.not_supported(&path.child(field), GoValue::named(policy), known);
    }
}
