//! Views of other stores: a view from the setters decides as a view of the model's object does.

use crate::support::{at, given, new, node, old, rolling};
use daemonset::model::{ControllerRevision, Node, OwnerReference, Pod};
use daemonset::{Lifecycle, NodeView, Observed, PodView, Recording, RevisionView, Snapshot, plan};
use serde_json::json;

fn pod(pod: &Pod) -> PodView<'_> {
    let Pod { metadata, spec, status } = pod;
    let mut view = PodView::new(&metadata.namespace, &metadata.name, metadata.uid.as_str())
        .resource_version(&metadata.resource_version)
        .labels(&metadata.labels)
        .tolerations(&spec.tolerations)
        .phase(&status.phase);
    view = view.node_name(spec.node_name.as_str());
    if let Some(node) = &spec.affinity_node {
        view = view.affinity_node(node.as_str());
    }
    if let Some(uid) = OwnerReference::controller_of(&metadata.owner_references) {
        view = view.controller(uid);
    }
    view = metadata.creation_timestamp.into_iter().fold(view, PodView::created_at);
    view = metadata.deletion_timestamp.into_iter().fold(view, PodView::deleted_at);
    if let Some(grace) = metadata.deletion_grace_period_seconds {
        view = view.deletion_grace_seconds(grace.try_into().unwrap());
    }
    if let Some(ready) = status.conditions.iter().find(|condition| condition.kind == "Ready") {
        let since = ready.last_transition_time;
        view = if ready.status == "True" { view.ready_since(since) } else { view.not_ready_since(since) };
    }
    if metadata.annotations.mirror.is_some() { view.mirror() } else { view }
}

fn node_view(node: &Node) -> NodeView<'_> {
    let view =
        NodeView::new(node.metadata.name.as_str()).labels(&node.metadata.labels).taints(&node.spec.taints);
    let view = if node.spec.unschedulable { view.unschedulable() } else { view };
    node.status.conditions.iter().fold(view, |view, condition| {
        let since = condition.last_transition_time;
        match (condition.kind.as_str(), condition.status.as_str()) {
            ("Ready", "True") => view.ready_since(since),
            ("Ready", _) => view.not_ready_since(since),
            ("DrainInProgress", "True") => view.lifecycle_since(Lifecycle::DrainInProgress, since),
            _ => view,
        }
    })
}

fn revision(revision: &ControllerRevision) -> RevisionView<'_> {
    let metadata = &revision.metadata;
    let mut view = RevisionView::new(
        &metadata.namespace,
        &metadata.name,
        metadata.uid.as_str(),
        revision.revision,
        &revision.data,
    )
    .labels(&metadata.labels)
    .resource_version(&metadata.resource_version);
    if let Some(uid) = OwnerReference::controller_of(&metadata.owner_references) {
        view = view.controller(uid);
    }
    view = metadata.creation_timestamp.into_iter().fold(view, RevisionView::created_at);
    metadata.deletion_timestamp.into_iter().fold(view, RevisionView::deleted_at)
}

#[test]
fn a_view_that_is_built_equals_that_of_the_model() {
    let given = given(rolling(2))
        .min_ready(30)
        .node(
            node("a").label("zone", "a").taint("gpu", "NoSchedule").has(old().tolerates("gpu").ready_for(60)),
        )
        .node(node("b").not_ready().has(new().not_ready()).has(old().terminating(30)))
        .node(node("c").has(new().failed()).has(old().orphan().created_ago(50)))
        .node(node("d").has(old().mirror()).has(new().ready_without_time()))
        .node(node("e").ready("Unknown", Some(at(-60))).condition("DrainInProgress", "True", Some(at(-90))))
        .node(node("f").taint("ToBeDeletedByClusterAutoscaler", "NoSchedule").ready("True", Some(at(-60))))
        .node(node("g").has(old().terminating(20).with("/metadata/deletionGracePeriodSeconds", json!(30))))
        .with("/nodes/0/spec/unschedulable", json!(true))
        .stray("gone", old().unbound())
        .stray("lost", new().succeeded().owned_by("other"));
    let from_model = given.recording();
    let built = Observed {
        daemon_set: &from_model.daemon_set,
        nodes: from_model.nodes.iter().map(node_view),
        pods: from_model.pods.iter().map(pod),
        revisions: from_model.revisions.iter().map(revision),
    };
    let built = Snapshot::new(built, from_model.now).check().unwrap();
    assert_eq!(Recording::from(&built), Recording::from(&from_model.snapshot().unwrap()));
    assert_eq!(plan(&built), given.plan());
}
