//! Views of objects from other stores than this crate's types: constructors with the required parts, setters for the rest.

use crate::model::{Labels, PodStatus, ResourceList, Taint, Toleration};
use crate::view::{
    ContainersView, LabelsView, Lifecycle, LifecycleView, NodeView, Phase, PodView, RevisionView, TaintsView,
    TolerationsView,
};
use jiff::Timestamp;
use serde_json::Value;

/// Setters that several views share.
macro_rules! shared_setters {
    ($($view:ident { $($(#[$doc:meta])+ $setter:ident: $type:ty = $field:ident, $value:expr;)+ })+) => {$(
        impl<'a> $view<'a> {$(
            $(#[$doc])+
            #[must_use]
            pub fn $setter(mut self, $setter: $type) -> Self {
                self.$field = $value;
                self
            }
        )+}
    )+};
}

/// For stores of another form: only namespace, name and uid are required. Without a setter, a field is as one that is absent
/// in the object: no labels, no controller, no node, phase Pending, no condition.
///
/// ```
/// use daemonset::model::Labels;
/// use daemonset::{NodeView, Observed, PodView, RevisionView, Snapshot, model, plan};
/// use serde_json::{from_value, json};
///
/// # let daemon_set: model::DaemonSet = from_value(json!({
/// #     "metadata": {"name": "agent", "namespace": "ns", "uid": "u1"},
/// #     "spec": {
/// #         "selector": {"matchLabels": {"app": "agent"}},
/// #         "template": {"metadata": {"labels": {"app": "agent"}}},
/// #         "updateStrategy": {"type": "RollingUpdate"},
/// #     },
/// # }))?;
/// let now: jiff::Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
/// // A row of the caller's own table.
/// let labels = Labels::from_iter([("app", "agent"), ("controller-revision-hash", "5f6")]);
/// let pod = PodView::new("ns", "agent-x", "p1")
///     .labels(&labels)
///     .controller("u1")
///     .node_name("a")
///     .phase("Running")
///     .ready_since(Some(now));
/// let revisions: [RevisionView<'_>; 0] = [];
/// let observed = Observed { daemon_set: &daemon_set, nodes: [NodeView::new("a")], pods: [pod], revisions };
/// let plan = plan(&Snapshot::builder(observed, now).check().unwrap());
/// assert_eq!(plan.status.unwrap().number_ready, 1);
/// # Ok::<(), serde_json::Error>(())
/// ```
impl<'a> PodView<'a> {
    /// A pod with this namespace, name and uid, which nobody has bound to a node yet.
    #[must_use]
    pub fn new(namespace: &'a str, name: &'a str, uid: &'a str) -> Self {
        PodView { namespace, name, uid, ..*PodView::blank() }
    }

    /// `spec.nodeName`: the pod is bound to this node; empty, as in the object, where it is not bound yet.
    #[must_use]
    pub fn node_name(self, node: &'a str) -> Self {
        if node.is_empty() { self } else { PodView { target: Some(node), bound: true, ..self } }
    }

    /// The node that the required node affinity names. It has no effect on a pod that is bound.
    #[must_use]
    pub fn affinity_node(self, node: &'a str) -> Self {
        if self.bound { self } else { PodView { target: Some(node), ..self } }
    }

    /// Condition Ready is True, since this instant if the condition has one.
    #[must_use]
    pub fn ready_since(self, since: Option<Timestamp>) -> Self {
        PodView { ready: Some(true), ready_since: since, ..self }
    }

    /// Condition Ready is False or Unknown, since this instant if the condition has one.
    #[must_use]
    pub fn not_ready_since(self, since: Option<Timestamp>) -> Self {
        PodView { ready: Some(false), ready_since: since, ..self }
    }

    /// It has the annotation `kubernetes.io/config.mirror`: it is the API server's copy of a static pod.
    #[must_use]
    pub fn mirror(self) -> Self {
        PodView { mirror: true, ..self }
    }
}

/// For stores of another form: only the name is required.
///
/// ```
/// use daemonset::{NodeView, model::{Labels, Taint}};
///
/// let (labels, taints) = (Labels::from_iter([("zone", "a")]), [Taint { key: "gpu".into(), ..Taint::default() }]);
/// let node = NodeView::new("a").labels(&labels).taints(&taints).unschedulable().not_ready_since(None);
/// # let _ = node;
/// ```
impl<'a> NodeView<'a> {
    /// A node with this name, without labels, taints and conditions.
    #[must_use]
    pub fn new(name: &'a str) -> Self {
        NodeView { name, ..*NodeView::blank() }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// The value of a label.
    #[must_use]
    pub fn label(&self, key: &str) -> Option<&'a str> {
        self.labels.get(key)
    }

    /// It is cordoned; this is only reported, the taint for it decides.
    #[must_use]
    pub fn unschedulable(self) -> Self {
        NodeView { unschedulable: true, ..self }
    }

    /// `spec.taints`. The first one of a node that leaves is its [`Lifecycle`], unless a condition says so.
    #[must_use]
    pub fn taints(self, taints: &'a [Taint]) -> Self {
        let taints = TaintsView::Model(taints);
        let of_condition = self.lifecycle.filter(|lifecycle| lifecycle.state.condition().is_some());
        let lifecycle = of_condition.or_else(|| LifecycleView::new(std::iter::empty(), taints));
        NodeView { taints, lifecycle, ..self }
    }

    /// Condition Ready is True, since this instant if the condition has one.
    #[must_use]
    pub fn ready_since(self, since: Option<Timestamp>) -> Self {
        NodeView { ready: Some(true), ready_since: since, ..self }
    }

    /// Condition Ready is False or Unknown, since this instant if the condition has one.
    #[must_use]
    pub fn not_ready_since(self, since: Option<Timestamp>) -> Self {
        NodeView { ready: Some(false), ready_since: since, ..self }
    }

    /// The condition of this state is True, since this instant if the condition has one. It has no effect for a state that a
    /// taint shows: [`taints`](Self::taints) finds that.
    #[must_use]
    pub fn lifecycle_since(self, state: Lifecycle, since: Option<Timestamp>) -> Self {
        let of_condition = state.condition().map(|_| LifecycleView { state, since });
        NodeView { lifecycle: of_condition.or(self.lifecycle), ..self }
    }
}

/// For stores of another form: identity, number and data are required.
///
/// ```
/// use daemonset::{RevisionView, model::Labels};
/// use serde_json::json;
///
/// let data = json!({"spec": {"template": {"metadata": {"labels": {"app": "agent"}}, "$patch": "replace"}}});
/// let labels = Labels::from_iter([("app", "agent"), ("controller-revision-hash", "5f6")]);
/// let revision = RevisionView::new("ns", "agent-5f6", "r1", 3, &data).labels(&labels).controller("u1");
/// # let _ = revision;
/// ```
impl<'a> RevisionView<'a> {
    /// A revision with this namespace, name, uid, number and data: the patch `{"spec":{"template":{…,"$patch":"replace"}}}`.
    #[must_use]
    pub fn new(namespace: &'a str, name: &'a str, uid: &'a str, number: i64, data: &'a Value) -> Self {
        RevisionView { namespace, name, uid, number, data, ..*RevisionView::blank() }
    }
}

shared_setters! {
    PodView {
        /// Labels.
        labels: &'a Labels = labels, LabelsView::from(labels);
        /// Uid of the managing controller, from `metadata.ownerReferences`.
        controller: &'a str = controller, Some(controller);
        /// `metadata.resourceVersion`.
        resource_version: &'a str = resource_version, resource_version;
        /// `metadata.creationTimestamp`.
        created_at: Timestamp = created_at, Some(created_at);
        /// `metadata.deletionTimestamp`: when it must be gone.
        deleted_at: Timestamp = deleted_at, Some(deleted_at);
        /// `metadata.deletionGracePeriodSeconds`: how long before `deleted_at` its deletion was asked for.
        deletion_grace_seconds: u32 = grace_seconds, deletion_grace_seconds;
        /// `status.phase`, as Kubernetes writes it: `Running`, say. Any unknown text counts as Pending.
        phase: &str = phase, Phase::from_name(phase);
        /// `spec.tolerations`: they decide whether a pod stays that the template has withdrawn a toleration from.
        tolerations: &'a [Toleration] = tolerations, TolerationsView::Model(tolerations);
        /// `status.reason` and the containers' restarts and waiting reasons: a rollout judges by them. Phase and conditions have
        /// setters of their own.
        status: &'a PodStatus = containers, ContainersView::Model(status);
    }
    NodeView {
        /// Labels.
        labels: &'a Labels = labels, LabelsView::from(labels);
        /// The resources that no pod requests: allocatable less the requests of all unfinished pods that are bound to the node, the
        /// DaemonSet's own included. The choice `fit` of a policy reads it.
        free: &'a ResourceList = free, Some(free);
    }
    RevisionView {
        /// Labels.
        labels: &'a Labels = labels, LabelsView::from(labels);
        /// Uid of the managing controller, from `metadata.ownerReferences`.
        controller: &'a str = controller, Some(controller);
        /// `metadata.annotations`, which hold the state of a rollout.
        annotations: &'a Labels = annotations, LabelsView::from(annotations);
        /// `metadata.resourceVersion`.
        resource_version: &'a str = resource_version, resource_version;
        /// `metadata.creationTimestamp`.
        created_at: Timestamp = created_at, Some(created_at);
        /// `metadata.deletionTimestamp`.
        deleted_at: Timestamp = deleted_at, Some(deleted_at);
    }
}
