//! The proposal's subresource `daemonsets/foo/rollback`.

use super::error::RolloutError;
use super::fields::name;
use super::patches::{Patches, set};
use super::restore::accepted;
use super::undo::{Change, DryRun, Undo, undo};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A request for a rollback (draft of the update proposal: DaemonSetRollback, as extensions/v1beta1 had
/// DeploymentRollback).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "callers build it with `..Default::default()`")]
pub struct RollbackRequest {
    /// The name of the DaemonSet.
    pub name: String,
    /// Annotations to set on the DaemonSet, such as `kubernetes.io/change-cause`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub updated_annotations: BTreeMap<String, String>,
    /// The revision to go back to.
    pub rollback_to: RollbackTo,
}

/// The target of a rollback (draft of the update proposal: RollbackConfig).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "callers build it with `..Default::default()`")]
pub struct RollbackTo {
    /// The number of a revision; 0 goes back to the one before the last.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub revision: i64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(revision: &i64) -> bool {
    *revision == 0
}

/// As [`undo`], and sets the requested annotations.
///
/// # Errors
/// As [`undo`], and if the request names another DaemonSet.
pub fn rollback(
    daemon_set: &Value,
    revisions: &[Value],
    request: &RollbackRequest,
) -> Result<Undo, RolloutError> {
    if request.name != name(daemon_set) {
        let (asked, name) = (request.name.clone(), name(daemon_set).to_owned());
        return Err(RolloutError::OtherDaemonSet { asked, name });
    }
    let to = request.rollback_to.revision;
    let undone = undo(daemon_set, revisions, Some(to), DryRun::None)?;
    if request.updated_annotations.is_empty() {
        return Ok(undone);
    }
    let change = match undone {
        Undo::RolledBack(change) => *change,
        Undo::Skipped { .. } | Undo::WouldRollBack(_) => Change {
            patches: Patches { strategic_merge: json!({}), json: json!([]) },
            after: daemon_set.clone(),
        },
    };
    annotated(daemon_set, change, &request.updated_annotations)
        .map(|change| Undo::RolledBack(Box::new(change)))
        .map_err(|reason| RolloutError::NotRestored { to, reason })
}

/// Adds annotations of the DaemonSet itself to the change.
fn annotated(
    daemon_set: &Value,
    mut change: Change,
    annotations: &BTreeMap<String, String>,
) -> Result<Change, String> {
    let there = daemon_set.pointer("/metadata/annotations").and_then(Value::as_object);
    let mut all = there.cloned().unwrap_or_default();
    all.extend(annotations.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str()))));
    if let Some(members) = change.patches.strategic_merge.as_object_mut() {
        members.insert("metadata".to_owned(), json!({"annotations": annotations}));
    }
    let path = ["metadata", "annotations"];
    if let Some(operations) = change.patches.json.as_array_mut() {
        operations.push(json!(set(daemon_set, &path, Value::Object(all))));
    }
    change.after = accepted(daemon_set, &change.patches.strategic_merge)?;
    Ok(change)
}
