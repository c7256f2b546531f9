//! For who holds k8s-openapi's types (feature `k8s-openapi`): views of them, and what is planned as typed objects.
//!
//! `&Pod`, `&Node`, `&ControllerRevision` and `&Arc` of each are what [`SnapshotBuilder`](crate::SnapshotBuilder) takes,
//! and nothing of them is copied. A typed DaemonSet becomes one of the model by
//! [`DaemonSet::lossy_from`](crate::model::DaemonSet::lossy_from), whose name says what to mind; better is to read
//! [`DaemonSet`](crate::model::DaemonSet) itself, whose template is raw.
//!
//! Which version of Kubernetes the types are of is the choice of the binary that this is built into: it switches on one of
//! k8s-openapi's features `v1_*`.

mod daemon_set;
mod status;
mod template;
mod views;

pub(crate) use template::{restored, stored};

use crate::pod_manifest::PodManifest;
use k8s_openapi::api::apps::v1::ControllerRevision;
use k8s_openapi::api::core::v1::Pod;
use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;

/// Why an object is none of the typed form.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{path}: {message}")]
#[non_exhaustive]
pub struct Unreadable {
    /// The field, such as `spec.containers[0].ports`; a dot for the whole.
    pub path: String,
    /// What is wrong there.
    pub message: String,
}

impl Unreadable {
    fn below(self, path: &str) -> Self {
        Unreadable { path: format!("{path}.{}", self.path), ..self }
    }
}

/// The pod to create, typed. Fields of the template that the types do not know are lost: sent so, the pod is not what its
/// hash says. [`PodManifest::to_value`] has all of them.
///
/// # Errors
/// When the template has a known field of another form.
pub fn lossy_pod(manifest: &PodManifest) -> Result<Pod, Unreadable> {
    read(&manifest.to_value())
}

/// The revision of [`Action::CreateRevision`](crate::Action::CreateRevision), typed. Its data is kept as it is; of its
/// metadata, fields that the types do not know are lost.
///
/// # Errors
/// When a known field has another form.
pub fn lossy_revision(revision: &Value) -> Result<ControllerRevision, Unreadable> {
    read(revision)
}

fn read<T: DeserializeOwned>(json: &Value) -> Result<T, Unreadable> {
    serde_path_to_error::deserialize(json).map_err(|error: serde_path_to_error::Error<serde_json::Error>| {
        Unreadable { path: error.path().to_string(), message: error.inner().to_string() }
    })
}
