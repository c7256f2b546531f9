//! What is drawn: one simulated run.

use daemonset::model::DaemonSetSpec;
use daemonset::sim::{Change, Event};
use jiff::Timestamp;

/// A run and what is said about it.
pub(crate) struct Run<'a> {
    /// Its name in titles, tables and comparisons.
    pub(crate) label: String,
    /// All that happened, in order; what the run starts from lies before its start.
    pub(crate) events: &'a [Event],
    pub(crate) start: Timestamp,
    pub(crate) end: Timestamp,
    /// Lines under the title, beside those that the picture finds itself.
    pub(crate) summary: Vec<String>,
}

impl Run<'_> {
    /// The instant as milliseconds since the start; negative before it.
    pub(crate) fn offset(&self, at: Timestamp) -> i64 {
        at.as_millisecond().saturating_sub(self.start.as_millisecond())
    }

    /// How long it takes, in milliseconds; never 0, so that it has a width.
    pub(crate) fn length(&self) -> i64 {
        self.offset(self.end).max(1)
    }

    /// The spec that the run starts with.
    pub(crate) fn first_spec(&self) -> Option<&DaemonSetSpec> {
        let mut first = None;
        for event in self.events {
            if event.t >= self.start && first.is_some() {
                break;
            }
            if let Change::DaemonSetChanged { spec, .. } = &event.change {
                first = Some(&**spec);
            }
        }
        first
    }
}
