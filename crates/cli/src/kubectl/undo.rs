//! Going back to a revision: `kubectl rollout undo`, and the proposal's rollback.

use super::controlled::{StoredRevision, controlled};
use super::error::RolloutError;
use super::fields::template;
use super::history::{RevisionTemplate, revision_template};
use super::patches::{Patches, set};
use super::restore::{accepted, matches, restored, with_template};
use daemonset_apiserver::patch::Operation;
use serde::Serialize;
use serde_json::{Value, json};
use std::fmt;

/// Whether an undo is only tried, and by whom.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub enum DryRun {
    /// The undo is done.
    #[default]
    None,
    /// kubectl prints the template that would be restored, without a call to the API server.
    Client,
    /// The API server tries the undo.
    Server,
}

/// The outcome of an undo. Prints as kubectl's words for it.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[expect(clippy::exhaustive_enums, reason = "a caller must handle every outcome")]
pub enum Undo {
    /// The undo changes the DaemonSet: the caller sends the patch.
    RolledBack(Box<Change>),
    /// The template already equals the revision's.
    #[non_exhaustive]
    Skipped {
        /// The requested revision: 0 for the last one.
        to: i64,
    },
    /// A client's dry run: the template that would be restored, even if it is the current one.
    WouldRollBack(RevisionTemplate),
}

/// A change of a DaemonSet, for the caller to send.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[must_use]
#[non_exhaustive]
pub struct Change {
    /// The change in two formats; the caller sends one of them.
    pub patches: Patches,
    /// The DaemonSet that the API server stores then, except for resourceVersion and managedFields.
    pub after: Value,
}

impl fmt::Display for Undo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Undo::RolledBack(_) => f.write_str("rolled back"),
            Undo::Skipped { to } => {
                write!(f, "skipped rollback (current template already matches revision {to})")
            }
            Undo::WouldRollBack(template) => write!(f, "will roll back to {template}"),
        }
    }
}

/// Goes back to the revision with this number, or with `None` or 0 to the revision before the last (v1.36 kubectl
/// `rollback.go` DaemonSetRollbacker.Rollback).
///
/// # Errors
/// If the history has no such revision, if its data restores no DaemonSet, or one that the API server would refuse.
pub fn undo(
    daemon_set: &Value,
    revisions: &[Value],
    to: Option<i64>,
    dry_run: DryRun,
) -> Result<Undo, RolloutError> {
    let to = to.unwrap_or(0);
    if to < 0 {
        return Err(RolloutError::NotInHistory(to));
    }
    let stored = chosen(controlled(daemon_set, revisions)?, to)?;
    if dry_run == DryRun::Client {
        let template = revision_template(daemon_set, &stored).map_err(RolloutError::NotApplied)?;
        return Ok(Undo::WouldRollBack(template));
    }
    if matches(daemon_set, stored.data) {
        return Ok(Undo::Skipped { to });
    }
    change(daemon_set, stored.data, to).map(|change| Undo::RolledBack(Box::new(change)))
}

/// The revision to restore. If several have the requested number, the first by name; without a number, the one with
/// the second-highest number (`findHistory`).
fn chosen(mut history: Vec<StoredRevision<'_>>, to: i64) -> Result<StoredRevision<'_>, RolloutError> {
    if to != 0 {
        return history
            .into_iter()
            .find(|revision| revision.number == to)
            .ok_or(RolloutError::NotInHistory(to));
    }
    history.sort_by_key(|revision| revision.number);
    history.into_iter().nth_back(1).ok_or(RolloutError::NoLastRevision)
}

fn change(daemon_set: &Value, data: &Value, to: i64) -> Result<Change, RolloutError> {
    let not_restored = |reason| RolloutError::NotRestored { to, reason };
    let after = accepted(daemon_set, data).map_err(not_restored)?;
    let patched = restored(daemon_set, data).map_err(not_restored)?;
    let json = json!([json_operation(daemon_set, &patched)]);
    Ok(Change { patches: Patches { strategic_merge: data.clone(), json }, after })
}

/// Nearly every revision restores only the template, so the operation replaces no more than that if it can.
fn json_operation(daemon_set: &Value, patched: &Value) -> Operation {
    let spec = patched.get("spec").cloned().unwrap_or(Value::Null);
    let template = template(patched).clone();
    if with_template(daemon_set, &template).get("spec") == Some(&spec) {
        set(daemon_set, &["spec", "template"], template)
    } else {
        set(daemon_set, &["spec"], spec)
    }
}
