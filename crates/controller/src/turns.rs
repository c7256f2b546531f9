//! Whose turn it is: what was refused comes last the next time.
//!
//! A plan has one order, and its first failure ends it. Without this, one node whose pod a policy refuses, or one pod that
//! nobody may delete, would be the end of each plan, and whatever comes after it would never be done. (Kubernetes' own
//! controller goes through nodes in a random order.)

use daemonset::Action;
use daemonset::model::{NodeName, Uid};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// What was refused, for one DaemonSet.
#[derive(Debug, Clone, Default)]
pub struct Turns {
    /// The later it was refused, the later it comes again.
    refused: HashMap<Subject, u64>,
    refusals: u64,
    /// How many were refused for the first time since one was not.
    first_refusals: u32,
    is_news: bool,
}

/// What is created or deleted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Subject {
    PodOn(NodeName),
    Pod(Uid),
}

impl Turns {
    /// This was refused.
    pub fn refused(&mut self, action: &Action) {
        if let Some(subject) = subject(action) {
            self.refusals += 1;
            if self.refused.insert(subject, self.refusals).is_none() {
                self.first_refusals += 1;
                self.is_news = true;
            }
        }
    }

    /// This was not.
    pub fn accepted(&mut self, action: &Action) {
        if let Some(subject) = subject(action) {
            self.refused.remove(&subject);
            self.first_refusals = 0;
        }
    }

    /// When another one may be tried, after something was refused that never was before: it need not wait until what was
    /// refused is tried again. A second more with each, since all may be.
    pub fn take_next(&mut self) -> Option<Duration> {
        std::mem::take(&mut self.is_news).then(|| Duration::from_secs(self.first_refusals.into()))
    }

    /// The actions of a plan with those that were refused before behind all creates and deletes. A batch stays as large as
    /// it was.
    pub fn order(&mut self, actions: Vec<Action>) -> Vec<Action> {
        if self.refused.is_empty() {
            return actions;
        }
        let planned: HashSet<Subject> = actions.iter().filter_map(subject).collect();
        self.refused.retain(|subject, _| planned.contains(subject));
        let turn = |action: &Action| subject(action).and_then(|subject| self.refused.get(&subject)).copied();
        let batches: Vec<u32> = actions.iter().filter_map(batch).collect();
        let (mut late, mut first): (Vec<Action>, Vec<Action>) =
            actions.into_iter().partition(|action| turn(action).is_some());
        late.sort_by_key(turn);
        let after = first
            .iter()
            .rposition(|action| subject(action).is_some())
            .map_or_else(|| first.iter().position(is_told).unwrap_or(first.len()), |last| last + 1);
        first.splice(after..after, late);
        let creates = first.iter_mut().filter_map(|action| match action {
            Action::CreatePod { batch, .. } => Some(batch),
            _ => None,
        });
        for (batch, planned) in creates.zip(batches) {
            *batch = planned;
        }
        first
    }
}

/// What only tells of the others, and comes after them.
fn is_told(action: &Action) -> bool {
    matches!(
        action,
        Action::DeleteRevision { .. }
            | Action::UpdateStatus { .. }
            | Action::RecordEvent { .. }
            | Action::Requeue { .. }
    )
}

fn subject(action: &Action) -> Option<Subject> {
    match action {
        Action::CreatePod { node, .. } => Some(Subject::PodOn(node.clone())),
        Action::DeletePod { pod, .. } => Some(Subject::Pod(pod.uid.clone())),
        _ => None,
    }
}

fn batch(action: &Action) -> Option<u32> {
    match action {
        Action::CreatePod { batch, .. } => Some(*batch),
        _ => None,
    }
}
