//! For callers with k8s-openapi's types (feature `k8s-openapi`): views of them, and the model from them.
//!
//! [`PodView`](crate::PodView), [`NodeView`](crate::NodeView) and [`RevisionView`](crate::RevisionView) are made of `&Pod`, `&Node`,
//! `&ControllerRevision` and `&Arc` of each, without a copy. [`DaemonSet::lossy_from`](crate::model::DaemonSet::lossy_from) converts a
//! typed DaemonSet and, as its name says, loses fields.
//!
//! The binary chooses the version of Kubernetes of the types: it enables one of k8s-openapi's features `v1_*`.

mod status;
mod template;
mod views;

pub(crate) use template::stored_template;

use serde::de::DeserializeOwned;
use serde_json::Value;
use thiserror::Error;

/// An object that does not have the typed form.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{path}: {message}")]
#[non_exhaustive]
pub struct Unreadable {
    /// The field, such as `spec.containers[0].ports`; a dot for the whole object.
    pub path: String,
    /// The decoder's message.
    pub message: String,
}

/// Reads an object in its typed form.
#[doc(hidden)]
pub fn read<T: DeserializeOwned>(json: &Value) -> Result<T, Unreadable> {
    serde_path_to_error::deserialize(json).map_err(|error: serde_path_to_error::Error<serde_json::Error>| {
        Unreadable { path: error.path().to_string(), message: error.inner().to_string() }
    })
}
