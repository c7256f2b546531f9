//! `core/v1` Pod with the fields that a drain reads.

#![expect(
    clippy::exhaustive_structs,
    reason = "callers build these objects with `..Default::default()`, which lets them grow"
)]

use daemonset::internal::null_is_default;
use daemonset::model::{NodeName, OwnerReference, PodMeta};
use serde::{Deserialize, Serialize};

/// A pod. It parses the API server's JSON, keeps the fields that a drain reads, and ignores the others.
///
/// ```
/// use daemonset_drain::Pod;
/// use serde_json::{from_value, json};
///
/// let pod: Pod = from_value(json!({
///     "metadata": {"name": "web-x", "namespace": "shop", "labels": null},
///     "spec": {"nodeName": "a", "volumes": [{"name": "cache", "emptyDir": {}}], "containers": []},
///     "status": {"phase": "Running"},
/// }))?;
/// assert!(pod.has_local_storage() && !pod.is_finished());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pod {
    /// Object metadata.
    #[serde(deserialize_with = "null_is_default")]
    pub metadata: PodMeta,
    /// The node, and the volumes.
    #[serde(deserialize_with = "null_is_default")]
    pub spec: PodSpec,
    /// The phase.
    #[serde(deserialize_with = "null_is_default")]
    pub status: PodStatus,
}

impl Pod {
    /// Whether its containers have ended for good.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        matches!(self.status.phase.as_str(), "Succeeded" | "Failed")
    }

    /// Whether it has a volume whose data its end deletes, whatever the volume's medium is
    /// (v1.36 `kubectl/pkg/drain/filters.go hasLocalStorage`).
    #[must_use]
    pub fn has_local_storage(&self) -> bool {
        self.spec.volumes.iter().any(|volume| volume.empty_dir.is_some())
    }

    /// The owner that manages it (v1.36 `metav1.GetControllerOf`).
    #[must_use]
    pub fn controller(&self) -> Option<&OwnerReference> {
        self.metadata.owner_references.iter().find(|owner| owner.controller == Some(true))
    }
}

/// Spec of a [`Pod`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    /// The node that it is bound to; empty before the scheduler has bound it.
    #[serde(deserialize_with = "null_is_default")]
    pub node_name: NodeName,
    /// Volumes.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "Vec::is_empty")]
    pub volumes: Vec<Volume>,
}

/// A volume of a [`Pod`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Volume {
    /// Set for a directory that the pod's end deletes; absent for each other kind of volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub empty_dir: Option<EmptyDir>,
}

/// The `emptyDir` of a [`Volume`]. No drain reads its fields.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmptyDir {}

/// Status of a [`Pod`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PodStatus {
    /// `Pending`, `Running`, `Succeeded`, `Failed` or `Unknown`.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "String::is_empty")]
    pub phase: String,
}
