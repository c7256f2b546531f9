//! Volumes on disks and shares of cloud providers.

use super::network::{required, secret_name};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::values;
use crate::json::{number_if_set, text, text_if_set};
use serde_json::Value;

/// v1.36 core/validation `validateGCEPersistentDiskVolumeSource`.
pub(super) fn gce(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    required(source, &["pdName"], path, errors);
    partition(source, path, errors);
}

/// v1.36 core/validation `validateAWSElasticBlockStoreVolumeSource`.
pub(super) fn aws(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    required(source, &["volumeID"], path, errors);
    partition(source, path, errors);
}

/// 0 is the whole disk and valid, although the message excludes it.
fn partition(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    if let Some(partition) = number_if_set(source, "partition").filter(|number| !(0..=255).contains(number)) {
        errors.invalid(&path.child("partition"), partition, "must be between 1 and 255, inclusive");
    }
}

/// v1.36 core/validation `validateCinderVolumeSource`.
pub(super) fn cinder(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    required(source, &["volumeID"], path, errors);
    secret_name(source, path, errors);
}

/// v1.36 core/validation `validateVsphereVolumeSource`.
pub(super) fn vsphere(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    required(source, &["volumePath"], path, errors);
}

/// v1.36 core/validation `validatePhotonPersistentDiskVolumeSource`.
pub(super) fn photon(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    required(source, &["pdID"], path, errors);
}

/// v1.36 core/validation `validatePortworxVolumeSource`.
pub(super) fn portworx(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    required(source, &["volumeID"], path, errors);
}

/// v1.36 core/validation `validateAzureFile`.
pub(super) fn azure_file(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    required(source, &["secretName", "shareName"], path, errors);
}

/// v1.36 core/validation `validateAzureDisk`.
pub(super) fn azure_disk(source: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    required(source, &["diskName", "diskURI"], path, errors);
    for (field, supported) in
        [("cachingMode", ["None", "ReadOnly", "ReadWrite"]), ("kind", ["Dedicated", "Managed", "Shared"])]
    {
        values::supported_if_set(text_if_set(source, field), &supported, &path.child(field), errors);
    }
    let (start, supported) = match text_if_set(source, "kind") {
        None => return,
        Some("Managed") => (
            "/subscriptions/",
            "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}",
        ),
        Some(_) => {
            ("https://", "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd")
        }
    };
    let uri = text(source, "diskURI");
    if !uri.starts_with(start) {
        errors.not_supported(&path.child("diskURI"), uri, &[supported]);
    }
}
