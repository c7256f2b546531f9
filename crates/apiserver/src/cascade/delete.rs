//! A DELETE as the API server answers it.
//!
//! v1.36 `apiserver/pkg/registry/generic/registry/store.go Delete, updateForGracefulDeletionAndFinalizers`.

use super::Object;
use super::finalizers::after_delete;
use super::grace::{Grace, grace};
use super::options::{DeleteOptions, Kind};
use super::refusal::{DeleteRefusal, refuse};
use crate::json::fields_mut;
use jiff::Timestamp;
use serde_json::{Value, json};

/// The outcome of a DELETE. The caller's store must apply it.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "the store must hold what is said here"]
#[expect(clippy::exhaustive_enums, reason = "a store must handle every outcome")]
pub enum Deletion {
    /// The object is removed.
    Removed,
    /// The object stays for now, in this form: a finalizer holds it, or a pod has a grace period.
    Pending(Value),
    /// The object is being deleted already; nothing changes.
    Unchanged,
}

/// Answers a DELETE of this object at this instant.
///
/// The policy of the request replaces the policy of an earlier DELETE or of a finalizer that was set beforehand: the
/// object has at most one of `orphan` and `foregroundDeletion`, at the end of its finalizers. A DaemonSet that waits
/// in the foreground is therefore removed at once by a second DELETE in the background, and leaves its pods to the
/// garbage collector. The start of a deletion counts as a change: the generation rises by one.
///
/// # Errors
/// As the API server refuses it: a precondition that fails, two policies in one request, or an object whose metadata
/// can't be read.
pub fn delete(
    kind: Kind,
    raw: &Value,
    options: &DeleteOptions,
    now: Timestamp,
) -> Result<Deletion, DeleteRefusal> {
    let object = Object::from_json(raw)?;
    refuse(kind, raw, &object, options)?;
    let grace = grace(kind, raw, &object, options, now);
    let finalizers = after_delete(&object.metadata.finalizers, options);
    let held = !finalizers.is_empty();
    Ok(match grace {
        Grace::Running => Deletion::Unchanged,
        Grace::Over if held => {
            let until = object.metadata.deletion_timestamp.map_or(now, |at| at.min(now));
            Deletion::Pending(deleting(raw, &object, finalizers, 0, until))
        }
        Grace::Given { seconds, until } if held || seconds > 0 => {
            Deletion::Pending(deleting(raw, &object, finalizers, seconds, until))
        }
        Grace::Over | Grace::Given { .. } => Deletion::Removed,
    })
}

/// Whether an update removes an object that is being deleted: it removes the last finalizer, and no grace period is
/// running (v1.36 `store.go ShouldDeleteDuringUpdate`).
///
/// # Errors
/// If the metadata of an object can't be read.
pub fn removed_by_update(old: &Value, new: &Value) -> Result<bool, DeleteRefusal> {
    let (old, new) = (Object::from_json(old)?, Object::from_json(new)?);
    let grace = old.metadata.deletion_grace_period_seconds.unwrap_or(0);
    Ok(new.metadata.finalizers.is_empty() && old.is_being_deleted() && grace == 0)
}

/// The object as it is stored while it is being deleted.
fn deleting(raw: &Value, object: &Object, finalizers: Vec<String>, grace: i64, until: Timestamp) -> Value {
    let mut after = raw.clone();
    if let Some(metadata) = fields_mut(&mut after, "metadata") {
        if !object.is_being_deleted() && object.metadata.generation > 0 {
            metadata.insert("generation".to_owned(), json!(object.metadata.generation.saturating_add(1)));
        }
        if finalizers.is_empty() {
            metadata.remove("finalizers");
        } else {
            metadata.insert("finalizers".to_owned(), json!(finalizers));
        }
        metadata.insert("deletionTimestamp".to_owned(), json!(in_seconds(until).to_string()));
        metadata.insert("deletionGracePeriodSeconds".to_owned(), json!(grace));
    }
    after
}

/// Kubernetes stores whole seconds.
fn in_seconds(instant: Timestamp) -> Timestamp {
    Timestamp::from_second(instant.as_second()).unwrap_or(instant)
}
