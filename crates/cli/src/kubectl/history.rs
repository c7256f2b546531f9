//! The history of a DaemonSet and the templates that its revisions restore: `kubectl rollout history`.

use super::controlled::{StoredRevision, controlled};
use super::describe::describe_template;
use super::error::RolloutError;
use super::fields::{name, template};
use super::restore::restored;
use super::status::not_negative;
use super::text::{columns, is_read_as_yaml, yaml};
use daemonset_apiserver::admission::Form;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// A DaemonSet's revisions, lowest number first: the proposal's subresource `daemonsets/foo/history`, "that
/// summarizes the information in the history". Prints as kubectl's table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[must_use]
#[non_exhaustive]
pub struct RolloutHistory {
    /// Name of the DaemonSet.
    pub name: String,
    /// One entry for each number; if several revisions have one number, the last by name, as in kubectl.
    pub revisions: Vec<HistoryEntry>,
}

/// One revision of a [`RolloutHistory`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HistoryEntry {
    /// Its number, as in `--to-revision`.
    pub revision: i64,
    /// Name of the ControllerRevision.
    pub name: String,
    /// The annotation `kubernetes.io/change-cause`; `None` if it is absent or empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change_cause: Option<String>,
    /// The time of its creation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<Timestamp>,
}

/// The template that one revision restores. Prints as kubectl describes it.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct RevisionTemplate {
    /// Its number.
    pub revision: i64,
    /// Name of the ControllerRevision.
    pub name: String,
    /// The pod template, without the `$patch` of the revision's data.
    pub template: Value,
}

impl fmt::Display for RevisionTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&describe_template(&self.template))
    }
}

impl fmt::Display for RolloutHistory {
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
    fn from_stored(stored: &StoredRevision<'_>) -> Self {
        HistoryEntry {
            revision: stored.number,
            name: stored.name.to_owned(),
            change_cause: Some(stored.change_cause).filter(|cause| !cause.is_empty()).map(str::to_owned),
            creation_timestamp: stored.created_at.parse().ok(),
        }
    }
}

/// The history of a DaemonSet. `revisions` may be those of the whole namespace or cluster (v1.36 kubectl `history.go`
/// DaemonSetHistoryViewer.ViewHistory).
///
/// # Errors
/// If the DaemonSet's selector is invalid.
pub fn history(daemon_set: &Value, revisions: &[Value]) -> Result<RolloutHistory, RolloutError> {
    let revisions = by_number(daemon_set, revisions)?;
    let name = name(daemon_set).to_owned();
    Ok(RolloutHistory { name, revisions: revisions.values().map(HistoryEntry::from_stored).collect() })
}

/// The template that one revision of the history restores; `None` if the history is empty (v1.36 kubectl `history.go
/// printHistory`).
///
/// # Errors
/// For a negative number, for a number that is not in the history, and if the revision's data restores no DaemonSet.
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

/// The whole DaemonSet that each revision restores, by number, as `-o json` and `-o yaml` print it (v1.36 kubectl
/// `history.go` DaemonSetHistoryViewer.GetHistory).
///
/// # Errors
/// If the DaemonSet's selector is invalid, or a revision's data restores no DaemonSet.
pub fn history_objects(
    daemon_set: &Value,
    revisions: &[Value],
) -> Result<BTreeMap<i64, Value>, RolloutError> {
    let restore = |(number, stored): (i64, StoredRevision<'_>)| {
        let restored = restored(daemon_set, stored.data).map_err(RolloutError::NotApplied)?;
        Ok((number, restored))
    };
    by_number(daemon_set, revisions)?.into_iter().map(restore).collect()
}

/// The format of whole objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ObjectFormat {
    /// `-o json`.
    Json,
    /// `-o yaml`.
    Yaml,
}

/// The text of `kubectl rollout history -o json` and `-o yaml`: the DaemonSets of [`history_objects`], or the one of a
/// revision; 0 is all of them (v1.36 kubectl `rollout_history.go Run`, cli-runtime `printers/json.go`,
/// `printers/yaml.go`). Managed fields are left out, as without `--show-managed-fields`.
///
/// # Errors
/// As for [`history_of`] and [`history_objects`]; an absent number is an error even if the history is empty. In YAML a
/// text may not have control characters beyond ASCII's first 32; kubectl prints the objects before it nevertheless.
pub fn history_text(
    daemon_set: &Value,
    revisions: &[Value],
    revision: i64,
    format: ObjectFormat,
) -> Result<String, RolloutError> {
    not_negative(Some(revision))?;
    let mut objects = history_objects(daemon_set, revisions)?;
    if revision > 0 {
        objects.retain(|number, _| *number == revision);
        if objects.is_empty() {
            return Err(RolloutError::NoSuchRevision);
        }
    }
    let form = Form::from_daemon_set(daemon_set);
    let printed = objects.into_values().map(|object| {
        let object = printable(object);
        match format {
            ObjectFormat::Json => Ok(form.indented_json(&object) + "\n"),
            ObjectFormat::Yaml if !is_read_as_yaml(&object) => Err(RolloutError::ControlCharacters),
            ObjectFormat::Yaml => Ok(yaml(&object)),
        }
    });
    let separator = match format {
        ObjectFormat::Json => "",
        ObjectFormat::Yaml => "---\n",
    };
    Ok(printed.collect::<Result<Vec<_>, _>>()?.join(separator))
}

/// With its kind, without managed fields.
fn printable(mut object: Value) -> Value {
    if let Some(members) = object.as_object_mut() {
        members.insert("apiVersion".to_owned(), Value::from("apps/v1"));
        members.insert("kind".to_owned(), Value::from("DaemonSet"));
    }
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
    object
}

/// The template after a revision's data is applied to the DaemonSet.
pub(super) fn revision_template(
    daemon_set: &Value,
    stored: &StoredRevision<'_>,
) -> Result<RevisionTemplate, String> {
    let restored = restored(daemon_set, stored.data)?;
    let (revision, name) = (stored.number, stored.name.to_owned());
    Ok(RevisionTemplate { revision, name, template: template(&restored).clone() })
}

fn by_number<'a>(
    daemon_set: &Value,
    revisions: &'a [Value],
) -> Result<BTreeMap<i64, StoredRevision<'a>>, RolloutError> {
    let controlled = controlled(daemon_set, revisions)?;
    Ok(controlled.into_iter().map(|revision| (revision.number, revision)).collect())
}
