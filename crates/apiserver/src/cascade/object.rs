//! The metadata of any object, which is all that a deletion reads.
//!
//! The garbage collector reads no more, either (v1.36 `metav1.PartialObjectMetadata`).

use daemonset_objects::internal::{is_default, null_is_default};
use daemonset_objects::model::{ObjectRef, OwnerReference, Uid};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

/// An object, of which only the metadata is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::exhaustive_structs, reason = "callers build it with `..Default::default()`")]
pub struct Object {
    /// Object metadata.
    #[serde(deserialize_with = "null_is_default")]
    pub metadata: Metadata,
}

/// Metadata that a deletion reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(clippy::exhaustive_structs, reason = "callers build it with `..Default::default()`")]
pub struct Metadata {
    /// Object name.
    #[serde(deserialize_with = "null_is_default")]
    pub name: String,
    /// Object namespace.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub namespace: String,
    /// Object uid.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub uid: Uid,
    /// Object version.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub resource_version: String,
    /// Counts the changes of the spec; the start of a deletion is one, too.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub generation: i64,
    /// Finalizers: each must be removed before the object can be removed.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub finalizers: Vec<String>,
    /// Owners.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub owner_references: Vec<OwnerReference>,
    /// Set while it is being deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<Timestamp>,
    /// The grace period in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_grace_period_seconds: Option<i64>,
}

/// An object whose metadata can't be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{path}: {message}")]
#[non_exhaustive]
pub struct UnreadableObject {
    /// The field, such as `metadata.finalizers`.
    pub path: String,
    /// The error at that field.
    pub message: String,
}

impl Object {
    /// Reads the metadata of an object in the JSON form of the API server.
    ///
    /// # Errors
    /// With the path of the first field that can't be read.
    pub fn from_json(object: &Value) -> Result<Self, UnreadableObject> {
        serde_path_to_error::deserialize(object).map_err(|error: serde_path_to_error::Error<_>| {
            UnreadableObject { path: error.path().to_string(), message: error.inner().to_string() }
        })
    }

    /// Names this object exactly.
    pub fn object_ref(&self) -> ObjectRef {
        ObjectRef {
            namespace: self.metadata.namespace.clone(),
            name: self.metadata.name.clone(),
            uid: self.metadata.uid.clone(),
            resource_version: self.metadata.resource_version.clone(),
        }
    }

    pub(super) fn is_being_deleted(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    pub(super) fn has_finalizer(&self, finalizer: &str) -> bool {
        self.metadata.finalizers.iter().any(|one| one == finalizer)
    }

    /// Whether an owner reference has this uid. The uid alone identifies the owner.
    pub(super) fn is_owned_by(&self, owner: &Uid) -> bool {
        self.metadata.owner_references.iter().any(|reference| reference.uid == *owner)
    }

    /// Whether an owner reference has another uid.
    pub(super) fn has_owner_beside(&self, owner: &Uid) -> bool {
        self.metadata.owner_references.iter().any(|reference| reference.uid != *owner)
    }

    /// Whether this owner must wait for the object in the foreground (v1.36 `graph.go blockingDependents`).
    pub(super) fn blocks(&self, owner: &Uid) -> bool {
        let mut references = self.metadata.owner_references.iter();
        references.any(|r| r.uid == *owner && r.block_owner_deletion == Some(true))
    }
}
