//! What a pod template's containers must be: regular ones, init containers and ephemeral ones.

pub(super) mod resources;

use super::pod::Pod;
use super::volumes::Volumes;
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;

/// Containers, then init containers, then ephemeral ones; `path` is the pod spec's (v1.36 `validateContainers`,
/// `validateInitContainers`, `validateEphemeralContainers`).
pub(super) fn validate(
    _pod: &Pod<'_>,
    _volumes: &Volumes<'_>,
    _path: &FieldPath<'_>,
    _errors: &mut ErrorList,
) {
}

/// Files of environment variables are in an emptyDir of the pod (v1.36 `validateFileKeyRefVolumes`).
pub(super) fn environment_files(_pod: &Pod<'_>, _path: &FieldPath<'_>, _errors: &mut ErrorList) {}
