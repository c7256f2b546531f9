//! `apps/v1` DaemonSet, with the fields of the update proposals beside today's.

use crate::model::owner::OwnerForm;
use crate::model::time::time;
use crate::model::{
    KubeMeta, LabelSelector, Labels, ObjectRef, Owner, OwnerReference, Uid, UpdateStrategy, is_default,
    null_is_default,
};
use jiff::Timestamp;
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// The object being reconciled.
///
/// ```
/// use daemonset::model::{DaemonSet, IntOrString};
/// use serde_json::{from_value, json};
///
/// let ds: DaemonSet = from_value(json!({
///     "metadata": {"name": "agent", "labels": null},
///     "spec": {
///         "template": {"spec": {"fieldOfTheFuture": 1}},
///         "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}},
///     },
/// }))?;
/// assert_eq!(ds.spec.template["spec"]["fieldOfTheFuture"], 1);
/// assert_eq!(ds.spec.update_strategy.rolling_update.unwrap().max_unavailable, Some(IntOrString::Percent(10)));
/// assert!(ds.metadata.labels.is_empty());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "DaemonSetForm")]
pub struct DaemonSet {
    /// The kind of the object, from its `apiVersion` and `kind`: the owner of the pods and revisions. Without them it is `apps/v1`
    /// DaemonSet, as in the items of a list. A controller of a custom kind whose objects do not have the form of a DaemonSet sets it
    /// here; with the wrong one, the garbage collector would look for an owner that does not exist, and delete the pods. Hence the
    /// driver of a custom kind is made with the kind, too, and refuses every other one:
    /// `daemonset::Reconciler::with_kind`.
    #[serde(flatten, skip_serializing_if = "Owner::is_default")]
    pub owner: Owner,
    /// Object metadata.
    pub metadata: DaemonSetMeta,
    /// The desired state.
    pub spec: DaemonSetSpec,
    /// The state that was last written.
    pub status: DaemonSetStatus,
    /// Whether the template is the one that the API server holds; not a part of the object.
    #[serde(skip)]
    pub template_fidelity: TemplateFidelity,
}

/// The members of the JSON, side by side: a flattened [`Owner`] would hide the paths of problems.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default, rename = "DaemonSet")]
struct DaemonSetForm {
    #[serde(deserialize_with = "null_is_default")]
    api_version: String,
    #[serde(deserialize_with = "null_is_default")]
    kind: String,
    #[serde(deserialize_with = "null_is_default")]
    plural: String,
    #[serde(deserialize_with = "null_is_default")]
    metadata: DaemonSetMeta,
    #[serde(deserialize_with = "null_is_default")]
    spec: DaemonSetSpec,
    #[serde(deserialize_with = "null_is_default")]
    status: DaemonSetStatus,
}

impl From<DaemonSetForm> for DaemonSet {
    fn from(form: DaemonSetForm) -> Self {
        let DaemonSetForm { api_version, kind, plural, metadata, spec, status } = form;
        let owner = OwnerForm { api_version, kind, plural }.into();
        DaemonSet { owner, metadata, spec, status, template_fidelity: TemplateFidelity::Exact }
    }
}

impl DaemonSet {
    /// The reference that makes it an object's controller (v1.36 `metav1.NewControllerRef`).
    #[doc(hidden)]
    pub fn owner_reference(&self) -> OwnerReference {
        OwnerReference {
            api_version: self.owner.api_version.clone(),
            kind: self.owner.kind.clone(),
            name: self.metadata.name.clone(),
            uid: self.metadata.uid.clone(),
            controller: Some(true),
            block_owner_deletion: Some(true),
        }
    }
}

impl From<&DaemonSet> for ObjectRef {
    fn from(ds: &DaemonSet) -> Self {
        let DaemonSetMeta { namespace, name, uid, resource_version, .. } = &ds.metadata;
        ObjectRef::new(namespace, name, uid.clone(), resource_version)
    }
}

/// Whether `spec.template` of a [`DaemonSet`] is the one that the API server holds, or lacks the fields that a
/// typed object has lost.
///
/// It is not a part of the object's JSON: an object that is parsed from an API server's answer is exact.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TemplateFidelity {
    /// The template is the API server's.
    #[default]
    Exact,
    /// The template has been through k8s-openapi's `PodTemplateSpec`, and fields that its version of Kubernetes does not know
    /// are gone. A revision whose data equals it after the same lossy round trip is used as the template.
    #[cfg(feature = "k8s-openapi")]
    Typed,
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
    /// The number of changes of the spec so far.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub generation: i64,
    /// Labels.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub labels: Labels,
    /// Annotations, which new revisions copy; one of them may hold the template generation.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub annotations: Labels,
    /// When it was created.
    #[serde(deserialize_with = "time", skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<Timestamp>,
    /// Set while it is being deleted.
    #[serde(deserialize_with = "time", skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<Timestamp>,
    /// Members that this crate does not know, such as `ownerReferences` and `finalizers`. They are kept because a status is
    /// written with the whole metadata, and a missing member would be lost. `managedFields` is left out: the API server
    /// maintains it.
    #[serde(flatten, deserialize_with = "other_members")]
    pub other: Map<String, Value>,
    /// For the feature `kube`.
    #[serde(rename = "managedFields", deserialize_with = "skipped", skip_serializing)]
    pub kube: KubeMeta,
}

/// Skips `managedFields`, which a user may nest deeper than any value here: it must not be a part of [`DaemonSetMeta::other`].
fn skipped<'de, D: Deserializer<'de>>(deserializer: D) -> Result<KubeMeta, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| KubeMeta::default())
}

fn other_members<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
    let mut members = Map::deserialize(deserializer)?;
    members.retain(|_, value| !value.is_null());
    Ok(members)
}

/// Spec of a [`DaemonSet`].
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct DaemonSetSpec {
    /// Selects the pods and revisions of the DaemonSet; required.
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
    /// The number of changes of the template so far: the proposal's field, before `apps/v1` moved it to the annotation
    /// `deprecated.daemonset.template.generation`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template_generation: Option<i64>,
}

/// Status of a [`DaemonSet`]; its counters count nodes, not pods.
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
    /// The generation that these figures describe.
    #[serde(deserialize_with = "null_is_default")]
    pub observed_generation: i64,
    /// Target nodes that run the current template and no older one.
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
    /// Conditions, raw: kept unchanged, but for the two of `daemonset::Policy::conditions`.
    #[serde(deserialize_with = "null_is_default", skip_serializing_if = "is_default")]
    pub conditions: Vec<Value>,
}
