//! A DaemonSet is deleted, its pods stay as orphans, and a new DaemonSet adopts them.

use crate::support::{Given, given, node, old, pod, revision, rolling, template};
use serde_json::json;

/// The DaemonSet is new: it has a new uid, and the pods and revisions of its predecessor are orphans.
fn created_again(version: &str) -> Given {
    let mut orphaned = revision("old", 1);
    orphaned["metadata"]["ownerReferences"] = json!([]);
    given(rolling(1))
        .nodes(["a", "b", "c"], old().orphan().generation("1"))
        .revisions([orphaned])
        .with("/daemonSet/metadata/uid", json!("uid-agent-2"))
        .with("/daemonSet/metadata/generation", json!(1))
        .with("/daemonSet/spec/template", template(version))
}

#[test]
fn with_the_same_template_no_pod_restarts() {
    for generation in [1, 2] {
        assert_eq!(
            created_again("old").generation(generation).steps(),
            [
                "adopt a-1: SelectorMatches",
                "adopt b-1: SelectorMatches",
                "adopt c-1: SelectorMatches",
                "adopt agent-old: SelectorMatches",
            ]
        );
    }
}

#[test]
fn with_another_template_pods_are_replaced_within_the_budget() {
    for given in [
        created_again("new").generation(2),
        created_again("new").generation(1).policy(json!({"classification": "HashFirst"})),
    ] {
        let steps = given.steps();
        assert_eq!(
            steps[..4],
            [
                "adopt a-1: SelectorMatches",
                "adopt b-1: SelectorMatches",
                "adopt c-1: SelectorMatches",
                "adopt agent-old: SelectorMatches",
            ]
        );
        assert!(steps[4].starts_with("create revision"), "{steps:?}");
        assert_eq!(steps[5..], ["delete a-1: OutdatedAvailable"], "maxUnavailable 1");
    }
}

/// As in v1.36: both have generation 1, so that the pods count as updated. The linter reports it.
#[test]
fn a_repeated_generation_hides_the_other_template() {
    let steps = created_again("new").generation(1).steps();
    assert!(!steps.iter().any(|step| step.starts_with("delete")), "{steps:?}");
}

#[test]
fn pods_of_another_owner_are_left_alone() {
    let given = given(rolling(1)).node(node("a").has(pod("old").owned_by("uid-agent-before")));
    assert_eq!(given.steps(), ["create on a in batch 0: MissingPod"]);
}
