//! The progress of a rollout: `kubectl rollout status`.

use super::error::RolloutError;
use daemonset::kubernetes::{RolloutStatus, rollout_status};
use daemonset::model::{DaemonSet, Owner};
use daemonset_apiserver::go::quoted;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// The progress of a rollout. Prints as kubectl's [line](Self::line) about a DaemonSet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[must_use]
#[non_exhaustive]
pub enum RolloutProgress {
    /// The controller has not seen the latest spec yet: the counters belong to an older one.
    WaitingForObservation,
    /// Some target nodes do not run the current template yet.
    #[non_exhaustive]
    Updating {
        /// Name of the DaemonSet.
        name: String,
        /// Target nodes that run the current template.
        updated: i32,
        /// Target nodes.
        desired: i32,
    },
    /// Every target node runs the current template, but not all have an available pod.
    #[non_exhaustive]
    BecomingAvailable {
        /// Name of the DaemonSet.
        name: String,
        /// Target nodes with an available pod.
        available: i32,
        /// Target nodes.
        desired: i32,
    },
    /// The rollout is complete.
    #[non_exhaustive]
    Done {
        /// Name of the DaemonSet.
        name: String,
    },
}

impl RolloutProgress {
    /// Whether the rollout is complete, so that `kubectl rollout status` stops watching.
    #[must_use]
    pub fn is_done(&self) -> bool {
        match self {
            RolloutProgress::Done { .. } => true,
            RolloutProgress::WaitingForObservation
            | RolloutProgress::Updating { .. }
            | RolloutProgress::BecomingAvailable { .. } => false,
        }
    }
}

impl RolloutProgress {
    /// kubectl's line with its line break, for an object of this kind: `daemon set` as kubectl writes it, a custom kind as it
    /// is.
    #[must_use]
    pub fn line(&self, owner: &Owner) -> String {
        let kind = owner.kind_in_words();
        match self {
            RolloutProgress::WaitingForObservation => {
                format!("Waiting for {kind} spec update to be observed...\n")
            }
            RolloutProgress::Updating { name, updated, desired } => format!(
                "Waiting for {kind} {} rollout to finish: {updated} out of {desired} new pods have been updated...\n",
                quoted(name)
            ),
            RolloutProgress::BecomingAvailable { name, available, desired } => format!(
                "Waiting for {kind} {} rollout to finish: {available} of {desired} updated pods are available...\n",
                quoted(name)
            ),
            RolloutProgress::Done { name } => format!("{kind} {} successfully rolled out\n", quoted(name)),
        }
    }
}

impl fmt::Display for RolloutProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line(&Owner::default()))
    }
}

/// The progress of a DaemonSet's rollout, from its status ([`rollout_status`]). `revision` has no effect on a DaemonSet, but must not be negative.
///
/// # Errors
/// For an update strategy other than RollingUpdate, for a negative revision, and for an object that is no DaemonSet.
pub fn status(daemon_set: &Value, revision: Option<i64>) -> Result<RolloutProgress, RolloutError> {
    not_negative(revision)?;
    let daemon_set = read(daemon_set)?;
    let status = rollout_status(&daemon_set).ok_or(RolloutError::NotRollingUpdate)?;
    let name = daemon_set.metadata.name;
    Ok(match status {
        RolloutStatus::WaitingForObservation => RolloutProgress::WaitingForObservation,
        RolloutStatus::Updating { updated, desired } => RolloutProgress::Updating { name, updated, desired },
        RolloutStatus::BecomingAvailable { available, desired } => {
            RolloutProgress::BecomingAvailable { name, available, desired }
        }
        RolloutStatus::Done => RolloutProgress::Done { name },
    })
}

/// A revision to show or watch; `None` and 0 select no particular one.
pub(super) fn not_negative(revision: Option<i64>) -> Result<i64, RolloutError> {
    match revision.unwrap_or(0) {
        negative if negative < 0 => Err(RolloutError::NotPositive(negative)),
        revision => Ok(revision),
    }
}

/// Decodes the parts of a DaemonSet that decisions read.
pub(super) fn read(daemon_set: &Value) -> Result<DaemonSet, RolloutError> {
    DaemonSet::deserialize(daemon_set).map_err(|error| RolloutError::NotADaemonSet(error.to_string()))
}
