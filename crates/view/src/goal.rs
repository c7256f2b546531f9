//! The version that a node should have: the current one or, where a rollout goes back or has not reached the node, the stable revision.

use crate::case::Case;
use crate::steered::{Steered, has_updated};
use daemonset::model::ControllerRevision;
use daemonset::report::{NodeOutcome, NodeVerdict, PodVerdict, RolloutStage, Wait};
use daemonset::{CreateReason, DeleteReason};

/// The version that a node should have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GoalPhrase<'a> {
    Current,
    /// The stable revision, by its name and its hash.
    Stable {
        name: &'a str,
        hash: &'a str,
    },
}

impl<'a> GoalPhrase<'a> {
    /// Of a node, under a rollout if there is one.
    pub(crate) fn of(steered: Option<&Steered<'a>>, node: &NodeVerdict) -> Self {
        steered.map_or(GoalPhrase::Current, |steered| GoalPhrase::under(steered, node))
    }

    fn under(steered: &Steered<'a>, node: &NodeVerdict) -> Self {
        let stable = steered.report.stable.as_deref().zip(steered.report.stable_hash.as_deref());
        match stable {
            Some((name, hash)) if !is_reached(steered, node) => GoalPhrase::Stable { name, hash },
            _ => GoalPhrase::Current,
        }
    }

    pub(crate) fn is_of(self, pod: &PodVerdict) -> bool {
        match self {
            GoalPhrase::Current => pod.updated,
            GoalPhrase::Stable { hash, .. } => !pod.updated && pod.hash.as_deref() == Some(hash),
        }
    }

    /// A pod of this version.
    pub(crate) fn wanted(self) -> &'static str {
        match self {
            GoalPhrase::Current => "updated pod",
            GoalPhrase::Stable { .. } => "pod of the stable revision",
        }
    }

    /// A pod of another version.
    pub(crate) fn other(self) -> &'static str {
        match self {
            GoalPhrase::Current => "outdated pod",
            GoalPhrase::Stable { .. } => "pod of another revision",
        }
    }

    /// The template that decides whether the node should run a pod.
    pub(crate) fn template(self) -> &'static str {
        match self {
            GoalPhrase::Current => "the template",
            GoalPhrase::Stable { .. } => "the stable template",
        }
    }

    /// Why a plan creates a pod.
    pub(crate) fn creating(self, reason: CreateReason) -> String {
        match (self, reason) {
            (GoalPhrase::Stable { .. }, CreateReason::Surge) => {
                "of the stable revision, beside the one of another revision".to_owned()
            }
            _ => crate::words::creating(reason),
        }
    }

    /// Why a plan deletes a pod. The reasons of an update name pods outdated that are of another version than this one.
    pub(crate) fn deleting(self, reason: DeleteReason) -> String {
        let text = crate::words::deleting(reason);
        match self {
            GoalPhrase::Current => text,
            GoalPhrase::Stable { .. } => text.replacen("outdated", "not of the stable revision", 1),
        }
    }
}

impl Case<'_> {
    /// The version that a node should have.
    pub(crate) fn goal(&self, node: &NodeVerdict) -> GoalPhrase<'_> {
        GoalPhrase::of(self.steered().as_ref(), node)
    }

    /// A revision of the DaemonSet.
    pub(crate) fn revision(&self, name: &str) -> Option<&ControllerRevision> {
        let namespace = &self.planned.daemon_set.metadata.namespace;
        let mut revisions = self.models.revisions.iter();
        revisions.find(|it| it.metadata.name == name && it.metadata.namespace == *namespace)
    }
}

/// Whether a rollout gives the node the current version.
fn is_reached(steered: &Steered<'_>, node: &NodeVerdict) -> bool {
    if matches!(node.outcome, NodeOutcome::Waits(Wait::Rollout { .. })) {
        return false;
    }
    match steered.report.stage {
        RolloutStage::Complete => true,
        RolloutStage::RolledBack { .. } => false,
        // A node keeps the version that it has, though its wave is not open.
        RolloutStage::Progressing => has_updated(node) || is_released(steered, node),
        RolloutStage::Paused | RolloutStage::Stopped { .. } | _ => has_updated(node),
    }
}

fn is_released(steered: &Steered<'_>, node: &NodeVerdict) -> bool {
    match steered.first_wave(node) {
        Some((index, _)) => steered.is_open(index),
        // A node that takes no part follows when all that do are released.
        None => steered.next_wave().is_none() && steered.in_no_wave().is_none(),
    }
}
