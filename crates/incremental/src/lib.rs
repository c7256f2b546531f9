//! Plans a Kubernetes DaemonSet from the changes of a watch: a plan costs as much as the changes, whatever the number of nodes.
//!
//! | | |
//! |---|---|
//! | [`Tracker`] | the driver of one DaemonSet for callers that watch |
//! | [`Change`] | a change of one object, as a watch shows it |
//! | [`NeedsLists`], [`VerifyError`] | why there is no plan from changes |
//! | [`Auditor`], [`audit_kept`] | the safety rules that a plan from changes breaks |
//!
//! The plans are those of the crate `daemonset`: the same steps decide, on a snapshot of the nodes that a plan can touch, beside the
//! sums of all others.
//!
//! Pure, as the core is: no I/O, no clock, no randomness, no environment.

mod auditor;
mod kept;
mod tracker;

pub use auditor::{Auditor, NotKept, audit_kept};
pub use kept::Change;
pub use tracker::{NeedsLists, Tracker, VerifyError};

/// The parts that crates of the same version use. They are no part of the API, and change in any release.
#[doc(hidden)]
pub mod internal {
    pub use crate::tracker::difference;
}

/// The README's examples are tested as documentation is.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
