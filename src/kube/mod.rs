//! For controllers built with `kube`: the model as its resources, and actions as API calls.
//!
//! No I/O here either: an [`ApiCall`] is data, and [`ApiCall::to_request`] gives an `http::Request` for the caller to send.
//!
//! # The bytes of a revision
//!
//! [`ApiCall::to_request`] sends an object as Go writes it. A caller who sends the revision of
//! [`Action::CreateRevision`](crate::Action::CreateRevision) by other means, such as `Api::create`, sends the text of
//! [`go_json::to_string`](crate::kubernetes::go_json::to_string): the API server stores `data` as the bytes that it was sent, and
//! refuses each later patch of one whose bytes are others than Go's.
//!
//! # The model's types in `kube`
//!
//! `Api<daemonset::model::Pod>`, watchers and reflectors take the types of [`model`](crate::model) and hold the fields that
//! a decision needs instead of whole objects. They are for reading: an object that is written back would lose all other
//! fields. Write with an [`ApiCall`].
//!
//! `Resource::meta` lends metadata that is made at the first use. It has each field that the model has, so that `labels()`,
//! `annotations()` and `owner_references()` of `kube::ResourceExt` are the object's:
//!
//! | type | metadata |
//! |---|---|
//! | each | name, namespace, uid, resource version, labels, annotations |
//! | `DaemonSet` | everything but `managedFields` |
//! | `ControllerRevision` | owners, creation and deletion timestamp; of the annotations the marks of a rollout |
//! | `Pod` | owners, creation and deletion timestamp, grace period; after [`make_lean`](crate::model::Pod::make_lean) few annotations |
//! | `Node` | of the annotations those of turns and their gates |
//!
//! A field that the model does not have is absent there, too, such as the finalizers of a pod. The lent metadata
//! does not follow changes of the model, and changes of the lent metadata are not written back to the model. A clone makes
//! its own: a reflector, which stores a clone of each object, holds no labels twice.
use daemonset_objects::internal::has_template;
use daemonset_objects::model::{ControllerRevision, DaemonSet, OwnerReference};

mod bodies;
mod call;

pub use call::{ApiCall, Caller, PatchType, Preconditions, Verb};

/// Whether an existing revision is the one that [`Action::CreateRevision`](crate::Action::CreateRevision) creates: of this
/// DaemonSet and of its template. Then `AlreadyExists` is success: the plan was made from a snapshot that did not show the
/// revision yet (v1.36 `update.go snapshot`). The inputs of [`Manifests`](crate::manifests::Manifests) are a part of its name.
#[must_use]
pub fn is_own_revision(revision: &ControllerRevision, ds: &DaemonSet) -> bool {
    let metadata = &revision.metadata;
    metadata.namespace == ds.metadata.namespace
        && OwnerReference::controller_of(&metadata.owner_references) == Some(ds.metadata.uid.as_str())
        && has_template(&revision.data, &ds.spec.template)
}
