//! The revisions of a run, oldest first.

use daemonset::sim::{Change, Event};

pub(crate) struct Revisions<'a> {
    pub(crate) hashes: Vec<&'a str>,
    /// Which one is current at the end.
    pub(crate) current: Option<usize>,
}

impl<'a> Revisions<'a> {
    /// Those that were current, in the order in which they first were; before them those that never were.
    pub(crate) fn of(events: &'a [Event]) -> Self {
        let mut reconciled: Vec<&str> = Vec::new();
        let mut running: Vec<&str> = Vec::new();
        let mut last = None;
        for event in events {
            match &event.change {
                Change::Reconciled(it) if !it.revision.is_empty() => {
                    last = Some(it.revision.as_str());
                    add(&mut reconciled, &it.revision);
                }
                Change::PodCreated(pod) => add(&mut running, &pod.revision),
                _ => {}
            }
        }
        running.retain(|hash| !reconciled.contains(hash));
        let hashes = [running, reconciled].concat();
        let current =
            last.map_or(hashes.len().checked_sub(1), |last| hashes.iter().position(|it| *it == last));
        Revisions { hashes, current }
    }

    pub(crate) fn position(&self, hash: &str) -> usize {
        self.hashes.iter().position(|it| *it == hash).unwrap_or_default()
    }
}

fn add<'a>(hashes: &mut Vec<&'a str>, hash: &'a str) {
    if !hashes.contains(&hash) {
        hashes.push(hash);
    }
}
