//! Objects from views of them, with the fields that a view has: the way back, for what is recorded.
//!
//! Each takes its view apart with all of its fields: a new one does not compile until it is here, too, and a replay decides the same.

use crate::model::{
    ControllerRevision, KubeMeta, Node, NodeCondition, NodeMeta, NodeSpec, NodeStatus, OwnerReference, Pod,
    PodCondition, PodMeta, PodSpec, PodStatus, RevisionMeta, Taint, is_mark,
};
use crate::view::{LifecycleView, NodeView, Phase, PodView, RevisionView};
use crate::words::well_known::{IN_PLACE_ANNOTATION, MIRROR_ANNOTATION};

impl From<&NodeView<'_>> for Node {
    fn from(view: &NodeView<'_>) -> Self {
        // Without `..`: a replay must decide as the snapshot did.
        let NodeView {
            name,
            labels,
            taints,
            unschedulable,
            ready,
            ready_since,
            lifecycle,
            // `whole_node` has the object, its annotations and whether it reports; the free resources are no part of a node.
            object: _,
            annotations: _,
            unreachable: _,
            free: _,
        } = *view;
        let status = |ready| if ready { "True" } else { "False" }.into();
        let condition = |kind: &'static str, is_true, since| NodeCondition {
            kind: kind.into(),
            status: status(is_true),
            last_transition_time: since,
        };
        let ready = ready.map(|ready| condition("Ready", ready, ready_since));
        // A state that a taint shows is among the taints.
        let lifecycle = lifecycle.and_then(|LifecycleView { state, since }| {
            state.condition().map(|kind| condition(kind, true, since))
        });
        Node {
            metadata: NodeMeta { name: name.into(), labels: labels.to_labels(), ..NodeMeta::default() },
            spec: NodeSpec { taints: taints.iter().map(Taint::from).collect(), unschedulable },
            status: NodeStatus {
                conditions: ready.into_iter().chain(lifecycle).collect(),
                ..NodeStatus::default()
            },
        }
    }
}

/// A node with all that turns, pulls and fit read.
pub fn whole_node(view: &NodeView<'_>) -> Node {
    let mut node = Node::from(view);
    let object = view.object.model();
    node.metadata.uid = object.metadata.uid.clone();
    node.metadata.resource_version = object.metadata.resource_version.clone();
    node.metadata.annotations = object.metadata.annotations.clone();
    node.status.images = object.status.images.clone();
    let conditions = &mut node.status.conditions;
    if let Some(ready) = conditions.iter_mut().find(|condition| condition.kind == "Ready" && view.unreachable)
    {
        ready.status = "Unknown".into();
    }
    node
}

/// A pod with all that pulls, changes in place and fit read.
pub fn whole_pod(view: &PodView<'_>) -> Pod {
    let mut pod = Pod::from(view);
    let object = view.object.model();
    if !object.metadata.annotations.is_empty() {
        pod.metadata.annotations = object.metadata.annotations.clone();
    }
    let PodSpec { node_name, affinity_node, tolerations, .. } = pod.spec;
    pod.spec = PodSpec { node_name, affinity_node, tolerations, ..object.spec.clone() };
    pod.status.container_statuses = object.status.container_statuses.clone();
    pod.status.init_container_statuses = object.status.init_container_statuses.clone();
    pod
}

impl From<&PodView<'_>> for Pod {
    fn from(view: &PodView<'_>) -> Self {
        let PodView {
            namespace,
            name,
            uid,
            resource_version,
            labels,
            controller,
            target,
            tolerations,
            containers,
            // `whole_pod` has it.
            object: _,
            created_at,
            deleted_at,
            ready_since,
            grace_seconds,
            phase,
            ready,
            bound,
            mirror,
        } = *view;
        let target = target.map(Into::into);
        let (node_name, affinity_node) =
            if bound { (target.unwrap_or_default(), None) } else { (Default::default(), target) };
        let phase = match phase {
            Phase::PendingOrUnknown => "Pending",
            Phase::Running => "Running",
            Phase::Succeeded => "Succeeded",
            Phase::Failed => "Failed",
        };
        let ready = ready.map(|is_true| PodCondition {
            kind: "Ready".into(),
            status: if is_true { "True" } else { "False" }.into(),
            last_transition_time: ready_since,
        });
        let mirror = mirror.then_some((MIRROR_ANNOTATION, ""));
        let in_place = view.in_place().map(|since| (IN_PLACE_ANNOTATION, since));
        let annotations = mirror.into_iter().chain(in_place);
        Pod {
            metadata: PodMeta {
                name: name.to_owned(),
                namespace: namespace.to_owned(),
                uid: uid.into(),
                resource_version: resource_version.to_owned(),
                labels: labels.to_labels(),
                annotations: annotations.collect(),
                owner_references: controller.map(managing).into_iter().collect(),
                creation_timestamp: created_at,
                deletion_timestamp: deleted_at,
                deletion_grace_period_seconds: (grace_seconds > 0).then_some(grace_seconds.into()),
                kube: KubeMeta::default(),
            },
            spec: PodSpec {
                node_name,
                affinity_node,
                tolerations: tolerations.to_vec(),
                ..PodSpec::default()
            },
            status: PodStatus {
                phase: phase.into(),
                conditions: ready.into_iter().collect(),
                ..containers.to_status().unwrap_or_default()
            },
        }
    }
}

impl From<&RevisionView<'_>> for ControllerRevision {
    fn from(view: &RevisionView<'_>) -> Self {
        let RevisionView {
            namespace,
            name,
            uid,
            resource_version,
            labels,
            annotations,
            controller,
            created_at,
            deleted_at,
            data,
            number,
        } = *view;
        ControllerRevision {
            metadata: RevisionMeta {
                name: name.to_owned(),
                namespace: namespace.to_owned(),
                uid: uid.into(),
                resource_version: resource_version.to_owned(),
                labels: labels.to_labels(),
                annotations: annotations.to_labels().iter().filter(|(key, _)| is_mark(key)).collect(),
                owner_references: controller.map(managing).into_iter().collect(),
                creation_timestamp: created_at,
                deletion_timestamp: deleted_at,
                kube: KubeMeta::default(),
            },
            data: data.clone(),
            revision: number,
        }
    }
}

/// The controller with the only field that a view has of it.
fn managing(uid: &str) -> OwnerReference {
    OwnerReference { uid: uid.into(), controller: Some(true), ..OwnerReference::default() }
}
