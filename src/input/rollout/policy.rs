//! The caller's choices about a rollout: which nodes get the new version, in which order, and when to stop.

use crate::input::strict_selector::StrictSelector;
use daemonset_objects::internal::{is_default, null_is_default, some_object, some_objects};
use daemonset_objects::model::{IntOrString, LabelSelector};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// See [`Policy::rollout`](field@crate::Policy::rollout). The default releases all nodes at once and judges nothing; it still marks
/// the beginning and the end of the rollout.
///
/// All state of a rollout is in annotations of its revision ([`Policy::mark_prefix`](field@crate::Policy::mark_prefix)).
///
/// ```
/// use daemonset::{Policy, model::IntOrString};
/// use daemonset::policy::{RolloutPolicy, Wave};
/// use serde_json::{from_value, json};
///
/// let policy: Policy = from_value(json!({"rollout": {"waves": [{"upTo": 1, "bakeSeconds": 600}, {"needsApproval": true}]}}))?;
/// let canary = Wave::default().up_to(IntOrString::Int(1)).bake_seconds(600);
/// let waves = vec![canary, Wave::default().needs_approval(true)];
/// assert_eq!(policy, Policy::default().rollout(RolloutPolicy::default().waves(waves)));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct RolloutPolicy {
    /// No further node gets the new version.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub paused: bool,
    /// How many waves are approved, by the number of the revision; at most [`MAX_ENTRIES`](Self::MAX_ENTRIES) numbers.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "BTreeMap::is_empty")]
    pub approved: BTreeMap<i64, u32>,
    /// The nodes that get the new version one after the other, in at most [`MAX_ENTRIES`](Self::MAX_ENTRIES) waves; empty: all at
    /// once. A node that belongs to no wave keeps the old version.
    #[serde(deserialize_with = "waves", skip_serializing_if = "Vec::is_empty")]
    pub waves: Vec<Wave>,
    /// When the new version has failed, and what follows; `None` judges nothing.
    #[serde(deserialize_with = "some_object", skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<FailurePolicy>,
}

/// A group of nodes that get the new version together.
///
/// See the example of [`RolloutPolicy`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Wave {
    /// Its nodes, by their labels. `None` and an empty selector match all nodes.
    #[serde(deserialize_with = "strict_selector", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(with = "Option<crate::input::schema::Selector>"))]
    pub nodes: Option<LabelSelector>,
    /// How many of the matching nodes it has: a percentage of them rounds up. `None`, and more than 100 %, stand for all. Nodes that
    /// have the new version come first, then the order is that of the names.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(with = "Option<crate::input::schema::Limit>"))]
    pub up_to: Option<IntOrString>,
    /// Seconds for which each node's new pod must have been Ready before the next wave opens; `minReadySeconds` if that is more.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub bake_seconds: u32,
    /// The wave opens only once [`RolloutPolicy::approved`](field@RolloutPolicy::approved) counts it.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub needs_approval: bool,
}

/// When a new version has failed. Without any further choice a node fails when its new pod is in phase Failed, or when the
/// node went down under it.
///
/// ```
/// use daemonset::model::IntOrString;
/// use daemonset::policy::{FailureAction, FailurePolicy};
/// use serde_json::{from_value, json};
///
/// let policy: FailurePolicy = from_value(json!({"action": "RollBack", "maxFailures": "5%", "maxRestarts": 3}))?;
/// let same = FailurePolicy::default().action(FailureAction::RollBack).max_failures(IntOrString::Percent(5)).max_restarts(3);
/// assert_eq!(policy, same);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[non_exhaustive]
pub struct FailurePolicy {
    /// What follows.
    #[serde(deserialize_with = "null_is_default")]
    pub action: FailureAction,
    /// How many nodes may fail; percentages round down. Default 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schemars", schemars(with = "Option<crate::input::schema::Limit>"))]
    pub max_failures: Option<IntOrString>,
    /// How often a container may restart; `None` for any number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_restarts: Option<u32>,
    /// Seconds after which a pod must be available, and a node that went down must be back; more than `minReadySeconds`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_within_seconds: Option<u32>,
    /// The age in seconds from which a pod may no longer wait for one of [`waiting_reasons`](field@Self::waiting_reasons); `None`: it may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_seconds: Option<u32>,
    /// Reasons for which a container waits in vain, at most [`RolloutPolicy::MAX_ENTRIES`]; empty for
    /// [`DEFAULT_WAITING_REASONS`](Self::DEFAULT_WAITING_REASONS).
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "Vec::is_empty")]
    pub waiting_reasons: Vec<String>,
    /// Seconds after which the released nodes must have made progress; more than `minReadySeconds`. No effect under OnDelete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress_deadline_seconds: Option<u32>,
}

/// See [`FailurePolicy::action`](field@FailurePolicy::action).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum FailureAction {
    /// No further node gets the new version.
    #[default]
    Pause,
    /// Every node goes back to the version before. The DaemonSet itself stays as its author wrote it.
    RollBack,
    /// The DaemonSet gets the template of the version before back, once, as `kubectl rollout undo` does it. This works beside another
    /// controller, too ([`Policy::external_controller`](field@crate::Policy::external_controller)). The controller needs the right to patch the DaemonSet.
    Undo,
}

impl RolloutPolicy {
    /// The most waves, the most approvals and the most waiting reasons. Each plan pays for them.
    pub const MAX_ENTRIES: usize = 64;
}

impl FailurePolicy {
    /// The reasons of the kubelet for which a container does not start, as far as they do not end by themselves
    /// (v1.36 `kubelet/container/sync_result.go`, `kubelet/images/types.go`).
    pub const DEFAULT_WAITING_REASONS: [&str; 7] = [
        "CrashLoopBackOff",
        "ImagePullBackOff",
        "ErrImagePull",
        "InvalidImageName",
        "CreateContainerConfigError",
        "CreateContainerError",
        "RunContainerError",
    ];

    /// Whether a container that waits for this reason waits in vain.
    #[doc(hidden)]
    pub fn waits_in_vain(&self, reason: &str) -> bool {
        // The own list replaces the default one, so that a caller can also leave a reason out.
        if self.waiting_reasons.is_empty() {
            return Self::DEFAULT_WAITING_REASONS.contains(&reason);
        }
        self.waiting_reasons.iter().any(|other| other == reason)
    }

    /// How many of these nodes may fail.
    #[doc(hidden)]
    pub fn may_fail(&self, nodes: u32) -> u32 {
        match self.max_failures.unwrap_or(IntOrString::Int(0)) {
            // A number may exceed that of the nodes. A wave on which all nodes fail is unfinished all the same.
            IntOrString::Int(number) => number,
            IntOrString::Percent(percent) => {
                // Rounded down, where `upTo` and the budgets round up: of few nodes none may fail. In 64 bits, since a percentage
                // has no upper limit.
                let allowed = u64::from(percent) * u64::from(nodes) / 100;
                u32::try_from(allowed).unwrap_or(u32::MAX)
            }
        }
    }
}

crate::setters! {
    RolloutPolicy {
        paused: bool,
        approved: BTreeMap<i64, u32>,
        waves: Vec<Wave>,
        on_failure: impl Into<Option<FailurePolicy>>,
    }
    Wave {
        nodes: impl Into<Option<LabelSelector>>,
        up_to: impl Into<Option<IntOrString>>,
        bake_seconds: u32,
        needs_approval: bool,
    }
    FailurePolicy {
        action: FailureAction,
        max_failures: impl Into<Option<IntOrString>>,
        max_restarts: impl Into<Option<u32>>,
        available_within_seconds: impl Into<Option<u32>>,
        waiting_seconds: impl Into<Option<u32>>,
        waiting_reasons: Vec<String>,
        progress_deadline_seconds: impl Into<Option<u32>>,
    }
}

fn waves<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Wave>, D::Error> {
    some_objects(deserializer).map(Option::unwrap_or_default)
}

/// Refuses members that the model does not have: a misspelt `matchLabels` would be a selector of all nodes.
fn strict_selector<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<LabelSelector>, D::Error> {
    Ok(some_object::<D, StrictSelector>(deserializer)?.map(LabelSelector::from))
}
