//! Rollouts that people steer: the policy in the annotations of a DaemonSet, the marks on its revisions, events and metrics.
//!
//! The library decides; see [`Policy::rollout`](field@daemonset::Policy::rollout).

pub(crate) mod events;
pub(crate) mod marks;
pub mod metrics;
pub mod policy;
mod words;

pub use marks::WrittenRevisions;

use daemonset::internal::steering::PREFIX;
use daemonset::model::DaemonSet;

/// The annotations of a DaemonSet that steer its rollout, each with its key.
fn annotations(ds: &DaemonSet) -> impl Iterator<Item = (&str, &str)> {
    ds.metadata.annotations.iter().filter(|(key, _)| key.starts_with(PREFIX))
}

/// The state of one DaemonSet's rollout that is kept between two reconciles. It holds nothing that a decision needs for long: the
/// marks on the revisions do.
#[derive(Debug, Clone, Default)]
pub struct Rollout {
    /// The problem of the policy that was reported last.
    problem: Option<policy::PolicyEvent>,
    /// The marks that were written, and that no watch has shown yet.
    pub written: WrittenRevisions,
    /// The part of it that events have reported.
    pub(crate) story: events::Story,
}
