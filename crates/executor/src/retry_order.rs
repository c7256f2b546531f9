//! The order of the next attempt: actions that were rejected before come last.
//!
//! A plan is executed in one order, and its first failure ends it. Without this order, one node whose pod a policy rejects, or
//! one pod that nobody may delete, would end each plan at the same place, and the actions behind it would never be executed.
//! (Kubernetes' own controller goes through nodes in a random order.)

use crate::turns::is_of_turns;
use daemonset::model::{NodeName, Uid};
use daemonset::{Action, CreateReason};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// The rejected creates and deletes of one DaemonSet.
#[derive(Debug, Clone, Default)]
pub struct RetryOrder {
    /// Each target with the number of its last rejection: the larger it is, the later the target comes.
    rejected: HashMap<Target, u64>,
    rejections: u64,
    /// Targets rejected for the first time since an action was last accepted.
    new_rejections: u32,
    has_new_rejection: bool,
}

/// The object of a create or a delete.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Target {
    PodOn(NodeName),
    Pod(Uid),
}

impl RetryOrder {
    /// Records that this action was rejected.
    pub fn rejected(&mut self, action: &Action) {
        if let Some(target) = target(action) {
            self.rejections += 1;
            if self.rejected.insert(target, self.rejections).is_none() {
                self.new_rejections += 1;
                self.has_new_rejection = true;
            }
        }
    }

    /// Records that this action was, or may have been, accepted.
    pub fn accepted(&mut self, action: &Action) {
        if let Some(target) = target(action) {
            self.rejected.remove(&target);
            self.new_rejections = 0;
        }
    }

    /// The delay until the other targets may be tried, after a target was rejected for the first time: they need not wait for
    /// the retry of the rejected one. It grows by a second with each such target, since all may be rejected.
    pub fn take_delay(&mut self) -> Option<Duration> {
        std::mem::take(&mut self.has_new_rejection).then(|| Duration::from_secs(self.new_rejections.into()))
    }

    /// Moves the actions that were rejected before behind all other creates and deletes of the plan. Each batch keeps its size.
    pub fn apply(&mut self, actions: Vec<Action>) -> Vec<Action> {
        if self.rejected.is_empty() {
            return actions;
        }
        let planned: HashSet<Target> = actions.iter().filter_map(target).collect();
        self.rejected.retain(|target, _| planned.contains(target));
        let rank = |action: &Action| target(action).and_then(|target| self.rejected.get(&target)).copied();
        let batches: Vec<u32> = actions.iter().filter_map(batch).collect();
        let (mut last, mut ordered): (Vec<Action>, Vec<Action>) =
            actions.into_iter().partition(|action| rank(action).is_some());
        last.sort_by_key(rank);
        let insert_at = ordered
            .iter()
            .rposition(|action| target(action).is_some())
            .map_or_else(|| ordered.iter().position(runs_last).unwrap_or(ordered.len()), |last| last + 1);
        ordered.splice(insert_at..insert_at, last);
        // The creates have changed places, but the n-th create of the plan still belongs to the batch of the n-th place:
        // a slow start sends 1, 2, 4 … creates at a time, whichever they are.
        let creates = ordered.iter_mut().filter_map(|action| match action {
            Action::CreatePod { batch, reason, .. } if *reason != CreateReason::PullImages => Some(batch),
            _ => None,
        });
        for (batch, planned) in creates.zip(batches) {
            *batch = planned;
        }
        ordered
    }
}

/// Whether a plan has this action behind all creates and deletes of pods.
fn runs_last(action: &Action) -> bool {
    matches!(
        action,
        Action::DeleteRevision { .. }
            | Action::UpdateStatus { .. }
            | Action::RestoreTemplate { .. }
            | Action::RecordEvent { .. }
            | Action::Requeue { .. }
    )
}

fn target(action: &Action) -> Option<Target> {
    match action {
        // A refusal about these concerns no pod of the DaemonSet, and they come last anyway.
        action if is_of_turns(action) => None,
        Action::CreatePod { node, .. } => Some(Target::PodOn(node.clone())),
        Action::DeletePod { pod, .. } | Action::UpdatePodInPlace { pod, .. } => {
            Some(Target::Pod(pod.uid.clone()))
        }
        _ => None,
    }
}

fn batch(action: &Action) -> Option<u32> {
    match action {
        action if is_of_turns(action) => None,
        Action::CreatePod { batch, .. } => Some(*batch),
        _ => None,
    }
}
