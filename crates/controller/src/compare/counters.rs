//! The status that another controller wrote beside the one that we would write, counter by counter.

use super::verdict::{Finding, Verdict};
use daemonset::model::DaemonSetStatus;

/// A counter with two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Differing {
    /// Its name in the API.
    pub field: &'static str,
    /// In the cluster.
    pub theirs: i64,
    /// In our plan.
    pub ours: i64,
}

impl Differing {
    /// With the name of the deliberate difference that it comes from, if it does.
    pub fn finding(&self, daemon_set: &str, deliberate: Option<&str>) -> Finding {
        let Differing { field, theirs, ours } = self;
        let (verdict, name) = match deliberate {
            Some(name) => (Verdict::Deliberate, format!("[{name}] ")),
            None => (Verdict::Status, String::new()),
        };
        Finding {
            verdict,
            daemon_set: daemon_set.to_owned(),
            what: format!("status {field}"),
            why: format!("{name}theirs {theirs}, ours {ours}"),
        }
    }
}

/// Those that differ.
pub fn differing(theirs: &DaemonSetStatus, ours: &DaemonSetStatus) -> Vec<Differing> {
    let both = counters(theirs).into_iter().zip(counters(ours));
    let all = both.map(|((field, theirs), (_, ours))| Differing { field, theirs, ours });
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
