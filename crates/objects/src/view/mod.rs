//! Borrowed views of the objects in a snapshot: the fields that the core reads, from the caller's types.

mod builders;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
mod containers;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
mod facts;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
mod labels;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
mod lifecycle;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
mod objects;
#[allow(missing_docs, reason = "internal")]
mod owned;
#[allow(missing_docs, clippy::exhaustive_enums, clippy::exhaustive_structs, reason = "internal")]
mod scheduling;

pub use containers::ContainersView;
pub use facts::{Known, NodeFacts, Truth};
pub use labels::LabelsView;
pub use lifecycle::Lifecycle;
pub use lifecycle::LifecycleView;
pub use objects::{NodeObject, PodObject};
pub use owned::{whole_node, whole_pod};
pub(crate) use scheduling::TolerationView;
pub use scheduling::{TaintView, TaintsView, TolerationsView};

use crate::model::{
    ControllerRevision, Node, NodeCondition, ObjectRef, OwnerReference, Pod, PodCondition, ResourceList,
};
use crate::words::well_known::{IN_PLACE_ANNOTATION, MIRROR_ANNOTATION};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::sync::LazyLock;

/// `status.phase` of a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, clippy::exhaustive_enums, reason = "for crates of the same version")]
pub enum Phase {
    /// `Pending`, `Unknown`, absent or anything else: it is not known to run.
    PendingOrUnknown,
    Running,
    Succeeded,
    Failed,
}

impl Phase {
    #[inline]
    pub(crate) fn from_name(phase: &str) -> Self {
        match phase {
            "Running" => Phase::Running,
            "Succeeded" => Phase::Succeeded,
            "Failed" => Phase::Failed,
            _ => Phase::PendingOrUnknown,
        }
    }
}

/// A borrowed object. Crates of the same version make it and read its fields, which are no part of the API.
macro_rules! view {
    ($(#[$doc:meta])* pub struct $view:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        #[allow(clippy::exhaustive_structs, reason = "its fields are no part of the API")]
        pub struct $view<'a> {$(
            $(#[$field_doc])*
            #[doc(hidden)]
            pub $field: $type,
        )+}
    };
}

view! {
    /// A pod, borrowed.
    ///
    /// ```
    /// use daemonset::{NodeView, Observed, PodView, Snapshot, model, reconcile};
    /// use serde_json::{from_value, json};
    /// use std::sync::Arc;
    ///
    /// # let daemon_set = json!({
    /// #     "metadata": {"name": "agent", "namespace": "ns", "uid": "u1"},
    /// #     "spec": {
    /// #         "selector": {"matchLabels": {"app": "agent"}},
    /// #         "template": {"metadata": {"labels": {"app": "agent"}}},
    /// #         "updateStrategy": {"type": "RollingUpdate"},
    /// #     },
    /// # });
    /// let daemon_set: model::DaemonSet = from_value(daemon_set)?;
    /// let node: model::Node = from_value(json!({"metadata": {"name": "a"}}))?;
    /// let pod: Arc<model::Pod> = Arc::new(from_value(json!({
    ///     "metadata": {"name": "agent-x", "namespace": "ns", "uid": "p1", "labels": {"app": "agent"}},
    ///     "spec": {"nodeName": "a"},
    /// }))?);
    /// let (nodes, pods) = ([NodeView::from(&node)], [PodView::from(&pod)]);
    /// let revisions: &[model::ControllerRevision] = &[];
    /// let observed = Observed { daemon_set: &daemon_set, nodes, pods, revisions };
    /// let now: jiff::Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
    /// let snapshot = Snapshot::builder(observed, now).check().unwrap();
    /// assert_eq!(reconcile(&snapshot)[0].to_string(), "AdoptPod agent-x (SelectorMatches)");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub struct PodView {
        namespace: &'a str,
        name: &'a str,
        uid: &'a str,
        resource_version: &'a str,
        labels: LabelsView<'a>,
        /// Uid of the managing controller.
        controller: Option<&'a str>,
        /// `spec.nodeName`, or the node that the required node affinity names.
        target: Option<&'a str>,
        tolerations: TolerationsView<'a>,
        containers: ContainersView<'a>,
        /// The object that few policies read whole.
        object: PodObject<'a>,
        created_at: Option<Timestamp>,
        deleted_at: Option<Timestamp>,
        /// Since when condition Ready has the status it has.
        ready_since: Option<Timestamp>,
        /// The grace period of its deletion; 0 if it has none.
        grace_seconds: u32,
        phase: Phase,
        /// Whether condition Ready is True, where there is one.
        ready: Option<bool>,
        /// `spec.nodeName` is set.
        bound: bool,
        mirror: bool,
    }
}

impl<'a> PodView<'a> {
    /// The annotation of an update in place.
    #[doc(hidden)]
    #[inline]
    pub fn in_place(&self) -> Option<&'a str> {
        self.object.annotation(IN_PLACE_ANNOTATION)
    }
}

impl PodView<'_> {
    /// Failed or Succeeded: it runs nothing any more.
    #[doc(hidden)]
    #[inline]
    pub fn finished(&self) -> bool {
        match self.phase {
            Phase::Failed | Phase::Succeeded => true,
            Phase::PendingOrUnknown | Phase::Running => false,
        }
    }

    /// When its deletion was asked for.
    #[doc(hidden)]
    #[inline]
    pub fn deletion_asked_at(&self) -> Option<Timestamp> {
        let grace = SignedDuration::from_secs(self.grace_seconds.into());
        self.deleted_at.map(|deleted_at| deleted_at.checked_sub(grace).unwrap_or(Timestamp::MIN))
    }

    #[doc(hidden)]
    #[inline]
    pub fn object_ref(&self) -> ObjectRef {
        ObjectRef::new(self.namespace, self.name, self.uid, self.resource_version)
    }
}

/// The grace period of a deletion, as a view holds it. A negative one counts as none.
#[inline]
pub(crate) fn grace_seconds(seconds: Option<i64>) -> u32 {
    let seconds = seconds.unwrap_or(0).max(0);
    u32::try_from(seconds).unwrap_or(u32::MAX)
}

impl<'a> From<&'a Pod> for PodView<'a> {
    #[inline]
    fn from(pod: &'a Pod) -> Self {
        let Pod { metadata, spec, status } = pod;
        let ready = pod.readiness();
        PodView {
            namespace: &metadata.namespace,
            name: &metadata.name,
            uid: metadata.uid.as_str(),
            resource_version: &metadata.resource_version,
            labels: LabelsView::from(&metadata.labels),
            controller: OwnerReference::controller_of(&metadata.owner_references),
            target: pod.target().map(|node| node.as_str()),
            tolerations: TolerationsView::Model(&spec.tolerations),
            containers: ContainersView::Model(status),
            object: PodObject::Model(pod),
            created_at: metadata.creation_timestamp,
            deleted_at: metadata.deletion_timestamp,
            ready_since: ready.and_then(|c| c.last_transition_time),
            grace_seconds: grace_seconds(metadata.deletion_grace_period_seconds),
            phase: Phase::from_name(&status.phase),
            ready: ready.map(PodCondition::is_true),
            bound: pod.is_bound(),
            mirror: metadata.annotations.contains_key(MIRROR_ANNOTATION),
        }
    }
}

impl<'a> From<&PodView<'a>> for PodView<'a> {
    #[inline]
    fn from(view: &PodView<'a>) -> Self {
        *view
    }
}

view! {
    /// A node, borrowed.
    ///
    /// See the example of [`PodView`].
    pub struct NodeView {
        name: &'a str,
        labels: LabelsView<'a>,
        taints: TaintsView<'a>,
        /// Cordoned.
        unschedulable: bool,
        /// The object that few policies read whole.
        object: NodeObject<'a>,
        /// At least those of turns and their gates.
        annotations: LabelsView<'a>,
        /// The resources that no pod requests, where the caller knows them.
        free: Option<&'a ResourceList>,
        /// Condition Ready is Unknown: its kubelet does not report.
        unreachable: bool,
        /// Condition Ready, where there is one: a node that is not Ready may be lost to the update.
        ready: Option<bool>,
        /// Since when condition Ready has the status it has.
        ready_since: Option<Timestamp>,
        /// The first sign that the node leaves, by its conditions and then its taints.
        lifecycle: Option<LifecycleView>,
    }
}

impl<'a> From<&'a Node> for NodeView<'a> {
    #[inline]
    fn from(node: &'a Node) -> Self {
        let ready = node.readiness();
        let true_conditions = node.status.conditions.iter().filter(|condition| condition.is_true());
        let conditions = true_conditions.map(|c| (&*c.kind, c.last_transition_time));
        NodeView {
            name: node.metadata.name.as_str(),
            labels: LabelsView::from(&node.metadata.labels),
            taints: TaintsView::Model(&node.spec.taints),
            unschedulable: node.spec.unschedulable,
            object: NodeObject::Model(node),
            annotations: LabelsView::from(&node.metadata.annotations),
            free: None,
            unreachable: ready.is_some_and(|ready| ready.status == "Unknown"),
            ready: ready.map(NodeCondition::is_true),
            ready_since: ready.and_then(|ready| ready.last_transition_time),
            lifecycle: LifecycleView::new(conditions, TaintsView::Model(&node.spec.taints)),
        }
    }
}

view! {
    /// A revision, borrowed.
    pub struct RevisionView {
        namespace: &'a str,
        name: &'a str,
        uid: &'a str,
        resource_version: &'a str,
        labels: LabelsView<'a>,
        /// At least those that hold the state of a rollout.
        annotations: LabelsView<'a>,
        controller: Option<&'a str>,
        created_at: Option<Timestamp>,
        deleted_at: Option<Timestamp>,
        data: &'a Value,
        number: i64,
    }
}

impl RevisionView<'_> {
    #[doc(hidden)]
    #[inline]
    pub fn object_ref(&self) -> ObjectRef {
        ObjectRef::new(self.namespace, self.name, self.uid, self.resource_version)
    }
}

impl<'a> From<&'a ControllerRevision> for RevisionView<'a> {
    #[inline]
    fn from(revision: &'a ControllerRevision) -> Self {
        let metadata = &revision.metadata;
        RevisionView {
            namespace: &metadata.namespace,
            name: &metadata.name,
            uid: metadata.uid.as_str(),
            resource_version: &metadata.resource_version,
            labels: LabelsView::from(&metadata.labels),
            annotations: LabelsView::from(&metadata.annotations),
            controller: OwnerReference::controller_of(&metadata.owner_references),
            created_at: metadata.creation_timestamp,
            deleted_at: metadata.deletion_timestamp,
            data: &revision.data,
            number: revision.revision,
        }
    }
}

/// For objects in an `Arc`, as a reflector's store holds them.
macro_rules! shared {
    ($object:ty, $view:ident) => {
        impl<'a> From<&'a std::sync::Arc<$object>> for $view<'a> {
            #[inline]
            fn from(object: &'a std::sync::Arc<$object>) -> Self {
                $view::from(&**object)
            }
        }
    };
}
#[cfg(feature = "k8s-openapi")]
pub(crate) use shared;

shared!(Pod, PodView);
shared!(Node, NodeView);
shared!(ControllerRevision, RevisionView);

/// The view of an object without a name, and with nothing else.
macro_rules! blank {
    ($view:ident, $object:ty) => {
        impl $view<'_> {
            #[doc(hidden)]
            #[inline]
            pub fn blank() -> &'static $view<'static> {
                static OBJECT: LazyLock<$object> = LazyLock::new(Default::default);
                static VIEW: LazyLock<$view<'static>> = LazyLock::new(|| $view::from(&*OBJECT));
                &VIEW
            }
        }
    };
}

blank!(PodView, Pod);
blank!(NodeView, Node);
blank!(RevisionView, ControllerRevision);
