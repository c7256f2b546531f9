//! Creates and deletes of pods that the API server rejects again and again, so that a person sees them.

use crate::action::Action;
use crate::input::memory::node_failures::back_off;
use crate::input::memory::{ActionOutcome, Memory};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The longest time between two tries of the same action (client-go `DefaultTypedControllerRateLimiter`: 1,000 s).
const LONGEST_BACK_OFF: SignedDuration = SignedDuration::from_secs(1000);

/// Creates and deletes of pods of one node that were rejected in a row: by a webhook, a quota or a missing right, say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Rejections {
    /// When the first of them was rejected.
    pub since: Timestamp,
    /// When the last of them was rejected.
    pub at: Timestamp,
    /// How many they are.
    pub count: u32,
}

/// `rejected 3 times since 2026-01-01T12:00:00Z`.
impl fmt::Display for Rejections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = if self.count == 1 { "time" } else { "times" };
        write!(f, "rejected {} {times} since {}", self.count, self.since)
    }
}

impl Rejections {
    /// When to try again: 1 s after the first rejection, then doubling to 1,000 s.
    fn retry_at(&self) -> Timestamp {
        self.at.checked_add(back_off(self.count, LONGEST_BACK_OFF)).unwrap_or(Timestamp::MAX)
    }
}

impl Memory {
    pub(crate) fn record_rejection(&mut self, action: &Action, outcome: &ActionOutcome, at: Timestamp) {
        let (Action::CreatePod { node, .. } | Action::DeletePod { node, .. }) = action else { return };
        match outcome {
            ActionOutcome::Rejected => {
                let first = Rejections { since: at, at, count: 0 };
                let rejections = self.rejections.entry(node.clone()).or_insert(first);
                rejections.at = at;
                rejections.count = rejections.count.saturating_add(1);
            }
            ActionOutcome::Created(_) | ActionOutcome::Done | ActionOutcome::Changed(_) => {
                self.rejections.remove(node);
            }
            // The answer was lost: nobody knows whether the API server still rejects it.
            ActionOutcome::Unknown | ActionOutcome::Conflict | ActionOutcome::AlreadyExists => {}
        }
    }

    /// The rejections in a row of a node's creates and deletes, until one is accepted or the last of them is 30 minutes old.
    pub fn rejections(&self, node: &str) -> Option<Rejections> {
        self.rejections.get(node).copied()
    }

    /// When a plan that was ended by a rejection is worth its next try: the earliest instant of all nodes with
    /// [rejections](Self::rejections), 1 s after the first one of a node, then doubling to 1,000 s; at least 1 s after the last
    /// rejection of any node. `None` without rejections.
    ///
    /// A caller that plans again at once meets the same rejection in a loop. So it does at an instant of the past, which this may be
    /// after the rejection of another action than a create or delete of a pod: it waits for a second then, as it does for `None`. A
    /// change of an object is a reason to plan earlier.
    pub fn retry_at(&self) -> Option<Timestamp> {
        let earliest = self.rejections.values().map(Rejections::retry_at).min()?;
        // A node may have been left alone since its rejection, because it is gone, say: its instant is over, and stays the earliest.
        let last = self.rejections.values().map(|last| last.at).max()?;
        Some(last.checked_add(SignedDuration::from_secs(1)).map_or(earliest, |next| earliest.max(next)))
    }
}
