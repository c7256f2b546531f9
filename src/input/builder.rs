//! From observed objects to a checked snapshot.

use crate::input::index::Index;
use crate::input::manifests::Manifests;
use crate::input::memory::Memory;
use crate::input::observed::{Objects, ObservedAt};
use crate::input::policy::Policy;
use crate::input::spec::Spec;
use crate::input::{Snapshot, check};
use daemonset_objects::InvalidInput;
use daemonset_objects::internal::Problems;
use daemonset_objects::model::Owner;
use serde_json::Value;
use std::sync::Arc;

/// A snapshot before its check: the observed objects, with the caller's policy and memory.
#[derive(Debug, Clone)]
#[must_use = "`check` makes the snapshot"]
pub struct SnapshotBuilder<'a> {
    objects: Objects<'a>,
    at: ObservedAt,
    memory: Option<Memory>,
    policy: Policy,
    /// Of the manifests, or of the recorded ones.
    inputs: Value,
    manifests: Option<Arc<dyn Manifests>>,
}

impl<'a> SnapshotBuilder<'a> {
    pub(crate) fn new(objects: Objects<'a>, at: ObservedAt) -> Self {
        SnapshotBuilder {
            objects,
            at,
            memory: None,
            policy: Policy::default(),
            inputs: Value::Null,
            manifests: None,
        }
    }

    /// The caller's memory of earlier reconciles of this DaemonSet. It is small and is copied, so that it can
    /// [observe](Memory::observe) the snapshot. A [`Reconciler`](crate::Reconciler) passes its own.
    pub fn memory(mut self, memory: &Memory) -> Self {
        self.memory = Some(memory.clone());
        self
    }

    /// The caller's choices; without this [`Policy::default`].
    pub fn policy(mut self, policy: &Policy) -> Self {
        self.policy = policy.clone();
        self
    }

    /// The objects that the caller makes; without these the template's pods. Their inputs are asked for here, once: hash, revision and
    /// objects of all plans of this snapshot have the same ones.
    pub fn manifests(self, manifests: Arc<dyn Manifests>) -> Self {
        SnapshotBuilder { inputs: manifests.inputs(), manifests: Some(manifests), ..self }
    }

    /// Inputs that were recorded, without the manifests.
    pub(crate) fn inputs(self, inputs: Value) -> Self {
        SnapshotBuilder { inputs, ..self }
    }

    /// Checks the input.
    ///
    /// # Errors
    /// Every problem of the input at once, each with its field's path: a missing or malformed selector, an unknown
    /// strategy, negative limits, placement fields of the template that can't be evaluated, objects without name or
    /// uid, and duplicates.
    ///
    /// ```
    /// use daemonset::{Observed, Snapshot, model};
    /// use serde_json::{from_value, json};
    ///
    /// let daemon_set: model::DaemonSet =
    ///     from_value(json!({"metadata": {"name": "agent", "namespace": "ns"}, "spec": {"minReadySeconds": -1}}))?;
    /// let nodes: Vec<model::Node> = from_value(json!([{"metadata": {"name": "a"}}, {"metadata": {"name": "a"}}]))?;
    /// let (pods, revisions): (Vec<model::Pod>, Vec<model::ControllerRevision>) = (vec![], vec![]);
    /// let now: jiff::Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
    ///
    /// let observed = Observed { daemon_set: &daemon_set, nodes: &nodes, pods: &pods, revisions: &revisions };
    /// let invalid = Snapshot::builder(observed, now).check().unwrap_err();
    /// let paths: Vec<&str> = invalid.problems.iter().map(|problem| problem.path.as_str()).collect();
    /// assert_eq!(
    ///     paths,
    ///     ["metadata.uid", "spec.minReadySeconds", "spec.selector", "spec.template", "nodes[1].metadata.name"]
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn check(self) -> Result<Snapshot<'a>, InvalidInput> {
        self.check_all(Problems::default())
    }

    /// As [`check`](Self::check), for a driver of this kind.
    #[doc(hidden)]
    pub fn check_of_kind(self, kind: &Owner) -> Result<Snapshot<'a>, InvalidInput> {
        let mut problems = Problems::default();
        check::kind(&self.objects.daemon_set.owner, kind, &mut problems);
        self.check_all(problems)
    }

    /// Goes on with the problems that are known.
    fn check_all(self, mut problems: Problems) -> Result<Snapshot<'a>, InvalidInput> {
        let SnapshotBuilder { objects, at, memory, policy, inputs, manifests } = self;
        let Objects { daemon_set, nodes, pods, revisions } = objects;
        let spec = Spec::compile(daemon_set, policy, inputs, &revisions, &mut problems);
        let node_names = check::nodes(&nodes, &mut problems);
        check::pods(&pods, &mut problems);
        check::revisions(&revisions, &mut problems);
        check::readable_data(&spec, &revisions, &mut problems);
        check::memory(memory.as_ref(), daemon_set, &mut problems);
        problems.into_result()?;
        let index = Index::new(&nodes, node_names, &pods, &spec.criteria());
        let revision_facts = revisions.iter().map(|revision| spec.revision_facts(revision)).collect();
        let placements = spec.template.placements(&nodes);
        Ok(Snapshot {
            spec: Arc::new(spec),
            now: at.now,
            pods_version: at.pods_version,
            nodes_version: at.nodes_version,
            nodes,
            pods,
            revisions,
            revision_facts,
            memory,
            index,
            placements,
            manifests,
            pod_names: None,
        })
    }
}
