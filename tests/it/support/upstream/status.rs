//! The status, counted by the oldest pod of each node (v1.36 `daemon_controller.go updateDaemonSetStatus`,
//! kubernetes#122527).

use super::facts::{Facts, Placement};
use daemonset::model::DaemonSetStatus;
use daemonset::{Action, StatusReason};
use jiff::{SignedDuration, Timestamp};

/// Whether the sync completed for this generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Generation {
    Observed,
    AsWritten,
}

/// `None` if the status is unchanged.
pub(super) fn update(facts: &Facts<'_>, generation: Generation) -> Option<Action> {
    let daemon_set = &facts.recording.daemon_set;
    let mut status = counted(facts);
    let behind = daemon_set.status.observed_generation < daemon_set.metadata.generation;
    if status == daemon_set.status && !behind {
        return None;
    }
    if generation == Generation::Observed {
        status.observed_generation = daemon_set.metadata.generation;
    }
    let daemon_set = daemon_set.into();
    Some(Action::update_status(daemon_set, status, StatusReason::Changed))
}

/// A safeguard against clocks that differ (kubernetes#77203): requeue after minReadySeconds, independent of the instant
/// at which the pod becomes available.
pub(super) fn resync_at(facts: &Facts<'_>) -> Option<Timestamp> {
    let status = counted(facts);
    let seconds = facts.recording.daemon_set.spec.min_ready_seconds;
    let waits = seconds > 0 && status.number_ready != status.number_available;
    waits.then(|| facts.now + SignedDuration::from_secs(seconds.into()))
}

fn counted(facts: &Facts<'_>) -> DaemonSetStatus {
    let mut status = DaemonSetStatus {
        current_number_scheduled: 0,
        number_misscheduled: 0,
        desired_number_scheduled: 0,
        number_ready: 0,
        updated_number_scheduled: 0,
        number_available: 0,
        ..facts.recording.daemon_set.status.clone()
    };
    for (node, placement) in &facts.nodes {
        let oldest = facts.pods.get(node).and_then(|pods| pods.first());
        if *placement != Placement::Run {
            status.number_misscheduled += i32::from(oldest.is_some());
            continue;
        }
        status.desired_number_scheduled += 1;
        let Some(pod) = oldest else { continue };
        status.current_number_scheduled += 1;
        status.number_ready += i32::from(facts.is_ready(pod));
        status.number_available += i32::from(facts.is_available(pod));
        status.updated_number_scheduled += i32::from(facts.is_updated(pod));
    }
    status.number_unavailable = status.desired_number_scheduled - status.number_available;
    status
}
