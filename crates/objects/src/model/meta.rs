//! Object metadata: references to objects and to their owners.

use crate::model::{Uid, is_default, null_is_default};
use serde::{Deserialize, Serialize};

/// One entry of `metadata.ownerReferences`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OwnerReference {
    /// API group and version of the owner, such as `apps/v1`.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub api_version: String,
    /// Kind of the owner, such as `DaemonSet`.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub kind: String,
    /// Name of the owner.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub name: String,
    /// Uid of the owner; it alone identifies the owner.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub uid: Uid,
    /// Whether this owner is the managing controller; an object has at most one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<bool>,
    /// Whether deleting the owner in the foreground waits for this object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_owner_deletion: Option<bool>,
}

impl OwnerReference {
    /// The uid of the managing controller among `references` (v1.36 `metav1.GetControllerOf`).
    #[inline]
    pub fn controller_of(references: &[OwnerReference]) -> Option<&str> {
        references.iter().find(|r| r.controller == Some(true)).map(|r| r.uid.as_str())
    }
}

/// Names one object exactly. The uid is the precondition of an action. The resource version can be one only for the first
/// change of an object, since a plan may change it twice.
///
/// ```
/// use daemonset::model::{ObjectRef, Pod};
/// use serde_json::{from_value, json, to_value};
///
/// let pod: Pod = from_value(json!({"metadata": {"name": "agent-x", "namespace": "ns", "uid": "p1"}}))?;
/// let reference = ObjectRef::from(&pod.metadata);
/// assert_eq!(to_value(&reference)?, json!({"name": "agent-x", "namespace": "ns", "uid": "p1"}));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ObjectRef {
    /// `metadata.namespace`; left out for an object without one.
    #[serde(skip_serializing_if = "is_default")]
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
    /// `metadata.uid`.
    pub uid: Uid,
    /// `metadata.resourceVersion` in the snapshot; left out if it is empty there.
    #[serde(skip_serializing_if = "is_default")]
    pub resource_version: String,
}

impl ObjectRef {
    pub(crate) fn new(namespace: &str, name: &str, uid: impl Into<Uid>, resource_version: &str) -> Self {
        ObjectRef {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            uid: uid.into(),
            resource_version: resource_version.to_owned(),
        }
    }
}
