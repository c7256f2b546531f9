//! Nodes on which pods may be created, and the manifests of created pods.

use super::{broken, create, create_in, create_of};
use crate::support::{PodStory, given, new, node, old, revision, rolling, surging};
use daemonset::Action;
use daemonset_audit::ViolationKind as Kind;
use serde_json::json;

#[test]
fn a_pod_is_created_once_and_only_on_a_target_node_that_has_room() {
    let given = given(rolling(1))
        .node(node("a"))
        .node(node("b").taint("x", "NoSchedule"))
        .node(node("c").has(new()))
        .node(node("d").has(old().terminating(30)))
        .node(node("e").has(old().terminating(30).failed()));
    assert_eq!(broken(&given, &[create("a"), create_in(1, "e")]), []);
    assert_eq!(broken(&given, &[create("b")]), [Kind::NotTargetNode]);
    assert_eq!(broken(&given, &[create("gone")]), [Kind::NotTargetNode]);
    assert_eq!(broken(&given, &[create("a"), create_in(1, "a")]), [Kind::SecondCreate]);
    assert_eq!(broken(&given, &[create("c")]), [Kind::NodeOccupied { pods: 1 }]);
    assert_eq!(broken(&given, &[create("d")]), [Kind::NodeOccupied { pods: 1 }]);
    let given = given
        .node(node("f").has(new().failed()))
        .node(node("g").has(old().terminating(30)).has(new().failed()));
    assert_eq!(broken(&given, &[create("f")]), [Kind::NodeOccupied { pods: 1 }]);
    assert_eq!(broken(&given, &[create("g")]), [Kind::NodeOccupied { pods: 2 }]);
    let found = Kind::WrongBatch { expected: 0, found: 3 };
    assert_eq!(broken(&given, &[create_in(3, "a")]), [found]);
}

#[test]
fn a_surge_pod_tolerates_only_the_outdated_pod_beside_it() {
    let occupied = |one: PodStory, other: Option<PodStory>| {
        broken(&given(surging(5)).node(node("a").has(one).has_all(other)), &[create("a")])
    };
    assert_eq!(occupied(old(), None), []);
    assert_eq!(occupied(old(), Some(old().failed())), []);
    assert_eq!(occupied(new(), None), [Kind::NodeOccupied { pods: 1 }]);
    assert_eq!(occupied(old().not_ready(), None), [Kind::NodeOccupied { pods: 1 }]);
    assert_eq!(occupied(old(), Some(new().not_ready())), [Kind::NodeOccupied { pods: 2 }]);
    assert_eq!(occupied(old(), Some(old().terminating(30))), [Kind::NodeOccupied { pods: 2 }]);
}

#[test]
fn a_manifest_belongs_to_its_node_and_to_the_current_revision() {
    let fleet = given(rolling(1)).node(node("a")).node(node("b"));
    let mut retargeted = create("a");
    if let Action::CreatePod { node, .. } = &mut retargeted {
        *node = "b".into();
    }
    assert_eq!(broken(&fleet, &[retargeted]), [Kind::WrongManifest { field: "spec.affinity" }]);
    let changed =
        |pointer: &str, value: serde_json::Value| broken(&fleet.clone().with(pointer, value), &[create("a")]);
    let wrong = |field| [Kind::WrongManifest { field }];
    let hash = json!({"app": "agent", "controller-revision-hash": "newer"});
    assert_eq!(changed("/revisions/1/metadata/labels", hash), wrong("metadata.labels: hash"));
    let generation = changed("/daemonSet/spec/templateGeneration", json!(7));
    assert_eq!(generation, wrong("metadata.labels: pod-template-generation"));
    let seventh = fleet.clone().with("/daemonSet/spec/templateGeneration", json!(7));
    let both = [create_of(&seventh, 0), create_in(1, "b")];
    assert_eq!(
        broken(&seventh, &both),
        wrong("metadata.labels: pod-template-generation"),
        "each is looked at"
    );
    let mut ours = revision("new", 2);
    ours["metadata"]["ownerReferences"][0]["uid"] = json!("uid-2");
    let other = fleet.clone().with("/daemonSet/metadata/uid", json!("uid-2")).revisions([ours]);
    assert_eq!(broken(&other, &[create("a")]), wrong("metadata.ownerReferences"));
    let mut elsewhere = revision("new", 2);
    elsewhere["metadata"]["namespace"] = json!("elsewhere");
    let moved = fleet.clone().with("/daemonSet/metadata/namespace", json!("elsewhere"));
    assert_eq!(broken(&moved.revisions([elsewhere]), &[create("a")]), wrong("metadata.namespace"));
    let labels = json!({"app": "agent", "tier": "node"});
    let mut tiered = revision("new", 2);
    tiered["metadata"]["labels"]["tier"] = json!("node");
    tiered["data"]["spec"]["template"]["metadata"]["labels"] = labels.clone();
    let selecting = fleet
        .with("/daemonSet/spec/template/metadata/labels", labels.clone())
        .with("/daemonSet/spec/selector/matchLabels", labels)
        .revisions([tiered]);
    assert_eq!(broken(&selecting, &[create("a")]), wrong("metadata.labels: selector"));
}

/// A list that creates a pod on node a under this name, where the policy names pods.
fn named_by(policy: &str, name: Option<&str>, others: &[&str]) -> Vec<Kind> {
    let mut fleet = given(rolling(1)).node(node("a")).policy(json!({"podNames": policy}));
    let create = create_of(&fleet, 0);
    let Action::CreatePod { node, reason, pod, .. } = create else { panic!("a create") };
    let mut manifest = pod.to_value();
    let own = manifest["metadata"]["name"].as_str().unwrap().to_owned();
    manifest["metadata"]["name"] = json!(name.unwrap_or(&own));
    for other in others {
        let name = other.replace("OWN", &own);
        fleet = fleet.stray("gone", old().named(&name).owned_by("uid-other"));
    }
    let pod = serde_json::from_value(manifest).unwrap();
    broken(&fleet, &[Action::create_pod(node, 0, reason, pod)])
}

#[test]
fn a_pod_has_the_name_of_the_policy_which_no_other_pod_has() {
    let wrong = [Kind::WrongManifest { field: "metadata.name" }];
    for policy in ["OnePerNode", "Deterministic"] {
        assert_eq!(named_by(policy, None, &["agent-x"]), [], "{policy}");
        assert_eq!(named_by(policy, Some("agent-x"), &[]), wrong, "{policy}: a name of somebody's choice");
        assert_eq!(named_by(policy, None, &["OWN"]), wrong, "{policy}: another pod has the name");
    }
}
