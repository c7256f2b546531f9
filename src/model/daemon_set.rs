//! `apps/v1` DaemonSet, with the fields of the update proposals beside today's.

use super::time::time;
use super::{
    KubeMeta, LabelSelector, Labels, ObjectRef, OwnerReference, TemplateFidelity, Uid, UpdateStrategy,
    is_default, null_is_default,
};
use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// The object being reconciled.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DaemonSet {
    /// Object metadata.
    #[serde(deserialize_with = "null_is_default")]
    pub metadata: DaemonSetMeta,
    /// What is asked for.
    #[serde(deserialize_with = "null_is_default")]
    pub spec: DaemonSetSpec,
    /// What was last written about it.
    #[serde(deserialize_with = "null_is_default")]
    pub status: DaemonSetStatus,
    /// Whether the template is what the API server holds; no part of the object.
    #[serde(skip)]
    pub template_fidelity: TemplateFidelity,
}

impl DaemonSet {
    /// The reference that makes it an object's controller (v1.36 `metav1.NewControllerRef`).
    pub(crate) fn owner_reference(&self) -> OwnerReference {
        OwnerReference {
            api_version: "apps/v1".to_owned(),
            kind: "DaemonSet".to_owned(),
            name: self.metadata.name.clone(),
            uid: self.metadata.uid.clone(),
            controller: Some(true),
            block_owner_deletion: Some(true),
        }
    }

    /// Names this object exactly. Not public: it would stand in the way of kube's `Resource::object_ref`.
    pub(crate) fn object_ref(&self) -> ObjectRef {
        ObjectRef {
            namespace: self.metadata.namespace.clone(),
            name: self.metadata.name.clone(),
            uid: self.metadata.uid.clone(),
            resource_version: self.metadata.resource_version.clone(),
        }
    }
}

impl From<&DaemonSet> for ObjectRef {
    fn from(ds: &DaemonSet) -> Self {
        ds.object_ref()
    }
}

/// Metadata of a [`DaemonSet`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DaemonSetMeta {
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
    /// Counts the changes of the spec.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub generation: i64,
    /// Labels.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub labels: Labels,
    /// Copied to new revisions; one of them may hold the template generation.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub annotations: Labels,
    /// When it was created.
    #[serde(deserialize_with = "time", skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<Timestamp>,
    /// Set while it is being deleted.
    #[serde(deserialize_with = "time", skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<Timestamp>,
    /// Members that this crate does not know, such as `ownerReferences` and `finalizers`. A status is written with the
    /// whole metadata, and what is left out then is lost. Without `managedFields`, which the API server keeps itself.
    #[serde(flatten, deserialize_with = "other_members")]
    pub other: Map<String, Value>,
    /// For the feature `kube`.
    #[serde(skip)]
    pub kube: KubeMeta,
}

fn other_members<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
    let mut members = Map::deserialize(deserializer)?;
    members.retain(|name, value| name != "managedFields" && !value.is_null());
    Ok(members)
}

/// Spec of a [`DaemonSet`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DaemonSetSpec {
    /// Chooses the pods and revisions that belong to it; required.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<LabelSelector>,
    /// The pod template, raw: fields that this crate does not know are kept.
    pub template: Value,
    /// How pods follow a changed template.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub update_strategy: UpdateStrategy,
    /// Seconds for which a pod must be Ready to be available; 0 when absent.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub min_ready_seconds: i32,
    /// How many old revisions to keep; 10 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision_history_limit: Option<i32>,
    /// Counts the changes of the template: the proposal's field, before `apps/v1` moved it to the annotation
    /// `deprecated.daemonset.template.generation`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template_generation: Option<i64>,
}

/// Status of a [`DaemonSet`]; the counters are nodes, not pods.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DaemonSetStatus {
    /// Target nodes with at least one pod.
    #[serde(deserialize_with = "null_is_default")]
    pub current_number_scheduled: i32,
    /// Other nodes with at least one pod.
    #[serde(deserialize_with = "null_is_default")]
    pub number_misscheduled: i32,
    /// Target nodes.
    #[serde(deserialize_with = "null_is_default")]
    pub desired_number_scheduled: i32,
    /// Target nodes with a Ready pod.
    #[serde(deserialize_with = "null_is_default")]
    pub number_ready: i32,
    /// The generation that these figures are about.
    #[serde(deserialize_with = "null_is_default")]
    pub observed_generation: i64,
    /// Target nodes that run the current template and nothing older.
    #[serde(deserialize_with = "null_is_default")]
    pub updated_number_scheduled: i32,
    /// Target nodes with an available pod.
    #[serde(deserialize_with = "null_is_default")]
    pub number_available: i32,
    /// Target nodes without an available pod.
    #[serde(deserialize_with = "null_is_default")]
    pub number_unavailable: i32,
    /// How often a new revision's name was taken; part of the next name's hash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collision_count: Option<i32>,
    /// Kept as they are.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub conditions: Vec<Value>,
}
