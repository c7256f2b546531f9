//! For controllers built with `kube`: the model as its resources, and actions as API calls.
//!
//! No I/O here either: an [`ApiCall`] is data, and [`ApiCall::to_request`] an `http::Request` that somebody else sends.
//!
//! # The model's types in `kube`
//!
//! `Api<daemonset::model::Pod>`, watchers and reflectors take the types of [`model`](crate::model) and hold what a decision
//! needs instead of whole objects. They are for reading: written back, an object would lose what the model does not keep.
//! What is to be written is an [`ApiCall`].
//!
//! `Resource::meta` lends metadata that is made when it is first asked for, from what the model keeps:
//!
//! | of | what is there |
//! |---|---|
//! | each | name, namespace, uid, resource version |
//! | `DaemonSet` | everything but `managedFields` |
//! | `ControllerRevision` | labels, owners, creation and deletion timestamp |
//! | `Pod` | owners, creation and deletion timestamp; **no labels**, which a fleet would hold twice: `pod.metadata.labels` has them |
//! | `Node` | labels |
//!
//! So `pod.labels()` of `kube::ResourceExt` is empty, and `predicates::labels` sees no change of a pod. The lent metadata is
//! not made anew when a field of the model changes, and what is changed in it is not written back to the model; a clone
//! makes its own.

mod call;
mod events;
mod metadata;
mod patches;

pub use call::{ApiCall, Caller, PatchType, Preconditions, Verb};

use crate::kubernetes::revision::has_template;
use crate::model::{ControllerRevision, DaemonSet, OwnerReference};

/// Whether a revision that exists is the one that [`Action::CreateRevision`](crate::Action::CreateRevision) was to create:
/// of this DaemonSet and of its template. `AlreadyExists` is success then: the plan was made from a snapshot that did not
/// show it yet (v1.36 `update.go snapshot`).
#[must_use]
pub fn is_own_revision(revision: &ControllerRevision, ds: &DaemonSet) -> bool {
    let metadata = &revision.metadata;
    metadata.namespace == ds.metadata.namespace
        && OwnerReference::controller_of(&metadata.owner_references) == Some(ds.metadata.uid.as_str())
        && has_template(&revision.data, &ds.spec.template)
}
