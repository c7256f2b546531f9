//! The objects of Kubernetes, borrowed views of them, and the vocabulary that they share.

pub(crate) mod bug;
pub(crate) mod escaped;
pub mod kubernetes;
pub mod model;
#[cfg(daemonset_mutants)]
#[doc(hidden)]
pub mod mutants;
pub(crate) mod planted;
pub(crate) mod pod_manifest;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
pub(crate) mod position;
pub(crate) mod problem;
pub(crate) mod view;
