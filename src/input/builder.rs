//! From observed objects to a checked snapshot.

use crate::input::index::Index;
use crate::input::memory::{Memory, parsed_version};
use crate::input::policy::Policy;
use crate::input::spec::Spec;
use crate::input::{Snapshot, check};
use daemonset_objects::internal::Problems;
use daemonset_objects::model::{DaemonSet, Owner};
use daemonset_objects::{InvalidSnapshot, NodeView, PodView, RevisionView};
use jiff::Timestamp;
use serde_json::Value;
use std::sync::Arc;

/// The objects that a decision reads. Each field is required: without its nodes a DaemonSet deletes its pods, without
/// its pods it creates a second one on each node, without its revisions it restarts all.
///
/// The lists are anything that yields the model's objects, k8s-openapi's (feature `k8s-openapi`), `Arc`s of either, or
/// views. References to lists make it `Copy`.
///
/// ```
/// use daemonset::{Observed, Snapshot, model};
///
/// fn observed<'a>(
///     daemon_set: &'a model::DaemonSet,
///     nodes: &'a [model::Node],
///     pods: &'a [model::Pod],
///     revisions: &'a [model::ControllerRevision],
///     now: jiff::Timestamp,
/// ) -> Result<Snapshot<'a>, daemonset::InvalidSnapshot> {
///     Snapshot::new(Observed { daemon_set, nodes, pods, revisions }, now).check()
/// }
/// ```
///
/// A field that is forgotten does not compile, be it the nodes, the pods or the revisions:
///
/// ```compile_fail,E0063
/// # use daemonset::{Observed, model};
/// # fn f(daemon_set: &model::DaemonSet, pods: &[model::Pod], revisions: &[model::ControllerRevision]) {
/// let observed = Observed { daemon_set, pods, revisions };
/// # }
/// ```
/// ```compile_fail,E0063
/// # use daemonset::{Observed, model};
/// # fn f(daemon_set: &model::DaemonSet, nodes: &[model::Node], revisions: &[model::ControllerRevision]) {
/// let observed = Observed { daemon_set, nodes, revisions };
/// # }
/// ```
/// ```compile_fail,E0063
/// # use daemonset::{Observed, model};
/// # fn f(daemon_set: &model::DaemonSet, nodes: &[model::Node], pods: &[model::Pod]) {
/// let observed = Observed { daemon_set, nodes, pods };
/// # }
/// ```
///
/// Neither do two lists in each other's place:
///
/// ```compile_fail,E0277
/// # use daemonset::{Observed, Snapshot, model};
/// # fn f(daemon_set: &model::DaemonSet, nodes: &[model::Node], pods: &[model::Pod],
/// #     revisions: &[model::ControllerRevision], now: jiff::Timestamp) {
/// let snapshot = Snapshot::new(Observed { daemon_set, nodes: pods, pods: nodes, revisions }, now);
/// # }
/// ```
#[derive(Debug, Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "callers name each field, so that none is forgotten")]
pub struct Observed<'a, N, P, R> {
    /// The DaemonSet to decide about.
    pub daemon_set: &'a DaemonSet,
    /// All nodes of the cluster.
    pub nodes: N,
    /// All pods of the DaemonSet's namespace, with or without an owner: adoption and name collisions need them. Pods of other
    /// namespaces do no harm.
    pub pods: P,
    /// All ControllerRevisions of the DaemonSet's namespace, with or without an owner.
    pub revisions: R,
}

/// When the objects were observed: an instant, and the version of the list of pods where it is known.
///
/// With the version a create is in flight only until the list has caught up with it (KEP-5647: read your own writes). A
/// pod that was created and is gone again before any list shows it then holds its node for the lag of the cache instead of
/// [`Policy::in_flight_expiry_seconds`].
///
/// ```
/// use daemonset::{Action, ActionOutcome, Observed, ObservedAt, Policy, Reconciler, model};
/// use serde_json::{from_value, json};
///
/// let daemon_set: model::DaemonSet = from_value(json!({
///     "metadata": {"name": "agent", "namespace": "ns", "uid": "u1"},
///     "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": {"metadata": {"labels": {"app": "agent"}}}},
/// }))?;
/// let nodes: Vec<model::Node> = from_value(json!([{"metadata": {"name": "a"}}]))?;
/// let (pods, revisions): (Vec<model::Pod>, Vec<model::ControllerRevision>) = (vec![], vec![]);
/// let observed = Observed { daemon_set: &daemon_set, nodes: &nodes, pods: &pods, revisions: &revisions };
/// let now: jiff::Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
///
/// let mut reconciler = Reconciler::new("u1", Policy::default());
/// let plan = reconciler.plan(observed, now).unwrap();
/// let created = model::ObjectRef { uid: "p1".into(), resource_version: "1042".into(), ..Default::default() };
/// let _ = reconciler.record(&plan.actions[1], &ActionOutcome::Created(created), now);
/// let mut creates = |at: ObservedAt| {
///     reconciler.plan(observed, at).unwrap().actions.iter().any(|action| action.kind() == "CreatePod")
/// };
/// assert!(!creates(ObservedAt::new(now).pods_version("1041"))); // the list is older than the pod
/// assert!(creates(ObservedAt::new(now).pods_version("1042"))); // the pod is gone already
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObservedAt {
    /// The instant of the decision.
    pub now: Timestamp,
    /// The resource version at which the list of pods was read, or the last one that its watch has shown.
    pub pods_version: Option<u64>,
    /// The resource version at which the list of nodes was read, or the last one that its watch has shown: with it a patch of a node
    /// is in flight only until the list has caught up with it.
    pub nodes_version: Option<u64>,
}

impl ObservedAt {
    /// At this instant, with lists of unknown versions.
    pub fn new(now: Timestamp) -> Self {
        ObservedAt { now, pods_version: None, nodes_version: None }
    }

    /// Sets [`pods_version`](field@ObservedAt::pods_version). A text that is no number says nothing.
    pub fn pods_version(mut self, version: &str) -> Self {
        self.pods_version = parsed_version(version);
        self
    }

    /// Sets [`nodes_version`](field@ObservedAt::nodes_version). A text that is no number says nothing.
    pub fn nodes_version(mut self, version: &str) -> Self {
        self.nodes_version = parsed_version(version);
        self
    }
}

impl From<Timestamp> for ObservedAt {
    fn from(now: Timestamp) -> Self {
        ObservedAt::new(now)
    }
}

/// A snapshot before its check: the observed objects, with the caller's policy and memory.
#[derive(Debug, Clone)]
#[must_use = "`check` makes the snapshot"]
pub struct SnapshotBuilder<'a> {
    daemon_set: &'a DaemonSet,
    at: ObservedAt,
    nodes: Vec<NodeView<'a>>,
    pods: Vec<PodView<'a>>,
    revisions: Vec<RevisionView<'a>>,
    memory: Option<Memory>,
    policy: Policy,
    inputs: Value,
}

impl<'a> SnapshotBuilder<'a> {
    pub(crate) fn new<N, P, R>(observed: Observed<'a, N, P, R>, at: ObservedAt) -> Self
    where
        N: IntoIterator<Item: Into<NodeView<'a>>>,
        P: IntoIterator<Item: Into<PodView<'a>>>,
        R: IntoIterator<Item: Into<RevisionView<'a>>>,
    {
        let Observed { daemon_set, nodes, pods, revisions } = observed;
        SnapshotBuilder {
            daemon_set,
            at,
            nodes: nodes.into_iter().map(Into::into).collect(),
            pods: pods.into_iter().map(Into::into).collect(),
            revisions: revisions.into_iter().map(Into::into).collect(),
            memory: None,
            policy: Policy::default(),
            inputs: Value::Null,
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

    /// Sets the inputs of the caller's manifests.
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
    /// let invalid = Snapshot::new(observed, now).check().unwrap_err();
    /// let paths: Vec<&str> = invalid.problems.iter().map(|problem| problem.path.as_str()).collect();
    /// assert_eq!(
    ///     paths,
    ///     ["metadata.uid", "spec.minReadySeconds", "spec.selector", "spec.template", "nodes[1].metadata.name"]
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn check(self) -> Result<Snapshot<'a>, InvalidSnapshot> {
        self.check_all(Problems::default())
    }

    /// As [`check`](Self::check), for a driver of this kind.
    #[doc(hidden)]
    pub fn check_of_kind(self, kind: &Owner) -> Result<Snapshot<'a>, InvalidSnapshot> {
        let mut problems = Problems::default();
        check::kind(&self.daemon_set.owner, kind, &mut problems);
        self.check_all(problems)
    }

    /// Goes on with the problems that are known.
    fn check_all(self, mut problems: Problems) -> Result<Snapshot<'a>, InvalidSnapshot> {
        let SnapshotBuilder { daemon_set, at, nodes, pods, revisions, memory, policy, inputs } = self;
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
            pod_names: None,
        })
    }
}
