//! Failures of nodes: pods that fail again and again, and updates that are rejected.

use crate::action::{Action, CreateReason, TurnReason};
use crate::input::memory::Memory;
use daemonset_objects::model::NodeName;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The longest back-off (v1.36 `daemon.NewDaemonSetsController`: `flowcontrol.NewBackOff(1s, 15min)`).
const LONGEST_BACK_OFF: SignedDuration = SignedDuration::from_mins(15);
/// How long after its last failure a node starts afresh (client-go `flowcontrol.Backoff`: twice the longest).
pub(crate) const FAILURES_FORGOTTEN_AFTER: SignedDuration = SignedDuration::from_mins(30);

/// The failures in a row of one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeFailures {
    pub generation: i64,
    pub count: u32,
    pub at: Timestamp,
}

/// The failures of a node that still count.
pub(crate) struct Failures {
    pub count: u32,
    /// The end of the back-off, while it lasts.
    pub(crate) backed_off_until: Option<Timestamp>,
}

impl Memory {
    /// The failures of a node's pods of this generation.
    pub(crate) fn failures(&self, node: &str, generation: i64, now: Timestamp) -> Failures {
        match self.failures.get(node) {
            Some(failures) if failures.generation == generation && !failures.forgotten(now) => Failures {
                count: failures.count,
                backed_off_until: failures.back_off_ends().filter(|until| now < *until),
            },
            _ => Failures { count: 0, backed_off_until: None },
        }
    }

    /// When the update of a node was rejected, while that counts.
    pub(crate) fn refused_at(&self, node: &str, now: Timestamp) -> Option<Timestamp> {
        self.refusals.get(node).copied().filter(|at| !is_long_ago(*at, now))
    }
}

impl NodeFailures {
    /// Long ago, or so far ahead that a clock must have gone back.
    pub(crate) fn forgotten(self, now: Timestamp) -> bool {
        is_long_ago(self.at, now)
    }

    /// 1 s after the first failure, then doubling to 15 minutes (v1.36 `failedPodsBackoff`).
    pub fn back_off_ends(self) -> Option<Timestamp> {
        self.at.checked_add(back_off(self.count, LONGEST_BACK_OFF)).ok()
    }
}

/// 1 s after the first of some failures in a row, then doubling to the longest.
pub(crate) fn back_off(failures: u32, longest: SignedDuration) -> SignedDuration {
    // 2^20 s is longer than each longest time, and far from an overflow.
    let doublings = failures.saturating_sub(1).min(20);
    SignedDuration::from_secs(1 << doublings).min(longest)
}

pub(crate) fn is_long_ago(at: Timestamp, now: Timestamp) -> bool {
    now.duration_since(at).abs() >= FAILURES_FORGOTTEN_AFTER
}

/// Until when an event of this instant is remembered; `None` if it was long ago. One of the future ends the sooner.
pub(crate) fn remembered_until(at: Timestamp, now: Timestamp) -> Option<Timestamp> {
    let until = at.checked_add(FAILURES_FORGOTTEN_AFTER).unwrap_or(Timestamp::MAX);
    Some(until).filter(|_| !is_long_ago(at, now))
}

/// The node of an action that a limit lets happen on this node instead of another one.
pub(crate) fn updated_within_a_limit(action: &Action) -> Option<Cow<'_, NodeName>> {
    match action {
        Action::CreatePod { node, reason: CreateReason::Surge, .. }
        | Action::UpdatePodInPlace { node, .. } => Some(Cow::Borrowed(node)),
        Action::DeletePod { node, reason, .. } if reason.is_update() => Some(Cow::Borrowed(node)),
        Action::PatchNode { node, reason: TurnReason::TurnBegins, .. } => {
            Some(Cow::Owned(node.name.as_str().into()))
        }
        _ => None,
    }
}
