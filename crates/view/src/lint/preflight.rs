//! The input of the linter.

use daemonset::internal::template_generation;
use daemonset::kubernetes::canonical_json;
use daemonset::kubernetes::well_known::TEMPLATE_GENERATION_ANNOTATION;
use daemonset::model::{DaemonSet, ResourceList};
use daemonset::policy::{InvalidRolloutPolicy, Permissions};
use daemonset::{InvalidInput, NodeView, Observed, PodView, Policy, RevisionView, Snapshot};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A DaemonSet, and the known objects of its cluster. Rules about objects that are not given are skipped: without nodes
/// there are no findings about nodes.
///
/// Give the DaemonSet as the API server would store it, with defaults filled in. A manifest without defaults works,
/// too, but each omitted field counts as absent, and a template may count as changed only because it lacks the defaults
/// of the stored one.
#[derive(Debug, Clone)]
pub struct Preflight<'a> {
    pub(super) daemon_set: &'a DaemonSet,
    pub(super) stored: Option<&'a DaemonSet>,
    pub(super) others: Vec<&'a DaemonSet>,
    pub(super) priority_classes: Option<BTreeSet<&'a str>>,
    pub(super) gate_openers: Option<BTreeSet<&'a str>>,
    pub(super) allocatable: BTreeMap<&'a str, &'a ResourceList>,
    pub(super) nodes: Vec<NodeView<'a>>,
    pub(super) pods: Vec<PodView<'a>>,
    pub(super) revisions: Vec<RevisionView<'a>>,
    pub(super) policy: Policy,
    pub(super) invalid_policy: Option<InvalidRolloutPolicy>,
    now: Timestamp,
}

impl<'a> Preflight<'a> {
    /// A preflight of this DaemonSet at this instant, without other objects.
    pub fn new(daemon_set: &'a DaemonSet, now: Timestamp) -> Self {
        Preflight {
            daemon_set,
            stored: None,
            others: Vec::new(),
            priority_classes: None,
            gate_openers: None,
            allocatable: BTreeMap::new(),
            nodes: Vec::new(),
            pods: Vec::new(),
            revisions: Vec::new(),
            policy: Policy::default(),
            invalid_policy: None,
            now,
        }
    }

    /// All nodes of the cluster.
    #[must_use]
    pub fn nodes<I>(mut self, nodes: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<NodeView<'a>>,
    {
        self.nodes.extend(nodes.into_iter().map(Into::into));
        self
    }

    /// All pods of the namespace, with any owner.
    #[must_use]
    pub fn pods<I>(mut self, pods: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<PodView<'a>>,
    {
        self.pods.extend(pods.into_iter().map(Into::into));
        self
    }

    /// All ControllerRevisions of the namespace, with any owner.
    #[must_use]
    pub fn revisions<I>(mut self, revisions: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<RevisionView<'a>>,
    {
        self.revisions.extend(revisions.into_iter().map(Into::into));
        self
    }

    /// The stored DaemonSet, which the new one replaces.
    #[must_use]
    pub fn stored(mut self, stored: &'a DaemonSet) -> Self {
        self.stored = Some(stored);
        self
    }

    /// Other DaemonSets. DaemonSets of other namespaces and the checked one itself are ignored.
    #[must_use]
    pub fn daemon_sets(mut self, others: impl IntoIterator<Item = &'a DaemonSet>) -> Self {
        self.others.extend(others);
        self
    }

    /// The names of all priority classes of the cluster.
    #[must_use]
    pub fn priority_classes(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        self.priority_classes.get_or_insert_default().extend(names);
        self
    }

    /// The names of all gates that somebody opens: `drained` where a controller drains the nodes, and those of one's own. Without this the
    /// linter only tells that a gate needs somebody.
    #[must_use]
    pub fn gate_openers(mut self, gates: impl IntoIterator<Item = &'a str>) -> Self {
        self.gate_openers.get_or_insert_default().extend(gates);
        self
    }

    /// `status.allocatable` of nodes, by their names.
    #[must_use]
    pub fn allocatable(mut self, of_nodes: impl IntoIterator<Item = (&'a str, &'a ResourceList)>) -> Self {
        self.allocatable.extend(of_nodes);
        self
    }

    /// The policy of the plans; the default is [`Policy::default`].
    #[must_use]
    pub fn policy(mut self, policy: &Policy) -> Self {
        self.policy = policy.clone();
        self
    }

    /// Completes the policy by the annotations of the DaemonSet ([`Policy::with_annotations`]); `read` turns the text of a policy
    /// into a value, and `powers` are those of the namespace. An annotation that can't be read, or is not permitted, is a finding, and the
    /// rollout counts as paused.
    #[must_use]
    pub fn read_annotations(
        mut self,
        powers: &Permissions,
        read: impl FnOnce(&str) -> Result<Value, String>,
    ) -> Self {
        match self.policy.clone().with_annotations(self.daemon_set, powers, read) {
            Ok(policy) => self.policy = policy,
            Err(invalid) => {
                self.policy = invalid.policy(self.policy);
                self.invalid_policy = Some(invalid);
            }
        }
        self
    }

    /// The DaemonSet as it would be stored. Fields that the API server sets come from the stored DaemonSet, or get a
    /// stand-in. The template generation rises when the template changes (v1.36 `registry/apps/daemonset/strategy.go
    /// PrepareForUpdate`).
    pub(super) fn applied(&self) -> DaemonSet {
        /// No object has this uid, because a DaemonSet that was never created owns nothing.
        const NO_UID: &str = "not-created-yet";
        let mut applied = self.daemon_set.clone();
        if let Some(stored) = self.stored {
            applied.metadata.uid = stored.metadata.uid.clone();
            applied.metadata.namespace = stored.metadata.namespace.clone();
            applied.status = stored.status.clone();
            if let Some(generation) = self.next_template_generation(stored) {
                let annotations = &applied.metadata.annotations;
                applied.metadata.annotations = annotations.with(TEMPLATE_GENERATION_ANNOTATION, &generation);
            }
        }
        if applied.metadata.uid.as_str().is_empty() {
            applied.metadata.uid = NO_UID.into();
            if template_generation(&applied).is_none() {
                // v1.36 PrepareForCreate
                applied.spec.template_generation = Some(1);
            }
        }
        if applied.metadata.namespace.is_empty() {
            applied.metadata.namespace = "default".to_owned();
        }
        applied
    }

    fn next_template_generation(&self, stored: &DaemonSet) -> Option<String> {
        let generation: i64 = template_generation(stored)?.parse().ok()?;
        let same = canonical_json::equal(&stored.spec.template, &self.daemon_set.spec.template);
        Some(generation.saturating_add(i64::from(!same)).to_string())
    }

    /// The snapshot that a controller would decide on.
    pub(super) fn snapshot<'s>(&'s self, daemon_set: &'s DaemonSet) -> Result<Snapshot<'s>, InvalidInput> {
        self.snapshot_under(daemon_set, &self.policy)
    }

    /// The snapshot of the stored DaemonSet, of which only the placement counts: the policy of the new one may not go with the strategy
    /// or the minReadySeconds that it had.
    pub(super) fn stored_snapshot<'s>(&'s self, stored: &'s DaemonSet) -> Result<Snapshot<'s>, InvalidInput> {
        let tolerations = self.policy.daemon_tolerations.clone();
        self.snapshot_under(stored, &Policy::default().daemon_tolerations(tolerations))
    }

    fn snapshot_under<'s>(
        &'s self,
        daemon_set: &'s DaemonSet,
        policy: &Policy,
    ) -> Result<Snapshot<'s>, InvalidInput> {
        let observed = Observed {
            daemon_set,
            nodes: self.nodes.iter().copied(),
            pods: self.pods.iter().copied(),
            revisions: self.revisions.iter().copied(),
        };
        Snapshot::builder(observed, self.now).policy(policy).check()
    }
}
