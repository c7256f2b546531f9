//! The input of a cascade, and how far the deletion has come.

use super::{FOREGROUND_DELETION, ORPHAN, Object};
use daemonset_objects::model::{ObjectRef, Uid};
use serde::Serialize;

/// The objects that exist now.
#[derive(Debug, Clone)]
pub struct State<'a> {
    namespace: String,
    uid: Uid,
    daemon_set: Option<&'a Object>,
    pods: Vec<&'a Object>,
    revisions: Vec<&'a Object>,
}

/// How far the deletion of a DaemonSet has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Stage {
    /// The DaemonSet is not being deleted: nothing is done.
    NotBeingDeleted,
    /// The DaemonSet waits until no object names it as owner.
    Orphaning {
        /// The number of objects that name the DaemonSet as owner.
        dependents: usize,
    },
    /// The DaemonSet waits in the foreground until its dependents are gone.
    WaitingForDependents {
        /// The number of objects that name the DaemonSet as owner.
        dependents: usize,
        /// The number of those that block it (`blockOwnerDeletion`).
        blocking: usize,
    },
    /// Other finalizers hold the DaemonSet, and with it all its dependents.
    HeldByFinalizers {
        /// The finalizers.
        finalizers: Vec<String>,
    },
    /// The DaemonSet has no finalizer left.
    ReadyToGo,
    /// The DaemonSet is gone.
    Gone {
        /// The number of objects that name the DaemonSet as owner.
        dependents: usize,
    },
}

impl<'a> State<'a> {
    /// Starts from the DaemonSet that is being deleted (or was), and from the result of a GET by its namespace and
    /// name.
    ///
    /// If `found` is `None` or has another uid, the DaemonSet counts as gone, and its pods are deleted. Read it from
    /// the API server itself, not from a cache (v1.36 `garbagecollector.go isDangling` does the same).
    pub fn new(owner: &ObjectRef, found: Option<&'a Object>) -> Self {
        State {
            namespace: owner.namespace.clone(),
            uid: owner.uid.clone(),
            daemon_set: found.filter(|object| object.metadata.uid == owner.uid),
            pods: Vec::new(),
            revisions: Vec::new(),
        }
    }

    /// Adds all pods of the namespace, with any owner or without one.
    #[must_use]
    pub fn pods(mut self, pods: impl IntoIterator<Item = &'a Object>) -> Self {
        self.pods.extend(pods);
        self
    }

    /// Adds all ControllerRevisions of the namespace, with any owner or without one.
    #[must_use]
    pub fn revisions(mut self, revisions: impl IntoIterator<Item = &'a Object>) -> Self {
        self.revisions.extend(revisions);
        self
    }

    /// How far the deletion has come.
    pub fn stage(&self) -> Stage {
        let dependents = self.owned_pods().len() + self.owned_revisions().len();
        let Some(daemon_set) = self.daemon_set else { return Stage::Gone { dependents } };
        if !daemon_set.is_being_deleted() {
            Stage::NotBeingDeleted
        } else if daemon_set.has_finalizer(ORPHAN) {
            // With both finalizers, orphaning comes first: a released object is safe in every case
            // `[both-finalizers-end]`.
            Stage::Orphaning { dependents }
        } else if daemon_set.has_finalizer(FOREGROUND_DELETION) {
            let owned = [self.owned_pods(), self.owned_revisions()].concat();
            let blocking = owned.iter().filter(|object| object.blocks(&self.uid)).count();
            Stage::WaitingForDependents { dependents, blocking }
        } else if daemon_set.metadata.finalizers.is_empty() {
            Stage::ReadyToGo
        } else {
            Stage::HeldByFinalizers { finalizers: daemon_set.metadata.finalizers.clone() }
        }
    }

    pub(super) fn uid(&self) -> &Uid {
        &self.uid
    }

    pub(super) fn daemon_set(&self) -> Option<&'a Object> {
        self.daemon_set
    }

    /// Pods that name it as owner, by name.
    pub(super) fn owned_pods(&self) -> Vec<&'a Object> {
        self.owned(&self.pods)
    }

    /// Revisions that name it as owner, by name.
    pub(super) fn owned_revisions(&self) -> Vec<&'a Object> {
        self.owned(&self.revisions)
    }

    /// An owner and its dependents share a namespace; objects elsewhere are left alone.
    fn owned(&self, objects: &[&'a Object]) -> Vec<&'a Object> {
        let is_ours =
            |object: &&Object| object.metadata.namespace == self.namespace && object.is_owned_by(&self.uid);
        let mut owned: Vec<_> = objects.iter().copied().filter(is_ours).collect();
        owned.sort_by(|a, b| (&a.metadata.name, &a.metadata.uid).cmp(&(&b.metadata.name, &b.metadata.uid)));
        owned
    }
}
