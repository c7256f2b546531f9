//! One node at a time: its pods, its part in node sync, the figures in which it counts, and whether it is a candidate.

#[warn(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs)]
pub(crate) mod budget;
pub(crate) mod candidate;
pub(crate) mod cause;
pub(crate) mod changes;
pub(crate) mod evaluation;
pub(crate) mod failure;
pub(crate) mod figures;
pub(crate) mod fleet;
pub(crate) mod notes;
#[warn(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs)]
pub(crate) mod obstacle;
pub(crate) mod rollout_facts;
pub(crate) mod sync;
pub(crate) mod unavailable;
#[warn(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs)]
pub(crate) mod wait;
