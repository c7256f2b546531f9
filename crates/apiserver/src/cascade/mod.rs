//! Deleting a DaemonSet and its dependents: in the background, in the foreground, or leaving its pods as orphans.
//!
//! There are two sides. [`delete`] is the API server's: the answer to a DELETE. [`cascade`] is the garbage collector's: the
//! next actions for the DaemonSet's pods and ControllerRevisions. It reads only the objects that exist now, so a caller
//! that crashes between two actions calls it again and continues.
//!
//! | propagationPolicy | the API server | the garbage collector |
//! |---|---|---|
//! | `Background` (the default) | removes the DaemonSet at once | deletes the dependents |
//! | `Foreground` | keeps it, with the finalizer `foregroundDeletion` | deletes the dependents, then removes the finalizer |
//! | `Orphan` | keeps it, with the finalizer `orphan` | removes the owner reference from the dependents, then the finalizer |
//!
//! A dependent with a second owner is never deleted, only released. Any other finalizer keeps the DaemonSet, and in the
//! background all its dependents, until its owner removes it.
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
//! // DELETE with propagationPolicy Orphan: the object stays, with the finalizer that it waits for.
//! let now = "2026-01-01T12:00:00Z".parse().unwrap();
//! let options = DeleteOptions::new().propagation_policy(Propagation::Orphan);
//! let Ok(Deletion::Pending(web)) = delete(Kind::DaemonSet, &web, &options, now) else { panic!("the finalizer holds it") };
//! assert_eq!(web["metadata"]["finalizers"], json!(["orphan"]));
//!
//! // The pod is released, nothing is deleted.
//! let web = Object::from_json(&web).unwrap();
//! let pods = [Object::from_json(&pod).unwrap()];
//! let actions = cascade(&State::new(&web.object_ref(), Some(&web)).pods(&pods));
//! assert!(matches!(&actions[..], [CascadeAction::ReleasePod { pod, .. }] if pod.name == "web-x"));
//!
//! // Once no object names it as owner, the finalizer is removed, and the store removes the DaemonSet.
//! let actions = cascade(&State::new(&web.object_ref(), Some(&web)));
//! assert!(matches!(&actions[..], [CascadeAction::RemoveFinalizer { finalizers, .. }] if finalizers.is_empty()));
//! ```
//!
//! A new DaemonSet with a matching selector adopts the orphans; no pod restarts if the templates are equal. Its template
//! generation must differ from the one that the orphans have for another template: create it with the annotation
//! `deprecated.daemonset.template.generation` above theirs, or use `ClassificationPolicy::HashFirst` of the crate
//! `daemonset`, whose lints report such a collision.

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

/// The finalizer of an owner that waits until no dependent names it as owner (v1.36 `metav1.FinalizerOrphanDependents`).
pub const ORPHAN: &str = "orphan";

/// The finalizer of an owner that waits until its dependents are gone (v1.36 `metav1.FinalizerDeleteDependents`).
pub const FOREGROUND_DELETION: &str = "foregroundDeletion";
