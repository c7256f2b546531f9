//! The caller's choices where Kubernetes, its proposals and its users differ.

use crate::model::{is_default, null_is_default};
use serde::{Deserialize, Serialize};

/// The choices of the caller, which setters change one by one. The default is what v1.36's controller does.
///
/// ```
/// use daemonset::{ClassificationPolicy, Policy};
///
/// let policy = Policy::default().classification(ClassificationPolicy::HashFirst).burst(100);
/// assert_eq!((policy.burst, policy.in_flight_expiry_seconds), (100, 300));
/// ```
///
/// A literal does not compile, since the policy may grow:
///
/// ```compile_fail,E0639
/// let policy = daemonset::Policy { burst: 100, ..daemonset::Policy::default() };
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Policy {
    /// Whether generation or hash label decides when they disagree about a pod.
    #[serde(deserialize_with = "null_is_default")]
    pub classification: ClassificationPolicy,
    /// Whether outdated pods that are not Ready wait for the budget.
    #[serde(deserialize_with = "null_is_default")]
    pub unready: UnreadyPolicy,
    /// The origin of the names of new pods.
    #[serde(deserialize_with = "null_is_default")]
    pub pod_names: PodNames,
    /// The label that holds a revision's hash. Default `controller-revision-hash`; the proposal wrote
    /// `daemonset-controller-hash`. Any label key but `pod-template-generation`.
    pub unique_label_key: String,
    /// The most creates, and the most deletes, in one plan; at least 1. Default 250
    /// (v1.36 `daemon_controller.go BurstReplicas`).
    #[doc(alias = "BurstReplicas")]
    pub burst: u32,
    /// Seconds for which [`Memory`](crate::Memory) expects an accepted action to show in a snapshot. Default 300.
    pub in_flight_expiry_seconds: u32,
    /// Seconds after which [`Memory`](crate::Memory) no longer waits for a Ready pod on a node whose pod an update deleted,
    /// if the node is a Ready target node. Default 3600.
    pub taken_expiry_seconds: u32,
    /// Whether nodes that were down before the update reached them count against the limits.
    #[serde(deserialize_with = "null_is_default")]
    pub down_nodes: DownNodesPolicy,
    /// Whether nodes that leave, such as drained ones, get pods and count against the limits.
    #[serde(deserialize_with = "null_is_default")]
    pub lifecycle: LifecyclePolicy,
    /// Whether the status has the conditions `Available` and `Progressing`
    /// ([`Plan::conditions`](crate::Plan::conditions)). Default false: conditions stay as they are (v1.36 sets none).
    #[serde(deserialize_with = "null_is_default")]
    pub conditions: bool,
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
            taken_expiry_seconds: 3600,
            down_nodes: DownNodesPolicy::default(),
            lifecycle: LifecyclePolicy::default(),
            conditions: false,
        }
    }
}

crate::setters! {
    Policy {
        classification: ClassificationPolicy,
        unready: UnreadyPolicy,
        pod_names: PodNames,
        burst: u32,
        in_flight_expiry_seconds: u32,
        taken_expiry_seconds: u32,
        down_nodes: DownNodesPolicy,
        lifecycle: LifecyclePolicy,
        conditions: bool,
    }
}

impl Policy {
    /// Sets [`unique_label_key`](field@Policy::unique_label_key).
    pub fn unique_label_key(mut self, key: impl Into<String>) -> Self {
        self.unique_label_key = key.into();
        self
    }

    pub(crate) fn is_default(&self) -> bool {
        is_default(self)
    }
}

/// See [`Policy::classification`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ClassificationPolicy {
    /// A pod with the DaemonSet's template generation is updated, regardless of its hash label; otherwise the hash label
    /// decides (proposal: Controller, and v1.36 `IsPodUpdated`: generation equal or hash equal).
    #[default]
    TemplateGenerationFirst,
    /// The hash label alone decides; the generation decides only for a pod without one. For callers whose generations may
    /// repeat, for example because a DaemonSet is deleted with its pods orphaned and created again.
    HashFirst,
}

/// See [`Policy::unready`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum UnreadyPolicy {
    /// They are replaced at once: a fix must reach a broken fleet (v1.36 `rollingUpdate`).
    #[default]
    AtOnce,
    /// They are replaced only while fewer nodes than maxUnavailable are being replaced: a readiness blip of the whole
    /// fleet must not restart it. No effect under surge, where maxUnavailable does not count.
    WithinBudget,
}

/// See [`Policy::down_nodes`].
///
/// Twenty dead nodes of 288, a template that tolerates everything and maxUnavailable 5 % let no update ever begin
/// (NVSentinel#1764; also test-infra#31706 and kubernetes#138240).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum DownNodesPolicy {
    /// They count, as each target node without an available pod does (v1.36 `updatedDesiredNodeCounts`).
    #[default]
    Count,
    /// They do not count if they went down before anything of this update reached them. A node that goes down under the
    /// new version, or after the update deleted its pod, counts.
    ExcuseIfDownBefore,
}

/// See [`Policy::lifecycle`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum LifecyclePolicy {
    /// They are nodes as any other (v1.36).
    #[default]
    Ignore,
    /// A node in a [`Lifecycle`](crate::Lifecycle) state gets no pod, its Ready pod stays, its other pods are updated last,
    /// and without a Ready pod it does not count against the limits, unless the update deleted its pod.
    Respect,
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
