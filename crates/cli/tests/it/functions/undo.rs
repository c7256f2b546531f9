//! Undo.

use super::support::{image, stored, template, three, web, with};
use kubectl_daemonset::kubectl::{Change, DryRun, RolloutError, Undo, undo};
use serde_json::{Value, json};

fn change(daemon_set: &Value, revisions: &[Value], to: i64) -> Change {
    match undo(daemon_set, revisions, Some(to), DryRun::None).unwrap() {
        Undo::RolledBack(change) => *change,
        other => panic!("{other:?}"),
    }
}

#[test]
fn without_a_number_it_goes_to_the_one_before_the_last() {
    let (daemon_set, mut revisions) = three();
    assert_eq!(image(&change(&daemon_set, &revisions, 0).after), "v2");
    revisions.reverse();
    assert_eq!(image(&change(&daemon_set, &revisions, 0).after), "v2");
    assert_eq!(image(&change(&daemon_set, &revisions, 1).after), "v1");
    let printed = undo(&daemon_set, &revisions, None, DryRun::Server).unwrap().to_string();
    assert_eq!(printed, "rolled back");
}

#[test]
fn an_undo_has_both_patches_and_the_object_after_it() {
    let (daemon_set, revisions) = three();
    let change = change(&daemon_set, &revisions, 2);
    assert_eq!(change.patches.strategic_merge, revisions[1]["data"]);
    let replace = json!([{"op": "replace", "path": "/spec/template", "value": template("v2")}]);
    assert_eq!(change.patches.json, replace);
    let after = &change.after;
    assert_eq!(after["spec"]["template"], template("v2"));
    assert_eq!(after["metadata"]["generation"], 6);
    assert_eq!(after["metadata"]["annotations"]["deprecated.daemonset.template.generation"], "6");
    assert_eq!(after["status"], daemon_set["status"]);
}

#[test]
fn an_equal_template_is_skipped() {
    let (daemon_set, revisions) = three();
    let skipped = undo(&daemon_set, &revisions, Some(3), DryRun::None).unwrap();
    assert!(matches!(skipped, Undo::Skipped { to: 3, .. }), "{skipped:?}");
    assert_eq!(skipped.to_string(), "skipped rollback (current template already matches revision 3)");
    let back = web(template("v2"));
    let printed = undo(&back, &revisions, None, DryRun::None).unwrap().to_string();
    assert_eq!(printed, "skipped rollback (current template already matches revision 0)");
}

#[test]
fn equality_is_exact() {
    let (daemon_set, revisions) = three();
    let null = with(revisions[2].clone(), "/data/spec/template/metadata/creationTimestamp", json!(null));
    let undone = undo(&daemon_set, &[revisions[0].clone(), null], Some(3), DryRun::None).unwrap();
    let Undo::RolledBack(change) = undone else { panic!("{undone:?}") };
    assert_eq!(change.after["metadata"]["generation"], 5, "and yet it changes nothing");
    let unknown = with(daemon_set, "/spec/template/spec/unknownField", json!(1));
    let undone = undo(&unknown, &revisions, Some(3), DryRun::None).unwrap();
    assert!(
        matches!(undone, Undo::Skipped { to: 3, .. }),
        "a field unknown to the API is dropped: {undone:?}"
    );
}

#[test]
fn a_clients_dry_run_only_shows_the_template() {
    let (daemon_set, revisions) = three();
    let printed = undo(&daemon_set, &revisions, Some(3), DryRun::Client).unwrap().to_string();
    assert!(printed.starts_with("will roll back to Pod Template:\n  Labels:\tapp=web\n"), "{printed}");
    assert!(printed.contains("    Image:\tv3\n"), "even the current template");
}

#[test]
fn errors_are_kubectls() {
    let (daemon_set, revisions) = three();
    let refused =
        |revisions: &[Value], to| undo(&daemon_set, revisions, to, DryRun::None).unwrap_err().to_string();
    assert_eq!(refused(&revisions[..1], None), "no last revision to roll back to");
    assert_eq!(refused(&[], Some(0)), "no last revision to roll back to");
    assert_eq!(refused(&revisions, Some(42)), "unable to find specified revision 42 in history");
    assert_eq!(refused(&revisions, Some(-2)), "unable to find specified revision -2 in history");
    let invalid = stored("web-0", 4, with(template("v4"), "/spec/restartPolicy", json!("Never")));
    assert_eq!(
        refused(&[invalid], Some(4)),
        "failed restoring revision 4: DaemonSet.apps \"web\" is invalid: spec.template.spec.restartPolicy: \
         Unsupported value: \"Never\": supported values: \"Always\""
    );
    let broken = stored("web-0", 4, with(template("v4"), "/spec/hostNetwork", json!("yes")));
    assert!(matches!(
        undo(&daemon_set, &[broken], Some(4), DryRun::Client),
        Err(RolloutError::NotApplied(reason)) if reason.starts_with("json: cannot unmarshal string into Go struct field")
    ));
}

#[test]
fn with_one_number_the_first_by_name_is_restored() {
    let (daemon_set, _) = three();
    let revisions = [stored("web-b", 1, template("b")), stored("web-a", 1, template("a"))];
    assert_eq!(image(&change(&daemon_set, &revisions, 1).after), "a");
}

#[test]
fn a_daemon_set_of_the_proposals_form_keeps_its_strategy() {
    let (daemon_set, revisions) = three();
    let strategy = json!({"type": "SurgingRollingUpdate", "surgingRollingUpdate": {"maxSurge": 1}});
    let daemon_set = with(daemon_set, "/spec/updateStrategy", strategy.clone());
    let after = change(&daemon_set, &revisions, 1).after;
    assert_eq!((image(&after), &after["spec"]["updateStrategy"]), ("v1", &strategy));
}
