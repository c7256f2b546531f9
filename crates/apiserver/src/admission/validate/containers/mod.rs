//! Containers of a pod template: regular ones, init containers and ephemeral ones.

mod common;
mod devices;
mod env;
mod ephemeral;
pub(super) mod field_refs;
mod handlers;
mod init;
mod lifecycle;
mod mounts;
mod ports;
mod probes;
pub(super) mod profiles;
mod regular;
pub(super) mod resource_names;
pub(super) mod resources;
mod restart;
mod security;
pub(super) mod windows;

pub(super) use env::file_key_ref_volumes;

use super::pod::{Pod, Volumes};
use crate::admission::error::ErrorList;
use crate::admission::path::FieldPath;

/// Containers, then init containers, then ephemeral ones; `path` is the pod spec's (v1.36 core/validation
/// `ValidatePodSpec`).
pub(super) fn all_containers(
    pod: &Pod<'_>,
    volumes: &Volumes<'_>,
    path: &FieldPath<'_>,
    errors: &mut ErrorList,
) {
    regular::regular_containers(pod, volumes, &path.child("containers"), errors);
    init::init_containers(pod, volumes, &path.child("initContainers"), errors);
    ephemeral::ephemeral_containers(pod, volumes, &path.child("ephemeralContainers"), errors);
}
