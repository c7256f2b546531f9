//! The status of the DaemonSet: its counters, beside the conditions.
//!
//! v1.36 `daemon_controller.go updateDaemonSetStatus`, but with all pods of a node instead of the oldest one
//! `[any-pod-counts]` (kubernetes#122527).

use crate::model::DaemonSetStatus;
use crate::reconcile::fleet::Fleet;
use crate::reconcile::outside::{Figure, Figures, Sums};
use crate::snapshot::placement::Placement;
use crate::snapshot::position::NodeIx;
use serde_json::Value;

/// The status for this fleet.
#[doc(alias = "updateDaemonSetStatus")]
pub(crate) fn status(fleet: &Fleet<'_>, conditions: Vec<Value>) -> DaemonSetStatus {
    let ds = &fleet.snapshot.spec.daemon_set;
    let mut status = DaemonSetStatus {
        observed_generation: ds.metadata.generation,
        collision_count: ds.status.collision_count,
        conditions,
        ..counters(&fleet.outside.sums)
    };
    for (position, node) in fleet.nodes.enumerated() {
        let tally = Tally::new(fleet, position);
        match node.placement {
            Placement::Run => tally.add_to(&mut status),
            Placement::ContinueOnly(_) | Placement::Exclude(_) => {
                status.number_misscheduled += i32::from(tally.present);
            }
        }
    }
    status.number_unavailable = status.desired_number_scheduled - status.number_available;
    status
}

/// The counters of nodes that the decision does not look at.
fn counters(sums: &Sums) -> DaemonSetStatus {
    let count = |figure| i32::try_from(sums.get(figure)).unwrap_or(i32::MAX);
    DaemonSetStatus {
        desired_number_scheduled: count(Figure::Desired),
        current_number_scheduled: count(Figure::Scheduled),
        number_ready: count(Figure::Ready),
        number_available: count(Figure::Available),
        updated_number_scheduled: count(Figure::Updated),
        number_misscheduled: count(Figure::Misscheduled),
        ..DaemonSetStatus::default()
    }
}

/// The state of a node, over all of its pods.
pub(crate) struct Tally {
    /// A terminating pod counts: it is still there.
    present: bool,
    ready: bool,
    available: bool,
    updated: bool,
    outdated: bool,
}

impl Tally {
    pub(crate) fn new(fleet: &Fleet<'_>, node: NodeIx) -> Self {
        let in_flight = fleet.in_flight(node);
        let mut tally = Tally {
            present: in_flight.is_some(),
            ready: false,
            available: false,
            updated: in_flight.is_some_and(|create| create.updated),
            outdated: in_flight.is_some_and(|create| !create.updated),
        };
        for (_, pod) in fleet.pods_of(node) {
            tally.present = true;
            tally.ready |= pod.is_ready();
            tally.available |= pod.is_available();
            // [finished-is-not-updated]
            tally.updated |= pod.is_live() && pod.is_updated();
            tally.outdated |= pod.is_live() && !pod.is_updated();
        }
        tally
    }

    /// A node is updated when it runs the current template and no older one: `kubectl rollout status` must not report
    /// success while an old pod keeps a node up beside a new one that is not available.
    fn is_updated(&self) -> bool {
        self.updated && !self.outdated
    }

    /// The figures in which the node counts by its pods, beside others.
    pub(crate) fn figures(&self, others: Figures, is_target: bool) -> Figures {
        if !is_target {
            return others.with(Figure::Misscheduled, self.present);
        }
        others
            .with(Figure::Desired, true)
            .with(Figure::Scheduled, self.present)
            .with(Figure::Ready, self.ready)
            .with(Figure::Available, self.available)
            .with(Figure::Updated, self.is_updated())
    }

    fn add_to(&self, status: &mut DaemonSetStatus) {
        status.desired_number_scheduled += 1;
        status.current_number_scheduled += i32::from(self.present);
        status.number_ready += i32::from(self.ready);
        status.number_available += i32::from(self.available);
        status.updated_number_scheduled += i32::from(self.is_updated());
    }
}
