//! Bodies of API calls: patches, whole statuses, the options of a deletion, and events.

use crate::action::EventType;
use crate::kube::{Caller, Preconditions};
use daemonset_objects::model::{DaemonSet, DaemonSetStatus, Labels, ObjectRef, Owner};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Makes the DaemonSet the controller (v1.36 `controller_ref_manager.go ownerRefControllerPatch`). The uid in a patch is
/// a precondition.
pub(crate) fn adopt(ds: &DaemonSet, object: &ObjectRef) -> Value {
    json!({"metadata": {"uid": object.uid, "ownerReferences": [ds.owner_reference()]}})
}

/// Removes the DaemonSet from the owners (v1.36 `GenerateDeleteOwnerRefStrategicMergeBytes`).
pub(crate) fn release(ds: &DaemonSet, object: &ObjectRef) -> Value {
    let owner = json!({"$patch": "delete", "uid": ds.metadata.uid});
    json!({"metadata": {"uid": object.uid, "ownerReferences": [owner]}})
}

pub(crate) fn labels(object: &ObjectRef, labels: &Labels) -> Value {
    json!({"metadata": {"uid": object.uid, "labels": labels}})
}

/// A null removes an annotation.
pub(crate) fn annotations(object: &ObjectRef, annotations: &BTreeMap<String, Option<String>>) -> Value {
    json!({"metadata": {"uid": object.uid, "annotations": annotations}})
}

pub(crate) fn number(object: &ObjectRef, number: i64) -> Value {
    json!({"metadata": {"uid": object.uid}, "revision": number})
}

/// The DaemonSet with this status. The metadata is whole, since the subresource `status` writes it, too; the spec is left
/// out, since the subresource does not read it (v1.36 `registry/apps/daemonset statusStrategy`).
///
/// Uid and resource version are those of the action, also if the caller has read a newer object since: the status was
/// computed from the older one.
pub(crate) fn with_status(ds: &DaemonSet, about: &ObjectRef, status: &DaemonSetStatus) -> Value {
    let mut metadata = ds.metadata.clone();
    metadata.uid.clone_from(&about.uid);
    metadata.resource_version.clone_from(&about.resource_version);
    let Owner { api_version, kind, .. } = &ds.owner;
    json!({"apiVersion": api_version, "kind": kind, "metadata": metadata, "status": status})
}

/// `meta/v1` DeleteOptions.
pub(crate) fn delete_options(preconditions: &Preconditions) -> Value {
    json!({"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": preconditions})
}

/// A `core/v1` Event; the API server generates its name.
pub(crate) fn event(caller: &Caller<'_>, kind: EventType, reason: &str, message: &str) -> Value {
    let DaemonSet { owner, metadata, .. } = caller.daemon_set;
    let kind = match kind {
        EventType::Normal => "Normal",
        EventType::Warning => "Warning",
    };
    // Whole seconds: the API server refuses more precision in these two fields.
    let now = caller.now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": format!("{}.", metadata.name), "namespace": metadata.namespace},
        "involvedObject": {
            "apiVersion": owner.api_version,
            "kind": owner.kind,
            "namespace": metadata.namespace,
            "name": metadata.name,
            "uid": metadata.uid,
            "resourceVersion": metadata.resource_version,
        },
        "type": kind,
        "reason": reason,
        "message": message,
        "source": {"component": caller.component},
        "reportingComponent": caller.component,
        "reportingInstance": "",
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    })
}

/// A patch with the uid as a precondition.
pub(crate) fn with_uid(object: &ObjectRef, patch: &Value) -> Value {
    with_metadata(patch, [("uid", object.uid.as_str())])
}

/// A patch with the uid and the resource version as preconditions: the object may have changed since.
pub(crate) fn with_version(object: &ObjectRef, patch: &Value) -> Value {
    let version = object.resource_version.as_str();
    let version = (!version.is_empty()).then_some(("resourceVersion", version));
    with_metadata(patch, [("uid", object.uid.as_str())].into_iter().chain(version))
}

/// A JSON patch with the template of a strategic merge patch. It replaces uid and resource version by what they are: the API server answers
/// to another one as to that of a merge patch, whereas a failed `test` has an answer without a reason, as each invalid patch has.
pub(crate) fn replace_template(object: &ObjectRef, patch: &Value) -> Value {
    let mut template = patch.pointer("/spec/template").cloned().unwrap_or_default();
    if let Value::Object(members) = &mut template {
        members.remove("$patch");
    }
    let version = (!object.resource_version.is_empty())
        .then(|| ("/metadata/resourceVersion", json!(object.resource_version)));
    let values = [("/metadata/uid", json!(object.uid))].into_iter().chain(version);
    let replace = |(path, value)| json!({"op": "replace", "path": path, "value": value});
    values.chain([("/spec/template", template)]).map(replace).collect()
}

fn with_metadata<'m>(patch: &Value, members: impl IntoIterator<Item = (&'m str, &'m str)>) -> Value {
    let mut patch = patch.clone();
    let metadata =
        patch.as_object_mut().map(|members| members.entry("metadata").or_insert_with(|| json!({})));
    if let Some(metadata) = metadata.and_then(Value::as_object_mut) {
        metadata.extend(members.into_iter().map(|(key, value)| (key.to_owned(), json!(value))));
    }
    patch
}

/// The resource version in a patch is a precondition, too: the node may have changed since.
pub(crate) fn node(
    node: &ObjectRef,
    unschedulable: Option<bool>,
    annotations: &BTreeMap<String, Option<String>>,
) -> Value {
    let mut metadata = json!({"uid": node.uid, "annotations": annotations});
    if let (Value::Object(members), false) = (&mut metadata, node.resource_version.is_empty()) {
        members.insert("resourceVersion".to_owned(), json!(node.resource_version));
    }
    match unschedulable {
        Some(unschedulable) => json!({"metadata": metadata, "spec": {"unschedulable": unschedulable}}),
        None => json!({"metadata": metadata}),
    }
}
