//! The pods that the selector matches.

use super::{Beside, calm, found_beside, line, says, text};
use crate::support::{Given, new, node, old};
use insta::assert_snapshot;
use serde_json::{Value, json};

fn beside(other: &Given) -> Vec<String> {
    let others = vec![other.recording().daemon_set];
    let findings = found_beside(&calm(), &Beside { others, ..Beside::default() });
    findings.iter().map(line).collect()
}

fn named(name: &str, selector: Value, labels: Value) -> Given {
    calm()
        .with("/daemonSet/metadata/name", json!(name))
        .with("/daemonSet/metadata/uid", json!(format!("uid-{name}")))
        .with("/daemonSet/spec/selector", json!({"matchLabels": selector}))
        .with("/daemonSet/spec/template/metadata/labels", labels)
}

#[test]
fn a_selector_that_overlaps_with_another_daemon_sets_is_found() {
    let both = (json!({"app": "agent"}), json!({"app": "agent", "tier": "node"}));
    assert_snapshot!(beside(&named("other", both.0.clone(), both.1.clone())).join("\n"), @"Warning SelectorOverlaps spec.selector: It chooses the pods of DaemonSet other, whose selector chooses the pods of this one: pods without a controller go to whichever of them is first.");
    let theirs = beside(&named("other", json!({"tier": "node"}), both.1.clone()));
    assert_snapshot!(theirs.join("\n"), @"Warning SelectorOverlaps spec.selector: It chooses the pods of DaemonSet other: pods without a controller go to whichever of them is first.");
    let disjoint = named("other", json!({"app": "other"}), json!({"app": "other"}));
    assert_eq!(beside(&disjoint), [""; 0]);
    let elsewhere =
        named("other", both.0.clone(), both.1.clone()).with("/daemonSet/metadata/namespace", json!("far"));
    assert_eq!(beside(&elsewhere), [""; 0]);
    assert_eq!(beside(&calm()), [""; 0], "itself");
    let everything = named("other", json!({}), json!({"app": "other"}));
    assert_eq!(beside(&everything), [""; 0], "an empty selector has no effect");
}

#[test]
fn an_empty_selector_is_found() {
    assert_snapshot!(text(&calm().with("/daemonSet/spec/selector", json!({}))), @"Error SelectsEverything spec.selector: It is empty and would choose every pod of the namespace: the controller does nothing but warn.");
}

#[test]
fn adopted_pods_are_found() {
    let orphans = calm().node(node("y").has(old().orphan())).node(node("z").has(new().orphan()));
    assert_snapshot!(text(&orphans), @"Advice AdoptsPods spec.selector: It adopts 2 pods that nobody controls (1 outdated): y-1, z-1.");
    let by_hand = calm().node(node("z").has(new().orphan().without_hash()));
    assert!(says(&by_hand)[0].starts_with("Warning AdoptsPods"), "{:?}", says(&by_hand));
    let others = calm().node(node("z").has(new()).has(old().orphan().label("app", "other")));
    assert_eq!(says(&others), [""; 0]);
}

#[test]
fn a_repeated_generation_hides_the_other_template() {
    let orphaned = calm().generation(1).node(node("z").has(old().orphan().generation("1")));
    assert_snapshot!(text(&orphaned), @"
    Error StaleGeneration metadata.annotations[deprecated.daemonset.template.generation]: 1 pod carries generation 1 and the hash of another template: by the generation alone no update ever reaches such a pod.
    Advice AdoptsPods spec.selector: It adopts 1 pod that nobody controls: z-1.
    ");
    let higher = orphaned.clone().generation(2);
    assert!(!says(&higher).iter().any(|line| line.contains("StaleGeneration")));
    let by_hash = orphaned.policy(json!({"classification": "HashFirst"}));
    assert!(!says(&by_hash).iter().any(|line| line.contains("StaleGeneration")));
}
