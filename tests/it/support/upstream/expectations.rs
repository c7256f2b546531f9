//! Creates and deletes that the controller waits for before it acts again (v1.36 `controller_utils.go
//! ControllerExpectations`).

use daemonset::Recording;
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeMap;

/// The numbers of creates and deletes that were requested and are not visible yet. The controller does not know the
/// pods.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Expectations {
    creates: i64,
    deletes: i64,
    since: Option<Timestamp>,
}

impl Expectations {
    /// Counts the watch events between two states of the cache: new pods, pods that start to terminate, and pods that
    /// are gone. As in v1.36, a pod that does both is counted twice.
    pub fn saw(&mut self, before: &Recording, after: &Recording) {
        let owner = &before.daemon_set.metadata.uid;
        let ours = |recording: &Recording| -> BTreeMap<String, bool> {
            let owned = recording.pods.iter().filter(|pod| {
                pod.metadata.owner_references.iter().any(|o| o.controller == Some(true) && o.uid == *owner)
            });
            owned.map(|p| (p.metadata.uid.to_string(), p.metadata.deletion_timestamp.is_some())).collect()
        };
        let (old, new) = (ours(before), ours(after));
        let count = |seen: usize| i64::try_from(seen).unwrap();
        self.creates -= count(new.keys().filter(|uid| !old.contains_key(*uid)).count());
        self.deletes -= count(old.keys().filter(|uid| !new.contains_key(*uid)).count());
        let terminating = new.iter().filter(|(uid, going)| **going && old.get(*uid) == Some(&false));
        self.deletes -= count(terminating.count());
    }

    /// Whether nothing is expected, or the wait has lasted for more than five minutes.
    pub(super) fn satisfied(&self, now: Timestamp) -> bool {
        let seen = self.creates <= 0 && self.deletes <= 0;
        seen || self.since.is_none_or(|since| now.duration_since(since) > SignedDuration::from_mins(5))
    }

    /// Replaces the expectations.
    pub(super) fn set(&mut self, creates: usize, deletes: usize, now: Timestamp) {
        let count = |asked: usize| i64::try_from(asked).unwrap();
        *self = Expectations { creates: count(creates), deletes: count(deletes), since: Some(now) };
    }
}
