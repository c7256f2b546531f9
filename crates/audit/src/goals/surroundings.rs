//! The facts that a snapshot of a part of the nodes lacks.

use super::base::Base;
use super::waves::Matcher;
use daemonset::Snapshot;
use daemonset::internal::{NodeIx, Placement, Position};
use daemonset::policy::RolloutPolicy;
use std::convert::Infallible;
use std::sync::Arc;

/// The facts about nodes of a snapshot that depend on their labels, and about other nodes.
pub(crate) trait Surroundings {
    /// Why a placement is not known.
    type Error;

    /// The key of a node among all that are grouped.
    fn key(&self, node: NodeIx) -> u32;

    /// For each wave, whether it matches a node.
    fn matches(&self, node: NodeIx) -> Arc<[bool]>;

    /// Whether a node should run a pod of base.
    ///
    /// # Errors
    /// If that is not known.
    fn placement_by(&self, base: &Base<'_>, node: NodeIx) -> Result<Placement, Self::Error>;

    /// How many live pods of the DaemonSet have a hash, on nodes that the snapshot lacks.
    fn live_elsewhere(&self, hash: &str) -> u32;
}

/// A snapshot of all nodes, with their labels.
pub(crate) struct Whole<'s> {
    snapshot: &'s Snapshot<'s>,
    matcher: Matcher<'s>,
}

impl<'s> Whole<'s> {
    pub(crate) fn new(snapshot: &'s Snapshot<'s>, policy: &'s RolloutPolicy) -> Self {
        Whole { snapshot, matcher: Matcher::new(&policy.waves) }
    }
}

impl Surroundings for Whole<'_> {
    type Error = Infallible;

    fn key(&self, node: NodeIx) -> u32 {
        node.index() as u32
    }

    fn matches(&self, node: NodeIx) -> Arc<[bool]> {
        self.matcher.matches(self.snapshot.node(node))
    }

    fn placement_by(&self, base: &Base<'_>, node: NodeIx) -> Result<Placement, Infallible> {
        Ok(base.placement(self.snapshot.node(node)))
    }

    fn live_elsewhere(&self, _: &str) -> u32 {
        0
    }
}
