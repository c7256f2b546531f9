//! Classification of pods as updated or outdated, with the evidence.

use crate::support::{Given, PodStory, given, new, node, old, on_delete, pod};
use daemonset::report::Evidence;
use serde_json::json;

fn evidence(given: Given, pod: PodStory) -> Evidence {
    let plan = given.node(node("a").has(pod)).plan();
    let pod = &plan.report.nodes[0].pods[0];
    assert_eq!(pod.updated, pod.evidence.is_updated());
    pod.evidence
}

fn at_generation() -> Given {
    given(on_delete()).generation(3)
}

#[test]
fn a_pod_of_an_equal_generation_is_updated_with_any_hash() {
    assert_eq!(evidence(at_generation(), old().generation("3")), Evidence::TemplateGeneration);
    assert_eq!(evidence(at_generation(), pod("unknown").generation("3")), Evidence::TemplateGeneration);
}

#[test]
fn the_hash_decides_without_an_equal_generation() {
    assert_eq!(evidence(at_generation(), new().generation("2")), Evidence::CurrentRevision);
    assert_eq!(evidence(at_generation(), old().generation("2")), Evidence::OldRevision);
    assert_eq!(evidence(at_generation(), pod("unknown")), Evidence::UnknownRevision);
    assert_eq!(evidence(at_generation(), new().without_hash()), Evidence::NoHash);
}

#[test]
fn a_generation_that_does_not_parse_never_matches() {
    for junk in ["junk", "", "3.0", "99999999999999999999"] {
        assert_eq!(evidence(at_generation(), old().generation(junk)), Evidence::OldRevision);
        let annotations = json!({"deprecated.daemonset.template.generation": junk});
        let given = given(on_delete()).with("/daemonSet/metadata/annotations", annotations);
        assert_eq!(evidence(given, old().generation(junk)), Evidence::OldRevision);
    }
}

#[test]
fn the_old_field_holds_the_generation_where_there_is_no_annotation() {
    let field = given(on_delete()).with("/daemonSet/spec/templateGeneration", json!(5));
    assert_eq!(evidence(field.clone(), old().generation("5")), Evidence::TemplateGeneration);
    assert_eq!(evidence(field.generation(6), old().generation("5")), Evidence::OldRevision);
}

#[test]
fn hash_first_uses_the_generation_only_without_a_hash() {
    let hash_first = || at_generation().policy(json!({"classification": "HashFirst"}));
    assert_eq!(evidence(hash_first(), old().generation("3")), Evidence::OldRevision);
    assert_eq!(evidence(hash_first(), new().generation("2")), Evidence::CurrentRevision);
    assert_eq!(evidence(hash_first(), old().without_hash().generation("3")), Evidence::TemplateGeneration);
    assert_eq!(evidence(hash_first(), old().without_hash().generation("2")), Evidence::NoHash);
}

#[test]
fn a_missing_hash_label_is_added_to_a_live_pod_that_its_generation_proves() {
    let steps = |pod| at_generation().node(node("a").has(pod)).steps();
    let label = r#"label a-1 {"controller-revision-hash": "new"}: HashMissing"#;
    assert_eq!(steps(new().without_hash().generation("3")), [label]);
    assert_eq!(steps(new().without_hash().generation("3").terminating(30)), [""; 0]);
    assert_eq!(steps(new().without_hash().generation("2")), [""; 0]);
    assert_eq!(steps(old().generation("3")), [""; 0]);
}

#[test]
fn generation_and_hash_that_disagree_are_reported() {
    let conflict = at_generation().node(node("a").has(old().generation("3"))).plan();
    assert_eq!(json!(conflict.warnings), json!([{"type": "GenerationHashConflict", "pods": 1}]));
    let unknown = at_generation().node(node("a").has(pod("unknown").generation("3"))).plan();
    assert_eq!(unknown.warnings, []);
}

#[test]
fn the_label_key_can_be_the_one_of_the_proposal() {
    let proposal = given(on_delete()).policy(json!({"uniqueLabelKey": "daemonset-controller-hash"}));
    let mut revision = crate::support::revision("new", 2);
    revision["metadata"]["labels"] = json!({"app": "agent", "daemonset-controller-hash": "n"});
    let labelled = new().without_hash().label("daemonset-controller-hash", "n");
    assert_eq!(evidence(proposal.revisions([revision]), labelled), Evidence::CurrentRevision);
}
