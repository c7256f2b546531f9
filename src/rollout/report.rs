//! The state of a rollout that the policy steers, as a plan reports it.

use daemonset_objects::model::NodeName;
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::sync::Arc;

/// The rollout of the current revision, if [`Policy::rollout`](field@crate::Policy::rollout) steers it.
///
/// ```
/// use daemonset::{Policy, Recording, model::IntOrString, plan};
/// use daemonset::policy::{RolloutPolicy, Wave};
/// use daemonset::report::{RolloutStage, WaveProgress};
/// use serde_json::{from_value, json};
///
/// let mut recording: Recording = from_value(json!({
///     "now": "2026-01-01T12:00:00Z",
///     "daemonSet": {
///         "metadata": {"name": "agent", "namespace": "ns", "uid": "u1"},
///         "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": {"metadata": {"labels": {"app": "agent"}}}},
///     },
///     "nodes": [{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}],
/// }))?;
/// let canary = Wave::default().up_to(IntOrString::Int(1)).bake_seconds(600);
/// recording.policy = Policy::default().rollout(RolloutPolicy::default().waves(vec![canary, Wave::default()]));
/// let rollout = plan(&recording.snapshot().unwrap()).report.rollout.unwrap();
/// assert_eq!(rollout.stage, RolloutStage::Progressing);
/// let waves: Vec<_> = rollout.waves.iter().map(|wave| (wave.nodes.len(), wave.progress)).collect();
/// assert_eq!(waves, [(1, WaveProgress::Updating), (2, WaveProgress::WaitsForWaveBefore)]);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RolloutReport {
    /// How far it may go.
    pub stage: RolloutStage,
    /// The name of the revision for nodes that the rollout has not reached; `None` if no old revision can be it.
    #[serde(rename = "base")]
    pub stable: Option<String>,
    /// The hash of `stable`, which its pods have as a label.
    #[serde(rename = "baseHash")]
    pub stable_hash: Option<String>,
    /// The nodes that take part: the target nodes of the current template, and nodes that keep the new version that they have.
    pub nodes: u32,
    /// How many of `nodes` have the new version.
    pub updated: u32,
    /// The waves; empty where all nodes are released at once.
    pub waves: Vec<WaveReport>,
    /// The nodes that count as failed, by name; empty where nothing is judged.
    #[serde(serialize_with = "as_list", deserialize_with = "from_list")]
    pub failing: Arc<[FailingNode]>,
}

/// How far a rollout may go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum RolloutStage {
    /// Every target node had the new version: later troubles are not the rollout's.
    #[serde(rename = "Over")]
    Complete,
    /// It goes on, wave after wave.
    #[serde(rename = "GoingOn")]
    Progressing,
    /// A person has paused it: no further node gets the new version.
    Paused,
    /// The new version has failed: no further node gets it.
    #[non_exhaustive]
    Stopped {
        /// `TooManyFailures` or `ProgressDeadlineExceeded`, or the text that a person has written. `Undone` where the mark of the
        /// failure is gone, and the DaemonSet does not show the restored template yet.
        reason: String,
    },
    /// The new version has failed: all nodes go back to the stable revision.
    #[non_exhaustive]
    RolledBack {
        /// `TooManyFailures` or `ProgressDeadlineExceeded`, or the text that a person has written.
        reason: String,
    },
}

/// Why a failed version is not undone, though [`FailureAction::Undo`](crate::policy::FailureAction::Undo) asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum NotUndoneReason {
    /// No old revision can come back: there is none, each one has failed, or the mark of the chosen one was removed.
    #[serde(rename = "NoBase")]
    NoStableRevision,
    /// It has been undone before, and somebody has put its template back.
    UndoneBefore,
    /// The DaemonSet has changed since the undo began.
    DaemonSetChanged,
    /// The undo began more than an hour ago.
    TooLate,
    /// Three versions have been undone within the last hour.
    TooMany,
}

/// A clause: `its template was put back after it had been undone`.
impl fmt::Display for NotUndoneReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotUndoneReason::NoStableRevision => "there is no version to go back to",
            NotUndoneReason::UndoneBefore => "its template was put back after it had been undone",
            NotUndoneReason::DaemonSetChanged => "the DaemonSet has changed since the undo began",
            NotUndoneReason::TooLate => "the undo began more than an hour ago",
            NotUndoneReason::TooMany => "three versions were undone within an hour",
        })
    }
}

/// A wave with its nodes.
///
/// See the example of [`RolloutReport`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WaveReport {
    /// By name. A node may belong to several waves.
    #[serde(serialize_with = "as_list", deserialize_with = "from_list")]
    pub nodes: Arc<[NodeName]>,
    /// How many of `nodes` have a live pod of the new version.
    pub updated: u32,
    /// How many of `nodes` have an available pod of the new version.
    pub available: u32,
    /// How far it is.
    pub progress: WaveProgress,
}

// serde serializes an `Arc` only with its feature `rc`, which would be on for all users of this crate.
fn as_list<T: Serialize, S: Serializer>(list: &Arc<[T]>, serializer: S) -> Result<S::Ok, S::Error> {
    list.as_ref().serialize(serializer)
}

fn from_list<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<[T]>, D::Error> {
    Vec::deserialize(deserializer).map(Arc::from)
}

/// How far a wave is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum WaveProgress {
    /// It waits for the waves before it.
    WaitsForWaveBefore,
    /// The waves before it are done, and it waits for approval.
    WaitsForApproval,
    /// It would open now, but the rollout is paused, or the new version has failed.
    Stopped,
    /// It is open: its nodes get the new version.
    Updating,
    /// It is open, and all of its pods are Ready, but not for long enough.
    #[non_exhaustive]
    Baking {
        /// When it is done, if nothing changes.
        until: Timestamp,
    },
    /// Its pods, and those of the waves before it, are available for long enough.
    Done,
}

/// A few words: `waits for approval`.
impl fmt::Display for WaveProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WaveProgress::WaitsForWaveBefore => f.write_str("waits for the wave before"),
            WaveProgress::WaitsForApproval => f.write_str("waits for approval"),
            WaveProgress::Stopped => f.write_str("held, the rollout is stopped"),
            WaveProgress::Updating => f.write_str("updating"),
            WaveProgress::Baking { until } => write!(f, "baking until {until}"),
            WaveProgress::Done => f.write_str("done"),
        }
    }
}

/// Why the rollout has not reached a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum HoldReason {
    /// It is in a wave that is not open.
    #[non_exhaustive]
    Wave {
        /// The index of its first wave.
        wave: u32,
        /// The index of the wave that opens next.
        next: u32,
        /// The progress of the wave `next`.
        progress: WaveProgress,
        /// When the wave before `next` is done, if time is all that it waits for.
        opens_at: Option<Timestamp>,
    },
    /// It is in no wave: it keeps the old version.
    NoWave,
    /// It does not take part, and follows when all nodes that do are released.
    Outside,
    /// The rollout is paused.
    Paused,
    /// The new version has failed.
    #[non_exhaustive]
    Stopped {
        /// As in [`RolloutStage::Stopped`].
        reason: String,
    },
}

/// A few words that follow the name of the node: `is held: it is in no wave`.
impl fmt::Display for HoldReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HoldReason::NoWave => f.write_str("is held: it is in no wave"),
            HoldReason::Outside => f.write_str("is held until all nodes that take part are released"),
            HoldReason::Paused => f.write_str("is held: the rollout is paused"),
            HoldReason::Stopped { reason } => write!(f, "is held: the new version has failed ({reason})"),
            // An approval goes before an instant: where both are missing, a person must act, and time alone opens nothing.
            HoldReason::Wave { wave, next, progress: WaveProgress::WaitsForApproval, .. } => {
                write!(f, "is held for wave {wave}: wave {next} waits for approval")
            }
            HoldReason::Wave { wave, next, opens_at: Some(at), .. } => {
                write!(
                    f,
                    "is held for wave {wave}: wave {next} opens at {at}, when the pods before it have baked"
                )
            }
            HoldReason::Wave { wave, next, opens_at: None, .. } => {
                write!(f, "is held for wave {wave}: wave {next} waits for the pods of the waves before it")
            }
        }
    }
}

/// A node that counts as failed under the new version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct FailingNode {
    /// The node.
    pub node: NodeName,
    /// Why.
    pub evidence: FailureEvidence,
}

impl FailingNode {
    /// A node that counts as failed, and why.
    #[doc(hidden)]
    pub fn new(node: NodeName, evidence: FailureEvidence) -> Self {
        FailingNode { node, evidence }
    }
}

/// Why a node counts as failed under the new version ([`FailurePolicy`](crate::policy::FailurePolicy)).
///
/// In the order in which one of several is reported.
// The derived order is that of the variants: a variant that moves changes which evidence a report has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum FailureEvidence {
    /// The node went down under its new pod.
    #[non_exhaustive]
    NodeDown {
        /// When it went down.
        since: Timestamp,
    },
    /// The pod is in phase Failed, and neither an eviction nor the end of its node explains it.
    #[non_exhaustive]
    PodFailed {
        /// The pod.
        pod: String,
        /// `status.reason`; often empty.
        reason: String,
    },
    /// A container has restarted too often.
    #[non_exhaustive]
    TooManyRestarts {
        /// The pod.
        pod: String,
        /// Restarts of the container that restarted most.
        restarts: u32,
    },
    /// A container waits in vain.
    #[non_exhaustive]
    Waiting {
        /// The pod.
        pod: String,
        /// The reason, such as `ImagePullBackOff`.
        reason: String,
    },
    /// The pod is not available for longer than is acceptable.
    #[non_exhaustive]
    Unavailable {
        /// The pod.
        pod: String,
        /// Since its creation, or since its readiness changed last.
        since: Timestamp,
    },
}

/// A clause with its instant: `pod agent-x: a container waits (ErrImagePull)`.
impl fmt::Display for FailureEvidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FailureEvidence::NodeDown { since } => write!(f, "the node is down since {since}"),
            // A container that exits with an error leaves the pod without a reason.
            FailureEvidence::PodFailed { pod, reason } if reason.is_empty() => {
                write!(f, "pod {pod} has failed")
            }
            FailureEvidence::PodFailed { pod, reason } => write!(f, "pod {pod} has failed ({reason})"),
            FailureEvidence::TooManyRestarts { pod, restarts } => {
                write!(f, "pod {pod}: a container has restarted {restarts} times")
            }
            FailureEvidence::Waiting { pod, reason } => {
                write!(f, "pod {pod}: a container waits ({reason})")
            }
            FailureEvidence::Unavailable { pod, since } => {
                write!(f, "pod {pod} is not available since {since}")
            }
        }
    }
}
