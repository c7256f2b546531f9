//! Security context of a pod.

use super::containers::{profiles, windows};
use super::pod::Pod;
use super::{sysctls, values};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::json::{flag, list, number_if_set, text_if_set};
use crate::syntax::out_of_range_error;
use serde_json::Value;

/// v1.36 core/validation `validatePodSpecSecurityContext`.
pub(super) fn pod_security_context(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
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
    sysctls::sysctls(pod, &path.child("sysctls"), errors);
    policy(context, "fsGroupChangePolicy", &["Always", "OnRootMismatch"], path, errors);
    profiles::seccomp(context, path, errors);
    windows::options(context, path, errors);
    profiles::app_armor(context, path, errors);
    policy(context, "supplementalGroupsPolicy", &["Merge", "Strict"], path, errors);
    policy(context, "seLinuxChangePolicy", &["MountOption", "Recursive"], path, errors);
}

/// v1.36 util/validation `IsValidUserID`, `IsValidGroupID`.
fn user_or_group(id: i64, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if let Some(message) = out_of_range_error(id, 0, i64::from(i32::MAX)) {
        errors.invalid(path, id, message);
    }
}

/// v1.37 core/validation `validateShareProcessNamespace`.
pub(super) fn one_process_namespace(pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if flag(pod.spec, "shareProcessNamespace") && flag(pod.spec, "hostPID") {
        errors.invalid(path, true, "ShareProcessNamespace and HostPID cannot both be enabled");
    }
}

/// v1.37 core/validation `validateFSGroupChangePolicy`, `validateSupplementalGroupsPolicy`,
/// `validateSELinuxChangePolicy`.
fn policy(context: &Value, field: &str, supported: &[&str], path: &FieldPath<'_>, errors: &mut ErrorList) {
    values::supported_if_set(text_if_set(context, field), supported, &path.child(field), errors);
}
