//! Nodes that lose their pod at once when the new template is applied.

use super::{Beside, calm, calm_without_nodes, found_beside, line, pod_field};
use crate::support::{Given, new, node, on_delete, pod, surging};
use daemonset_view::lint::{Finding, Rule};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// The stored DaemonSet, which the DaemonSet of `given` replaces.
fn after(stored: &Given, given: &Given) -> Vec<Finding> {
    let stored = Some(stored.recording().daemon_set);
    found_beside(given, &Beside { stored, ..Beside::default() })
}

fn lines(findings: &[Finding]) -> String {
    findings.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn nodes(finding: &Finding) -> Vec<&str> {
    finding.nodes.iter().map(|node| node.as_str()).collect()
}

#[test]
fn a_narrowed_selection_is_found() {
    let stored = calm_without_nodes()
        .node(node("a").label("disk", "ssd").has(new()))
        .nodes(["b", "c"], new())
        .node(node("d"));
    let narrow = |given: Given| pod_field(given, "nodeSelector", json!({"disk": "ssd"}));
    let findings = after(&stored, &narrow(stored.clone()));
    assert_snapshot!(lines(&findings), @"Error SelectionNarrowed spec.template.spec.nodeSelector: 2 of 4 target nodes lose their pods at once, whatever maxUnavailable is: b, c.");
    assert_eq!(nodes(&findings[0]), ["b", "c"], "d has no pod to lose");
    // Where a policy steers they are held until the others have it; another controller knows no waves.
    let steered = narrow(stored.clone()).policy(json!({"rollout": {"waves": [{"upTo": 1}, {}]}}));
    let found = lines(&after(&stored, &steered));
    assert!(
        found.contains("Warning SelectionNarrowed") && found.contains("together, once the rollout"),
        "{found}"
    );
    let plan = steered.plan();
    let deletes = plan.actions.iter().filter(|action| action.kind() == "DeletePod").count();
    assert_eq!(deletes, 0, "{:?}", plan.actions);
    assert_eq!(
        after(&narrow(stored.clone()), &narrow(stored.clone())),
        [],
        "the stored selection was as narrow"
    );
    assert_eq!(after(&narrow(stored.clone()), &stored), [], "the selection is widened");
    let term = json!({"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["b"]}]}]});
    let affinity = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": term}});
    let findings = after(&stored, &pod_field(stored.clone(), "affinity", affinity));
    assert_eq!(
        (findings[0].path.as_str(), nodes(&findings[0])),
        ("spec.template.spec.affinity.nodeAffinity", vec!["b"])
    );
    let findings = after(&stored, &pod_field(stored.clone(), "nodeName", json!("a")));
    assert_eq!(
        (findings[0].path.as_str(), nodes(&findings[0])),
        ("spec.template.spec.nodeName", vec!["b", "c"])
    );
}

fn tolerates(value: Value) -> Value {
    json!([{"key": "dedicated", "operator": "Exists", "effect": value}])
}

#[test]
fn withdrawn_tolerations_are_found() {
    for effect in ["NoSchedule", "NoExecute"] {
        let tolerant = |name: &str| node(name).taint("dedicated", effect).has(new().tolerates("dedicated"));
        let bare = calm().node(tolerant("y")).node(tolerant("z"));
        let stored = pod_field(bare.clone(), "tolerations", tolerates(json!(effect)));
        let findings = after(&stored, &bare);
        insta::allow_duplicates!(
            assert_snapshot!(lines(&findings), @"Error TolerationsWithdrawn spec.template.spec.tolerations: 2 of 5 target nodes lose their pods at once, whatever maxUnavailable is: y, z.")
        );
        assert_eq!(nodes(&findings[0]), ["y", "z"]);
        assert_eq!(after(&stored, &stored), []);
        let by_hand = bare.clone().with("/daemonSet/spec/updateStrategy", on_delete());
        // Kubernetes' own controller keeps them then, and a driver deletes for an update only.
        let driven = by_hand.clone().policy(json!({"drive": {"type": "RollingUpdate"}}));
        let expected = if effect == "NoSchedule" { 0 } else { 1 };
        assert_eq!(after(&stored, &by_hand).len(), expected, "{effect}: OnDelete keeps pods that may stay");
        assert_eq!(after(&stored, &driven).len(), expected, "{effect}: a driven update keeps them, too");
    }
}

/// The findings agree with the plan.
#[test]
fn the_plan_deletes_the_pods_of_the_findings() {
    let stored = pod_field(calm(), "tolerations", tolerates(json!("NoSchedule")))
        .node(node("y").taint("dedicated", "NoSchedule").has(pod("old").tolerates("dedicated")))
        .node(node("z").label("os", "windows").has(pod("old")));
    let manifest = pod_field(
        pod_field(stored.clone(), "tolerations", json!([])),
        "affinity",
        json!({"nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [
                {"key": "os", "operator": "DoesNotExist"}
            ]}]}
        }}),
    );
    let found: Vec<String> =
        after(&stored, &manifest).iter().flat_map(nodes).map(|node| format!("delete {node}-1")).collect();
    let steps = manifest.steps();
    let at_once =
        steps.iter().filter(|step| step.contains("NodeExcluded") || step.contains("TolerationWithdrawn"));
    let mut deleted: Vec<&str> =
        at_once.filter_map(|step| step.split_once(':')).map(|(step, _)| step).collect();
    deleted.sort_by_key(|step| !step.contains('z'));
    assert_eq!(found, deleted);
}

#[test]
fn target_nodes_are_found_without_pods() {
    let stored = calm_without_nodes().node(node("a").label("disk", "ssd")).node(node("b"));
    let findings = after(&stored, &pod_field(stored.clone(), "nodeSelector", json!({"disk": "ssd"})));
    assert_eq!(nodes(&findings[0]), ["b"]);
}

/// The new policy may not go with the DaemonSet that the pods are of.
#[test]
fn a_narrowed_selection_is_found_whatever_the_policy_is() {
    let calm = calm();
    let surge = calm.clone().with("/daemonSet/spec/updateStrategy", surging(1));
    let slow = calm.clone().with("/daemonSet/spec/minReadySeconds", json!(600));
    let narrow =
        |policy: Value| pod_field(calm.clone(), "nodeSelector", json!({"disk": "ssd"})).policy(policy);
    let loses = |stored: &Given, policy: Value| {
        after(stored, &narrow(policy)).iter().any(|finding| finding.rule == Rule::SelectionNarrowed)
    };
    assert!(loses(&surge, json!({"turn": {"cordon": true}})));
    assert!(loses(&surge, json!({"podNames": "OnePerNode"})));
    assert!(loses(&slow, json!({"rollout": {"onFailure": {"availableWithinSeconds": 300}}})));
}
