//! A DaemonSet with its plan and its objects, of which a person asks why.

use crate::cluster::Models;
use crate::plan::Planned;
use crate::words;
use daemonset::Plan;
use jiff::Timestamp;

/// A DaemonSet, its plan, and the objects that the plan was made from.
#[derive(Clone, Copy)]
pub struct Case<'a> {
    pub planned: &'a Planned,
    pub plan: &'a Plan,
    pub models: &'a Models,
    pub now: Timestamp,
    /// The words by which a person calls the plugin: `kubectl daemonset`.
    pub plugin: &'a str,
    /// The flags by which kubectl finds the cluster, each after a space.
    pub connection: &'a str,
}

/// The same without a DaemonSet: all the objects, when they are looked at, and how commands about them begin.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub models: &'a Models,
    pub now: Timestamp,
    /// As in a [`Case`].
    pub plugin: &'a str,
    /// As in a [`Case`].
    pub connection: &'a str,
}

impl<'a> View<'a> {
    /// One of its DaemonSets.
    pub fn case<'c>(&self, planned: &'c Planned, plan: &'c Plan) -> Case<'c>
    where
        'a: 'c,
    {
        let View { models, now, plugin, connection } = *self;
        Case { planned, plan, models, now, plugin, connection }
    }
}

impl<'a> Case<'a> {
    /// The same without its DaemonSet.
    pub fn view(&self) -> View<'a> {
        let Case { models, now, plugin, connection, .. } = *self;
        View { models, now, plugin, connection }
    }
}

impl Case<'_> {
    /// An instant to come: `at 2026-01-01T00:00:05Z, in 5s`.
    pub fn at(&self, at: Timestamp) -> String {
        format!("at {at}, {}", words::relative(at.max(self.now), self.now).replacen("for 0s", "now", 1))
    }

    /// An instant of the past: `2026-01-01T00:00:05Z (for 5s)`.
    pub fn since(&self, at: Timestamp) -> String {
        format!("{at} ({})", words::relative(at.min(self.now), self.now))
    }

    pub fn maybe_since(&self, at: Option<Timestamp>) -> String {
        at.map(|at| format!(" since {}", self.since(at))).unwrap_or_default()
    }
}
