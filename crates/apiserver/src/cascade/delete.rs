//! What a DELETE makes of an object: the API server's side.
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

/// What became of an object.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "the store must hold what is said here"]
#[expect(clippy::exhaustive_enums, reason = "a store must handle every outcome")]
pub enum Deletion {
    /// It is gone.
    Removed,
    /// It stays for now, in this form: finalizers hold it, or a pod is given time to end.
    Pending(Value),
    /// It was being deleted already, and nothing changes.
    Unchanged,
}

/// Answers a DELETE of this object at this instant.
///
/// The policy asked for replaces one that an earlier DELETE or a finalizer set beforehand asked for: the object has one
/// of `orphan` and `foregroundDeletion` at most, in the last place of its finalizers. So a DaemonSet that waits in the
/// foreground is gone at once when it is deleted again in the background, and leaves its pods to be collected. The start
/// of a deletion counts as a change: the generation rises by one.
///
/// # Errors
/// As the API server refuses it: a precondition that does not hold, two policies in one request, and an object whose
/// metadata can't be read.
pub fn delete(
    kind: Kind,
    raw: &Value,
    options: &DeleteOptions,
    now: Timestamp,
) -> Result<Deletion, DeleteRefusal> {
    let object = Object::from_json(raw)?;
    refuse(kind, &object, options)?;
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

/// Whether an update removes an object that is being deleted: its last finalizer is taken off, and no grace period runs
/// (v1.36 `store.go ShouldDeleteDuringUpdate`).
///
/// # Errors
/// An object whose metadata can't be read.
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
