//! What a decision is made from: borrowed, checked once, never changed.

mod builder;
pub(crate) mod check;
pub(crate) mod index;
pub(crate) mod placement;
mod policy;
pub(crate) mod strategy;
pub(crate) mod template;
mod template_recovery;

pub use builder::{Observed, SnapshotBuilder};
pub use policy::{ClassificationPolicy, PodNames, Policy, UnreadyPolicy};

use crate::kubernetes::Selector;
use crate::memory::Memory;
use crate::model::{DaemonSet, Toleration};
use crate::view::{NodeView, PodView, RevisionView};
use index::Index;
use jiff::{SignedDuration, Timestamp};
use placement::Placement;
use serde_json::Value;
use std::borrow::Cow;
use strategy::Strategy;
use template::Template;

/// A checked snapshot of everything that a decision reads. Nothing in it can make [`reconcile`](crate::reconcile)
/// fail.
#[derive(Debug, Clone)]
pub struct Snapshot<'a> {
    pub(crate) daemon_set: &'a DaemonSet,
    pub(crate) now: Timestamp,
    pub(crate) nodes: Vec<NodeView<'a>>,
    pub(crate) pods: Vec<PodView<'a>>,
    pub(crate) revisions: Vec<RevisionView<'a>>,
    pub(crate) memory: Option<Memory>,
    pub(crate) policy: Policy,
    pub(crate) selector: Selector<'a>,
    /// The template as the API server holds it, as far as that is known.
    pub(crate) raw_template: Cow<'a, Value>,
    pub(crate) template: Template,
    /// The template's tolerations and those of every daemon pod.
    pub(crate) tolerations: Vec<Toleration>,
    pub(crate) strategy: Strategy,
    /// As it stands in the label of a pod.
    pub(crate) template_generation: Option<String>,
    pub(crate) index: Index<'a>,
    /// By position of the node.
    pub(crate) placements: Vec<Placement>,
}

impl<'a> Snapshot<'a> {
    /// Starts a snapshot of the observed objects at this instant; [`SnapshotBuilder::check`] ends it.
    #[expect(clippy::new_ret_no_self, reason = "a snapshot exists only once its input is checked")]
    pub fn new<N, P, R>(observed: Observed<'a, N, P, R>, now: Timestamp) -> SnapshotBuilder<'a>
    where
        N: IntoIterator<Item: Into<NodeView<'a>>>,
        P: IntoIterator<Item: Into<PodView<'a>>>,
        R: IntoIterator<Item: Into<RevisionView<'a>>>,
    {
        SnapshotBuilder::new(observed, now)
    }

    /// The instant that it is taken at.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// `spec.minReadySeconds`.
    pub(crate) fn min_ready(&self) -> SignedDuration {
        SignedDuration::from_secs(self.daemon_set.spec.min_ready_seconds.into())
    }

    /// Until when an action accepted at `at` is believed in; none when that time is over, or so far ahead that a clock
    /// must have gone back.
    pub(crate) fn in_flight_until(&self, at: Timestamp) -> Option<Timestamp> {
        let expiry = SignedDuration::from_secs(self.policy.in_flight_expiry_seconds.into());
        let believable = at.duration_since(self.now) <= expiry;
        at.checked_add(expiry).ok().filter(|until| believable && self.now < *until)
    }

    /// The template generation, or where there is none `metadata.generation`: what a failure counts against.
    pub(crate) fn failure_generation(&self) -> i64 {
        let template = self.template_generation.as_deref().and_then(|text| text.parse().ok());
        template.unwrap_or(self.daemon_set.metadata.generation)
    }
}
