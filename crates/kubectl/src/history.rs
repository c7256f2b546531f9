//! The revisions of a DaemonSet, and what one of them restores: `kubectl rollout history`.

use super::controlled::{Stored, controlled};
use super::describe::describe_template;
use super::error::RolloutError;
use super::fields::{name, template};
use super::restore::restored;
use super::status::not_negative;
use super::text::columns;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// A DaemonSet's revisions, oldest number first: the proposal's subresource `daemonsets/foo/history`, "that summarizes
/// the information in the history". Prints as kubectl's table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[must_use]
#[non_exhaustive]
pub struct History {
    /// Name of the DaemonSet.
    pub name: String,
    /// One for each number; of several with one number the last by name, as in kubectl.
    pub revisions: Vec<HistoryEntry>,
}

/// One revision of a [`History`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HistoryEntry {
    /// Its number: what `--to-revision` names.
    pub revision: i64,
    /// Name of the ControllerRevision.
    pub name: String,
    /// Annotation `kubernetes.io/change-cause`, where it is there and not empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_cause: Option<String>,
    /// When it was stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<Timestamp>,
}

/// What one revision restores. Prints as kubectl describes it.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct RevisionTemplate {
    /// Its number.
    pub revision: i64,
    /// Name of the ControllerRevision.
    pub name: String,
    /// The pod template, without the patch's own `$patch`.
    pub template: Value,
}

impl fmt::Display for RevisionTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&describe_template(&self.template))
    }
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.revisions.is_empty() {
            return f.write_str("No rollout history found.");
        }
        let mut table = String::from("REVISION\tCHANGE-CAUSE\n");
        for entry in &self.revisions {
            let cause = entry.change_cause.as_deref().unwrap_or("<none>");
            table += &format!("{}\t{cause}\n", entry.revision);
        }
        f.write_str(&columns(&table))
    }
}

impl HistoryEntry {
    fn from_stored(stored: &Stored<'_>) -> Self {
        HistoryEntry {
            revision: stored.number,
            name: stored.name.to_owned(),
            change_cause: Some(stored.change_cause).filter(|cause| !cause.is_empty()).map(str::to_owned),
            creation_timestamp: stored.created_at.parse().ok(),
        }
    }
}

/// The history of a DaemonSet among ControllerRevisions, which may be those of the whole namespace or cluster
/// (v1.36 kubectl `history.go` DaemonSetHistoryViewer.ViewHistory).
///
/// # Errors
/// When the DaemonSet's selector can't be used.
pub fn history(daemon_set: &Value, revisions: &[Value]) -> Result<History, RolloutError> {
    let revisions = by_number(daemon_set, revisions)?;
    let name = name(daemon_set).to_owned();
    Ok(History { name, revisions: revisions.values().map(HistoryEntry::from_stored).collect() })
}

/// What one revision of the history restores; nothing if there is no history at all
/// (v1.36 kubectl `history.go printHistory`).
///
/// # Errors
/// For a negative number and one that is not in the history; when the revision's data gives no DaemonSet.
pub fn history_of(
    daemon_set: &Value,
    revisions: &[Value],
    revision: i64,
) -> Result<Option<RevisionTemplate>, RolloutError> {
    not_negative(Some(revision))?;
    let found = by_number(daemon_set, revisions)?;
    if found.is_empty() {
        return Ok(None);
    }
    let stored = found.get(&revision).ok_or(RolloutError::NoSuchRevision)?;
    let unparsable = |reason| RolloutError::Unparsable { revision: stored.name.to_owned(), reason };
    revision_template(daemon_set, stored).map(Some).map_err(unparsable)
}

/// What each revision of the history restores, by number, as a whole DaemonSet: what `-o json` and `-o yaml` print
/// (v1.36 kubectl `history.go` DaemonSetHistoryViewer.GetHistory).
///
/// # Errors
/// When the DaemonSet's selector can't be used, or a revision's data gives no DaemonSet.
pub fn history_objects(
    daemon_set: &Value,
    revisions: &[Value],
) -> Result<BTreeMap<i64, Value>, RolloutError> {
    let restore = |(number, stored): (i64, Stored<'_>)| {
        let restored = restored(daemon_set, stored.data).map_err(RolloutError::NotApplied)?;
        Ok((number, restored))
    };
    by_number(daemon_set, revisions)?.into_iter().map(restore).collect()
}

/// The template that comes of applying a revision's data to the DaemonSet.
pub(super) fn revision_template(daemon_set: &Value, stored: &Stored<'_>) -> Result<RevisionTemplate, String> {
    let restored = restored(daemon_set, stored.data)?;
    let (revision, name) = (stored.number, stored.name.to_owned());
    Ok(RevisionTemplate { revision, name, template: template(&restored).clone() })
}

fn by_number<'a>(
    daemon_set: &Value,
    revisions: &'a [Value],
) -> Result<BTreeMap<i64, Stored<'a>>, RolloutError> {
    let controlled = controlled(daemon_set, revisions)?;
    Ok(controlled.into_iter().map(|revision| (revision.number, revision)).collect())
}
