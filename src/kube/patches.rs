//! What is written to an object: patches, whole statuses and the options of a deletion.

use super::Preconditions;
use crate::model::{DaemonSet, DaemonSetStatus, Labels, ObjectRef};
use serde_json::{Value, json};

/// Makes the DaemonSet the controller (v1.36 `controller_ref_manager.go ownerRefControllerPatch`). The uid in a patch is
/// a precondition.
pub(super) fn adopt(ds: &DaemonSet, object: &ObjectRef) -> Value {
    json!({"metadata": {"uid": object.uid, "ownerReferences": [ds.owner_reference()]}})
}

/// Takes the DaemonSet out of the owners (v1.36 `GenerateDeleteOwnerRefStrategicMergeBytes`).
pub(super) fn release(ds: &DaemonSet, object: &ObjectRef) -> Value {
    let owner = json!({"$patch": "delete", "uid": ds.metadata.uid});
    json!({"metadata": {"uid": object.uid, "ownerReferences": [owner]}})
}

pub(super) fn labels(object: &ObjectRef, labels: &Labels) -> Value {
    json!({"metadata": {"uid": object.uid, "labels": labels}})
}

pub(super) fn number(object: &ObjectRef, number: i64) -> Value {
    json!({"metadata": {"uid": object.uid}, "revision": number})
}

/// The DaemonSet with this status. Its metadata is whole, since the subresource `status` takes that over too; the spec
/// is not read there, and left out (v1.36 `registry/apps/daemonset statusStrategy`).
///
/// It is the object that the action is about, also where the caller has read a newer one since: the status is computed from
/// the older.
pub(super) fn with_status(ds: &DaemonSet, about: &ObjectRef, status: &DaemonSetStatus) -> Value {
    let mut metadata = ds.metadata.clone();
    metadata.uid.clone_from(&about.uid);
    metadata.resource_version.clone_from(&about.resource_version);
    json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": metadata, "status": status})
}

/// `meta/v1` DeleteOptions.
pub(super) fn delete_options(preconditions: &Preconditions) -> Value {
    json!({"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions})
}
