//! `kubectl rollout` for a DaemonSet, as pure functions over objects, and as texts equal to those of kubectl v1.36
//! (`cmd/rollout`, `polymorphichelpers`, `describe`).
//!
//! Objects are `serde_json::Value` in the form that the API server gives them. The functions give typed answers, which
//! print as kubectl's words; [`answer()`] puts them together as a command line shows them.
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![warn(missing_docs, unreachable_pub)]
#![warn(clippy::exhaustive_enums, clippy::exhaustive_structs)]
#![deny(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::expect_used,
    clippy::float_arithmetic,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::string_slice,
    clippy::todo,
    clippy::unimplemented,
    clippy::unreachable,
    clippy::unwrap_used
)]

mod answer;
mod controlled;
mod describe;
mod diff;
mod error;
mod fields;
mod history;
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
pub use patches::Patches;
pub use restart::{pause, restart, resume};
pub use rollback::{RollbackRequest, RollbackTo, rollback};
pub use status::{Progress, status};
pub use undo::{Change, DryRun, Undo, undo};
