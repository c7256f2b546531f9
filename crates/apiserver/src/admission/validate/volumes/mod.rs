//! Volumes of a pod template: each has a name of its own, and one source.

mod certificates;
mod claim;
mod cloud;
mod csi;
mod files;
mod host;
mod iscsi;
mod network;
mod projected;
mod source;

use super::pod::{Pod, Volumes};
use super::values;
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::json::{list, text};

/// Returns the valid volumes: a mount of an invalid one reports that it is not found. `path` is the path of the list
/// (v1.36 core/validation `ValidateVolumes`).
pub(super) fn all_volumes<'a>(pod: &Pod<'a>, path: &FieldPath<'_>, errors: &mut ErrorList) -> Volumes<'a> {
    let mut volumes = Volumes::new();
    for (position, volume) in list(pod.spec, "volumes").iter().enumerate() {
        let (path, name, before) = (path.index(position), text(volume, "name"), errors.len());
        source::volume_source(volume, pod, &path, errors);
        let path = path.child("name");
        if name.is_empty() {
            errors.required(&path, "");
        } else {
            values::dns_label(name, &path, errors);
        }
        if volumes.contains_key(name) {
            errors.duplicate(&path, name);
        }
        if errors.len() == before {
            volumes.insert(name, volume);
        }
    }
    volumes
}
