//! The status of the DaemonSet: its counters, beside the conditions.
//!
//! v1.36 `daemon_controller.go updateDaemonSetStatus`, but with all pods of a node instead of the oldest one
//! `[any-pod-counts]` (kubernetes#122527).

use crate::model::{DaemonSet, DaemonSetStatus};
use crate::reconcile::figures::{Figure, Figures, Sums};
use crate::reconcile::fleet::Fleet;
use crate::snapshot::placement::Placement;
use crate::snapshot::position::NodeIx;
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
        number_unavailable: desired - available,
        updated_number_scheduled: count(Figure::Updated),
        number_misscheduled: count(Figure::Misscheduled),
        ..DaemonSetStatus::default()
    }
}

/// The figures in which a node counts by its pods.
pub(crate) fn node_figures(fleet: &Fleet<'_>, node: NodeIx) -> Figures {
    let in_flight = fleet.in_flight(node);
    // A terminating pod counts: it is still there.
    let mut is_present = in_flight.is_some();
    let (mut is_ready, mut is_available) = (false, false);
    let mut is_updated = in_flight.is_some_and(|create| create.updated);
    let mut is_outdated = in_flight.is_some_and(|create| !create.updated);
    for (_, pod) in fleet.pods_of(node) {
        is_present = true;
        is_ready |= pod.is_ready();
        is_available |= pod.is_available();
        // [finished-is-not-updated]
        is_updated |= pod.is_live() && pod.is_updated();
        is_outdated |= pod.is_live() && !pod.is_updated();
    }
    if fleet.placement(node) != Placement::Run {
        return Figures::default().with(Figure::Misscheduled, is_present);
    }
    Figures::default()
        .with(Figure::Desired, true)
        .with(Figure::Scheduled, is_present)
        .with(Figure::Ready, is_ready)
        .with(Figure::Available, is_available)
        // A node is updated when it runs the current template and no older one: `kubectl rollout status` must not report
        // success while an old pod keeps a node up beside a new one that is not available.
        .with(Figure::Updated, is_updated && !is_outdated)
        .with(Figure::Outdated, is_outdated)
        .with(Figure::Done, is_available && !is_outdated)
}
