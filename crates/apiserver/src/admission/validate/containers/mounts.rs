//! Volume mounts of a container: each is of a volume of the pod and has a path of its own.

use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::pod::Volumes;
use crate::admission::validate::values;
use crate::go::GoValue;
use crate::json::{flag, list, member, text, text_if_set, texts};
use crate::syntax;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Some errors name the list, not the item (v1.37 core/validation `ValidateVolumeMounts`).
pub(super) fn volume_mounts(
    container: &Value,
    volumes: &Volumes<'_>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    let (path, devices) =
        (path.child("volumeMounts"), paths_by_volume(container, "volumeDevices", "devicePath"));
    let mut taken = BTreeSet::new();
    for (position, mount) in list(container, "volumeMounts").iter().enumerate() {
        let at = path.index(position);
        volume(mount, volumes, &at.child("name"), errors);
        place(mount, &mut taken, &at.child("mountPath"), errors);
        no_device(mount, &devices, &at, errors);
        subpaths(mount, &path, &at, errors);
        propagation(mount, container, &path.child("mountPropagation"), errors);
        recursive_read_only(mount, &path.child("recursiveReadOnly"), errors);
        bind_options(mount, volumes, &at.child("bindMountOptions"), errors);
    }
}

/// The path of each volume, by volume name; if several items have one name, the last one counts (v1.36
/// core/validation `GetVolumeMountMap`, `GetVolumeDeviceMap`).
pub(super) fn paths_by_volume<'a>(
    container: &'a Value,
    places: &str,
    field: &str,
) -> BTreeMap<&'a str, &'a str> {
    list(container, places).iter().map(|item| (text(item, "name"), text(item, field))).collect()
}

fn volume(mount: &Value, volumes: &Volumes<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let name = text(mount, "name");
    values::required(name, path, errors);
    if !volumes.contains_key(name) {
        errors.not_found(path, name, "");
    }
}

fn place<'a>(mount: &'a Value, taken: &mut BTreeSet<&'a str>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let place = text(mount, "mountPath");
    values::required(place, path, errors);
    if !taken.insert(place) {
        errors.invalid(path, place, "must be unique");
    }
}

/// A volume is mounted or is a device, not both; and so is a path.
fn no_device(mount: &Value, devices: &BTreeMap<&str, &str>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let (name, place) = (text(mount, "name"), text(mount, "mountPath"));
    if devices.contains_key(name) {
        errors.invalid(&path.child("name"), name, "must not already exist in volumeDevices");
    }
    if devices.values().any(|device| *device == place) {
        let detail = "must not already exist as a path in volumeDevices";
        errors.invalid(&path.child("mountPath"), place, detail);
    }
}

fn subpaths(mount: &Value, path: &FieldPath<'_>, at: &FieldPath<'_>, errors: &mut ErrorList) {
    let (sub_path, expression) = (text(mount, "subPath"), text(mount, "subPathExpr"));
    if !sub_path.is_empty() {
        values::each(syntax::descending_path_errors(sub_path), sub_path, &path.child("subPath"), errors);
    }
    if !sub_path.is_empty() && !expression.is_empty() {
        let detail = "subPathExpr and subPath are mutually exclusive";
        errors.invalid(&at.child("subPathExpr"), expression, detail);
    }
    if !expression.is_empty() {
        let messages = syntax::descending_path_errors(expression);
        values::each(messages, expression, &path.child("subPathExpr"), errors);
    }
}

/// v1.36 core/validation `validateMountPropagation`.
fn propagation(mount: &Value, container: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let Some(propagation) = text_if_set(mount, "mountPropagation") else { return };
    let supported = ["Bidirectional", "HostToContainer", "None"];
    if !supported.contains(&propagation) {
        errors.not_supported(path, GoValue::named(propagation), &supported);
    }
    let privileged = member(container, "securityContext").is_some_and(|context| flag(context, "privileged"));
    if propagation == "Bidirectional" && !privileged {
        let detail = "Bidirectional mount propagation is available only to privileged containers";
        errors.forbidden(path, detail);
    }
}

/// v1.36 core/validation `validateMountRecursiveReadOnly`.
fn recursive_read_only(mount: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    match text_if_set(mount, "recursiveReadOnly") {
        None | Some("Disabled") => {}
        Some("Enabled" | "IfPossible") => {
            if !flag(mount, "readOnly") {
                errors.forbidden(path, "may only be specified when readOnly is true");
            }
            if text_if_set(mount, "mountPropagation").is_some_and(|propagation| propagation != "None") {
                let detail = "may only be specified when mountPropagation is None or not specified";
                errors.forbidden(path, detail);
            }
        }
        Some(other) => {
            errors.not_supported(path, GoValue::named(other), &["Disabled", "Enabled", "IfPossible"]);
        }
    }
}

/// v1.37 core/validation `validateBindMountOptions`; the files of an image are mounted in another way.
fn bind_options(mount: &Value, volumes: &Volumes<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let (options, supported): (Vec<&str>, _) =
        (texts(mount, "bindMountOptions").collect(), ["nodev", "noexec", "nosuid"]);
    for (position, option) in options.iter().enumerate() {
        let at = path.index(position);
        if !supported.contains(option) {
            errors.not_supported(&at, *option, &supported);
        }
        if options.iter().take(position).any(|before| before == option) {
            errors.duplicate(&at, *option);
        }
    }
    let volume = volumes.get(text(mount, "name"));
    if volume.is_some_and(|volume| member(volume, "image").is_some()) && !options.is_empty() {
        let detail = "bindMountOptions may not be used with image volumes";
        errors.invalid(path, GoValue::list(options.into_iter().map(GoValue::named)), detail);
    }
}
