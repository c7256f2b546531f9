//! For callers with k8s-openapi's types (feature `k8s-openapi`): views of them, and planned objects in typed form.
//!
//! [`SnapshotBuilder`](crate::SnapshotBuilder) takes `&Pod`, `&Node`, `&ControllerRevision` and `&Arc` of each, without a copy.
//! [`DaemonSet::lossy_from`](crate::model::DaemonSet::lossy_from) converts a typed DaemonSet and, as its name says, loses
//! fields; it is better to read [`DaemonSet`](crate::model::DaemonSet) itself, whose template is raw.
//!
//! The binary chooses the version of Kubernetes of the types: it enables one of k8s-openapi's features `v1_*`.

use crate::pod_manifest::PodManifest;
use daemonset_objects::Problem;
use daemonset_objects::k8s_openapi::read;
use k8s_openapi::api::apps::v1::ControllerRevision;
use k8s_openapi::api::core::v1::Pod;
use serde_json::Value;

/// The pod to create, typed. Fields of the template that the types do not know are lost, so that the pod does not match its
/// hash. [`PodManifest::to_value`] has all fields.
///
/// # Errors
/// When the template has a known field of another form.
pub fn lossy_pod(manifest: &PodManifest) -> Result<Pod, Problem> {
    read(&manifest.to_value())
}

/// The revision of [`Action::CreateRevision`](crate::Action::CreateRevision), typed. Its data is kept unchanged; fields of its
/// metadata that the types do not know are lost. serde_json writes other bytes than Go: send it as
/// [`go_json`](crate::kubernetes::go_json) writes it.
///
/// # Errors
/// When a known field has another form.
pub fn lossy_revision(revision: &Value) -> Result<ControllerRevision, Problem> {
    read(revision)
}
