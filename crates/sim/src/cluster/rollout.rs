//! A user who steers a rollout: approvals and pauses, in annotations of the DaemonSet.

use super::Cluster;
use crate::event_queue::Timer;
use crate::steering::Steering;
use daemonset::internal::steering::PREFIX;
use daemonset::model::{Labels, OwnerReference};
use daemonset::policy::MARK_PREFIX;
use daemonset::report::RolloutStage;
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;

/// How a rollout ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub enum RolloutEnd {
    /// All target nodes have an available updated pod, and the status says so.
    Complete,
    /// No event moved the rollout for longer than the given patience.
    Stuck,
    /// The given time was up.
    OutOfTime,
    /// The new version has failed, and every target node has an available pod of the old one again.
    RolledBack,
    /// The new version has failed, and the policy reaches no further node with it.
    Stopped,
    /// Every node that the policy has released is updated; it holds the others.
    Held,
}

impl Cluster {
    /// Steers the rollout now.
    pub fn steer(&mut self, steering: Steering) {
        let newest = self.newest_revision_number();
        self.edit(|ds| {
            let annotations = &ds.metadata.annotations;
            ds.metadata.annotations = match steering {
                Steering::Approve { waves } => {
                    annotations.with(&key("approved"), &format!("{newest}={waves}"))
                }
                Steering::Pause => annotations.with(&key("paused"), "true"),
                Steering::Resume => {
                    let paused = key("paused");
                    annotations.iter().filter(|(other, _)| *other != paused).collect()
                }
            };
        });
    }

    /// Steers the rollout at a later instant.
    pub fn steer_at(&mut self, at: Timestamp, steering: Steering) {
        self.environment.queue.push(at.max(self.now()), Timer::Steer(steering));
    }

    /// Whether the new version has failed, and the controller has seen every target node with an available pod of the old one
    /// again.
    pub fn is_rolled_back(&self) -> bool {
        // A plan from before the last edit is about the version before.
        let generation = self.daemon_set().map(|ds| ds.metadata.generation);
        let has_seen = generation == Some(self.controller.rollout.generation);
        has_seen && !self.controller.is_down() && self.controller.rollout.is_rolled_back()
    }

    /// Until when a rollout moves by time alone, by a pod that is under way, or by a user who steers it.
    pub(crate) fn rollout_moves_until(&self) -> Option<Timestamp> {
        self.controller.rollout.waits_until.max(self.environment.queue.moves_until)
    }

    /// The end of a rollout that nothing moves.
    pub(crate) fn standstill(&self) -> RolloutEnd {
        let rollout = &self.controller.rollout;
        match rollout.stage() {
            Some(RolloutStage::Stopped { .. }) => RolloutEnd::Stopped,
            Some(_) if rollout.is_at_rest() => RolloutEnd::Held,
            Some(_) | None => RolloutEnd::Stuck,
        }
    }

    /// The number of the newest revision of the DaemonSet; 0 without any.
    fn newest_revision_number(&self) -> i64 {
        let uid = self.daemon_set().map(|ds| ds.metadata.uid.as_str());
        let owned = self.revisions().filter(|revision| {
            let owners = &revision.metadata.owner_references;
            uid.is_some() && OwnerReference::controller_of(owners) == uid
        });
        owned.map(|revision| revision.revision).max().unwrap_or_default()
    }
}

fn key(name: &str) -> String {
    format!("{MARK_PREFIX}/{name}")
}

/// The annotations that steer a rollout and differ, with their new values; `None` for removed ones.
pub(crate) fn steering_changes(before: &Labels, after: &Labels) -> BTreeMap<String, Option<String>> {
    let steers = |(key, _): &(&str, &str)| key.starts_with(PREFIX);
    let removed = before.iter().filter(|(key, _)| !after.contains_key(key)).filter(steers);
    let set = after.iter().filter(|(key, value)| before.get(key) != Some(*value)).filter(steers);
    removed
        .map(|(key, _)| (key.to_owned(), None))
        .chain(set.map(|(key, value)| (key.to_owned(), Some(value.to_owned()))))
        .collect()
}
