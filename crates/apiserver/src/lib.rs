//! The API server's side of a DaemonSet: the object that a request stores or the refusal, the result of a patch, and the
//! cascade of a delete to pods and ControllerRevisions. It serves programs that answer such requests without a
//! kube-apiserver, or predict its answer: operators with a DaemonSet-like kind, in-process control planes, test doubles,
//! command lines.
//!
//! Objects are [`serde_json::Value`] in the JSON form of `apps/v1`. Rules and messages are those of Kubernetes v1.37,
//! except for the differences that the project's UPSTREAM.md lists; the documentation of a rule names the upstream
//! function that it follows.
//!
//! | module | contents |
//! |---|---|
//! | [`admission`] | defaults, validation, generations; whole create, update and patch requests; [`template_change`](admission::template_change): does a manifest restart the pods? |
//! | [`patch`] | strategic merge patches, JSON merge patches, and the strategic merge patch between two objects |
//! | [`cascade`] | a DELETE as the API server answers it, and the garbage collector's next actions |
//! | [`quantity`] | amounts of resources: parse, compare, print in canonical form |
//! | [`requests`] | the effective resource requests of a pod, and their sums over the daemon pods of a node |
//! | [`json`], [`syntax`], [`go`] | small helpers of the modules above that other programs about Kubernetes objects need, too: fields read as Go reads them, the syntax of labels, values printed as Go prints them |
//!
//! The feature `placement`, on by default, has the sums of [`requests`] over the DaemonSets of a node, for which it depends on the
//! planner. Without it the crate depends on `daemonset-objects` alone.
//!
//! # Purity
//!
//! Every function is a pure function of its arguments: it reads no clock, no environment and no files, keeps no state,
//! and starts no thread. A function that needs the time has it as an argument. Equal arguments give equal results, in
//! every build. Values that a real API server draws by itself (uid, `creationTimestamp`, `resourceVersion`, the
//! random letters after `generateName`, `managedFields`) are left to the caller.
//!
//! # Example
//!
//! ```
//! use daemonset_apiserver::admission::{Refusal, Rules, create, update};
//! use serde_json::json;
//!
//! let manifest = json!({
//!     "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "web"},
//!     "spec": {
//!         "selector": {"matchLabels": {"app": "web"}},
//!         "template": {
//!             "metadata": {"labels": {"app": "web"}},
//!             "spec": {"containers": [{"name": "web", "image": "web:v1"}]}
//!         }
//!     }
//! });
//! let stored = create(&manifest, &Rules::new())?;
//! assert_eq!(stored["metadata"]["generation"], 1);
//! assert_eq!(stored["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"], 1);
//!
//! let mut next = manifest.clone();
//! next["spec"]["minReadySeconds"] = json!(-1);
//! assert_eq!(
//!     update(&stored, &next, &Rules::new()).unwrap_err().to_string(),
//!     r#"The DaemonSet "web" is invalid: spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0"#
//! );
//! # Ok::<(), Refusal>(())
//! ```

pub mod admission;
pub mod cascade;
pub mod go;
pub mod json;
pub mod patch;
pub mod quantity;
pub mod requests;
mod schema;
pub mod syntax;

/// The examples of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
