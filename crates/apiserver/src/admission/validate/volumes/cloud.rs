//! Volumes that are disks of clouds.

use super::network::{required, secret_name};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::fields::number_if_set;
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

/// 0 is the whole disk, though the message leaves it out.
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
