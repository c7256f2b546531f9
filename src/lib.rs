//! Decides what a Kubernetes DaemonSet controller must do next, and nothing else.
//!
//! Pure: no I/O, no clock, no randomness, no environment. Total: a checked snapshot always has a plan. Deterministic: the same
//! snapshot gives the same actions, in whatever order its lists are. The build for `wasm32-unknown-unknown` holds the first,
//! lints and fuzz targets the rest.
//!
//! ```text
//!    lists ──► Observed ──► plan ──► batch ──► execute ──► record ──┐
//!      ▲                                                            │
//!      └── an object changes, a batch fails, or Requeue is due ◄────┘
//! ```
//!
//! # The caller's duties
//!
//! 1. List all nodes of the cluster, and all pods and ControllerRevisions of the DaemonSet's namespace, with or without an owner:
//!    [`Observed`] has a field for each. Or list them once, and apply each change to the `Tracker` of the crate
//!    `daemonset-incremental`, which plans at the cost of the changes.
//! 2. Execute the [batches](Plan::batches) of a plan in order. The actions of one batch may be executed at the same time. The
//!    uid of an action's object is its precondition.
//! 3. [Record](Reconciler::record) the outcome of each action. A lost answer is [`ActionOutcome::Unknown`]: the pod may exist.
//! 4. When [`record`](Reconciler::record) says that the plan [ends](Recorded::ends_plan), finish the running batch, execute the actions that are
//!    [due all the same](Plan::independent_after), above all the update of the status, and plan again: at
//!    [`Memory::retry_at`], unless an object changes before.
//! 5. Plan again when an object changes, and at the instant of an [`Action::Requeue`].
//! 6. Keep one [`Reconciler`] for each DaemonSet, for as long as it lives, and let one process act for it at a time.
//!
//! ```
//! use daemonset::{Observed, Policy, Reconciler, model};
//! use serde_json::{from_value, json};
//!
//! let daemon_set: model::DaemonSet = from_value(json!({
//!     "metadata": {"name": "agent", "namespace": "ns", "uid": "u1", "generation": 1},
//!     "spec": {
//!         "selector": {"matchLabels": {"app": "agent"}},
//!         "template": {"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [{"name": "c", "image": "v1"}]}},
//!         "updateStrategy": {"type": "RollingUpdate"},
//!     },
//! }))?;
//! let nodes: Vec<model::Node> = from_value(json!([{"metadata": {"name": "a"}}, {"metadata": {"name": "b"}}]))?;
//! let (pods, revisions): (Vec<model::Pod>, Vec<model::ControllerRevision>) = (vec![], vec![]);
//! let now: jiff::Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
//!
//! let mut reconciler = Reconciler::new("u1", Policy::default());
//! let observed = Observed { daemon_set: &daemon_set, nodes: &nodes, pods: &pods, revisions: &revisions };
//! let plan = reconciler.plan(observed, now).unwrap();
//! let lines: Vec<String> = plan.actions.iter().map(ToString::to_string).collect();
//! assert_eq!(lines[1..3], ["CreatePod on a, batch 0 (MissingPod)", "CreatePod on b, batch 1 (MissingPod)"]);
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! # The map
//!
//! | | |
//! |---|---|
//! | [`Reconciler`] | the driver of one DaemonSet: it keeps the order of calls, and [`Memory`] |
//! | [`Snapshot`], [`Policy`] | the checked input, and the caller's choices |
//! | [`reconcile()`], [`plan`] | the decision, without and with a [`Report`]; pure functions beneath the driver |
//! | [`outlook`] | whether a rollout still moves, and its obstacles |
//! | [`manifests`] | objects that the caller makes for each node, in place of the template's pods |
//! | [`Recording`] | one JSON object for each decision, for replay |
//! | [`model`], [`kubernetes`] | the objects, and the vocabulary that they share; [`model::Owner`] for a custom kind |
//! | [`PodView`], [`NodeView`], [`RevisionView`] | borrowed views, from the model's objects or from a store of another form |
//!
//! Objects, views and Kubernetes' vocabulary are those of `daemonset-objects`, a crate for programs that decide nothing.
//!
//! Crates of their own: `daemonset-audit`, the safety rules, written a second time: a guard in front of an executor;
//! `daemonset-incremental`, the driver for callers that watch; `daemonset-placement`, the DaemonSets that run on a node
//! which need not exist yet, and those that a changed node concerns; `daemonset-sim`, a simulated cluster.
//!
//! # After a bug
//!
//! Lints forbid each function that can panic, and positions have one type for each list. A step that finds a state which can't be, such as
//! a position beyond its list, goes on with a neutral value, so that nothing panics, and the decision gives no action: [`reconcile()`] is
//! empty, [`plan`](plan()) warns with [`Warning::Bug`](report::Warning::Bug), and a driver returns [`PlanError::Bug`] with a recording.
//! Debug builds stop at the step.
//!
//! # Features
//!
//! `k8s-openapi`: views of k8s-openapi's types (Rust 1.88). `kube`: the model as resources of kube, and each action as an API
//! call, as data (Rust 1.89). `schemars`: the JSON Schema of the annotation that steers a rollout. Without features the crate needs Rust
//! 1.85.
// docs.rs shows the feature that an item needs; only its compiler can.
#![cfg_attr(docsrs, feature(doc_cfg))]

/// Setters of options, each named as its field: `Policy::default().burst(100)`. The type may be `impl Into` of the field's.
#[doc(hidden)]
#[macro_export]
macro_rules! setters {
    ($($options:ident { $($field:ident: $type:ty),* $(,)? })*) => {$(
        impl $options {$(
            #[doc = concat!("Sets [`", stringify!($field), "`](field@", stringify!($options), "::", stringify!($field), ").")]
            #[must_use]
            pub fn $field(mut self, $field: $type) -> Self {
                self.$field = $field.into();
                self
            }
        )*}
    )*};
}

mod action;
mod bug;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
mod choose;
mod input;
#[cfg(feature = "k8s-openapi")]
pub mod k8s_openapi;
#[cfg(feature = "kube")]
pub mod kube;
#[cfg(daemonset_mutants)]
#[doc(hidden)]
pub mod mutants;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
mod node;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
mod plan;
mod planted;
mod pod_manifest;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
mod pods;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
mod position;
mod reconciler;
mod recording;
pub mod report;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
mod rollout;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
mod rules;

pub use action::{
    Action, ClaimReason, CreateReason, DeleteReason, EventReason, EventType, Failure, LabelReason,
    RequeueReason, RestoreReason, RevisionReason, RolloutReason, StatusReason, TurnReason,
};
#[doc(inline)]
pub use daemonset_objects::{
    Escaped, InvalidInput, Lifecycle, NodeView, PodView, Problem, ProblemKind, RevisionView, kubernetes,
    model,
};
pub use input::memory::{ActionOutcome, Memory};
pub use input::policy::{self, Policy};
pub use input::{Objects, Observed, ObservedAt, Snapshot, SnapshotBuilder};
/// The crate of the instants here: its `Timestamp` is that of every signature.
pub use jiff;
pub use plan::reconcile;
pub use pod_manifest::PodManifest;
pub use reconciler::{PlanError, Reconciler, Recorded, UnexpectedAction};
pub use recording::Recording;
pub use report::explain::plan;
#[doc(inline)]
pub use report::outlook;
pub use report::{Plan, Report};

/// Objects that the caller makes for each node, in place of the template's pods.
pub mod manifests {
    pub use crate::input::manifests::{InvalidManifest, ManifestProblem, Manifests, NewPod};
}

/// Turns of nodes beyond the plans of one DaemonSet: see [`Policy::turn`](field@Policy::turn).
pub mod turns {
    pub use crate::plan::abandoned_turns::abandoned_turns;
    pub use crate::report::details::plan_with_details;
    pub use crate::rules::gate::{gate_annotation, key, request};
}

/// The parts that crates of the same version use: daemonset-audit, -incremental, -lint, -placement and -sim. They
/// are no part of the API, and change in any release. Those of daemonset-objects are among them.
#[doc(hidden)]
pub mod internal {
    pub use crate::bug::{met as bug_met, watch as watch_for_bugs};
    pub use crate::choose::limits::Budget;
    pub use crate::choose::turns::{InTurn, TurnRooms};
    pub use crate::choose::{Candidates, Choice, First, choose};
    pub use crate::input::check::{
        selector as checked_selector, template as checked_template, template_generation,
    };
    pub use crate::input::index::{Hashes, PodFacts, RevisionFacts};
    pub use crate::input::lookup::{Lookup, Recent};
    pub use crate::input::partial::SnapshotFacts;
    pub use crate::input::placement::{
        CompiledTemplate, Decided, Mismatch, Placement, Taints, toleration_withdrawn,
    };
    pub use crate::input::pod_wants::images;
    pub use crate::input::rollout::steering;
    pub use crate::input::snapshot::PodLookup;
    pub use crate::input::spec::Spec;
    pub use crate::input::strategy::{Strategy, in_force as strategy_in_force};
    pub use crate::input::template::{Template, Term};
    pub use crate::input::unreadable::{take_out_all, unreadable_fields};
    pub use crate::node::budget::node_free_at;
    pub use crate::node::candidate::{Urgency, deletes_come_last, urgency};
    pub use crate::node::changes::{Going, available_on, changes_of_turns};
    pub use crate::node::evaluation::{Evaluations, NodeEvaluation, evaluate};
    pub use crate::node::figures::{Figure, NodeFigures, Sums};
    pub use crate::node::fleet::goals::live_pods;
    pub use crate::node::fleet::{Fleet, Readiness};
    pub use crate::node::notes::Notes;
    pub use crate::node::sync::{NodeSync, node_sync, place_in_turn};
    pub use crate::plan::pulls::{NodePulls, PullRank, limit as pull_limit, pull_rank};
    pub use crate::plan::rest_of_cluster::{PullSums, RestOfCluster};
    pub use crate::plan::steps::{Decision, Steps, decide, ends_at_once};
    pub use crate::plan::turns::patched_nodes;
    pub use crate::pod_manifest::{CustomBody, Shared, Tie};
    pub use crate::pods::claim::{Claim, claim, claim_revisions};
    pub use crate::pods::classify::HashMeaning;
    pub use crate::pods::history::{History, beyond_limit};
    pub use crate::position::{
        FleetIx, HashIx, IndexVec, Neutral, NodeIx, PodIx, Position, RevisionIx, change, enumerate,
    };
    pub use crate::report::at_rest::AtRest;
    pub use crate::report::explain::{node_placement, plan_decided};
    pub use crate::report::explain_rollout::HeldNode;
    pub use crate::report::movement::{HeldPod, Movement};
    pub use crate::rollout::decision::{RolloutDecision, judged_by};
    pub use crate::rollout::facts::{RolloutFacts, RolloutNode, WaveFigures, WaveNodes};
    pub use crate::rollout::goals::{Goals, KnownRollout};
    pub use crate::rollout::stable::{KnownStable, Stable};
    pub use crate::rollout::sums::{RolloutSums, TimeRange, TimestampSet};
    pub use crate::rollout::waves::{size_of_wave, wave_selector};
    pub use crate::rules::change::rest_of as rest_beside_images;
    pub use crate::rules::fit::room as room_for;
    pub use crate::rules::in_place::{ImageChanges, InPlace};
    pub use crate::rules::names::one_per_node;
    pub use crate::rules::pull::{pod_name as pull_pod_name, pod_name_prefix as pull_pod_prefix};
    pub use crate::rules::turn::{next_overdue, rules as turn_rules};
    pub use crate::rules::turn_end::end_turns;
    pub use crate::rules::{Hold, goal_hash};
    pub use crate::{neutral, setters};
    pub use daemonset_objects::internal::*;
}

/// The README's examples are tested as documentation is.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The examples of the page about embedding are, too.
#[cfg(doctest)]
#[doc = include_str!("../docs/embed.md")]
struct EmbedPage;

/// The examples of the page about turns are, too.
#[cfg(doctest)]
#[doc = include_str!("../docs/turns.md")]
struct TurnsPage;
