//! The garbage collector's actions for a DaemonSet that is being deleted, each with its typed reason.
//!
//! The JSON form follows the actions of the crate `daemonset`: `type` names the action, fields are camelCase, reasons
//! PascalCase words.

use super::options::{DeleteOptions, Preconditions, Propagation};
use daemonset_objects::model::{ObjectRef, Uid};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One complete action for the executor: object, precondition and reason.
///
/// The executor runs the actions in order and stops at the first failure; then it reads the objects again and calls
/// [`cascade`](super::cascade) again. NotFound counts as success. Uid and resource version are preconditions of a
/// delete: a changed object may have got another owner (v1.36 `operations.go deleteObject`).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[expect(clippy::exhaustive_enums, reason = "an executor must handle every action")]
pub enum CascadeAction {
    /// Remove the DaemonSet from the pod's owners.
    #[non_exhaustive]
    ReleasePod {
        /// The pod.
        pod: ObjectRef,
        /// The uid of the DaemonSet: every owner reference with it is removed.
        owner: Uid,
        /// The reason.
        reason: DisownReason,
    },
    /// Remove the DaemonSet from the revision's owners.
    #[non_exhaustive]
    ReleaseRevision {
        /// The revision.
        revision: ObjectRef,
        /// The uid of the DaemonSet: every owner reference with it is removed.
        owner: Uid,
        /// The reason.
        reason: DisownReason,
    },
    /// Delete a pod.
    #[non_exhaustive]
    DeletePod {
        /// The pod.
        pod: ObjectRef,
        /// The treatment of the objects that the pod owns.
        propagation_policy: Propagation,
        /// The reason.
        reason: CollectReason,
    },
    /// Delete a revision.
    #[non_exhaustive]
    DeleteRevision {
        /// The revision.
        revision: ObjectRef,
        /// The treatment of the objects that the revision owns.
        propagation_policy: Propagation,
        /// The reason.
        reason: CollectReason,
    },
    /// Remove a finalizer from the DaemonSet.
    #[non_exhaustive]
    RemoveFinalizer {
        /// The DaemonSet; its resource version is a precondition.
        daemon_set: ObjectRef,
        /// `orphan` or `foregroundDeletion`.
        finalizer: String,
        /// `metadata.finalizers` without it.
        finalizers: Vec<String>,
        /// The reason.
        reason: FinalizeReason,
    },
    /// Delete the DaemonSet again: it is being deleted and has no finalizer, but its store stopped before it removed
    /// it.
    #[non_exhaustive]
    DeleteDaemonSet {
        /// The DaemonSet.
        daemon_set: ObjectRef,
        /// The reason.
        reason: FinalizeReason,
    },
}

/// Why an object is released: kept without this owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub enum DisownReason {
    /// The DaemonSet is being deleted with the finalizer `orphan`.
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
    /// The DaemonSet has the finalizer `foregroundDeletion` and waits for its dependents.
    OwnerWaits,
}

/// Why the DaemonSet may be removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub enum FinalizeReason {
    /// No object names it as owner any more.
    DependentsOrphaned,
    /// No object is left that the DaemonSet must wait for.
    DependentsGone,
    /// The DaemonSet is being deleted and has no finalizer.
    NothingHoldsIt,
}

impl CascadeAction {
    /// The object that the action changes.
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

    /// The body of the PATCH request, with its precondition: a strategic merge patch for a release, a JSON merge
    /// patch for a finalizer (v1.36 `controller_ref_manager.go GenerateDeleteOwnerRefStrategicMergeBytes`,
    /// `operations.go removeFinalizer`). `None` for a delete.
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

    /// The body of the DELETE request; `None` for a patch.
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
