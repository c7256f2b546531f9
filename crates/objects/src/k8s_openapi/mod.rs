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

use crate::Problem;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Reads an object in its typed form.
///
/// # Errors
/// The first field, such as `spec.containers[0].ports`, that the form does not have.
#[doc(hidden)]
pub fn read<T: DeserializeOwned>(json: &Value) -> Result<T, Problem> {
    serde_path_to_error::deserialize(json).map_err(|error: serde_path_to_error::Error<serde_json::Error>| {
        Problem::unreadable(error.path().to_string().trim_end_matches('.'), error.inner())
    })
}
