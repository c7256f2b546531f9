//! `rollout pause`, `resume` and `approve`: annotations, as commands for kubectl.

use super::{Fleet, NOW, WAVES};
use crate::program::{Ran, run};
use insta::assert_snapshot;
use serde_json::{Value, json};

/// `pause` and `resume` look at no instant.
fn call(fleet: &Fleet, name: &str, command: &str) -> Ran {
    let file = fleet.file(name);
    let words: Vec<&str> = command.split(' ').chain([file.as_str()]).collect();
    run("rollout", &words, b"")
}

/// Stdout and stderr of a change that is made.
fn changed(ran: &Ran) -> String {
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    format!("{}{}", ran.out, ran.err)
}

fn refused(ran: &Ran) -> String {
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    ran.err.clone()
}

#[test]
fn a_pause_is_an_annotation() {
    let fleet = Fleet::with_policy(WAVES);
    assert_snapshot!(changed(&call(&fleet, "pause", "pause")), @"
    daemonset.apps/agent paused (dry run)
    nothing is sent; this does it:
    kubectl annotate -n logging daemonset/agent --overwrite rollout.daemonset/paused=true
    ");
    let json: Value = serde_json::from_str(&call(&fleet, "pause-json", "pause -o json").out).unwrap();
    assert_eq!(
        json["patches"],
        json!({
            "strategicMerge": {"metadata": {"annotations": {"rollout.daemonset/paused": "true"}}},
            "json": [{"op": "add", "path": "/metadata/annotations/rollout.daemonset~1paused", "value": "true"}],
        })
    );
    assert_eq!(json["after"]["metadata"]["annotations"]["rollout.daemonset/paused"], "true");
    let paused = fleet.annotated("paused", "true");
    assert_snapshot!(refused(&call(&paused, "paused", "pause")), @r#"error: daemonsets.apps "agent" is already paused"#);
    let by_policy = Fleet::with_policy("paused: true");
    assert_snapshot!(refused(&call(&by_policy, "paused-by-policy", "pause")), @r#"error: daemonsets.apps "agent" is already paused, by its policy"#);
}

#[test]
fn paused_alone_is_a_policy_too() {
    let mut fleet = Fleet::with_policy("");
    assert_snapshot!(changed(&call(&fleet, "pause-alone", "pause")), @"
    daemonset.apps/agent paused (dry run)
    note: it has no rollout policy (annotation rollout.daemonset/policy): this pause alone is one, for a controller that reads it; kube-controller-manager does not
    nothing is sent; this does it:
    kubectl annotate -n logging daemonset/agent --overwrite rollout.daemonset/paused=true
    ");
    fleet.daemon_set["metadata"].as_object_mut().unwrap().remove("annotations");
    let json: Value = serde_json::from_str(&call(&fleet, "pause-first", "pause -o json").out).unwrap();
    assert_eq!(
        json["patches"]["json"],
        json!([{"op": "add", "path": "/metadata/annotations", "value": {"rollout.daemonset/paused": "true"}}])
    );
}

#[test]
fn a_resume_takes_the_annotation_away() {
    let fleet = Fleet::with_policy(WAVES).annotated("paused", "true");
    assert_snapshot!(changed(&call(&fleet, "resume", "resume")), @"
    daemonset.apps/agent resumed (dry run)
    nothing is sent; this does it:
    kubectl annotate -n logging daemonset/agent rollout.daemonset/paused-
    ");
    let json: Value = serde_json::from_str(&call(&fleet, "resume-json", "resume -o json").out).unwrap();
    assert_eq!(
        json["patches"],
        json!({
            "strategicMerge": {"metadata": {"annotations": {"rollout.daemonset/paused": null}}},
            "json": [{"op": "remove", "path": "/metadata/annotations/rollout.daemonset~1paused"}],
        })
    );
    assert_eq!(json["after"]["metadata"]["annotations"], json!({"rollout.daemonset/policy": WAVES}));
    assert_snapshot!(refused(&call(&Fleet::with_policy(WAVES), "resume-none", "resume")), @r#"error: daemonsets.apps "agent" is not paused"#);
    let by_policy = Fleet::with_policy("paused: true");
    assert_snapshot!(refused(&call(&by_policy, "resume-policy", "resume")), @r#"error: daemonsets.apps "agent" is paused by its policy: take paused out of it (annotation rollout.daemonset/policy)"#);
    let both = by_policy.annotated("paused", "true");
    assert_snapshot!(changed(&call(&both, "resume-both", "resume")), @"
    daemonset.apps/agent resumed (dry run)
    note: its policy pauses it, too (annotation rollout.daemonset/policy)
    nothing is sent; this does it:
    kubectl annotate -n logging daemonset/agent rollout.daemonset/paused-
    ");
    let invalid = Fleet::with_policy("{paused: 1}");
    assert_snapshot!(refused(&call(&invalid, "resume-invalid", "resume")), @r#"error: daemonsets.apps "agent" is not paused by annotation rollout.daemonset/paused, but it counts as paused, since its policy is invalid: annotation rollout.daemonset/policy: paused: invalid type: integer `1`, expected a boolean"#);
}

#[test]
fn an_approval_names_the_revision_and_the_count_of_waves() {
    let fleet = || {
        let fleet = Fleet::with_policy(WAVES).updated("a", 900).updated("b", 900).updated("c", 900);
        fleet.marked("wave", "2 2026-01-01T00:50:00Z 1")
    };
    assert_snapshot!(changed(&fleet().call("approve", "rollout approve")), @"
    daemonset.apps/agent approved up to wave 2 (dry run)
    nothing is sent; this does it:
    kubectl annotate -n logging daemonset/agent --overwrite rollout.daemonset/approved=2=3
    ");
    let ran = fleet().call("approve-json", "rollout approve -o json");
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        json["command"],
        "kubectl annotate -n logging daemonset/agent --overwrite rollout.daemonset/approved=2=3"
    );
    let paused = fleet().annotated("paused", "true");
    assert_snapshot!(changed(&paused.call("approve-paused", "rollout approve")), @"
    daemonset.apps/agent approved up to wave 2 (dry run)
    note: the rollout is paused, too
    nothing is sent; this does it:
    kubectl annotate -n logging daemonset/agent --overwrite rollout.daemonset/approved=2=3
    ");
    let earlier = fleet().annotated("approved", "2=2");
    assert!(!changed(&earlier.call("approve-more", "rollout approve")).contains("note: "));
    let old = fleet().annotated("approved", "1=3");
    assert_snapshot!(changed(&old.call("approve-old", "rollout approve")), @"
    daemonset.apps/agent approved up to wave 2 (dry run)
    note: it replaces the approval 1=3
    nothing is sent; this does it:
    kubectl annotate -n logging daemonset/agent --overwrite rollout.daemonset/approved=2=3
    ");
}

#[test]
fn a_wave_may_be_approved_in_advance() {
    let fleet = Fleet::with_policy(WAVES).updated("a", 60);
    assert_snapshot!(refused(&fleet.call("approve-early", "rollout approve")), @r#"error: daemonsets.apps "agent" has no wave that waits for approval now: wave 2 will when wave 1 is done; --wave 2 approves it in advance"#);
    assert_snapshot!(changed(&fleet.call("approve-wave", "rollout approve --wave 2")), @"
    daemonset.apps/agent approved up to wave 2 (dry run)
    nothing is sent; this does it:
    kubectl annotate -n logging daemonset/agent --overwrite rollout.daemonset/approved=2=3
    ");
    assert_snapshot!(refused(&fleet.call("approve-wave-1", "rollout approve --wave 1")), @r#"error: daemonsets.apps "agent" has no wave up to wave 1 that needs approval still"#);
    assert_snapshot!(refused(&fleet.call("approve-wave-9", "rollout approve --wave 9")), @r#"error: daemonsets.apps "agent" has no wave 9: its last one is wave 2"#);
}

/// The annotation wins over the policy for this revision.
#[test]
fn an_approval_takes_no_other_one_back() {
    let policy = "{waves: [{needsApproval: true}, {needsApproval: true}, {needsApproval: true}], approved: {2: 2, 7: 1}}";
    let fleet = Fleet::with_policy(policy);
    assert_snapshot!(refused(&fleet.call("approve-twice", "rollout approve --wave 1")), @r#"error: daemonsets.apps "agent" has no wave up to wave 1 that needs approval still"#);
    let all = Fleet::with_policy("{waves: [{needsApproval: true}, {needsApproval: true}], approved: {2: 9}}");
    assert_snapshot!(refused(&all.call("approve-all", "rollout approve")), @r#"error: daemonsets.apps "agent" has no wave that waits for approval"#);
}

#[test]
fn nothing_is_approved_where_no_wave_can_open() {
    let fleet = Fleet::with_policy("");
    assert_snapshot!(refused(&fleet.call("approve-none", "rollout approve")), @r#"error: daemonsets.apps "agent" has no rollout policy (annotation rollout.daemonset/policy): no wave waits for approval"#);
    let no_waves = Fleet::with_policy("{}");
    assert_snapshot!(refused(&no_waves.call("approve-no-waves", "rollout approve --wave 0")), @r#"error: daemonsets.apps "agent" has no waves: all nodes are released at once"#);
    let failed = format!("{WAVES}onFailure: {{}}");
    let failed = Fleet::with_policy(&failed).marked("failed", "2 2026-01-01T00:50:00Z it eats the disk");
    assert_snapshot!(refused(&failed.call("approve-failed", "rollout approve")), @r#"error: daemonsets.apps "agent" has failed (it eats the disk): no wave opens before kubectl annotate -n logging controllerrevision/new rollout.daemonset/failed-"#);
    let done = Fleet::with_policy(WAVES).marked("completed", "2 2026-01-01T00:50:00Z");
    assert_snapshot!(refused(&done.call("approve-done", "rollout approve")), @r#"error: daemonsets.apps "agent" is rolled out: no wave waits for approval"#);
    let invalid = Fleet::with_policy("{waves: [{upto: 1}], paused: 1}");
    assert_snapshot!(refused(&invalid.call("approve-invalid", "rollout approve")), @r#"error: daemonsets.apps "agent" counts as paused, since its policy is invalid: annotation rollout.daemonset/policy: paused: invalid type: integer `1`, expected a boolean; waves[0].upto: unknown field `upto`, expected one of `nodes`, `upTo`, `bakeSeconds`, `needsApproval`"#);
    let mut deleted = Fleet::with_policy(WAVES);
    deleted.daemon_set["metadata"]["deletionTimestamp"] = json!(NOW);
    assert_snapshot!(refused(&deleted.call("approve-deleted", "rollout approve")), @r#"error: daemonsets.apps "agent" has no rollout: the DaemonSet is being deleted, so that the controller does nothing"#);
}

/// As after a mark that a person or an earlier approval left.
#[test]
fn a_wave_that_is_open_needs_no_approval() {
    let fleet = Fleet::with_policy(WAVES).updated("a", 900).updated("b", 900).updated("c", 900);
    let fleet = fleet.marked("wave", "2 2026-01-01T00:50:00Z 2");
    assert_snapshot!(refused(&fleet.call("approve-open", "rollout approve --wave 2")), @r#"error: daemonsets.apps "agent" has no wave up to wave 2 that needs approval still"#);
    let status: Value =
        serde_json::from_str(&fleet.printed("status-open", "rollout status -o json")).unwrap();
    assert_eq!(status["rollout"]["waves"][2]["needsApproval"], false);
    let preview: Value = serde_json::from_str(&fleet.printed("plan-open", "rollout plan -o json")).unwrap();
    assert_eq!(preview["stops"], json!([{"type": "NoWave", "count": 1, "nodes": ["e"]}]));
}
