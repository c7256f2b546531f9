//! `kubectl rollout` for a DaemonSet, as functions: status, history, undo, restart, the difference of two revisions, and
//! the description of a pod template. It serves command lines, operators and dashboards that show or perform rollouts as
//! kubectl does, without running kubectl.
//!
//! Each function takes objects as the API server returns them ([`serde_json::Value`]) and returns a typed answer whose
//! `Display` is kubectl's text; [`answer()`] puts standard output, standard error and the exit code of a whole command
//! together. The texts are those of kubectl v1.36 (`cmd/rollout`, `polymorphichelpers`, `describe`), except for the
//! differences that the project's UPSTREAM.md lists.
//!
//! | function | kubectl |
//! |---|---|
//! | [`status()`] | `kubectl rollout status`, once |
//! | [`history()`], [`history_of()`], [`history_objects()`], [`history_text()`] | `kubectl rollout history`, with `--revision`, with `-o json` and `-o yaml` |
//! | [`undo()`] | `kubectl rollout undo`, as the patch to send and the object that it gives |
//! | [`restart()`], [`pause()`], [`resume()`] | `kubectl rollout restart`; the other two are not supported for a DaemonSet |
//! | [`describe_template()`] | the pod template in `kubectl describe` |
//! | [`diff()`] | no kubectl command: what changes from one revision to another |
//! | [`check_manifest()`], [`refusal_with_source()`] | the client's part of `kubectl create` and `kubectl replace` |
//!
//! # Purity
//!
//! Every function is a pure function of its arguments: it calls no API server, reads no clock and no environment, and
//! keeps no state. A patch in an answer is for the caller to send. [`restart()`] has the time as an argument.
//!
//! # Limits
//!
//! - An object of a custom kind with the fields of a DaemonSet is named by that kind. Strategic merge patches are for the API server's
//!   own kinds: use the patches in JSON form there.
//! - [`status()`] answers once; watching is up to the caller.
//! - A restart is stamped in UTC; kubectl writes the time zone of its machine.
//!
//! # Example
//!
//! ```
//! use kubectl_daemonset::kubectl::{RolloutProgress, status};
//! use serde_json::json;
//!
//! let web = json!({
//!     "metadata": {"name": "web", "generation": 2},
//!     "spec": {"updateStrategy": {"type": "RollingUpdate"}, "selector": {}, "template": {}},
//!     "status": {"observedGeneration": 2, "desiredNumberScheduled": 4, "updatedNumberScheduled": 1}
//! });
//! let progress = status(&web, None)?;
//! assert!(matches!(progress, RolloutProgress::Updating { updated: 1, desired: 4, .. }));
//! assert_eq!(
//!     progress.to_string(),
//!     "Waiting for daemon set \"web\" rollout to finish: 1 out of 4 new pods have been updated...\n"
//! );
//! # Ok::<(), kubectl_daemonset::kubectl::RolloutError>(())
//! ```

mod answer;
mod controlled;
mod describe;
mod diff;
mod error;
mod fields;
mod history;
mod manifest;
mod patches;
mod restart;
mod restore;
mod status;
mod text;
mod undo;

pub use answer::{Answer, Command, answer};
pub use describe::describe_template;
pub use diff::{Diff, FieldDifference, diff};
pub use error::RolloutError;
pub use history::{
    HistoryEntry, ObjectFormat, RevisionTemplate, RolloutHistory, history, history_objects, history_of,
    history_text,
};
pub use manifest::{ManifestError, ManifestVerb, check_manifest, refusal_with_source};
pub use patches::Patches;
pub use restart::{pause, restart, resume};
pub use status::{RolloutProgress, status};
pub use undo::{Change, DryRun, Undo, undo};
