//! Views of k8s-openapi's objects, without copies.

use crate::model::{is_condition_true, named_node};
use crate::view::{
    ContainersView, LabelsView, LifecycleView, NodeObject, NodeView, Phase, PodObject, PodView, RevisionView,
    TaintsView, TolerationsView, grace_seconds, shared,
};
use crate::words::well_known::MIRROR_ANNOTATION;
use jiff::Timestamp;
use k8s_openapi::api::apps::v1::ControllerRevision;
use k8s_openapi::api::core::v1::{Affinity, Node, Pod, PodCondition, PodSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{OwnerReference, Time};
use serde_json::Value;

impl<'a> From<&'a Pod> for PodView<'a> {
    fn from(pod: &'a Pod) -> Self {
        let Pod { metadata, spec, status } = pod;
        let spec = spec.as_ref();
        let node = spec.and_then(|spec| spec.node_name.as_deref()).filter(|name| !name.is_empty());
        let ready = status.as_ref().and_then(|status| ready(list(&status.conditions)));
        let annotations = metadata.annotations.as_ref();
        PodView {
            namespace: text(&metadata.namespace),
            name: text(&metadata.name),
            uid: text(&metadata.uid),
            resource_version: text(&metadata.resource_version),
            labels: LabelsView::from(&metadata.labels),
            controller: controller(&metadata.owner_references),
            target: node.or_else(|| spec.and_then(affinity_node)),
            tolerations: TolerationsView::Typed(spec.map_or(&[][..], |spec| list(&spec.tolerations))),
            containers: ContainersView::Typed(status.as_ref()),
            object: PodObject::Typed(pod),
            created_at: instant(&metadata.creation_timestamp),
            deleted_at: instant(&metadata.deletion_timestamp),
            ready_since: ready.and_then(|ready| instant(&ready.last_transition_time)),
            grace_seconds: grace_seconds(metadata.deletion_grace_period_seconds),
            phase: Phase::from_name(status.as_ref().map_or("", |status| text(&status.phase))),
            ready: ready.map(|ready| is_condition_true(&ready.status)),
            bound: node.is_some(),
            mirror: annotations.is_some_and(|annotations| annotations.contains_key(MIRROR_ANNOTATION)),
        }
    }
}

impl<'a> From<&'a Node> for NodeView<'a> {
    fn from(node: &'a Node) -> Self {
        let Node { metadata, spec, status } = node;
        let spec = spec.as_ref();
        let conditions = || status.iter().flat_map(|status| list(&status.conditions));
        let ready = conditions().find(|condition| condition.type_ == "Ready");
        let true_conditions = conditions().filter(|condition| is_condition_true(&condition.status));
        let true_conditions = true_conditions.map(|c| (c.type_.as_str(), instant(&c.last_transition_time)));
        let taints = TaintsView::Typed(spec.map_or(&[][..], |spec| list(&spec.taints)));
        NodeView {
            name: text(&metadata.name),
            labels: LabelsView::from(&metadata.labels),
            taints,
            unschedulable: spec.and_then(|spec| spec.unschedulable).unwrap_or(false),
            object: NodeObject::Typed(node),
            annotations: LabelsView::from(&metadata.annotations),
            free: None,
            unreachable: ready.is_some_and(|ready| ready.status == "Unknown"),
            ready: ready.map(|ready| is_condition_true(&ready.status)),
            ready_since: ready.and_then(|ready| instant(&ready.last_transition_time)),
            lifecycle: LifecycleView::new(true_conditions, taints),
        }
    }
}

impl<'a> From<&'a ControllerRevision> for RevisionView<'a> {
    fn from(revision: &'a ControllerRevision) -> Self {
        static NONE: Value = Value::Null;
        let metadata = &revision.metadata;
        RevisionView {
            namespace: text(&metadata.namespace),
            name: text(&metadata.name),
            uid: text(&metadata.uid),
            resource_version: text(&metadata.resource_version),
            labels: LabelsView::from(&metadata.labels),
            annotations: LabelsView::from(&metadata.annotations),
            controller: controller(&metadata.owner_references),
            created_at: instant(&metadata.creation_timestamp),
            deleted_at: instant(&metadata.deletion_timestamp),
            data: revision.data.as_ref().map_or(&NONE, |data| &data.0),
            number: revision.revision,
        }
    }
}

shared!(Pod, PodView);
shared!(Node, NodeView);
shared!(ControllerRevision, RevisionView);

fn text(text: &Option<String>) -> &str {
    text.as_deref().unwrap_or_default()
}

fn list<T>(list: &Option<Vec<T>>) -> &[T] {
    list.as_deref().unwrap_or_default()
}

fn instant(time: &Option<Time>) -> Option<Timestamp> {
    time.as_ref().map(|time| time.0)
}

/// The uid of the managing controller (v1.36 `metav1.GetControllerOf`).
fn controller(owners: &Option<Vec<OwnerReference>>) -> Option<&str> {
    list(owners).iter().find(|owner| owner.controller == Some(true)).map(|owner| owner.uid.as_str())
}

fn ready(conditions: &[PodCondition]) -> Option<&PodCondition> {
    conditions.iter().find(|condition| condition.type_ == "Ready")
}

/// The node that the required node affinity names (v1.36 `util.GetTargetNodeName`).
fn affinity_node(spec: &PodSpec) -> Option<&str> {
    let Affinity { node_affinity, .. } = spec.affinity.as_ref()?;
    let required = node_affinity.as_ref()?.required_during_scheduling_ignored_during_execution.as_ref()?;
    let fields = required.node_selector_terms.iter().flat_map(|term| list(&term.match_fields));
    named_node(fields.map(|field| (field.key.as_str(), field.operator.as_str(), list(&field.values))))
}
