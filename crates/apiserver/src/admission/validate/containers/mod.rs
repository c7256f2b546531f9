//! What a pod template's containers must be: regular ones, init containers and ephemeral ones.

mod common;
mod devices;
mod env;
mod env_from;
mod ephemeral;
pub(super) mod field_refs;
mod files;
mod handlers;
mod init;
mod lifecycle;
mod mounts;
mod ports;
mod probes;
pub(super) mod profiles;
mod regular;
mod resize;
mod resource_names;
pub(super) mod resources;
mod restart;
mod security;
pub(super) mod windows;

pub(super) use common::pull_policy;
pub(super) use files::environment_files;

use super::pod::Pod;
use super::volumes::Volumes;
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;

/// Containers, then init containers, then ephemeral ones; `path` is the pod spec's (v1.36 core/validation
/// `ValidatePodSpec`).
pub(super) fn validate(pod: &Pod<'_>, volumes: &Volumes<'_>, path: &FieldPath<'_>, errors: &mut ErrorList) {
    regular::validate(pod, volumes, &path.child("containers"), errors);
    init::validate(pod, volumes, &path.child("initContainers"), errors);
    ephemeral::validate(pod, volumes, &path.child("ephemeralContainers"), errors);
}
