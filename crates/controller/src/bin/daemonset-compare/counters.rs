//! The counters of the status in the cluster, compared with those of our plan.

use crate::verdict::{ComparisonFinding, Verdict};
use daemonset::model::DaemonSetStatus;

/// A counter with different values in the cluster and in our plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CounterDifference {
    /// Its name in the API.
    pub(crate) field: &'static str,
    /// The value in the cluster.
    pub(crate) theirs: i64,
    /// The value in our plan.
    pub(crate) ours: i64,
}

impl CounterDifference {
    /// The finding for this counter, with the name of the deliberate difference that explains it, if there is one.
    pub(crate) fn finding(&self, daemon_set: &str, deliberate: Option<&str>) -> ComparisonFinding {
        let CounterDifference { field, theirs, ours } = self;
        let (verdict, name) = match deliberate {
            Some(name) => (Verdict::Deliberate, format!("[{name}] ")),
            None => (Verdict::Status, String::new()),
        };
        ComparisonFinding {
            verdict,
            daemon_set: daemon_set.to_owned(),
            subject: format!("status {field}"),
            explanation: format!("{name}theirs {theirs}, ours {ours}"),
        }
    }
}

/// The counters that differ.
pub(crate) fn differences(theirs: &DaemonSetStatus, ours: &DaemonSetStatus) -> Vec<CounterDifference> {
    let pairs = counters(theirs).into_iter().zip(counters(ours));
    let all = pairs.map(|((field, theirs), (_, ours))| CounterDifference { field, theirs, ours });
    all.filter(|counter| counter.theirs != counter.ours).collect()
}

/// An absent counter is 0, as in Go.
fn counters(status: &DaemonSetStatus) -> [(&'static str, i64); 9] {
    [
        ("currentNumberScheduled", status.current_number_scheduled.into()),
        ("numberMisscheduled", status.number_misscheduled.into()),
        ("desiredNumberScheduled", status.desired_number_scheduled.into()),
        ("numberReady", status.number_ready.into()),
        ("updatedNumberScheduled", status.updated_number_scheduled.into()),
        ("numberAvailable", status.number_available.into()),
        ("numberUnavailable", status.number_unavailable.into()),
        ("observedGeneration", status.observed_generation),
        ("collisionCount", status.collision_count.unwrap_or_default().into()),
    ]
}
