//! What a caller may choose where Kubernetes, its proposals and its users differ.

use crate::model::{is_default, null_is_default};
use serde::{Deserialize, Serialize};

/// Choices of the caller; the default is what v1.36's controller does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Policy {
    /// What decides whether a pod is updated when generation and hash label disagree.
    #[serde(deserialize_with = "null_is_default")]
    pub classification: ClassificationPolicy,
    /// Whether outdated pods that are not Ready wait for the budget.
    #[serde(deserialize_with = "null_is_default")]
    pub unready: UnreadyPolicy,
    /// Who names new pods.
    #[serde(deserialize_with = "null_is_default")]
    pub pod_names: PodNames,
    /// The label that holds a revision's hash. Default `controller-revision-hash`; the proposal wrote
    /// `daemonset-controller-hash`. Any label key but `pod-template-generation`.
    pub unique_label_key: String,
    /// At most so many creates, and so many deletes, in one plan; at least 1. Default 250
    /// (v1.36 `daemon_controller.go BurstReplicas`).
    pub burst: u32,
    /// Seconds for which [`Memory`](crate::Memory) believes an accepted action that no snapshot shows. Default 300.
    pub in_flight_expiry_seconds: u32,
}

impl Default for Policy {
    fn default() -> Self {
        Policy {
            classification: ClassificationPolicy::default(),
            unready: UnreadyPolicy::default(),
            pod_names: PodNames::default(),
            unique_label_key: "controller-revision-hash".to_owned(),
            burst: 250,
            in_flight_expiry_seconds: 300,
        }
    }
}

impl Policy {
    pub(crate) fn is_default(&self) -> bool {
        is_default(self)
    }
}

/// See [`Policy::classification`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ClassificationPolicy {
    /// An equal template generation makes a pod updated, whatever its hash label says; otherwise the hash label
    /// decides (proposal: Controller, and v1.36 `IsPodUpdated`: generation equal or hash equal).
    #[default]
    TemplateGenerationFirst,
    /// A hash label, where there is one, decides alone; the generation only where there is none. For callers whose
    /// generations may repeat, as when a DaemonSet is deleted with its pods orphaned and created again.
    HashFirst,
}

/// See [`Policy::unready`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum UnreadyPolicy {
    /// They are replaced at once: a fix must reach a broken fleet (v1.36 `rollingUpdate`).
    #[default]
    AtOnce,
    /// They are replaced only while the nodes being replaced are below maxUnavailable: a readiness blip of the
    /// whole fleet must not restart it. Of no effect under surge, where maxUnavailable plays no part.
    WithinBudget,
}

/// See [`Policy::pod_names`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum PodNames {
    /// The API server, by `generateName`.
    #[default]
    Generated,
    /// This crate: the same snapshot gives the same name, so that a create repeated after a crash is refused as
    /// AlreadyExists instead of making a second pod.
    Deterministic,
}
