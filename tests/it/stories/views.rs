//! Views of other stores: a view from the setters decides as a view of the model's object does.

use crate::support::{at, given, new, node, old, rolling, whole};
use daemonset::model::{
    ControllerRevision, Labels, Node, NodeMeta, NodeSpec, NodeStatus, OwnerReference, Pod,
};
use daemonset::{Lifecycle, NodeView, Observed, PodView, Recording, RevisionView, Snapshot, plan};
use daemonset_objects::internal::whole_node;
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
    if metadata.annotations.contains_key("kubernetes.io/config.mirror") { view.mirror() } else { view }
}

fn node_view(node: &Node) -> NodeView<'_> {
    let view =
        NodeView::new(node.metadata.name.as_str()).labels(&node.metadata.labels).taints(&node.spec.taints);
    let view = if node.spec.unschedulable { view.unschedulable() } else { view };
    node.status.conditions.iter().fold(view, |view, condition| {
        let since = condition.last_transition_time;
        match (condition.kind.as_ref(), condition.status.as_ref()) {
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

/// The model's objects, each as a view from the setters.
fn built(recording: &Recording) -> Snapshot<'_> {
    let observed = Observed {
        daemon_set: &recording.daemon_set,
        nodes: recording.nodes.iter().map(node_view),
        pods: recording.pods.iter().map(pod),
        revisions: recording.revisions.iter().map(revision),
    };
    Snapshot::builder(observed, recording.now).policy(&recording.policy).check().unwrap()
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
    let built = built(&from_model);
    assert_eq!(Recording::from(&built), Recording::from(&from_model.snapshot().unwrap()));
    assert_eq!(plan(&built), given.plan());
}

#[test]
fn each_way_to_a_view_keeps_every_field_of_a_node() {
    let whole: Node = serde_json::from_value(whole()["node"].clone()).unwrap();
    // Without `..`: a new field is in tests/data/whole.json.
    let Node {
        metadata,
        spec: NodeSpec { taints, unschedulable },
        status: NodeStatus { conditions, images },
    } = &whole;
    let NodeMeta { name, uid, resource_version, labels, annotations, kube: _ } = metadata;
    assert!(!(name.as_str().is_empty() || uid.as_str().is_empty() || resource_version.is_empty()));
    assert!(!(labels.is_empty() || annotations.is_empty() || taints.is_empty() || !unschedulable));
    assert!(!(conditions.is_empty() || images.is_empty()));
    let view = NodeView::from(&whole);
    assert_eq!(whole_node(&view), whole);
    assert_eq!(Node::from(&node_view(&whole)), Node::from(&view), "by the setters");
}

#[test]
fn a_view_of_a_node_that_leaves_is_left_alone() {
    let drains = node("a").condition("DrainInProgress", "True", None);
    let disrupted = || node("b").taint("karpenter.sh/disrupted", "NoSchedule");
    let both = disrupted().condition("DrainInProgress", "True", Some(at(-60)));
    for story in [drains, disrupted(), both] {
        let given = given(rolling(1)).policy(json!({"lifecycle": "Respect"})).node(story);
        let given = given.tolerates(json!([{"operator": "Exists"}]));
        assert_eq!(given.steps(), [""; 0]);
        assert_eq!(plan(&built(&given.recording())), given.plan());
    }
}

#[test]
fn the_last_setter_of_a_condition_counts() {
    let Recording { daemon_set, nodes, revisions, now, .. } = &given(rolling(1)).node(node("a")).recording();
    let labels = Labels::from_iter([("app", "agent"), ("controller-revision-hash", "new")]);
    let pod = || PodView::new("ns", "agent-x", "x").labels(&labels).controller("uid-agent").node_name("a");
    let ready = |pod: PodView<'_>| {
        let observed = Observed { daemon_set, nodes, pods: [pod.phase("Running")], revisions };
        plan(&Snapshot::builder(observed, *now).check().unwrap()).status.unwrap().number_ready
    };
    assert_eq!(ready(pod().ready_since(None).not_ready_since(None)), 0);
    assert_eq!(ready(pod().not_ready_since(None).ready_since(None)), 1);
}

#[test]
fn a_view_of_a_node_answers_with_its_name_and_labels() {
    let labels = Labels::from_iter([("zone", "a")]);
    let view = NodeView::new("node-1").labels(&labels);
    assert_eq!((view.name(), view.label("zone"), view.label("pool")), ("node-1", Some("a"), None));
}

#[test]
fn a_true_condition_of_a_state_shows_that_state() {
    let state = |view: NodeView<'_>| view.lifecycle.map(|lifecycle| lifecycle.state);
    let with = |kind: &str| -> Node {
        let conditions = json!([{"type": kind, "status": "True"}]);
        serde_json::from_value(json!({"metadata": {"name": "a"}, "status": {"conditions": conditions}}))
            .unwrap()
    };
    for (kind, expected) in [
        ("GracefulNodeShutdownInProgress", Some(Lifecycle::GracefulNodeShutdownInProgress)),
        ("DrainInProgress", Some(Lifecycle::DrainInProgress)),
        ("Drained", Some(Lifecycle::Drained)),
        ("MaintenanceInProgress", Some(Lifecycle::MaintenanceInProgress)),
        ("Ready", None),
    ] {
        assert_eq!(state(NodeView::from(&with(kind))), expected, "{kind}");
        let set = expected.map(|state| NodeView::new("a").lifecycle_since(state, None));
        assert_eq!(set.and_then(state), expected, "{kind}");
    }
}
