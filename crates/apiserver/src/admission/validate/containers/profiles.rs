//! Seccomp and AppArmor profiles of a container or a pod.

use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::values;
use crate::go::GoValue;
use crate::json::{member, text, text_if_set};
use crate::syntax;
use serde_json::Value;

/// v1.36 core/validation `validateSeccompProfileType`, `ValidateAppArmorProfileField`: in this order.
const TYPES: [&str; 3] = ["Localhost", "RuntimeDefault", "Unconfined"];

/// `path` is the security context's (v1.36 core/validation `validateSeccompProfileField`).
pub(in crate::admission::validate) fn seccomp(context: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let Some(profile) = member(context, "seccompProfile") else { return };
    let path = path.child("seccompProfile");
    let (kind, local) = (text(profile, "type"), text_if_set(profile, "localhostProfile"));
    match kind {
        "" => errors.required(&path.child("type"), "type is required when seccompProfile is set"),
        kind if TYPES.contains(&kind) => {}
        kind => errors.not_supported(&path.child("type"), GoValue::named(kind), &TYPES),
    }
    let path = path.child("localhostProfile");
    match local {
        Some(file) if kind == "Localhost" => {
            values::each(syntax::descending_path_errors(file), file, &path, errors);
        }
        None if kind == "Localhost" => errors.required(&path, "must be set when seccomp type is Localhost"),
        Some(_) => {
            errors.invalid(&path, printed(profile), "can only be set when seccomp type is Localhost");
        }
        None => {}
    }
}

/// A profile as Go prints it.
pub(super) fn printed(profile: &Value) -> GoValue {
    let local = text_if_set(profile, "localhostProfile").map_or_else(GoValue::null, GoValue::named);
    GoValue::record([("Type", GoValue::named(text(profile, "type"))), ("LocalhostProfile", local)])
}

/// `path` is the security context's (v1.36 core/validation `ValidateAppArmorProfileField`).
pub(in crate::admission::validate) fn app_armor(
    context: &Value,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let Some(profile) = member(context, "appArmorProfile") else { return };
    let path = path.child("appArmorProfile");
    let local = text_if_set(profile, "localhostProfile");
    match text(profile, "type") {
        "Localhost" => loaded_profile(local, &path.child("localhostProfile"), errors),
        "RuntimeDefault" | "Unconfined" => {
            if let Some(local) = local {
                let detail = "can only be set when AppArmor type is Localhost";
                errors.invalid(&path.child("localhostProfile"), GoValue::named(local), detail);
            }
        }
        "" => errors.required(&path.child("type"), "type is required when appArmorProfile is set"),
        kind => errors.not_supported(&path.child("type"), GoValue::named(kind), &TYPES),
    }
}

/// The name of a profile that is loaded on the node.
fn loaded_profile(name: Option<&str>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    const MAX_LENGTH: usize = 4095;
    let name = name.unwrap_or_default();
    if name != name.trim() {
        errors.invalid(path, name, "must not be padded with whitespace");
    } else if name.is_empty() {
        errors.required(path, "must be set when AppArmor type is Localhost");
    }
    if name.len() > MAX_LENGTH {
        errors.too_long(path, MAX_LENGTH);
    }
}
