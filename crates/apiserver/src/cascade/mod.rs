//! Deleting a DaemonSet with what it owns: in the background, in the foreground, or leaving its pods as orphans.
//!
//! Two sides, both pure. [`delete`] is the API server's: what a DELETE makes of an object. [`cascade`] is the garbage
//! collector's: what is to be done next about the DaemonSet's pods and ControllerRevisions. It reads nothing but the
//! objects that are there now, so that whoever crashes between two of its actions asks again and goes on.
//!
//! | propagationPolicy | the API server | then |
//! |---|---|---|
//! | `Background` (the default) | removes the DaemonSet at once | what it owned is deleted |
//! | `Foreground` | keeps it, with the finalizer `foregroundDeletion` | what it owns is deleted, then the finalizer removed |
//! | `Orphan` | keeps it, with the finalizer `orphan` | it is removed from the owners of what it owns, then the finalizer removed |
//!
//! A pod with another owner besides is never deleted, only released. Another finalizer on the DaemonSet holds it, and in
//! the background all that it owns, until whoever set it takes it off.
//!
//! Deleting a DaemonSet and keeping its pods, from the request to the end:
//!
//! ```
//! use daemonset_apiserver::cascade::{CascadeAction, DeleteOptions, Deletion, Kind, Object, Propagation, State, cascade, delete};
//! use serde_json::json;
//!
//! let web = json!({"metadata": {"name": "web", "namespace": "ns", "uid": "u1", "generation": 1}});
//! let pod = json!({"metadata": {"name": "web-x", "namespace": "ns", "uid": "p1", "ownerReferences": [
//!     {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "web", "uid": "u1", "controller": true}
//! ]}});
//!
//! // DELETE with propagationPolicy Orphan: the object stays, and says what it waits for.
//! let now = "2026-01-01T12:00:00Z".parse().unwrap();
//! let options = DeleteOptions::new().propagation_policy(Propagation::Orphan);
//! let Ok(Deletion::Pending(web)) = delete(Kind::DaemonSet, &web, &options, now) else { panic!() };
//! assert_eq!(web["metadata"]["finalizers"], json!(["orphan"]));
//!
//! // The pod is released, nothing is deleted.
//! let web = Object::from_json(&web).unwrap();
//! let pods = [Object::from_json(&pod).unwrap()];
//! let actions = cascade(&State::new(&web.object_ref(), Some(&web)).pods(&pods));
//! assert!(matches!(&actions[..], [CascadeAction::ReleasePod { pod, .. }] if pod.name == "web-x"));
//!
//! // Once no object names it as owner, the finalizer goes, and with it the DaemonSet.
//! let actions = cascade(&State::new(&web.object_ref(), Some(&web)));
//! assert!(matches!(&actions[..], [CascadeAction::RemoveFinalizer { finalizers, .. }] if finalizers.is_empty()));
//! ```
//!
//! A new DaemonSet whose selector matches adopts the orphans ([`reconcile`](crate::reconcile)): no pod restarts if its
//! template is theirs. Its template generation must not be one that they carry for another template: create it with the
//! annotation `deprecated.daemonset.template.generation` above theirs, or use
//! [`ClassificationPolicy::HashFirst`](crate::ClassificationPolicy); [`lint`](crate::lint) tells when they meet.

mod action;
mod delete;
mod finalizers;
mod grace;
mod object;
mod options;
mod refusal;
mod state;
mod steps;

pub use action::{CascadeAction, CollectReason, DisownReason, FinalizeReason};
pub use delete::{Deletion, delete, removed_by_update};
pub use object::{Metadata, Object, UnreadableObject};
pub use options::{DeleteOptions, Kind, Preconditions, Propagation};
pub use refusal::DeleteRefusal;
pub use state::{Stage, State};
pub use steps::cascade;

/// The finalizer of an owner that waits until what it owns no longer names it (v1.36 `metav1.FinalizerOrphanDependents`).
pub const ORPHAN: &str = "orphan";

/// The finalizer of an owner that waits until what it owns is gone (v1.36 `metav1.FinalizerDeleteDependents`).
pub const FOREGROUND_DELETION: &str = "foregroundDeletion";
