//! Steered rollouts: the policy, its form in annotations, the marks in revisions, and the goals of the nodes.

pub(crate) mod decision;
pub(crate) mod facts;
pub(crate) mod goal;
pub(crate) mod goals;
#[warn(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs)]
pub(crate) mod report;
pub(crate) mod stable;
pub(crate) mod sums;
pub(crate) mod undo;
pub(crate) mod waves;
