//! The cluster without some actions of the other controller, as if they had not happened yet.
//!
//! The other controller is mostly faster: when this process plans, the effect of an action is in the cluster already, and no
//! plan would contain the action. A plan for the cluster without it does, if both controllers decide alike.

use daemonset::Action;
use daemonset::model::{ControllerRevision, Pod, Uid};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The pods and revisions before the reverted actions; `None` for objects that did not exist then.
#[derive(Debug, Clone, Default)]
pub struct Reverted {
    pods: BTreeMap<Uid, Option<Arc<Pod>>>,
    revisions: BTreeMap<Uid, Option<Arc<ControllerRevision>>>,
}

impl Reverted {
    /// Reverts an action on this pod. Of several actions the first one counts, which has the earliest state.
    pub fn revert_pod(&mut self, uid: &Uid, before: Option<&Arc<Pod>>) {
        self.pods.entry(uid.clone()).or_insert_with(|| before.cloned());
    }

    /// Reverts an action on this revision, in the same way.
    pub fn revert_revision(&mut self, uid: &Uid, before: Option<&Arc<ControllerRevision>>) {
        self.revisions.entry(uid.clone()).or_insert_with(|| before.cloned());
    }

    /// Whether nothing is reverted.
    pub fn is_empty(&self) -> bool {
        self.pods.is_empty() && self.revisions.is_empty()
    }

    /// Whether this action deletes a failed pod whose delete by the other controller is reverted.
    pub fn has_failed_pod_of(&self, action: &Action) -> bool {
        match action {
            Action::DeletePod { pod, failure: Some(_), .. } => self.pods.contains_key(&pod.uid),
            _ => false,
        }
    }

    /// These pods, without the reverted actions.
    pub fn pods(&self, mut pods: Vec<Arc<Pod>>) -> Vec<Arc<Pod>> {
        pods.retain(|pod| !self.pods.contains_key(&pod.metadata.uid));
        pods.extend(self.pods.values().flatten().cloned());
        pods
    }

    /// These revisions, without the reverted actions.
    pub fn revisions(&self, mut revisions: Vec<Arc<ControllerRevision>>) -> Vec<Arc<ControllerRevision>> {
        revisions.retain(|revision| !self.revisions.contains_key(&revision.metadata.uid));
        revisions.extend(self.revisions.values().flatten().cloned());
        revisions
    }
}
