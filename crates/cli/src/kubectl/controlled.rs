//! The revisions that belong to a DaemonSet.

use super::error::RolloutError;
use super::fields::name;
use daemonset::kubernetes::Selector;
use daemonset::model::{LabelSelector, Owner, OwnerReference, RevisionMeta};
use daemonset_apiserver::json::{member, number, text};
use serde::Deserialize;
use serde_json::Value;

/// The fields of a ControllerRevision that this crate reads.
#[derive(Debug, Clone, Copy)]
pub(super) struct StoredRevision<'a> {
    pub(super) name: &'a str,
    pub(super) number: i64,
    /// The patch that restores its template.
    pub(super) data: &'a Value,
    /// The annotation `kubernetes.io/change-cause`; empty if it is absent.
    pub(super) change_cause: &'a str,
    pub(super) created_at: &'a str,
}

impl<'a> StoredRevision<'a> {
    pub(super) fn from_revision(revision: &'a Value) -> Self {
        let metadata = revision.get("metadata").unwrap_or(&Value::Null);
        let annotations = member(metadata, "annotations").unwrap_or(&Value::Null);
        StoredRevision {
            name: name(revision),
            number: number(revision, "revision"),
            data: revision.get("data").unwrap_or(&Value::Null),
            change_cause: text(annotations, "kubernetes.io/change-cause"),
            created_at: text(metadata, "creationTimestamp"),
        }
    }
}

/// The revisions in the DaemonSet's namespace that its selector matches and that it controls, sorted by name as the
/// API server lists them (v1.36 kubectl `history.go daemonSetHistory, controlledHistory`). A missing selector matches
/// all.
pub(super) fn controlled<'a>(
    daemon_set: &Value,
    revisions: &'a [Value],
) -> Result<Vec<StoredRevision<'a>>, RolloutError> {
    let metadata = daemon_set.get("metadata").unwrap_or(&Value::Null);
    let (namespace, uid) = (text(metadata, "namespace"), text(metadata, "uid"));
    let selector = selector(daemon_set)?;
    let selector =
        Selector::new(&selector, "spec.selector").map_err(|error| refused(daemon_set, error.to_string()))?;
    let is_ours = |revision: &&Value| {
        let Some(Ok(metadata)) = revision.get("metadata").map(RevisionMeta::deserialize) else {
            return false;
        };
        metadata.namespace == namespace
            && OwnerReference::controller_of(&metadata.owner_references) == Some(uid)
            && selector.matches_labels(&metadata.labels)
    };
    let mut ours: Vec<_> = revisions.iter().filter(is_ours).map(StoredRevision::from_revision).collect();
    ours.sort_by_key(|revision| revision.name);
    Ok(ours)
}

fn selector(daemon_set: &Value) -> Result<LabelSelector, RolloutError> {
    let selector = daemon_set.pointer("/spec/selector").filter(|selector| !selector.is_null());
    let Some(selector) = selector else { return Ok(LabelSelector::default()) };
    LabelSelector::deserialize(selector).map_err(|error| refused(daemon_set, error.to_string()))
}

fn refused(daemon_set: &Value, reason: String) -> RolloutError {
    let (kind, name) = (Owner::from_object(daemon_set).kind, name(daemon_set).to_owned());
    RolloutError::Selector { kind, name, reason }
}
