//! Pure: no I/O, no clock, no randomness, no panic. The caller lists the objects and executes the actions.
//!
//! [`reconcile`] decides; [`plan`] decides and explains; [`audit`] guards what is executed; [`Snapshot`] is what they
//! read, [`Action`] what they give, [`Recording`] what replays them.
// Tells of each item which feature it needs; only docs.rs has the compiler for it.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]
#![warn(missing_docs, unreachable_pub)]
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

mod action;
mod actions;
mod agenda;
mod audit;
mod blueprint;
mod budget;
mod check;
mod claim;
mod classify;
mod decision;
mod explain;
mod fleet;
mod history;
mod index;
#[cfg(feature = "kube")]
pub mod kube;
pub mod kubernetes;
pub mod lint;
mod manifest;
mod memory;
pub mod model;
#[cfg(daemonset_mutants)]
#[doc(hidden)]
pub mod mutants;
mod namesake;
mod node_sync;
pub mod outlook;
mod placement;
mod policy;
mod problem;
mod reconcile;
mod recording;
mod report;
mod restored;
#[cfg(feature = "sim")]
pub mod sim;
mod snapshot;
mod status;
mod template;
#[cfg(feature = "k8s-openapi")]
pub mod typed;
mod update;
mod view;
mod warnings;

pub use action::{
    Action, ClaimReason, CreateReason, DeleteReason, EventReason, EventType, Failure, LabelReason,
    RequeueReason, RevisionReason, StatusReason,
};
pub use audit::{BudgetFigure, Violation, ViolationKind, ViolationSubject, audit};
pub use budget::{Budget, BudgetUse};
pub use classify::Evidence;
pub use manifest::PodManifest;
pub use memory::{Memory, Outcome};
pub use policy::{ClassificationPolicy, PodNames, Policy, UnreadyPolicy};
pub use problem::{InvalidSnapshot, Problem, ProblemKind};
pub use reconcile::{plan, reconcile};
pub use recording::{Recording, UnreadableRecording};
pub use report::{
    CurrentRevision, NodePlacement, NodeVerdict, Outcome as NodeOutcome, Plan, PodState, PodVerdict, Report,
    RevisionOrigin, Situation, StrategyInForce, Warning,
};
pub use snapshot::{Snapshot, SnapshotBuilder};
pub use view::{NodeView, PodView, RevisionView};
