//! Hints that a node leaves, or must be left alone for a while.

use crate::view::{TaintView, TaintsView};
use crate::words::well_known::{TAINT_DISRUPTED, TAINT_TO_BE_DELETED};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A state of a node's life in which `daemonset::policy::LifecyclePolicy::Respect` leaves it alone: a true
/// condition of that name, or a taint of that meaning.
///
/// Sources: KEP-5683 (specialized lifecycle management) for the conditions, Karpenter's and cluster-autoscaler's
/// documentation for the taints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Lifecycle {
    /// Condition `GracefulNodeShutdownInProgress`: the kubelet ends the pods, and rejects new ones.
    GracefulNodeShutdownInProgress,
    /// Condition `DrainInProgress`.
    DrainInProgress,
    /// Condition `Drained`.
    Drained,
    /// Condition `MaintenanceInProgress`.
    MaintenanceInProgress,
    /// Taint `karpenter.sh/disrupted`: Karpenter replaces the node.
    Disrupted,
    /// Taint `ToBeDeletedByClusterAutoscaler`.
    ToBeDeleted,
}

/// A few words about the node: `the node shuts down`.
impl fmt::Display for Lifecycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Lifecycle::GracefulNodeShutdownInProgress => "the node shuts down",
            Lifecycle::DrainInProgress => "the node is being drained",
            Lifecycle::Drained => "the node is drained",
            Lifecycle::MaintenanceInProgress => "the node is in maintenance",
            Lifecycle::Disrupted => "Karpenter replaces the node",
            Lifecycle::ToBeDeleted => "cluster-autoscaler removes the node",
        })
    }
}

/// A state with its beginning.
#[derive(Debug, Clone, Copy)]
pub struct LifecycleView {
    pub state: Lifecycle,
    /// Unknown for a taint, and for a condition without a transition time.
    pub since: Option<Timestamp>,
}

impl LifecycleView {
    /// The first of the true conditions that is such a state, else the first such taint.
    #[inline]
    pub(crate) fn new<'c>(
        true_conditions: impl Iterator<Item = (&'c str, Option<Timestamp>)>,
        taints: TaintsView<'_>,
    ) -> Option<Self> {
        let of_condition =
            |(kind, since)| Some(LifecycleView { state: Lifecycle::of_condition(kind)?, since });
        let of_taint = |taint: TaintView<'_>| {
            Some(LifecycleView { state: Lifecycle::of_taint(taint.key)?, since: None })
        };
        true_conditions.filter_map(of_condition).next().or_else(|| taints.iter().find_map(of_taint))
    }
}

/// The states that a condition of the node shows, by its type.
const OF_CONDITIONS: [(&str, Lifecycle); 4] = [
    ("GracefulNodeShutdownInProgress", Lifecycle::GracefulNodeShutdownInProgress),
    ("DrainInProgress", Lifecycle::DrainInProgress),
    ("Drained", Lifecycle::Drained),
    ("MaintenanceInProgress", Lifecycle::MaintenanceInProgress),
];

impl Lifecycle {
    /// The type of the node's condition; `None` for a state that a taint shows.
    pub(crate) fn condition(self) -> Option<&'static str> {
        OF_CONDITIONS.iter().find(|(_, state)| *state == self).map(|(kind, _)| *kind)
    }

    #[inline]
    fn of_condition(kind: &str) -> Option<Self> {
        OF_CONDITIONS.iter().find(|(of, _)| *of == kind).map(|(_, state)| *state)
    }

    /// The key alone decides: its effect and its value are choices of the program that sets it.
    #[inline]
    fn of_taint(key: &str) -> Option<Self> {
        match key {
            TAINT_DISRUPTED => Some(Lifecycle::Disrupted),
            TAINT_TO_BE_DELETED => Some(Lifecycle::ToBeDeleted),
            _ => None,
        }
    }
}
