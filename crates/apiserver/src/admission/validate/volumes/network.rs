//! Volumes of storage systems on the network.

use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::values;
use crate::go::GoValue;
use crate::json::{list, member, number_if_set, text};
use crate::syntax;
use serde_json::Value;

/// v1.36 core/validation `validateNFSVolumeSource`.
pub(super) fn nfs(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    required(source, &["server", "path"], path, errors);
    let directory = text(source, "path");
    if !directory.starts_with('/') {
        errors.invalid(&path.child("path"), directory, "must be an absolute path");
    }
}

/// v1.36 core/validation `validateGlusterfsVolumeSource`.
pub(super) fn glusterfs(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    required(source, &["endpoints", "path"], path, errors);
}

/// v1.36 core/validation `validateFlockerVolumeSource`.
pub(super) fn flocker(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let (name, uuid) = (text(source, "datasetName"), text(source, "datasetUUID"));
    if name.is_empty() && uuid.is_empty() {
        errors.required(path, "one of datasetName and datasetUUID is required");
    }
    if !name.is_empty() && !uuid.is_empty() {
        let detail = "datasetName and datasetUUID can not be specified simultaneously";
        errors.invalid(path, "resource", detail);
    }
    if name.contains('/') {
        errors.invalid(&path.child("datasetName"), name, "must not contain '/'");
    }
}

/// v1.36 core/validation `validateRBDVolumeSource`.
pub(super) fn rbd(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    monitors(source, path, errors);
    required(source, &["image"], path, errors);
}

/// v1.36 core/validation `validateCephFSVolumeSource`.
pub(super) fn cephfs(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    monitors(source, path, errors);
}

fn monitors(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if list(source, "monitors").is_empty() {
        errors.required(&path.child("monitors"), "");
    }
}

/// v1.36 core/validation `validateFCVolumeSource`.
pub(super) fn fibre_channel(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let (targets, ids) = (list(source, "targetWWNs"), list(source, "wwids"));
    let at = path.child("targetWWNs");
    if targets.is_empty() && ids.is_empty() {
        errors.required(&at, "must specify either targetWWNs or wwids, but not both");
    }
    if !targets.is_empty() && !ids.is_empty() {
        let targets = GoValue::json(&Value::from(targets));
        errors.invalid(&at, targets, "targetWWNs and wwids can not be specified simultaneously");
    }
    if targets.is_empty() {
        return;
    }
    match number_if_set(source, "lun") {
        None => errors.required(&path.child("lun"), "lun is required if targetWWNs is specified"),
        Some(lun) => logical_unit(lun, path, errors),
    }
}

/// The number of a logical unit.
pub(super) fn logical_unit(lun: i64, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if let Some(message) = syntax::out_of_range_error(lun, 0, 255) {
        errors.invalid(&path.child("lun"), lun, message);
    }
}

/// v1.36 core/validation `validateStorageOSVolumeSource`.
pub(super) fn storage_os(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    required(source, &["volumeName"], path, errors);
    for field in ["volumeName", "volumeNamespace"] {
        let name = text(source, field);
        if !name.is_empty() {
            values::dns_label(name, &path.child(field), errors);
        }
    }
    secret_name(source, path, errors);
}

/// A reference to a secret needs a name.
pub(super) fn secret_name(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if let Some(secret) = member(source, "secretRef") {
        required(secret, &["name"], &path.child("secretRef"), errors);
    }
}

/// v1.36 core/validation `validateScaleIOVolumeSource`.
pub(super) fn scale_io(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    required(source, &["gateway", "system", "volumeName"], path, errors);
}

/// Required strings.
pub(super) fn required(source: &Value, fields: &[&str], path: &FieldPath<'_>, errors: &mut ErrorList) {
    for field in fields {
        values::required(text(source, field), &path.child(field), errors);
    }
}

const QUOBYTE_REGISTRIES: &str = "must be a host:port pair or multiple pairs separated by commas";

/// v1.36 core/validation `validateQuobyteVolumeSource`.
pub(super) fn quobyte(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let (registry, at) = (text(source, "registry"), path.child("registry"));
    if registry.is_empty() {
        errors.required(&at, QUOBYTE_REGISTRIES);
    } else if text(source, "tenant").len() > 64 {
        let detail = "must be a UUID and may not exceed a length of 64 characters";
        errors.required(&path.child("tenant"), detail);
    } else {
        for _ in registry.split(',').filter(|pair| !is_host_and_port(pair)) {
            errors.invalid(&at, registry, QUOBYTE_REGISTRIES);
        }
    }
    values::required(text(source, "volume"), &path.child("volume"), errors);
}

/// Go's `net.SplitHostPort`: an address of IPv6 is in brackets.
fn is_host_and_port(pair: &str) -> bool {
    let Some((host, port)) = pair.rsplit_once(':') else { return false };
    let bare = match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']'),
        None => Some(host).filter(|host| !host.contains(':')),
    };
    let brackets = |text: &str| text.contains(['[', ']']);
    bare.is_some_and(|host| !brackets(host)) && !brackets(port)
}
