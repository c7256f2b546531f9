//! What a cascade is decided from, and how far it is.

use super::{FOREGROUND_DELETION, ORPHAN, Object};
use daemonset::model::{ObjectRef, Uid};
use serde::Serialize;

/// The objects that are there now.
#[derive(Debug, Clone)]
pub struct State<'a> {
    namespace: String,
    uid: Uid,
    daemon_set: Option<&'a Object>,
    pods: Vec<&'a Object>,
    revisions: Vec<&'a Object>,
}

/// How far the deletion of a DaemonSet is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum Stage {
    /// It is not being deleted: nothing is done.
    NotBeingDeleted,
    /// It waits until so many objects no longer name it as owner.
    Orphaning {
        /// Objects that do.
        dependents: usize,
    },
    /// It waits in the foreground until what it owns is gone.
    WaitingForDependents {
        /// Objects that name it as owner.
        dependents: usize,
        /// Those that it must wait for (`blockOwnerDeletion`).
        blocking: usize,
    },
    /// Finalizers of others hold it, and with it all that it owns.
    HeldByFinalizers {
        /// Whose.
        finalizers: Vec<String>,
    },
    /// Nothing holds it any more.
    ReadyToGo,
    /// It is gone; so many objects still name it as owner.
    Gone {
        /// Objects that do.
        dependents: usize,
    },
}

impl<'a> State<'a> {
    /// Starts from the DaemonSet that is (or was) deleted, and from what a GET by its namespace and name finds now.
    ///
    /// Nothing, or an object of another uid, says that it is gone, and that its pods may be deleted: ask the API server
    /// itself, not a cache (v1.36 `garbagecollector.go isDangling` does so, too).
    pub fn new(owner: &ObjectRef, found: Option<&'a Object>) -> Self {
        State {
            namespace: owner.namespace.clone(),
            uid: owner.uid.clone(),
            daemon_set: found.filter(|object| object.metadata.uid == owner.uid),
            pods: Vec::new(),
            revisions: Vec::new(),
        }
    }

    /// All pods of the namespace, whoever owns them.
    #[must_use]
    pub fn pods(mut self, pods: impl IntoIterator<Item = &'a Object>) -> Self {
        self.pods.extend(pods);
        self
    }

    /// All ControllerRevisions of the namespace, whoever owns them.
    #[must_use]
    pub fn revisions(mut self, revisions: impl IntoIterator<Item = &'a Object>) -> Self {
        self.revisions.extend(revisions);
        self
    }

    /// How far it is.
    pub fn stage(&self) -> Stage {
        let dependents = self.owned_pods().len() + self.owned_revisions().len();
        let Some(daemon_set) = self.daemon_set else { return Stage::Gone { dependents } };
        if !daemon_set.is_being_deleted() {
            Stage::NotBeingDeleted
        } else if daemon_set.has_finalizer(ORPHAN) {
            // Of both, this one first: what is released is safe, whatever comes after `[both-finalizers-end]`.
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

    /// An owner owns in its own namespace only; what names it from elsewhere is left alone.
    fn owned(&self, objects: &[&'a Object]) -> Vec<&'a Object> {
        let is_ours =
            |object: &&Object| object.metadata.namespace == self.namespace && object.is_owned_by(&self.uid);
        let mut owned: Vec<_> = objects.iter().copied().filter(is_ours).collect();
        owned.sort_by(|a, b| (&a.metadata.name, &a.metadata.uid).cmp(&(&b.metadata.name, &b.metadata.uid)));
        owned
    }
}
