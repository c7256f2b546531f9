//! For controllers built with `kube`: the model as its resources, and actions as API calls.
//!
//! No I/O here either: an [`ApiCall`] is data, and [`ApiCall::to_request`] an `http::Request` that somebody else sends.

mod call;
mod events;
mod metadata;
mod patches;

pub use call::{ApiCall, Caller, PatchType, Preconditions, Verb};

use crate::history::has_template;
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
