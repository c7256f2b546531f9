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
mod audit;
#[cfg(feature = "k8s-openapi")]
pub mod k8s_openapi;
#[cfg(feature = "kube")]
pub mod kube;
pub mod kubernetes;
pub mod lint;
mod memory;
pub mod model;
#[cfg(daemonset_mutants)]
#[doc(hidden)]
pub mod mutants;
pub mod outlook;
mod pod_manifest;
mod problem;
mod reconcile;
mod reconciler;
mod recording;
mod report;
#[cfg(feature = "sim")]
pub mod sim;
mod snapshot;
mod view;

pub use action::{
    Action, ClaimReason, CreateReason, DeleteReason, EventReason, EventType, Failure, LabelReason,
    RequeueReason, RevisionReason, StatusReason,
};
pub use audit::{BudgetFigure, Violation, ViolationKind, ViolationSubject, audit};
pub use memory::{ActionOutcome, Memory};
pub use pod_manifest::PodManifest;
pub use problem::{InvalidSnapshot, Problem, ProblemKind};
pub use reconcile::{Budget, BudgetUse, Evidence, plan, reconcile};
pub use reconciler::Reconciler;
pub use recording::{Recording, UnreadableRecording};
pub use report::{
    CurrentRevision, NodeOutcome, NodePlacement, NodeVerdict, Plan, PodState, PodVerdict, Report,
    RevisionOrigin, Situation, StrategyInForce, Warning,
};
pub use snapshot::{
    ClassificationPolicy, Observed, PodNames, Policy, Snapshot, SnapshotBuilder, UnreadyPolicy,
};
pub use view::{NodeView, PodView, RevisionView};
