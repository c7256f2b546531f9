//! Block devices of a container: each belongs to a claim and has a path of its own.

use super::mounts::paths_by_volume;
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::pod::Volumes;
use crate::admission::validate::values;
use crate::json::{list, member, text};
use crate::syntax;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// v1.36 core/validation `ValidateVolumeDevices`.
pub(super) fn volume_devices(
    container: &Value,
    volumes: &Volumes<'_>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let (path, mounts) =
        (path.child("volumeDevices"), paths_by_volume(container, "volumeMounts", "mountPath"));
    let (mut names, mut paths) = (BTreeSet::new(), BTreeSet::new());
    for (position, device) in list(container, "volumeDevices").iter().enumerate() {
        let path = path.index(position);
        name(device, &mut names, &path.child("name"), errors);
        volume(text(device, "name"), volumes, &path.child("name"), errors);
        place(device, &mut paths, &path.child("devicePath"), errors);
        no_mount(device, &mounts, &path, errors);
    }
}

fn name<'a>(device: &'a Value, names: &mut BTreeSet<&'a str>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let name = text(device, "name");
    values::required(name, path, errors);
    if !name.is_empty() && !names.insert(name) {
        errors.invalid(path, name, "must be unique");
    }
}

/// Only a claim can be a device (v1.36 core/validation `isMatchedDevice`).
fn volume(name: &str, volumes: &Volumes<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let claims = ["persistentVolumeClaim", "ephemeral"];
    match volumes.get(name) {
        None => errors.not_found(path, name, ""),
        Some(volume) if claims.iter().any(|claim| member(volume, claim).is_some()) => {}
        Some(_) => {
            let detail =
                "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
            errors.invalid(path, name, detail);
        }
    }
}

fn place<'a>(device: &'a Value, taken: &mut BTreeSet<&'a str>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let place = text(device, "devicePath");
    values::required(place, path, errors);
    if taken.contains(place) {
        errors.invalid(path, place, "must be unique");
    }
    if syntax::backstep_error(place).is_some() {
        errors.invalid(path, place, "can not contain backsteps ('..')");
    } else {
        taken.insert(place);
    }
}

/// A volume is mounted or is a device, not both; and so is a path.
fn no_mount(device: &Value, mounts: &BTreeMap<&str, &str>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let (name, place) = (text(device, "name"), text(device, "devicePath"));
    if mounts.contains_key(name) {
        errors.invalid(&path.child("name"), name, "must not already exist in volumeMounts");
    }
    if mounts.values().any(|mount| *mount == place) {
        let detail = "must not already exist as a path in volumeMounts";
        errors.invalid(&path.child("devicePath"), place, detail);
    }
}
