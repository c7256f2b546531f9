//! The objects that a decision reads, and the instant of it.

use crate::input::memory::parsed_version;
use daemonset_objects::model::DaemonSet;
use daemonset_objects::{NodeView, PodView, RevisionView};
use jiff::Timestamp;

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
/// ) -> Result<Snapshot<'a>, daemonset::InvalidInput> {
///     Snapshot::builder(Observed { daemon_set, nodes, pods, revisions }, now).check()
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
/// let snapshot = Snapshot::builder(Observed { daemon_set, nodes: pods, pods: nodes, revisions }, now);
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

/// The observed objects as views, made from [`Observed`]: what a decision takes.
///
/// They are only made from `Observed`, so that each list is named.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Objects<'a> {
    /// The DaemonSet to decide about.
    pub daemon_set: &'a DaemonSet,
    /// All nodes of the cluster.
    pub nodes: Vec<NodeView<'a>>,
    /// All pods of the DaemonSet's namespace.
    pub pods: Vec<PodView<'a>>,
    /// All ControllerRevisions of the DaemonSet's namespace.
    pub revisions: Vec<RevisionView<'a>>,
}

impl<'a, N, P, R> From<Observed<'a, N, P, R>> for Objects<'a>
where
    N: IntoIterator<Item: Into<NodeView<'a>>>,
    P: IntoIterator<Item: Into<PodView<'a>>>,
    R: IntoIterator<Item: Into<RevisionView<'a>>>,
{
    fn from(observed: Observed<'a, N, P, R>) -> Self {
        let Observed { daemon_set, nodes, pods, revisions } = observed;
        Objects {
            daemon_set,
            nodes: nodes.into_iter().map(Into::into).collect(),
            pods: pods.into_iter().map(Into::into).collect(),
            revisions: revisions.into_iter().map(Into::into).collect(),
        }
    }
}

/// When the objects were observed: an instant, and the version of the list of pods where it is known.
///
/// With the version a create is in flight only until the list has caught up with it (KEP-5647: read your own writes). A
/// pod that was created and is gone again before any list shows it then holds its node for the lag of the cache instead of
/// [`Policy::in_flight_expiry_seconds`](field@crate::Policy::in_flight_expiry_seconds).
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
