//! What is to be done next about a DaemonSet that is being deleted: actions, each with its typed reason.
//!
//! Their JSON form is that of [`Action`](crate::Action): `type` names the action, fields are camelCase, reasons
//! PascalCase words.

use super::options::{DeleteOptions, Preconditions, Propagation};
use daemonset::model::{ObjectRef, Uid};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One step for the executor, complete: object, precondition and reason.
///
/// The executor runs them in order and stops at the first failure; then it looks at the objects again and asks again.
/// NotFound is as good as done. For a delete, uid and resource version are preconditions: an object that has changed may
/// have got another owner (v1.36 `operations.go deleteObject`).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[expect(clippy::exhaustive_enums, reason = "an executor must handle every action")]
pub enum CascadeAction {
    /// Remove the DaemonSet from the pod's owners.
    #[non_exhaustive]
    ReleasePod {
        /// The pod.
        pod: ObjectRef,
        /// The DaemonSet: every owner reference with this uid goes.
        owner: Uid,
        /// Why.
        reason: DisownReason,
    },
    /// Remove the DaemonSet from the revision's owners.
    #[non_exhaustive]
    ReleaseRevision {
        /// The revision.
        revision: ObjectRef,
        /// The DaemonSet: every owner reference with this uid goes.
        owner: Uid,
        /// Why.
        reason: DisownReason,
    },
    /// Delete a pod.
    #[non_exhaustive]
    DeletePod {
        /// The pod.
        pod: ObjectRef,
        /// What becomes of the objects that the pod owns.
        propagation_policy: Propagation,
        /// Why.
        reason: CollectReason,
    },
    /// Delete a revision.
    #[non_exhaustive]
    DeleteRevision {
        /// The revision.
        revision: ObjectRef,
        /// What becomes of the objects that the revision owns.
        propagation_policy: Propagation,
        /// Why.
        reason: CollectReason,
    },
    /// Take a finalizer off the DaemonSet.
    #[non_exhaustive]
    RemoveFinalizer {
        /// The DaemonSet; its resource version is a precondition.
        daemon_set: ObjectRef,
        /// `orphan` or `foregroundDeletion`.
        finalizer: String,
        /// `metadata.finalizers` without it.
        finalizers: Vec<String>,
        /// Why.
        reason: FinalizeReason,
    },
    /// Delete the DaemonSet, which is being deleted already: whoever stores it was stopped before it could remove it.
    #[non_exhaustive]
    DeleteDaemonSet {
        /// The DaemonSet.
        daemon_set: ObjectRef,
        /// Why.
        reason: FinalizeReason,
    },
}

/// Why an object stays, without this owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub enum DisownReason {
    /// The DaemonSet is deleted with the finalizer `orphan`.
    Orphaned,
    /// It has another owner.
    OtherOwner,
}

/// Why an object is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub enum CollectReason {
    /// The DaemonSet is gone.
    OwnerGone,
    /// The DaemonSet is deleted with the finalizer `foregroundDeletion`, and goes after it.
    OwnerWaits,
}

/// Why the DaemonSet may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub enum FinalizeReason {
    /// No object names it as owner any more.
    DependentsOrphaned,
    /// No object is left that it must wait for.
    DependentsGone,
    /// It is being deleted, and no finalizer holds it.
    NothingHoldsIt,
}

impl CascadeAction {
    /// The object that it is about.
    pub fn object(&self) -> &ObjectRef {
        match self {
            CascadeAction::ReleasePod { pod: object, .. }
            | CascadeAction::ReleaseRevision { revision: object, .. }
            | CascadeAction::DeletePod { pod: object, .. }
            | CascadeAction::DeleteRevision { revision: object, .. }
            | CascadeAction::RemoveFinalizer { daemon_set: object, .. }
            | CascadeAction::DeleteDaemonSet { daemon_set: object, .. } => object,
        }
    }

    /// The body of the PATCH that does it: a strategic merge for a release, a merge patch for a finalizer, each with its
    /// precondition (v1.36 `controller_ref_manager.go GenerateDeleteOwnerRefStrategicMergeBytes`, `operations.go
    /// removeFinalizer`). None for a delete.
    pub fn patch(&self) -> Option<Value> {
        match self {
            CascadeAction::ReleasePod { pod: object, owner, .. }
            | CascadeAction::ReleaseRevision { revision: object, owner, .. } => Some(json!({"metadata": {
                "uid": object.uid,
                "ownerReferences": [{"$patch": "delete", "uid": owner}],
            }})),
            CascadeAction::RemoveFinalizer { daemon_set, finalizers, .. } => Some(json!({"metadata": {
                "uid": daemon_set.uid,
                "resourceVersion": daemon_set.resource_version,
                "finalizers": finalizers,
            }})),
            CascadeAction::DeletePod { .. }
            | CascadeAction::DeleteRevision { .. }
            | CascadeAction::DeleteDaemonSet { .. } => None,
        }
    }

    /// The body of the DELETE that does it; none for a patch.
    pub fn delete_options(&self) -> Option<DeleteOptions> {
        let policy = match self {
            CascadeAction::DeletePod { propagation_policy, .. }
            | CascadeAction::DeleteRevision { propagation_policy, .. } => *propagation_policy,
            CascadeAction::DeleteDaemonSet { .. } => Propagation::Background,
            CascadeAction::ReleasePod { .. }
            | CascadeAction::ReleaseRevision { .. }
            | CascadeAction::RemoveFinalizer { .. } => return None,
        };
        let ObjectRef { uid, resource_version, .. } = self.object();
        let resource_version = Some(resource_version.clone()).filter(|version| !version.is_empty());
        let preconditions = Preconditions { uid: Some(uid.clone()), resource_version };
        Some(DeleteOptions {
            preconditions: Some(preconditions),
            ..DeleteOptions::new().propagation_policy(policy)
        })
    }
}
