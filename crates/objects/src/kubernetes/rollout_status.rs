//! Whether a rollout is done: the rule of `kubectl rollout status`.

use crate::model::DaemonSet;

/// How far a rollout has come, by the counters of the DaemonSet's status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "kubectl's four answers")]
pub enum RolloutStatus {
    /// The controller has not seen the latest spec yet: the counters belong to an older one.
    WaitingForObservation,
    /// Some target nodes do not run the current template yet.
    #[expect(missing_docs, reason = "numbers of target nodes")]
    Updating { updated: i32, desired: i32 },
    /// Every target node runs the current template, but not all have an available pod.
    #[expect(missing_docs, reason = "numbers of target nodes")]
    BecomingAvailable { available: i32, desired: i32 },
    /// The rollout is complete.
    Done,
}

impl RolloutStatus {
    /// Whether the rollout is complete, so that `kubectl rollout status` stops watching.
    #[must_use]
    pub fn is_done(self) -> bool {
        self == RolloutStatus::Done
    }
}

/// Returns how far the rollout of a DaemonSet has come; `None` for an update strategy other than RollingUpdate, whose rollout
/// kubectl does not follow (v1.36 kubectl `rollout_status.go` DaemonSetStatusViewer.Status).
#[must_use]
pub fn rollout_status(daemon_set: &DaemonSet) -> Option<RolloutStatus> {
    let status = &daemon_set.status;
    let desired = status.desired_number_scheduled;
    if daemon_set.spec.update_strategy.kind != "RollingUpdate" {
        return None;
    }
    Some(if status.observed_generation < daemon_set.metadata.generation {
        RolloutStatus::WaitingForObservation
    } else if status.updated_number_scheduled < desired {
        RolloutStatus::Updating { updated: status.updated_number_scheduled, desired }
    } else if status.number_available < desired {
        RolloutStatus::BecomingAvailable { available: status.number_available, desired }
    } else {
        RolloutStatus::Done
    })
}
