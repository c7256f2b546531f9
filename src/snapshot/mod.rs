//! The input of a decision: borrowed, checked once, never changed.

pub(crate) mod check;
pub(crate) mod index;
pub(crate) mod placement;
mod policy;
pub(crate) mod position;
pub(crate) mod strategy;
pub(crate) mod template;
mod template_recovery;

pub use policy::{ClassificationPolicy, PodNames, Policy, UnreadyPolicy};

use crate::kubernetes::Selector;
use crate::kubernetes::tolerations::daemon_toleration_list;
use crate::memory::Memory;
use crate::model::{DaemonSet, Toleration};
use crate::problem::{InvalidSnapshot, Problems};
use crate::view::{NodeView, PodView, RevisionView};
use index::{Criteria, Index, PodFacts};
use jiff::{SignedDuration, Timestamp};
use placement::{Placement, PlacementRules};
use position::{NodeIx, PodIx, RevisionIx, at};
use serde_json::Value;
use std::borrow::Cow;
use strategy::Strategy;
use template::{RequiredAffinity, Template};

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
    /// The template that the API server holds, as far as it is known.
    pub(crate) raw_template: Cow<'a, Value>,
    pub(crate) template: Template,
    /// The template's tolerations and those of every daemon pod.
    pub(crate) tolerations: Vec<Toleration>,
    pub(crate) strategy: Strategy,
    /// In the form of a pod's label.
    pub(crate) template_generation: Option<String>,
    pub(crate) index: Index<'a>,
    /// In the order of the nodes.
    pub(crate) placements: Vec<Placement>,
}

impl<'a> Snapshot<'a> {
    /// Starts a snapshot of this DaemonSet at this instant; [`SnapshotBuilder::check`] ends it.
    #[allow(clippy::new_ret_no_self)]
    pub fn new(daemon_set: &'a DaemonSet, now: Timestamp) -> SnapshotBuilder<'a> {
        SnapshotBuilder {
            daemon_set,
            now,
            nodes: Vec::new(),
            pods: Vec::new(),
            revisions: Vec::new(),
            memory: None,
            policy: Policy::default(),
        }
    }

    /// The instant that it is taken at.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    #[inline]
    pub(crate) fn node(&self, node: NodeIx) -> &NodeView<'a> {
        at(&self.nodes, node)
    }

    #[inline]
    pub(crate) fn placement(&self, node: NodeIx) -> Placement {
        *at(&self.placements, node)
    }

    #[inline]
    pub(crate) fn pod(&self, pod: PodIx) -> &PodView<'a> {
        at(&self.pods, pod)
    }

    #[inline]
    pub(crate) fn facts(&self, pod: PodIx) -> &PodFacts {
        self.index.pods.at(pod)
    }

    pub(crate) fn revision(&self, revision: RevisionIx) -> &RevisionView<'a> {
        at(&self.revisions, revision)
    }

    /// Each pod with its facts.
    pub(crate) fn pods_with_facts(
        &self,
    ) -> impl ExactSizeIterator<Item = (PodIx, &PodView<'a>, &PodFacts)> + Clone {
        let pods = position::enumerate(&self.pods).zip(self.index.pods.iter());
        pods.map(|((position, pod), facts)| (position, pod, facts))
    }

    /// `spec.minReadySeconds`.
    pub(crate) fn min_ready(&self) -> SignedDuration {
        SignedDuration::from_secs(self.daemon_set.spec.min_ready_seconds.into())
    }

    /// Until when an action accepted at `at` is expected to show. `None` when that time is over, or when `at` is so far
    /// ahead that a clock must have gone back.
    pub(crate) fn in_flight_until(&self, at: Timestamp) -> Option<Timestamp> {
        let expiry = SignedDuration::from_secs(self.policy.in_flight_expiry_seconds.into());
        let plausible = at.duration_since(self.now) <= expiry;
        at.checked_add(expiry).ok().filter(|until| plausible && self.now < *until)
    }

    /// The generation that a failure counts against: the template generation or, without one, `metadata.generation`.
    pub(crate) fn failure_generation(&self) -> i64 {
        let template = self.template_generation.as_deref().and_then(|text| text.parse().ok());
        template.unwrap_or(self.daemon_set.metadata.generation)
    }
}

/// A snapshot whose parts are being gathered.
#[derive(Debug, Clone)]
#[must_use = "a snapshot is made by `check`"]
pub struct SnapshotBuilder<'a> {
    daemon_set: &'a DaemonSet,
    now: Timestamp,
    nodes: Vec<NodeView<'a>>,
    pods: Vec<PodView<'a>>,
    revisions: Vec<RevisionView<'a>>,
    memory: Option<Memory>,
    policy: Policy,
}

impl<'a> SnapshotBuilder<'a> {
    /// All pods of the DaemonSet's namespace, whoever owns them: adoption and name collisions need them. Those of other
    /// namespaces do no harm.
    pub fn pods<I>(mut self, pods: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<PodView<'a>>,
    {
        self.pods.extend(pods.into_iter().map(Into::into));
        self
    }

    /// All nodes of the cluster.
    pub fn nodes<I>(mut self, nodes: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<NodeView<'a>>,
    {
        self.nodes.extend(nodes.into_iter().map(Into::into));
        self
    }

    /// All ControllerRevisions of the DaemonSet's namespace, whoever owns them.
    pub fn revisions<I>(mut self, revisions: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<RevisionView<'a>>,
    {
        self.revisions.extend(revisions.into_iter().map(Into::into));
        self
    }

    /// What the caller remembers from earlier reconciles of this DaemonSet. It is small, and copied, so that it can
    /// [observe](Memory::observe) the snapshot.
    pub fn memory(mut self, memory: &Memory) -> Self {
        self.memory = Some(memory.clone());
        self
    }

    /// The caller's choices; without this [`Policy::default`].
    pub fn policy(mut self, policy: &Policy) -> Self {
        self.policy = policy.clone();
        self
    }

    /// Checks the input.
    ///
    /// # Errors
    /// Every problem of the input at once, each with its field's path: a missing or malformed selector, an unknown
    /// strategy, negative limits, what the template says of placement and can't be evaluated, objects without name or
    /// uid, and objects that are there twice.
    pub fn check(self) -> Result<Snapshot<'a>, InvalidSnapshot> {
        let mut problems = Problems::default();
        check::metadata(self.daemon_set, &mut problems);
        let selector = check::selector(self.daemon_set, &mut problems);
        let raw_template = template_recovery::template(self.daemon_set, &selector, &self.revisions);
        let template = check::template(&raw_template, &selector, &mut problems);
        let affinity = template.required_affinity().map(|a| RequiredAffinity::compile(a, &mut problems));
        let strategy = strategy::strategy(self.daemon_set, &mut problems);
        check::policy(&self.policy, &mut problems);
        check::changing_labels(self.daemon_set, &self.policy, &mut problems);
        let node_names = check::nodes(&self.nodes, &mut problems);
        check::pods(&self.pods, &mut problems);
        check::revisions(&self.revisions, &mut problems);
        problems.into_result()?;
        let template_generation = check::template_generation(self.daemon_set);
        let criteria = Criteria {
            daemon_set: self.daemon_set,
            selector: &selector,
            unique_label_key: &self.policy.unique_label_key,
            template_generation: template_generation.as_deref(),
        };
        let index = Index::new(node_names, &self.pods, &criteria);
        let mut tolerations = template.spec.tolerations.clone();
        tolerations.extend(daemon_toleration_list(template.spec.host_network));
        let rules = PlacementRules {
            template: &template.spec,
            affinity: affinity.as_ref(),
            tolerations: &tolerations,
        };
        let placements = self.nodes.iter().map(|node| rules.placement(node)).collect();
        Ok(Snapshot {
            daemon_set: self.daemon_set,
            now: self.now,
            nodes: self.nodes,
            pods: self.pods,
            revisions: self.revisions,
            memory: self.memory,
            policy: self.policy,
            selector,
            raw_template,
            template,
            tolerations,
            strategy,
            template_generation,
            index,
            placements,
        })
    }
}
