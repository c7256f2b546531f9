//! A DaemonSet with its plan and its objects, of which a person asks why.

use crate::cluster::Models;
use crate::plan::Planned;
use crate::words;
use daemonset::Plan;
use jiff::Timestamp;

/// A DaemonSet, its plan, and the objects that the plan was made from.
#[derive(Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) planned: &'a Planned,
    pub(crate) plan: &'a Plan,
    pub(crate) models: &'a Models,
    pub(crate) now: Timestamp,
    /// The flags by which kubectl finds the cluster, each after a space.
    pub(crate) connection: &'a str,
}

impl Case<'_> {
    /// An instant to come: `at 2026-01-01T00:00:05Z, in 5s`.
    pub(crate) fn at(&self, at: Timestamp) -> String {
        format!("at {at}, {}", words::relative(at.max(self.now), self.now).replacen("for 0s", "now", 1))
    }

    /// An instant of the past: `2026-01-01T00:00:05Z (for 5s)`.
    pub(crate) fn since(&self, at: Timestamp) -> String {
        format!("{at} ({})", words::relative(at.min(self.now), self.now))
    }

    pub(crate) fn maybe_since(&self, at: Option<Timestamp>) -> String {
        at.map(|at| format!(" since {}", self.since(at))).unwrap_or_default()
    }
}
