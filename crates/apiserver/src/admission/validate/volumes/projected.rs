//! Volumes that combine files of several sources.

use super::certificates;
use super::files::{TakenPaths, downward_api_file, key_to_path, mode, user};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::pod::Pod;
use crate::admission::validate::values;
use crate::json::{list, member, number_if_set, text};
use crate::syntax;
use serde_json::Value;

/// v1.37 core/validation `validateProjectedVolumeSource`, `validateProjectionSources`.
pub(super) fn projected(projected: &Value, pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    mode(projected, "defaultMode", path, errors);
    user(projected, "defaultUser", path, errors);
    let mut files = TakenPaths::new(*path);
    for (position, source) in list(projected, "sources").iter().enumerate() {
        let sources = path.child("sources");
        let at = sources.index(position);
        for field in ["secret", "configMap"] {
            if let Some(object) = member(source, field) {
                keys_of_object(object, &mut files, &at.child(field), errors);
            }
        }
        if let Some(fields) = member(source, "downwardAPI") {
            downward_api(fields, &mut files, &at.child("downwardAPI"), errors);
        }
        if let Some(token) = member(source, "serviceAccountToken") {
            service_account_token(token, pod, path, &at.child("serviceAccountToken"), errors);
        }
        if let Some(bundle) = member(source, "clusterTrustBundle") {
            certificates::trust_bundle(bundle, &mut files, &at.child("clusterTrustBundle"), errors);
        }
        if let Some(certificate) = member(source, "podCertificate") {
            certificates::pod_certificate(certificate, &mut files, &at.child("podCertificate"), errors);
        }
        if source.as_object().is_some_and(|kinds| kinds.len() > 1) {
            errors.forbidden(&at, "may not specify more than 1 volume type per source");
        }
    }
}

fn keys_of_object<'a>(
    object: &'a Value,
    files: &mut TakenPaths<'a>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let name = text(object, "name");
    values::required(name, &path.child("name"), errors);
    for (position, item) in list(object, "items").iter().enumerate() {
        key_to_path(item, &path.child("items").index(position), errors);
        let file = text(item, "path");
        if !file.is_empty() {
            files.add(file, name, errors);
        }
    }
}

fn downward_api<'a>(
    fields: &'a Value,
    files: &mut TakenPaths<'a>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    for item in list(fields, "items") {
        downward_api_file(item, path, errors);
        let file = text(item, "path");
        if !file.is_empty() {
            files.add(file, file, errors);
        }
    }
}

/// Upstream reports an invalid path at the volume. A stored template may keep a path that leads out of the volume.
fn service_account_token(
    token: &Value,
    pod: &Pod<'_>,
    volume: &FieldPath<'_>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let at = path.child("expirationSeconds");
    match number_if_set(token, "expirationSeconds") {
        None => errors.required(&at, ""),
        Some(seconds) if seconds < 600 => {
            errors.invalid(&at, seconds, "may not specify a duration less than 10 minutes");
        }
        Some(seconds) if seconds > 1 << 32 => {
            errors.invalid(&at, seconds, "may not specify a duration larger than 2^32 seconds");
        }
        Some(_) => {}
    }
    let (file, at) = (text(token, "path"), volume.child("path"));
    if file.is_empty() {
        errors.required(&at, "");
    } else if !pod.options.allow_non_local_token_path {
        values::each(syntax::unreserved_path_errors(file), file, &at, errors);
    }
    user(token, "user", path, errors);
}
