//! The cluster as it would be if the other controller had not done yet what is still to be explained.
//!
//! The other controller is mostly the faster one: when this process plans, what it did is there already, and no plan would
//! have it. A plan for the cluster without it has it, if both would do the same.

use super::seen::{Before, Seen};
use daemonset::Action;
use daemonset::model::{ControllerRevision, Pod, Uid};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Pods and revisions as they were; none where they were not there.
#[derive(Debug, Clone, Default)]
pub struct Undone {
    pods: BTreeMap<Uid, Option<Arc<Pod>>>,
    revisions: BTreeMap<Uid, Option<Arc<ControllerRevision>>>,
}

impl Undone {
    /// Undoes these, of which the first of an object tells how it was.
    pub fn new<'s>(seen: impl Iterator<Item = &'s Seen>) -> Self {
        let mut undone = Undone::default();
        for seen in seen {
            match &seen.before {
                Before::Pod(uid, before) => {
                    undone.pods.entry(uid.clone()).or_insert_with(|| before.clone());
                }
                Before::Revision(uid, before) => {
                    undone.revisions.entry(uid.clone()).or_insert_with(|| before.clone());
                }
            }
        }
        undone
    }

    /// Whether all is as it is.
    pub fn is_empty(&self) -> bool {
        self.pods.is_empty() && self.revisions.is_empty()
    }

    /// Whether this is the delete of a failed pod that is undone.
    pub fn has_failure(&self, action: &Action) -> bool {
        match action {
            Action::DeletePod { pod, failure: Some(_), .. } => self.pods.contains_key(&pod.uid),
            _ => false,
        }
    }

    /// These pods, as they would be.
    pub fn pods(&self, mut pods: Vec<Arc<Pod>>) -> Vec<Arc<Pod>> {
        pods.retain(|pod| !self.pods.contains_key(&pod.metadata.uid));
        pods.extend(self.pods.values().flatten().cloned());
        pods
    }

    /// These revisions, as they would be.
    pub fn revisions(&self, mut revisions: Vec<Arc<ControllerRevision>>) -> Vec<Arc<ControllerRevision>> {
        revisions.retain(|revision| !self.revisions.contains_key(&revision.metadata.uid));
        revisions.extend(self.revisions.values().flatten().cloned());
        revisions
    }
}
