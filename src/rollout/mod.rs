//! What `kubectl rollout` does to a DaemonSet, as functions over objects and as text equal to kubectl's to the byte
//! (v1.36 kubectl `cmd/rollout`, `polymorphichelpers`, `describe`).
//!
//! Objects are `serde_json::Value` in the form that the API server gives them. The functions give typed answers, which
//! print as kubectl's words; [`answer()`] puts them together as a command line shows them.

mod answer;
mod controlled;
mod describe;
mod diff;
mod error;
mod fields;
mod history;
mod outlook;
mod patches;
mod restart;
mod restore;
mod rollback;
mod status;
mod text;
mod undo;

pub use answer::{Answer, Command, answer};
pub use describe::describe_template;
pub use diff::{Diff, Difference, diff};
pub use error::RolloutError;
pub use history::{History, HistoryEntry, RevisionTemplate, history, history_objects, history_of};
pub use outlook::{Obstacle, ObstacleKind, Outlook, Standing, stuck};
pub use patches::Patches;
pub use restart::{pause, restart, resume};
pub use rollback::{RollbackRequest, RollbackTo, rollback};
pub use status::{Progress, status};
pub use undo::{Change, DryRun, Undo, undo};
