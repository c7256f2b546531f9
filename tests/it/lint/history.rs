//! The revision history.

use super::{calm, pod_field, says, text};
use crate::support::{node, pod};
use insta::assert_snapshot;
use serde_json::json;

#[test]
fn a_history_limit_of_zero_is_found() {
    assert_snapshot!(text(&calm().with("/daemonSet/spec/revisionHistoryLimit", json!(0))), @"Warning HistoryLimitZero spec.revisionHistoryLimit: It is 0: once an update is through there is no revision left to undo it by.");
    assert_eq!(says(&calm().with("/daemonSet/spec/revisionHistoryLimit", json!(1))), [""; 0]);
}

#[test]
fn a_directive_in_the_template_is_found() {
    let on_top = calm().with("/daemonSet/spec/template/$patch", json!("replace"));
    assert_snapshot!(text(&on_top), @"Error NeverEqualsItsRevision spec.template.$patch: A revision is a patch, and would read this as a directive: no template restored from it is equal to this one.");
    for key in ["$patch", "$retainKeys", "$setElementOrder/env", "$deleteFromPrimitiveList/args"] {
        let container =
            json!({"name": "c", "image": "agent:2", "readinessProbe": {"exec": {}}, key: "delete"});
        let findings = says(&pod_field(calm(), "containers", json!([container])));
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(
            findings[0].starts_with(&format!(
                "Error NeverEqualsItsRevision spec.template.spec.containers[0].{key}:"
            ))
        );
    }
    assert_eq!(says(&pod_field(calm(), "containers/0/$patch", json!(null))), [""; 0], "absent");
    assert_eq!(says(&pod_field(calm(), "containers/0/$other", json!(1))), [""; 0], "no directive");
}

#[test]
fn pods_whose_revision_is_gone_are_found() {
    let lost = calm().node(node("z").has(pod("gone")));
    assert_snapshot!(text(&lost), @"Warning RevisionsLost spec.template: 1 pod carries the hash of a revision that is not there, and counts as outdated whatever the template is: z-1.");
    assert_eq!(says(&calm().node(node("z").has(pod("old")))), [""; 0], "outdated, as in any rollout");
    assert_eq!(says(&lost.revisions([])), [""; 0], "the preflight has no revisions");
}
