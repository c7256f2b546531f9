//! One simulated run, and its revisions.

use daemonset::model::DaemonSetSpec;
use daemonset_sim::{Change, Event, undone_at};
use jiff::Timestamp;

/// A run and its summary.
pub struct Run<'a> {
    /// Its name in titles, tables and comparisons.
    pub label: String,
    /// All that happened, in order; what the run starts from lies before its start.
    pub events: &'a [Event],
    pub start: Timestamp,
    pub end: Timestamp,
    /// Lines under the title, beside those that the picture finds itself.
    pub summary: Vec<String>,
}

impl Run<'_> {
    /// The instant as milliseconds since the start; negative before it.
    pub fn offset(&self, at: Timestamp) -> i64 {
        at.as_millisecond().saturating_sub(self.start.as_millisecond())
    }

    /// How long it takes, in milliseconds; never 0, so that it has a width.
    pub fn length(&self) -> i64 {
        self.offset(self.end).max(1)
    }

    /// The spec that the run starts with.
    pub fn first_spec(&self) -> Option<&DaemonSetSpec> {
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

pub struct Revisions<'a> {
    pub hashes: Vec<&'a str>,
    /// Which one is current at the end, or was until a controller undid it: the one that is rolled out.
    pub current: Option<usize>,
}

impl<'a> Revisions<'a> {
    /// Revisions that were current, in the order in which they became so; before them those that never were.
    pub fn of(events: &'a [Event]) -> Self {
        let mut reconciled: Vec<&str> = Vec::new();
        let mut running: Vec<&str> = Vec::new();
        let mut last = None;
        let undone_at = undone_at(events).unwrap_or(events.len());
        for (at, event) in events.iter().enumerate() {
            match &event.change {
                Change::Reconciled(it) if !it.revision.is_empty() => {
                    last = if at < undone_at { Some(it.revision.as_str()) } else { last };
                    add(&mut reconciled, &it.revision);
                }
                Change::PodCreated(pod) | Change::PodChanged { pod, .. } => add(&mut running, &pod.revision),
                _ => {}
            }
        }
        running.retain(|hash| !reconciled.contains(hash));
        let hashes = [running, reconciled].concat();
        let current =
            last.map_or(hashes.len().checked_sub(1), |last| hashes.iter().position(|it| *it == last));
        Revisions { hashes, current }
    }

    pub fn position(&self, hash: &str) -> usize {
        self.hashes.iter().position(|it| *it == hash).unwrap_or_default()
    }
}

fn add<'a>(hashes: &mut Vec<&'a str>, hash: &'a str) {
    if !hashes.contains(&hash) {
        hashes.push(hash);
    }
}
