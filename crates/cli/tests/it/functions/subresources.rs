//! The proposal's subresources.

use super::support::{image, template, three, web};
use kubectl_daemonset::kubectl::{History, RollbackRequest, Undo, history, rollback};
use serde_json::{Value, json};

fn request(value: Value) -> RollbackRequest {
    serde_json::from_value(value).unwrap()
}

#[test]
fn a_history_goes_through_json() {
    let (daemon_set, mut revisions) = three();
    revisions.truncate(2);
    revisions[1]["metadata"]["annotations"] = json!({"kubernetes.io/change-cause": "to v2"});
    revisions[1]["metadata"]["creationTimestamp"] = json!("2026-01-01T00:00:00Z");
    let summary = history(&daemon_set, &revisions).unwrap();
    insta::assert_json_snapshot!(summary, @r#"
    {
      "name": "web",
      "revisions": [
        {
          "revision": 1,
          "name": "web-1"
        },
        {
          "revision": 2,
          "name": "web-2",
          "changeCause": "to v2",
          "creationTimestamp": "2026-01-01T00:00:00Z"
        }
      ]
    }
    "#);
    let back: History = serde_json::from_value(json!(summary)).unwrap();
    assert_eq!(back, summary);
}

#[test]
fn a_request_goes_through_json() {
    let full = json!({
        "name": "web", "updatedAnnotations": {"a": "1"}, "rollbackTo": {"revision": 2},
    });
    assert_eq!(json!(request(full.clone())), full);
    let last = request(json!({"kind": "DaemonSetRollback", "name": "web", "rollbackTo": {}}));
    assert_eq!((last.rollback_to.revision, last.updated_annotations.len()), (0, 0));
    assert_eq!(json!(last), json!({"name": "web", "rollbackTo": {}}));
}

#[test]
fn a_rollback_is_an_undo_with_annotations() {
    let (daemon_set, revisions) = three();
    let asked = request(json!({
        "name": "web", "updatedAnnotations": {"why": "broken"}, "rollbackTo": {"revision": 1},
    }));
    let Undo::RolledBack(change) = rollback(&daemon_set, &revisions, &asked).unwrap() else { panic!() };
    assert_eq!(image(&change.after), "v1");
    assert_eq!(change.after["metadata"]["annotations"]["why"], "broken");
    assert_eq!(change.after["metadata"]["generation"], 6, "one change");
    let mut patch = revisions[0]["data"].clone();
    patch["metadata"] = json!({"annotations": {"why": "broken"}});
    assert_eq!(change.patches.strategic_merge, patch);
    assert_eq!(change.patches.json[1]["path"], "/metadata/annotations");
}

#[test]
fn a_rollback_without_annotations_is_an_undo() {
    let (_, revisions) = three();
    let daemon_set = web(template("v2"));
    let asked = request(json!({"name": "web", "rollbackTo": {}}));
    assert!(matches!(rollback(&daemon_set, &revisions, &asked), Ok(Undo::Skipped { to: 0, .. })));
    let annotated = request(json!({"name": "web", "updatedAnnotations": {"a": "b"}, "rollbackTo": {}}));
    let Undo::RolledBack(change) = rollback(&daemon_set, &revisions, &annotated).unwrap() else { panic!() };
    assert_eq!(change.patches.strategic_merge, json!({"metadata": {"annotations": {"a": "b"}}}));
    assert_eq!(change.after["metadata"]["generation"], 5);
}

#[test]
fn a_request_for_another_daemon_set_is_refused() {
    let (daemon_set, revisions) = three();
    let printed = rollback(&daemon_set, &revisions, &request(json!({"name": "db", "rollbackTo": {}})));
    assert_eq!(printed.unwrap_err().to_string(), "the rollback is for DaemonSet db, not web");
}
