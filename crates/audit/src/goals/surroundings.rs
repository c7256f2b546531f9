//! The facts that a snapshot of a part of the nodes lacks.

use super::waves::Matcher;
use daemonset::Snapshot;
use daemonset::internal::{CompiledTemplate, NodeIx, Placement, Position};
use daemonset::policy::RolloutPolicy;
use std::convert::Infallible;
use std::sync::Arc;

/// The facts about the nodes of a snapshot that depend on their labels.
pub trait Surroundings {
    /// Why a placement is not known.
    type Error;

    /// The key of a node among all that are grouped.
    fn key(&self, node: NodeIx) -> u32;

    /// For each wave, whether it matches a node.
    fn matches(&self, node: NodeIx) -> Arc<[bool]>;

    /// Whether a node should run a pod of the revision with this uid, which has this template.
    ///
    /// # Errors
    /// If that is not known.
    fn placement_by(
        &self,
        stable: &str,
        template: &CompiledTemplate,
        node: NodeIx,
    ) -> Result<Placement, Self::Error>;
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

    fn placement_by(
        &self,
        _: &str,
        template: &CompiledTemplate,
        node: NodeIx,
    ) -> Result<Placement, Infallible> {
        Ok(template.decide(self.snapshot.node(node)).placement)
    }
}
