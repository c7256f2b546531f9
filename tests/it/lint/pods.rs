//! Images, grace periods, priority classes.

use super::{Beside, calm, found_beside, line, pod_field, says, text};
use crate::support::surging;
use insta::assert_snapshot;
use serde_json::json;

#[test]
fn an_image_with_the_latest_tag_is_found() {
    let image = |image: &str| pod_field(calm(), "containers/0/image", json!(image));
    assert_snapshot!(text(&image("agent:latest")), @"Warning LatestTag spec.template.spec.containers[0].image: agent:latest may be another version on each node and after each restart, and an undo brings none of them back.");
    for latest in ["agent", "example.com/a/agent", "example.com:5000/agent", "example.com:5000/agent:latest"]
    {
        assert_eq!(says(&image(latest)).len(), 1, "{latest}");
    }
    for fixed in ["agent:1", "example.com:5000/agent:v1", "agent@sha256:0", "agent:latest@sha256:0", ""] {
        assert_eq!(says(&image(fixed)), [""; 0], "{fixed}");
    }
    let init = pod_field(calm(), "initContainers", json!([{"name": "i", "image": "init"}]));
    assert!(says(&init)[0].contains("spec.template.spec.initContainers[0].image"));
}

#[test]
fn a_grace_period_of_zero_is_found() {
    assert_snapshot!(text(&pod_field(calm(), "terminationGracePeriodSeconds", json!(0))), @"Warning GracePeriodZero spec.template.spec.terminationGracePeriodSeconds: It is 0: a deleted pod is gone for the API server while its containers still run, and its successor starts beside them.");
    assert_eq!(says(&pod_field(calm(), "terminationGracePeriodSeconds", json!(1))), [""; 0]);
}

#[test]
fn a_long_grace_period_is_found() {
    let long = |given| pod_field(given, "terminationGracePeriodSeconds", json!(3600));
    assert_snapshot!(text(&long(calm())), @"Warning GracePeriodLong spec.template.spec.terminationGracePeriodSeconds: A node may be without a pod for 60 minutes, and an update of 3 target nodes may take 3 hours.");
    assert_snapshot!(text(&long(calm().with("/daemonSet/spec/updateStrategy", surging(1)))), @"Warning GracePeriodLong spec.template.spec.terminationGracePeriodSeconds: A node may have two pods and hold a place in maxSurge for 60 minutes, and an update of 3 target nodes may take 3 hours.");
    assert_eq!(says(&pod_field(calm(), "terminationGracePeriodSeconds", json!(600))), [""; 0]);
}

#[test]
fn missing_and_unknown_priority_classes_are_found() {
    let with = |name: &str, known: &[&'static str]| {
        let given = pod_field(calm(), "priorityClassName", json!(name));
        let priority_classes = Some(known.to_vec());
        let findings = found_beside(&given, &Beside { priority_classes, ..Beside::default() });
        findings.iter().map(line).collect::<Vec<_>>()
    };
    assert_snapshot!(with("agents", &["workers"]).join("\n"), @"Error PriorityClassMissing spec.template.spec.priorityClassName: There is no PriorityClass agents: the API server refuses every pod that names it.");
    assert_eq!(with("agents", &["agents"]), [""; 0]);
    assert_eq!(with("system-cluster-critical", &[]), [""; 0], "every API server has the class");
    assert_eq!(
        says(&pod_field(calm(), "priorityClassName", json!("agents"))),
        [""; 0],
        "unknown which there are"
    );
    assert_snapshot!(with("", &[]).join("\n"), @"Advice NoPriorityClass spec.template.spec.priorityClassName: None is named: unless the cluster has a default class, the pod waits on a full node, and is evicted under pressure, like any other.");
}
