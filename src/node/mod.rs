//! One node at a time: its pods, its part in node sync, the figures in which it counts, and whether it is a candidate.

#[warn(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs)]
pub(crate) mod budget;
pub(crate) mod candidate;
pub(crate) mod cause;
pub(crate) mod change;
pub(crate) mod counts;
pub(crate) mod excuse;
pub(crate) mod failure;
pub(crate) mod figures;
pub(crate) mod fit;
pub(crate) mod fleet;
#[warn(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs)]
pub(crate) mod gate;
pub(crate) mod in_place;
pub(crate) mod names;
#[warn(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs)]
pub(crate) mod obstacle;
pub(crate) mod pull;
pub(crate) mod rollout_facts;
pub(crate) mod sync;
pub(crate) mod turn;
pub(crate) mod turn_end;
pub(crate) mod unavailable;
#[warn(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs)]
pub(crate) mod wait;
