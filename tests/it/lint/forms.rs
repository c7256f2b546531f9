//! The order, the text and the JSON form of findings.

use super::{calm, found, pod_field, says};
use crate::support::{at, revision, rolling};
use daemonset::model::DaemonSet;
use daemonset_view::lint::{Preflight, Severity, lint};
use insta::assert_snapshot;
use serde_json::{json, to_value};

#[test]
fn a_good_manifest_has_no_findings() {
    assert_eq!(says(&calm()), [""; 0]);
}

#[test]
fn findings_are_ordered_by_severity_then_path() {
    let given = calm().min_ready(0).with("/daemonSet/spec/revisionHistoryLimit", json!(0));
    let given = given.with("/daemonSet/spec/updateStrategy", rolling("99%"));
    let given = pod_field(given, "priorityClassName", json!(null));
    let given = pod_field(given, "containers/0/image", json!("agent"));
    let severities: Vec<(Severity, String)> =
        found(&given).into_iter().map(|f| (f.severity, f.path)).collect();
    assert!(severities.is_sorted() && severities.len() == 5, "{severities:#?}");
}

#[test]
fn a_finding_prints_as_one_line_with_its_remedy() {
    let given = calm().with("/daemonSet/spec/revisionHistoryLimit", json!(0));
    let [finding] = &found(&given)[..] else { panic!("one finding") };
    assert_snapshot!(finding.to_string(), @"Warning spec.revisionHistoryLimit: It is 0: once an update is through there is no revision left to undo it by. Keep one at least; the default is 10. (HistoryLimitZero)");
    assert_eq!(
        to_value(finding).unwrap(),
        json!({"severity": "Warning", "path": "spec.revisionHistoryLimit", "rule": "HistoryLimitZero",
            "why": finding.why, "remedy": finding.remedy})
    );
}

#[test]
fn a_manifest_alone_is_enough() {
    let manifest: DaemonSet = serde_json::from_value(json!({
        "metadata": {"name": "web"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"image": "web"}]}},
        },
    }))
    .unwrap();
    let rules: Vec<String> =
        lint(&Preflight::new(&manifest, at(0))).iter().map(|f| f.rule.to_string()).collect();
    assert_eq!(rules, ["LatestTag", "StrategyMissing", "NoPriorityClass"], "no finding is about nodes");
}

#[test]
fn invalid_input_is_found_with_its_field() {
    let given = calm().with("/daemonSet/spec/updateStrategy/type", json!("Rolling"));
    let given = given.with("/daemonSet/spec/template/metadata/labels", json!({"app": "other"}));
    assert_snapshot!(says(&given).join("\n"), @r#"
    Error Invalid spec.template.metadata.labels: It is refused: Invalid value: {"app": "other"}: must match spec.selector, or each created pod would be released at once.
    Error Invalid spec.updateStrategy.type: It is refused: Invalid value: "Rolling": must be OnDelete, RollingUpdate or SurgingRollingUpdate.
    "#);
}

#[test]
fn the_rules_accept_any_content_of_the_template() {
    for template in
        [json!(null), json!([]), json!("x"), json!({"spec": []}), json!({"spec": {"containers": {}}})]
    {
        let given = calm().with("/daemonSet/spec/template", template.clone());
        assert!(found(&given).iter().any(|f| f.severity == Severity::Error), "{template}");
    }
    for (field, value) in [
        (
            "containers",
            json!([null, 7, {"ports": {"a": 1}, "resources": [], "volumeMounts": "x", "image": 5}]),
        ),
        ("volumes", json!([{"hostPath": 5}, null])),
        (
            "affinity",
            json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [5, {"labelSelector": 5}]}}),
        ),
        ("resourceClaims", json!({"a": 1})),
        ("terminationGracePeriodSeconds", json!("long")),
    ] {
        let surging = json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}});
        let _ = found(&pod_field(calm().with("/daemonSet/spec/updateStrategy", surging), field, value));
    }
}

#[test]
fn a_name_collision_does_not_hide_findings() {
    let given = pod_field(calm(), "containers/0/image", json!("agent:3")).min_ready(0);
    let name = given.plan().report.current_revision.unwrap().name;
    let mut taken = revision("foreign", 1);
    taken["metadata"]["name"] = json!(name);
    taken["metadata"]["ownerReferences"] = json!([{"uid": "other", "controller": true}]);
    let given = given.revisions([revision("old", 1), taken]);
    assert_eq!(given.plan().report.situation, daemonset::report::Situation::NameCollision);
    assert!(says(&given).iter().any(|line| line.contains("MinReadyZero")), "{:?}", says(&given));
}

#[test]
fn a_daemon_set_that_is_being_deleted_has_no_findings_about_nodes() {
    let given = calm().min_ready(0).with("/daemonSet/metadata/deletionTimestamp", json!(at(0).to_string()));
    assert_eq!(says(&given), [""; 0]);
}

#[test]
fn the_order_of_the_lists_changes_nothing() {
    let given = calm().with("/daemonSet/spec/updateStrategy", rolling("99%"));
    let mut reversed = given.clone();
    for list in ["nodes", "pods", "revisions"] {
        reversed.json[list].as_array_mut().unwrap().reverse();
    }
    assert_eq!(found(&given), found(&reversed));
}
