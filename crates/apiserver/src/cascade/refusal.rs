//! The refusal of a DELETE, in the API server's words.

use super::object::UnreadableObject;
use super::options::{DeleteOptions, Kind, Propagation};
use super::{Object, Preconditions};
use serde_json::Value;
use thiserror::Error;

/// Why a DELETE is refused (v1.36 `apiserver/pkg/registry/rest/delete.go BeforeDelete`).
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DeleteRefusal {
    /// Both `propagationPolicy` and `orphanDependents` are set (v1.36 `ValidateDeleteOptions`).
    #[error(
        "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Invalid value: \"{policy:?}\": orphanDependents and deletionPropagation cannot be both set"
    )]
    #[non_exhaustive]
    PolicyTwice {
        /// The requested policy.
        policy: Propagation,
    },
    /// The uid differs: the object was deleted and created again.
    #[error(
        "Operation cannot be fulfilled on {} {name:?}: the UID in the precondition ({asked}) does not match the UID in record ({found}). The object might have been deleted and then recreated", .qualified
    )]
    #[non_exhaustive]
    OtherUid {
        /// The object's kind.
        kind: Kind,
        /// The kind in the message, such as `DaemonSet.apps`.
        qualified: String,
        /// Its name.
        name: String,
        /// The uid in the precondition.
        asked: String,
        /// Its uid.
        found: String,
    },
    /// The resource version differs: the object has changed.
    #[error(
        "Operation cannot be fulfilled on {} {name:?}: the ResourceVersion in the precondition ({asked}) does not match the ResourceVersion in record ({found}). The object might have been modified", .qualified
    )]
    #[non_exhaustive]
    OtherResourceVersion {
        /// The object's kind.
        kind: Kind,
        /// The kind in the message, such as `DaemonSet.apps`.
        qualified: String,
        /// Its name.
        name: String,
        /// The resource version in the precondition.
        asked: String,
        /// Its resource version.
        found: String,
    },
    /// The object can't be read.
    #[error(transparent)]
    Unreadable(#[from] UnreadableObject),
}

/// Checks the request; returns the first reason to refuse it.
pub(super) fn refuse(
    kind: Kind,
    raw: &Value,
    object: &Object,
    options: &DeleteOptions,
) -> Result<(), DeleteRefusal> {
    if let (Some(policy), Some(_)) = (options.propagation_policy, options.orphan_dependents) {
        return Err(DeleteRefusal::PolicyTwice { policy });
    }
    let Some(Preconditions { uid, resource_version }) = &options.preconditions else { return Ok(()) };
    let metadata = &object.metadata;
    if let Some(asked) = uid.as_ref().filter(|asked| **asked != metadata.uid) {
        return Err(DeleteRefusal::OtherUid {
            kind,
            qualified: kind.qualified(raw),
            name: metadata.name.clone(),
            asked: asked.to_string(),
            found: metadata.uid.to_string(),
        });
    }
    if let Some(asked) = resource_version.as_ref().filter(|asked| **asked != metadata.resource_version) {
        return Err(DeleteRefusal::OtherResourceVersion {
            kind,
            qualified: kind.qualified(raw),
            name: metadata.name.clone(),
            asked: asked.clone(),
            found: metadata.resource_version.clone(),
        });
    }
    Ok(())
}
