//! Steered rollouts: the policy, its form in annotations, the marks in revisions, and the goals of the nodes.

#[warn(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs)]
pub(crate) mod annotations;
pub(crate) mod base;
pub(crate) mod check;
pub(crate) mod decision;
pub(crate) mod facts;
pub(crate) mod failure;
pub(crate) mod fleet;
pub(crate) mod goal;
pub(crate) mod goals;
pub(crate) mod marks;
#[warn(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs)]
pub(crate) mod policy;
#[warn(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs)]
pub(crate) mod report;
#[cfg(feature = "schemars")]
pub(crate) mod schema;
pub(crate) mod sums;
pub(crate) mod undo;
pub(crate) mod waves;
