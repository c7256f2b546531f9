//! `apps/v1` ControllerRevision.

use crate::model::time::time;
use crate::model::{KubeMeta, Labels, OwnerReference, Uid, is_default, null_is_default};
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

/// One stored version of a pod template.
///
/// ```
/// use daemonset::model::{ControllerRevision, OwnerReference};
/// use serde_json::{from_value, json};
///
/// let revision: ControllerRevision = from_value(json!({
///     "metadata": {"name": "agent-5f6", "ownerReferences": [{"kind": "DaemonSet", "uid": "u1", "controller": true}]},
///     "data": {"spec": {"template": {"spec": {"fieldOfTheFuture": 1}, "$patch": "replace"}}},
///     "revision": 3,
/// }))?;
/// assert_eq!(OwnerReference::controller_of(&revision.metadata.owner_references), Some("u1"));
/// assert_eq!(revision.data["spec"]["template"]["spec"], json!({"fieldOfTheFuture": 1}));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ControllerRevision {
    /// Object metadata.
    #[serde(deserialize_with = "null_is_default")]
    pub metadata: RevisionMeta,
    /// The patch `{"spec":{"template":{…,"$patch":"replace"}}}`, raw. Null where it can't be read, see
    /// [`from_json`](Self::from_json): a snapshot in which the DaemonSet owns such a revision is invalid.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub data: Value,
    /// The number of the revision; a larger one is newer.
    #[serde(deserialize_with = "null_is_default")]
    pub revision: i64,
}

impl ControllerRevision {
    /// Reads a revision whose `data` may be any JSON. The API server stores that member as the bytes that it was sent, so that
    /// whoever may create revisions can store numbers beyond every type, lone surrogates, and arrays without end. Data that can't
    /// be read becomes null; as a part of a list it would make the whole list unreadable.
    ///
    /// ```
    /// use daemonset::model::ControllerRevision;
    ///
    /// let number = r#"{"metadata": {"name": "agent-5f6"}, "data": {"a": 1e999}, "revision": 3}"#;
    /// assert!(serde_json::from_str::<ControllerRevision>(number).is_err());
    /// let revision = ControllerRevision::from_json(number)?;
    /// assert_eq!((revision.revision, revision.data), (3, serde_json::Value::Null));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    /// When the text is no JSON, or another member has a wrong type.
    pub fn from_json(json: &str) -> Result<Self, serde_json::Error> {
        let RawRevision { metadata, data, revision } = serde_json::from_str(json)?;
        let data = data.and_then(|data| serde_json::from_str(data.get()).ok()).unwrap_or_default();
        Ok(ControllerRevision { metadata, data, revision })
    }
}

/// A revision whose data is not read yet.
#[derive(Default, Deserialize)]
#[serde(default)]
struct RawRevision<'j> {
    #[serde(deserialize_with = "null_is_default")]
    metadata: RevisionMeta,
    #[serde(borrow)]
    data: Option<&'j RawValue>,
    #[serde(deserialize_with = "null_is_default")]
    revision: i64,
}

/// Metadata of a [`ControllerRevision`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RevisionMeta {
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
    /// The template's labels and the hash label.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub labels: Labels,
    /// Annotations; only those are kept whose name, after the prefix, is that of a mark of a rollout: `started`, `wave`, `failed`,
    /// `completed`, `restored` and `undone`. The DaemonSet's own annotations, which a revision has, too, can be long.
    #[serde(deserialize_with = "marks", skip_serializing_if = "is_default")]
    pub annotations: Labels,
    /// Owners.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub owner_references: Vec<OwnerReference>,
    /// When it was created.
    #[serde(deserialize_with = "time", skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<Timestamp>,
    /// Set while it is being deleted.
    #[serde(deserialize_with = "time", skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<Timestamp>,
    /// For the feature `kube`.
    #[serde(skip)]
    pub kube: KubeMeta,
}

/// The names of the annotations that hold the state of a rollout, after their prefix.
const MARKS: [&str; 6] = ["started", "wave", "failed", "completed", "restored", "undone"];

/// Whether an annotation of a revision can hold the state of a rollout.
pub(crate) fn is_mark(key: &str) -> bool {
    key.rsplit_once('/').is_some_and(|(_, name)| MARKS.contains(&name))
}

fn marks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Labels, D::Error> {
    let annotations: Labels = null_is_default(deserializer)?;
    Ok(annotations.iter().filter(|(key, _)| is_mark(key)).collect())
}
