//! The API server's answer when it does not store an object, as kubectl prints it.

use super::Invalid;
use crate::go::quoted;
use crate::patch::PatchError;
use daemonset_objects::model::Owner;
use serde_json::Value;
use std::fmt;

/// Why a request is refused. Prints as kubectl does, without a line break at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// The object can't be decoded; kubectl shows the first message.
    #[non_exhaustive]
    Undecodable {
        /// The kind that the object should be.
        owner: Owner,
        /// One message for each value of a wrong type, in Go's words.
        messages: Vec<String>,
    },
    /// The object is of another kind, no DaemonSet.
    #[non_exhaustive]
    OtherKind {
        /// The kind that the object should be.
        owner: Owner,
        /// The object's `apiVersion`.
        api_version: String,
        /// The object's `kind`.
        kind: String,
    },
    /// The patched object can't be converted for storage.
    #[non_exhaustive]
    Unconvertible {
        /// The reason, in Go's words.
        message: String,
    },
    /// The patch can't be applied.
    Patch(PatchError),
    /// The patched object can't be decoded.
    #[non_exhaustive]
    UnreadablePatch {
        /// The patch, as Go prints it.
        patch: String,
        /// One message for each value of a wrong type.
        messages: Vec<String>,
    },
    /// An update would change the name.
    #[non_exhaustive]
    OtherName {
        /// The name that was sent.
        sent: String,
        /// The object's name.
        stored: String,
    },
    /// An update would change the namespace.
    OtherNamespace,
    /// The object has changed since the client read it: the sent resource version is not the stored one.
    #[non_exhaustive]
    Conflict {
        /// The object's resource, such as `daemonsets.apps`.
        resource: String,
        /// The object's name.
        name: String,
    },
    /// Validation found errors.
    Invalid(Invalid),
}

impl Refusal {
    /// Turns the refusal of an object into the refusal of the patch that produced it.
    pub(super) fn into_patch_refusal(self, patch: &Value) -> Self {
        match self {
            Refusal::Undecodable { messages, .. } => {
                Refusal::UnreadablePatch { patch: crate::go::go_value(patch), messages }
            }
            Refusal::OtherKind { owner, api_version, kind } => Refusal::UnreadablePatch {
                patch: crate::go::go_value(patch),
                messages: vec![format!(
                    "converting ({api_version}.{kind}) to ({}.{}): unknown conversion",
                    owner.group(),
                    owner.kind
                )],
            },
            other @ (Refusal::Unconvertible { .. }
            | Refusal::Patch(_)
            | Refusal::UnreadablePatch { .. }
            | Refusal::OtherName { .. }
            | Refusal::OtherNamespace
            | Refusal::Conflict { .. }
            | Refusal::Invalid(_)) => other,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = |messages: &[String]| messages.first().cloned().unwrap_or_default();
        match self {
            Refusal::Undecodable { owner, messages } => write!(
                f,
                "Error from server (BadRequest): {0} in version {1} cannot be handled as a {0}: {2}",
                owner.kind,
                quoted(version(&owner.api_version)),
                first(messages)
            ),
            Refusal::OtherKind { owner, api_version, kind } => {
                let version = version(api_version);
                let (group, expected) = (owner.group(), &owner.kind);
                write!(
                    f,
                    "Error from server (BadRequest): {kind} in version {} cannot be handled as a {expected}: converting ({version}.{kind}) to ({group}.{expected}): unknown conversion",
                    quoted(version)
                )
            }
            Refusal::Unconvertible { message } => write!(f, "Error from server: {message}"),
            Refusal::Patch(error) => {
                let reason = if is_bad_request(error) { " (BadRequest)" } else { "" };
                write!(f, "Error from server{reason}: {}", error.to_string().trim_end_matches('\n'))
            }
            Refusal::UnreadablePatch { patch, messages } => write!(
                f,
                "The request is invalid: patch: Invalid value: {}: {}",
                quoted(patch),
                first(messages)
            ),
            Refusal::OtherName { sent, stored } if sent.is_empty() => write!(
                f,
                "Error from server (BadRequest): the name of the object ({stored} based on URL) was undeterminable: name must be provided"
            ),
            Refusal::OtherName { sent, stored } => write!(
                f,
                "Error from server (BadRequest): the name of the object ({sent}) does not match the name on the URL ({stored})"
            ),
            Refusal::OtherNamespace => f.write_str(
                "Error from server (BadRequest): the namespace of the provided object does not match the namespace sent on the request",
            ),
            Refusal::Conflict { resource, name } => write!(
                f,
                "Error from server (Conflict): Operation cannot be fulfilled on {resource} {}: the object has been modified; please apply your changes to the latest version and try again",
                quoted(name)
            ),
            Refusal::Invalid(invalid) => invalid.fmt(f),
        }
    }
}

/// The version of `group/version`.
fn version(api_version: &str) -> &str {
    api_version.rsplit('/').next().unwrap_or_default()
}

/// v1.36 `apiserver/pkg/endpoints/handlers` patch.go interpretStrategicMergePatchError.
fn is_bad_request(error: &PatchError) -> bool {
    matches!(
        error,
        PatchError::NoObject
            | PatchError::DeleteFromListForm
            | PatchError::RetainKeysForm
            | PatchError::ElementOrderForm
    )
}

impl std::error::Error for Refusal {}
