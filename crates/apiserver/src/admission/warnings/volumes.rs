//! Volumes whose plugins are deprecated or removed, and claims for a fraction of a byte.

use super::bytes;
use crate::admission::path::FieldPath;
use crate::json::{at, list, member};
use serde_json::Value;

/// Kinds of volumes; the gate GitRepoVolumeDriver is off. The API server's own name of `storageos` is `storageOS`.
const DEPRECATED: [(&str, &str, &str); 9] = [
    ("photonPersistentDisk", "photonPersistentDisk", "deprecated in v1.11, non-functional in v1.16+"),
    ("gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    ("scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"),
];

/// A volume has one kind, which validation sees to.
pub(super) fn volumes(pod: &Value, path: &FieldPath<'_>, found: &mut Vec<String>) {
    let path = path.child("volumes");
    for (position, volume) in list(pod, "volumes").iter().enumerate() {
        let path = path.index(position);
        for (kind, shown, message) in DEPRECATED {
            if member(volume, kind).is_some() {
                found.push(format!("{}: {message}", path.child(shown)));
            }
        }
        claim(volume, &path, found);
    }
}

/// v1.36 `pkg/api/persistentvolumeclaim` util.go `GetWarningsForPersistentVolumeClaimSpec`.
fn claim(volume: &Value, path: &FieldPath<'_>, found: &mut Vec<String>) {
    let (ephemeral, template) = (path.child("ephemeral"), "volumeClaimTemplate");
    let path = ephemeral.child(template);
    let spec = at(volume, &["ephemeral", template, "spec"]);
    bytes::resources(spec, "storage", &["requests", "limits"], &path.child("spec"), found);
}
