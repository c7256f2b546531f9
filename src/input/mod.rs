//! The input of a decision: borrowed, checked once, never changed.

#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
pub(crate) mod authority;
pub(crate) mod builder;
pub(crate) mod check;
pub(crate) mod drain;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
pub(crate) mod index;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
pub(crate) mod lookup;
pub(crate) mod manifests;
pub(crate) mod members;
pub(crate) mod memory;
pub(crate) mod observed;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
pub(crate) mod partial;
pub(crate) mod permissions;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
pub(crate) mod placement;
pub(crate) mod pod_selector;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
pub(crate) mod pod_wants;
pub mod policy;
pub(crate) mod rollout;
#[cfg(feature = "schemars")]
pub(crate) mod schema;
pub(crate) mod snapshot;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
pub(crate) mod spec;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
pub(crate) mod strategy;
pub(crate) mod strict_selector;
pub(crate) mod strict_strategy;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
pub(crate) mod template;
pub(crate) mod turn;
pub(crate) mod turn_check;
pub(crate) mod unreadable;

pub use builder::SnapshotBuilder;
pub use observed::{Objects, Observed, ObservedAt};
pub(crate) use policy::{
    Binding, ClassificationPolicy, DaemonTolerations, DownNodesPolicy, LifecyclePolicy, PodNames, Policy,
    UnreadyPolicy,
};
pub use snapshot::Snapshot;
