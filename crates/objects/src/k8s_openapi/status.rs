//! The status of a DaemonSet, from and to the typed form.

use crate::Problem;
use crate::k8s_openapi::read;
use crate::model::DaemonSetStatus;
use k8s_openapi::api::apps::v1 as apps;
use serde_json::json;

impl From<&apps::DaemonSetStatus> for DaemonSetStatus {
    fn from(typed: &apps::DaemonSetStatus) -> Self {
        // The model has the same fields with their conditions raw, so that reading can't fail.
        serde_json::to_value(typed).and_then(serde_json::from_value).unwrap_or_default()
    }
}

impl TryFrom<&DaemonSetStatus> for apps::DaemonSetStatus {
    type Error = Problem;

    /// # Errors
    /// When a condition does not have the typed form. Fields of a condition that the types do not know are lost.
    fn try_from(status: &DaemonSetStatus) -> Result<Self, Problem> {
        read(&json!(status))
    }
}
