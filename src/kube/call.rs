//! The API call that an action needs, as data.

use crate::action::{Action, EventType};
use crate::kube::bodies;
use daemonset_objects::kubernetes::go_json;
use daemonset_objects::model::{ControllerRevision, DaemonSet, Node, ObjectRef, Owner, Pod, Uid};
use http::header::{CONTENT_TYPE, HeaderValue};
use jiff::Timestamp;
use kube_core::Resource;
use kube_core::params::{DeleteParams, Patch, PatchParams, PostParams, Preconditions as DeletePreconditions};
use kube_core::request::{Error, Request};
use serde::Serialize;
use serde_json::Value;

/// One HTTP request to the API server.
///
/// ```
/// use daemonset::kube::{ApiCall, Caller, Verb};
/// use daemonset::{Action, DeleteReason, model::{DaemonSet, ObjectRef}};
/// use serde_json::json;
///
/// let caller = Caller {
///     daemon_set: &DaemonSet::default(),
///     component: "daemonset-controller",
///     now: "2026-01-01T12:00:00Z".parse().unwrap(),
/// };
/// let pod = ObjectRef { namespace: "ns".into(), name: "agent-x".into(), uid: "p1".into(), ..ObjectRef::default() };
/// let delete = Action::delete_pod("a".into(), pod, DeleteReason::FailedPod);
/// let call = ApiCall::new(&delete, &caller).unwrap();
/// assert_eq!(call.verb, Verb::Delete);
/// assert_eq!(call.body["preconditions"], json!({"uid": "p1"}));
/// assert_eq!(call.to_request().unwrap().uri().path(), "/api/v1/namespaces/ns/pods/agent-x");
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ApiCall {
    /// The operation.
    pub verb: Verb,
    /// The path of the collection, such as `/api/v1/namespaces/monitoring/pods`.
    pub collection: String,
    /// The object's name; `None` for a create.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The object, the patch, the `Eviction` or, for a deletion, the `DeleteOptions`; with the preconditions. A caller who sends
    /// it without [`to_request`](Self::to_request), such as another process that reads the call's JSON, sends the bytes of
    /// [`body_bytes`](Self::body_bytes).
    pub body: Value,
    /// The API server checks these first. If one does not hold, it answers 409 Conflict to a deletion, an eviction and a status,
    /// and 422 Invalid to a patch (`metadata.uid: field is immutable`); 404 if no object has the name.
    pub preconditions: Preconditions,
}

/// The operation of an [`ApiCall`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub enum Verb {
    /// `POST` to the collection.
    Create,
    /// `PATCH` of the object.
    Patch(PatchType),
    /// `DELETE` of the object.
    Delete,
    /// `PUT` of the subresource `status`.
    UpdateStatus,
    /// `POST` to the subresource `eviction` of a pod.
    Evict,
}

/// The type of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[non_exhaustive]
pub enum PatchType {
    /// `application/strategic-merge-patch+json`: lists of owners are merged by uid.
    StrategicMerge,
    /// `application/merge-patch+json`: a null removes a member.
    Merge,
    /// `application/json-patch+json`: a list of operations.
    Json,
}

/// The conditions under which the API server executes an [`ApiCall`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Preconditions {
    /// The object has this uid: it is not another one with the same name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<Uid>,
    /// The object has not changed since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_version: Option<String>,
}

/// The context of a call: the DaemonSet, the component that calls, and the time.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "callers name each field")]
pub struct Caller<'a> {
    /// The DaemonSet that the plan is about, as it was in the snapshot.
    pub daemon_set: &'a DaemonSet,
    /// The source of events; Kubernetes' own controller is `daemonset-controller`.
    pub component: &'a str,
    /// The time in events.
    pub now: Timestamp,
}

impl ApiCall {
    /// The call that executes this action; `None` for [`Action::Requeue`], which needs no call.
    ///
    /// The status and events are those of the kind in [`DaemonSet::owner`](field@DaemonSet::owner). Creates and deletes
    /// are calls for pods: a caller whose [`Manifests`](crate::manifests::Manifests) are of another kind makes these calls itself.
    ///
    /// The uid protects an object that was replaced since the snapshot. The resource version is a precondition, too, of a
    /// whole status, which must not undo the write of another client, of a restored template, of the patch of a node, and of the deletion
    /// of history. It is not one of other patches, since one plan may change an object twice, nor of pods, which kubelets write all the
    /// time.
    #[must_use]
    pub fn new(action: &Action, caller: &Caller<'_>) -> Option<Self> {
        let ds = caller.daemon_set;
        let patch = |object: &ObjectRef, body| (Verb::Patch(PatchType::StrategicMerge), body, same(object));
        let create = |body| (Verb::Create, body, Preconditions::default());
        let delete = |if_so| (Verb::Delete, bodies::delete_options(&if_so), if_so);
        let (verb, body, preconditions) = match action {
            Action::AdoptPod { pod: object, .. } | Action::AdoptRevision { revision: object, .. } => {
                patch(object, bodies::adopt(ds, object))
            }
            Action::ReleasePod { pod: object, .. } | Action::ReleaseRevision { revision: object, .. } => {
                patch(object, bodies::release(ds, object))
            }
            Action::LabelPod { pod: object, labels, .. }
            | Action::LabelRevision { revision: object, labels, .. } => {
                patch(object, bodies::labels(object, labels))
            }
            Action::RenumberRevision { revision, number, .. } => {
                patch(revision, bodies::number(revision, *number))
            }
            Action::AnnotateRevision { revision, annotations, .. } => {
                (Verb::Patch(PatchType::Merge), bodies::annotations(revision, annotations), same(revision))
            }
            Action::UpdatePodInPlace { pod, patch: changes, .. } => {
                patch(pod, bodies::with_uid(pod, changes))
            }
            Action::PatchNode { node, unschedulable, annotations, .. } => {
                let body = bodies::node(node, *unschedulable, annotations);
                (Verb::Patch(PatchType::Merge), body, unchanged(node))
            }
            Action::CreateRevision { revision, .. } => create(revision.clone()),
            Action::CreatePod { pod, .. } => create(pod.to_value()),
            Action::DeletePod { pod, .. } => delete(same(pod)),
            Action::DeleteRevision { revision, .. } => delete(unchanged(revision)),
            Action::UpdateStatus { daemon_set, status, .. } => {
                (Verb::UpdateStatus, bodies::with_status(ds, daemon_set, status), unchanged(daemon_set))
            }
            Action::RestoreTemplate { daemon_set, patch: template, .. } => {
                let (form, body) = match ds.owner.is_daemon_set() {
                    true => (PatchType::StrategicMerge, bodies::with_version(daemon_set, template)),
                    // An API server has strategic merge patches for its own kinds alone.
                    false => (PatchType::Json, bodies::replace_template(daemon_set, template)),
                };
                (Verb::Patch(form), body, unchanged(daemon_set))
            }
            Action::RecordEvent { event_type, reason, message, .. } => {
                return Some(ApiCall::event(caller, *event_type, reason.as_str(), message));
            }
            Action::Requeue { .. } => return None,
        };
        let name = action.subject().map(|object| object.name.clone());
        Some(ApiCall { verb, collection: collection(action, ds), name, body, preconditions })
    }

    /// The call that evicts a pod: the API server deletes it, unless a PodDisruptionBudget forbids that. `eviction` is the `policy/v1`
    /// Eviction, with the pod's uid as its precondition: `daemonset_drain::EvictPod` makes both.
    #[must_use]
    pub fn evict(pod: &ObjectRef, eviction: Value) -> Self {
        ApiCall {
            verb: Verb::Evict,
            collection: Pod::url_path(&(), Some(&pod.namespace)),
            name: Some(pod.name.clone()),
            body: eviction,
            preconditions: same(pod),
        }
    }

    /// The call that records an event about the DaemonSet, as client-go's recorder does for Kubernetes' controller
    /// (v1.36 `client-go/tools/record makeEvent`).
    #[must_use]
    pub fn event(caller: &Caller<'_>, kind: EventType, reason: &str, message: &str) -> Self {
        let namespace = &caller.daemon_set.metadata.namespace;
        ApiCall {
            verb: Verb::Create,
            collection: format!("/api/v1/namespaces/{namespace}/events"),
            name: None,
            body: bodies::event(caller, kind, reason, message),
            preconditions: Preconditions::default(),
        }
    }

    /// The body as [Go writes it](go_json). The API server stores the `data` of a ControllerRevision as the bytes that it was
    /// sent, and refuses each later patch of one whose bytes are others.
    #[must_use]
    pub fn body_bytes(&self) -> Vec<u8> {
        go_json::to_string(&self.body).into_bytes()
    }

    /// The HTTP request, with the body of [`body_bytes`](Self::body_bytes) for an object.
    ///
    /// # Errors
    /// When a name is not a valid path segment. Every name from an API server is valid.
    pub fn to_request(&self) -> Result<http::Request<Vec<u8>>, Error> {
        if !is_path(&self.collection) || !self.name.as_deref().is_none_or(is_segment) {
            let name = self.name.as_deref().unwrap_or_default();
            return Err(Error::Validation(format!("no path of one object: {} {name:?}", self.collection)));
        }
        let request = Request::new(self.collection.as_str());
        let name = self.name.as_deref().unwrap_or_default();
        match self.verb {
            Verb::Create => request.create(&PostParams::default(), self.body_bytes()),
            Verb::Patch(PatchType::StrategicMerge) => {
                request.patch(name, &PatchParams::default(), &Patch::Strategic(&self.body))
            }
            Verb::Patch(PatchType::Merge) => {
                request.patch(name, &PatchParams::default(), &Patch::Merge(&self.body))
            }
            // kube's own form of it would be one more dependency.
            Verb::Patch(PatchType::Json) => {
                let mut request = request.patch(name, &PatchParams::default(), &Patch::Merge(&self.body))?;
                let json_patch = HeaderValue::from_static("application/json-patch+json");
                request.headers_mut().insert(CONTENT_TYPE, json_patch);
                Ok(request)
            }
            Verb::Delete => request.delete(name, &self.delete_params()),
            Verb::UpdateStatus => {
                request.replace_subresource("status", name, &PostParams::default(), self.body_bytes())
            }
            Verb::Evict => {
                request.create_subresource("eviction", name, &PostParams::default(), self.body_bytes())
            }
        }
    }

    fn delete_params(&self) -> DeleteParams {
        let Preconditions { uid, resource_version } = &self.preconditions;
        let preconditions = DeletePreconditions {
            uid: uid.as_ref().map(|uid| uid.as_str().to_owned()),
            resource_version: resource_version.clone(),
        };
        DeleteParams { preconditions: Some(preconditions), ..DeleteParams::default() }
    }
}

/// The collection of the object: for an owner that of its kind, which is a custom one where the DaemonSet says so.
fn collection(action: &Action, ds: &DaemonSet) -> String {
    let namespace = action.subject().map_or(&ds.metadata.namespace, |object| &object.namespace);
    match action {
        Action::AdoptPod { .. }
        | Action::ReleasePod { .. }
        | Action::LabelPod { .. }
        | Action::DeletePod { .. }
        | Action::UpdatePodInPlace { .. }
        | Action::CreatePod { .. } => Pod::url_path(&(), Some(namespace)),
        Action::PatchNode { .. } => Node::url_path(&(), None),
        Action::AdoptRevision { .. }
        | Action::ReleaseRevision { .. }
        | Action::CreateRevision { .. }
        | Action::LabelRevision { .. }
        | Action::RenumberRevision { .. }
        | Action::AnnotateRevision { .. }
        | Action::DeleteRevision { .. } => ControllerRevision::url_path(&(), Some(namespace)),
        Action::UpdateStatus { .. }
        | Action::RestoreTemplate { .. }
        | Action::RecordEvent { .. }
        | Action::Requeue { .. } => {
            let Owner { api_version, plural, .. } = &ds.owner;
            let root = if ds.owner.group().is_empty() { "api" } else { "apis" };
            format!("/{root}/{api_version}/namespaces/{namespace}/{plural}")
        }
    }
}

/// Whether it has group, version, namespace and plural, and no other segment.
fn is_path(collection: &str) -> bool {
    let segments: Vec<&str> = collection.split('/').skip(1).collect();
    let shape = matches!(
        segments.as_slice(),
        ["api", _, "nodes"] | ["api", _, "namespaces", _, _] | ["apis", _, _, "namespaces", _, _]
    );
    shape && segments.into_iter().all(is_segment)
}

/// v1.36 `apimachinery/pkg/api/validation/path IsValidPathSegmentName`; also refuses the other characters that have a
/// meaning in a URL.
fn is_segment(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_graphic() && !b"/%?#".contains(&byte);
    !name.is_empty() && name != "." && name != ".." && name.bytes().all(plain)
}

/// The object is not another one of the same name.
fn same(object: &ObjectRef) -> Preconditions {
    Preconditions { uid: Some(object.uid.clone()), resource_version: None }
}

/// The object is exactly the one of the snapshot.
fn unchanged(object: &ObjectRef) -> Preconditions {
    let version = &object.resource_version;
    let resource_version = (!version.is_empty()).then(|| version.clone());
    Preconditions { resource_version, ..same(object) }
}
