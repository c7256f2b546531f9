//! That files of environment variables lie in a volume of the right kind.

use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;
use crate::admission::validate::pod::Pod;
use crate::fields::{list, member, text};
use serde_json::Value;

/// Files of environment variables are in an emptyDir of the pod, whatever else is wrong with it; `path` is the pod
/// spec's (v1.36 core/validation `validateFileKeyRefVolumes`).
pub(in crate::admission::validate) fn environment_files(
    pod: &Pod<'_>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    for containers in ["initContainers", "containers", "ephemeralContainers"] {
        let path = path.child(containers);
        for (position, container) in list(pod.spec, containers).iter().enumerate() {
            of_container(container, pod, &path.index(position), errors);
        }
    }
}

fn of_container(container: &Value, pod: &Pod<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let path = path.child("env");
    for (position, variable) in list(container, "env").iter().enumerate() {
        let file = member(variable, "valueFrom").and_then(|source| member(source, "fileKeyRef"));
        let Some(name) = file.map(|file| text(file, "volumeName")) else { continue };
        let (at, parts) = (path.index(position), ["valueFrom", "fileKeyRef", "volumeName"]);
        let [from, reference, volume_name] = parts;
        let (at, volumes) = (at.child(from), list(pod.spec, "volumes"));
        let at = at.child(reference);
        let at = at.child(volume_name);
        // Of several with this name the last one counts.
        match volumes.iter().rfind(|volume| text(volume, "name") == name) {
            None => errors.not_found(&at, name, ""),
            Some(volume) if member(volume, "emptyDir").is_none() => {
                errors.invalid(&at, name, "referenced volume must be of type emptyDir");
            }
            Some(_) => {}
        }
    }
}
