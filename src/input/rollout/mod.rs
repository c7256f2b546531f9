//! How a rollout is steered: its policy, the policy's form in annotations, and the marks in revisions.

pub(crate) mod annotations;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
pub(crate) mod check;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
pub(crate) mod marks;
pub(crate) mod policy;
#[cfg(feature = "schemars")]
pub(crate) mod schema;
pub mod steering;
