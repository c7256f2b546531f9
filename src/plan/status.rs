//! The status of the DaemonSet: its counters, beside the conditions.
//!
//! v1.36 `daemon_controller.go updateDaemonSetStatus`, here with all pods of a node instead of the oldest one
//! `[any-pod-counts]` (kubernetes#122527).

use crate::node::figures::{Figure, Sums};
use daemonset_objects::model::{DaemonSet, DaemonSetStatus};
use serde_json::Value;

/// The status for these sums.
#[doc(alias = "updateDaemonSetStatus")]
pub(crate) fn status(daemon_set: &DaemonSet, sums: &Sums, conditions: Vec<Value>) -> DaemonSetStatus {
    let count = |figure| i32::try_from(sums.get(figure)).unwrap_or(i32::MAX);
    let (desired, available) = (count(Figure::Desired), count(Figure::Available));
    DaemonSetStatus {
        observed_generation: daemon_set.metadata.generation,
        collision_count: daemon_set.status.collision_count,
        conditions,
        desired_number_scheduled: desired,
        current_number_scheduled: count(Figure::Scheduled),
        number_ready: count(Figure::Ready),
        number_available: available,
        // Never negative: only target nodes count as available.
        number_unavailable: desired - available,
        updated_number_scheduled: count(Figure::Updated),
        number_misscheduled: count(Figure::Misscheduled),
    }
}
