//! A pod at an instant of the replay.

use crate::row::State;
use crate::run::Revisions;
use daemonset::DeleteReason;
use daemonset_sim::{PodIdentity, PodTrouble};
use daemonset_view::words::deleting;

pub struct PodNow<'a> {
    pub identity: &'a PodIdentity,
    pub phase: Phase,
    pub leaving: Option<Option<DeleteReason>>,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Phase {
    Pending,
    /// It is changed in its place.
    Changing(Option<DeleteReason>),
    Ready {
        since: i64,
    },
    Unready(PodTrouble),
    Failed(PodTrouble),
}

impl PodNow<'_> {
    pub fn available_at(&self, min_ready: i64) -> Option<i64> {
        match self.phase {
            Phase::Ready { since } if self.leaving.is_none() => Some(since + min_ready),
            Phase::Ready { .. }
            | Phase::Pending
            | Phase::Changing(_)
            | Phase::Unready(_)
            | Phase::Failed(_) => None,
        }
    }

    pub fn is_available(&self, now: i64, min_ready: i64) -> bool {
        self.available_at(min_ready).is_some_and(|at| at <= now)
    }

    pub fn state(&self, now: i64, min_ready: i64, revisions: &Revisions<'_>) -> State {
        match self.phase {
            _ if self.leaving.is_some() => State::Terminating,
            Phase::Ready { .. } if self.is_available(now, min_ready) => {
                State::Available(revisions.position(&self.identity.revision))
            }
            Phase::Ready { .. } => State::Settling,
            Phase::Pending | Phase::Changing(_) | Phase::Unready(_) => State::Starting,
            Phase::Failed(_) => State::Failed,
        }
    }

    /// The smaller, the more the pod is to the node.
    pub fn rank(&self, now: i64, min_ready: i64) -> u8 {
        match self.phase {
            _ if self.leaving.is_some() => 5,
            Phase::Ready { .. } if self.is_available(now, min_ready) => 0,
            Phase::Ready { .. } => 1,
            Phase::Pending | Phase::Changing(_) | Phase::Unready(_) => 2,
            Phase::Failed(_) => 3,
        }
    }

    /// As a person would say it.
    pub fn in_words(&self, now: i64, min_ready: i64) -> String {
        match (self.leaving, self.phase) {
            (Some(Some(reason)), _) => format!("terminating: {}", deleting(reason)),
            (Some(None), _) => "terminating".to_owned(),
            (None, Phase::Ready { .. }) if self.is_available(now, min_ready) => "available".to_owned(),
            (None, Phase::Ready { .. }) => "Ready, not yet for minReadySeconds".to_owned(),
            (None, Phase::Pending) => "starting".to_owned(),
            (None, Phase::Changing(None)) => "changed in its place".to_owned(),
            (None, Phase::Changing(Some(reason))) => format!("changed in its place: {}", deleting(reason)),
            (None, Phase::Unready(trouble)) => format!("not Ready: {}", hurt(trouble)),
            (None, Phase::Failed(trouble)) => format!("failed: {}", hurt(trouble)),
        }
    }
}

fn hurt(trouble: PodTrouble) -> String {
    match trouble {
        PodTrouble::Crashed => "its container ended".to_owned(),
        PodTrouble::ProbeFailed => "its readiness probe failed".to_owned(),
        PodTrouble::NodeUnready => "its node is not Ready".to_owned(),
        PodTrouble::Evicted => "evicted, as its node was short of something".to_owned(),
        other => format!("{other:?}"),
    }
}
