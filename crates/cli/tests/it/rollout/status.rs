//! `rollout status`: the waves beside kubectl's line.

use super::{Fleet, WAVES, revision};
use crate::program::run;
use insta::assert_snapshot;
use serde_json::{Value, json};

#[test]
fn without_a_policy_kubectl_s_line_is_all() {
    let fleet = Fleet::with_policy("").updated("a", 60);
    assert_snapshot!(fleet.printed("status-none", "rollout status"), @r#"Waiting for daemon set "agent" rollout to finish: 0 out of 5 new pods have been updated..."#);
}

#[test]
fn kubectl_refuses_a_negative_revision() {
    let ran = Fleet::with_policy(WAVES).call("status-negative", "rollout status --revision -1");
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""));
    assert_eq!(ran.err, "error: revision must be a positive integer: -1\n");
}

#[test]
fn the_canary_bakes() {
    let fleet = Fleet::with_policy(WAVES).updated("a", 60);
    assert_snapshot!(fleet.printed("status-bakes", "rollout status"), @r#"
    Waiting for daemon set "agent" rollout to finish: 0 out of 5 new pods have been updated...
    Rollout    progressing: 1 of 5 nodes updated, stable revision old

    WAVE  NODES  UPDATED  AVAILABLE  STATE
    0     1      1        1          baking until 2026-01-01T01:09:00Z (in 9m)
    1     3      1        1          waits for wave 0
    2     4      1        1          waits for wave 1, needs approval

    Held       1 node is in no wave and keeps the old version: e
    Next       look again at 2026-01-01T01:09:00Z (in 9m): a wave has baked then
    "#);
    let json: Value = serde_json::from_str(&fleet.printed("status-json", "rollout status -o json")).unwrap();
    assert_eq!(json["type"], "Updating");
    assert_eq!(
        json["rollout"]["waves"][0]["progress"],
        json!({"type": "Baking", "until": "2026-01-01T01:09:00Z"})
    );
    assert_eq!(json["next"], json!({"at": "2026-01-01T01:09:00Z", "reason": "WaveDone"}));
    assert_eq!(json["rollout"]["waitsForApproval"], Value::Null);
}

#[test]
fn a_wave_waits_for_approval_and_a_node_is_in_no_wave() {
    let fleet = Fleet::with_policy(WAVES).updated("a", 900).updated("b", 900).updated("c", 900);
    assert_snapshot!(fleet.printed_with_code(1, "status-approval", "rollout status"), @r#"
    Waiting for daemon set "agent" rollout to finish: 0 out of 5 new pods have been updated...
    Rollout    progressing: 3 of 5 nodes updated, stable revision old

    WAVE  NODES  UPDATED  AVAILABLE  STATE
    0     1      1        1          done
    1     3      3        3          done
    2     4      3        3          waits for approval

    Held       1 node is in no wave and keeps the old version: e
    Approve    kubectl daemonset rollout approve logging/agent --wave 2
    Next       time alone changes nothing: look again when an object changes
    "#);
    assert_snapshot!(fleet.annotated("approved", "2=3").printed("status-approved", "rollout status"), @r#"
    Waiting for daemon set "agent" rollout to finish: 0 out of 5 new pods have been updated...
    Rollout    progressing: 3 of 5 nodes updated, stable revision old

    WAVE  NODES  UPDATED  AVAILABLE  STATE
    0     1      1        1          done
    1     3      3        3          done
    2     4      3        3          updating

    Held       1 node is in no wave and keeps the old version: e
    Next       time alone changes nothing: look again when an object changes
    "#);
}

#[test]
fn a_paused_rollout_says_how_to_resume_it() {
    let fleet = Fleet::with_policy(WAVES).updated("a", 900).annotated("paused", "true");
    assert_snapshot!(fleet.printed_with_code(1, "status-paused", "rollout status"), @r#"
    Waiting for daemon set "agent" rollout to finish: 0 out of 5 new pods have been updated...
    Rollout    paused: 1 of 5 nodes updated, stable revision old

    WAVE  NODES  UPDATED  AVAILABLE  STATE
    0     1      1        1          held, the rollout is paused
    1     3      1        1          waits for wave 0
    2     4      1        1          waits for wave 1, needs approval

    Held       1 node is in no wave and keeps the old version: e
    Resume     kubectl daemonset rollout resume logging/agent
    Next       time alone changes nothing: look again when an object changes
    "#);
}

#[test]
fn each_failing_node_has_its_evidence() {
    let judged = format!("{WAVES}onFailure: {{waitingSeconds: 300, maxRestarts: 2}}");
    let restarted = json!([{"name": "agent", "restartCount": 7, "state": {"running": {}}}]);
    let fleet = Fleet::with_policy(&judged).updated("a", 900).pulling("b");
    let fleet = fleet.troubled("c", json!({"phase": "Running", "containerStatuses": restarted}));
    assert_snapshot!(fleet.printed_with_code(1, "status-failed", "rollout status"), @r#"
    Waiting for daemon set "agent" rollout to finish: 0 out of 5 new pods have been updated...
    Rollout    failed (TooManyFailures), no further node is updated: 3 of 5 nodes updated, stable revision old

    WAVE  NODES  UPDATED  AVAILABLE  STATE
    0     1      1        1          held, the rollout has failed
    1     3      3        1          not opened
    2     4      3        1          not opened

    Failing    b: pod new-b: a container waits (ImagePullBackOff)
               c: pod new-c: a container has restarted 7 times
    Held       1 node is in no wave and keeps the old version: e
    Undo       kubectl rollout undo -n logging daemonset/agent
    Retry      kubectl annotate -n logging controllerrevision/new rollout.daemonset/failed-
    Next       time alone changes nothing: look again when an object changes
    "#);
}

/// A version that fails under a policy that undoes it, with further marks of the current revision.
fn undoes(marks: &[(&str, &str)]) -> Fleet {
    let judged = format!("{WAVES}onFailure: {{action: Undo, waitingSeconds: 300}}");
    let fleet = Fleet::with_policy(&judged).updated("a", 900).pulling("b");
    marks.iter().fold(fleet, |fleet, (mark, value)| fleet.marked(mark, value))
}

#[test]
fn a_version_that_failed_is_undone_or_a_person_reads_why_not() {
    let head = |fleet: &Fleet, name: &str| {
        let text = fleet.printed_with_code(1, name, "rollout status");
        let labels = ["Rollout", "Not undone", "Retry", "Undo again"];
        let lines = text.lines().filter(|line| labels.iter().any(|label| line.starts_with(label)));
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(head(&undoes(&[]), "status-undone"), @"
    Rollout    failed (TooManyFailures), the template before it comes back: 2 of 5 nodes updated, stable revision old
    Retry      kubectl annotate -n logging controllerrevision/new rollout.daemonset/failed-
    ");
    let failed = ("failed", "2 2026-01-01T00:50:00Z TooManyFailures");
    let before = undoes(&[failed, ("undone", "1 2026-01-01T00:50:00Z 1")]);
    assert_snapshot!(head(&before, "status-undone-before"), @"
    Rollout    failed (TooManyFailures), no further node is updated: 2 of 5 nodes updated, stable revision old
    Not undone since its template was put back after it had been undone
    Retry      kubectl annotate -n logging controllerrevision/new rollout.daemonset/failed-
    Undo again kubectl annotate -n logging controllerrevision/new rollout.daemonset/undone-
    ");
    let mut alone = undoes(&[failed]);
    alone.revisions.remove(0);
    assert_snapshot!(head(&alone, "status-undone-alone"), @"
    Rollout    failed (TooManyFailures), no further node is updated: 2 of 5 nodes updated, no stable revision
    Not undone since there is no version to go back to
    Retry      kubectl annotate -n logging controllerrevision/new rollout.daemonset/failed-
    ");
}

/// The template of the version before is back, and nodes still have the failed one.
#[test]
fn the_way_back_from_an_undone_version_is_not_complete() {
    for drive in ["", "drive: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 1}}\n"] {
        let mut fleet = Fleet::with_policy(&format!("{drive}waves: [{{}}]\nonFailure: {{action: Undo}}"))
            .marked("failed", "2 2026-01-01T00:50:00Z TooManyFailures")
            .marked("undone", "2 2026-01-01T00:50:00Z 2")
            .updated("a", 900);
        let on_delete = json!({"type": if drive.is_empty() { "RollingUpdate" } else { "OnDelete" }});
        fleet.daemon_set["spec"]["updateStrategy"] = on_delete;
        fleet.daemon_set["spec"]["template"] = super::template("agent:1");
        fleet.revisions[0]["revision"] = json!(3);
        let old = &mut fleet.revisions[0]["metadata"]["annotations"];
        *old = json!({"rollout.daemonset/restored": "2 2026-01-01T00:50:00Z", "rollout.daemonset/completed": "1 2026-01-01T00:10:00Z"});
        let text = fleet.printed_with_code(1, "status-way-back", "rollout status");
        let told =
            "Rollout    revision 2 has failed and is undone, all nodes go back: 4 of 5 nodes updated\n";
        assert!(text.contains(told), "{text}");
        assert!(text.contains("4          goes back\n"), "{text}");
        // A node that joins later is no part of it, and a newer version is no way back.
        let mut later = Fleet { pods: fleet.pods.clone(), nodes: fleet.nodes.clone(), ..fleet };
        later.revisions[0]["metadata"]["annotations"]["rollout.daemonset/completed"] =
            json!("3 2026-01-01T00:55:00Z");
        let text = later.printed("status-came-back", "rollout status");
        assert!(
            text.contains("Rollout    complete before, and not any more: 4 of 5 nodes updated\n"),
            "{text}"
        );
    }
}

#[test]
fn a_version_that_failed_goes_back_to_the_stable_revision() {
    let judged = format!("{WAVES}onFailure: {{action: RollBack, waitingSeconds: 300}}");
    let fleet = Fleet::with_policy(&judged).updated("a", 900).pulling("b");
    assert_snapshot!(fleet.printed_with_code(1, "status-rolled-back", "rollout status"), @r#"
    Waiting for daemon set "agent" rollout to finish: 0 out of 5 new pods have been updated...
    Rollout    failed (TooManyFailures), all nodes go back to stable revision old: 2 of 5 nodes updated

    WAVE  NODES  UPDATED  AVAILABLE  STATE
    0     1      1        1          goes back to the stable revision
    1     3      2        1          goes back to the stable revision
    2     4      2        1          goes back to the stable revision

    Failing    b: pod new-b: a container waits (ImagePullBackOff)
    Retry      kubectl annotate -n logging controllerrevision/new rollout.daemonset/failed-
    Next       time alone changes nothing: look again when an object changes
    "#);
}

#[test]
fn a_rollout_that_is_complete() {
    let fleet = ["a", "b", "c", "d", "e"]
        .into_iter()
        .fold(Fleet::with_policy("{}"), |fleet, node| fleet.updated(node, 900));
    assert_snapshot!(fleet.marked("completed", "2 2026-01-01T00:50:00Z").printed("status-complete", "rollout status"), @r#"
    Waiting for daemon set "agent" rollout to finish: 0 out of 5 new pods have been updated...
    Rollout    complete: 5 of 5 nodes updated
    Next       time alone changes nothing: look again when an object changes
    "#);
}

/// kubectl has no status of a DaemonSet with OnDelete; a driven one has its waves.
#[test]
fn a_driven_rollout_has_a_status() {
    let driven = format!("{WAVES}drive: {{type: RollingUpdate}}");
    let mut fleet = Fleet::with_policy(&driven).updated("a", 60);
    fleet.daemon_set["spec"]["updateStrategy"] = json!({"type": "OnDelete"});
    assert_snapshot!(fleet.printed("status-driven", "rollout status"), @"
    Rollout    progressing: 1 of 5 nodes updated, stable revision old

    WAVE  NODES  UPDATED  AVAILABLE  STATE
    0     1      1        1          baking until 2026-01-01T01:09:00Z (in 9m)
    1     3      1        1          waits for wave 0
    2     4      1        1          waits for wave 1, needs approval

    Held       1 node is in no wave and keeps the old version: e
    Next       look again at 2026-01-01T01:09:00Z (in 9m): a wave has baked then
    ");
    fleet.daemon_set["metadata"]["annotations"]["rollout.daemonset/policy"] = json!(WAVES);
    let ran = fleet.call("status-on-delete", "rollout status");
    assert_eq!(ran.code, Some(1));
    assert_snapshot!(ran.err, @"error: rollout status is only available for RollingUpdate strategy type");
    assert!(ran.out.starts_with("Rollout    progressing"), "{}", ran.out);
}

#[test]
fn a_steered_rollout_that_is_stuck_names_the_person_s_step() {
    let stuck = |fleet: &Fleet, name: &str| {
        let ran = fleet.call(name, "rollout stuck");
        assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""));
        ran.out
    };
    let fleet = || Fleet::with_policy(WAVES).updated("a", 900).updated("b", 900).updated("c", 900);
    assert_snapshot!(stuck(&fleet(), "stuck-approval"), @"
    logging/agent: stuck: nothing moves until somebody does something; 2 nodes have an outdated pod, about 2 rounds left
    Cause      d: the next wave waits for approval
    Run        kubectl daemonset rollout approve logging/agent
    ");
    assert_snapshot!(stuck(&fleet().annotated("paused", "true"), "stuck-paused"), @"
    logging/agent: stuck: nothing moves until somebody does something; 2 nodes have an outdated pod, about 2 rounds left
    Cause      d, e: the rollout is paused
    Run        kubectl daemonset rollout resume logging/agent
    ");
    let judged = format!("{WAVES}onFailure: {{}}");
    let failed =
        Fleet::with_policy(&judged).updated("a", 900).marked("failed", "2 2026-01-01T00:50:00Z it leaks");
    assert_snapshot!(stuck(&failed, "stuck-failed"), @"
    logging/agent: stuck: nothing moves until somebody does something; 4 nodes have an outdated pod, about 4 rounds left
    Cause      b, c, d, e: the new version has failed
    Run        kubectl daemonset rollout status logging/agent
               kubectl rollout undo -n logging daemonset/agent
               kubectl annotate -n logging controllerrevision/new rollout.daemonset/failed-    # gives the failed version another chance
    ");
    assert_snapshot!(stuck(&Fleet::with_policy("{paused: 1}"), "stuck-invalid"), @"
    logging/agent: stuck: nothing moves until somebody does something; 5 nodes have an outdated pod, about 5 rounds left
    Cause      a, b, c, d, e: the rollout counts as paused, since its policy is invalid: annotation rollout.daemonset/policy: paused: invalid type: integer `1`, expected a boolean
    Run        kubectl edit daemonset -n logging agent
    ");
}

#[test]
fn a_policy_that_can_not_be_read_pauses() {
    let fleet = Fleet::with_policy("{waves: [{upto: 1}]}");
    assert_snapshot!(fleet.printed_with_code(2, "status-invalid", "rollout status"), @r#"
    Waiting for daemon set "agent" rollout to finish: 0 out of 5 new pods have been updated...
    Invalid    annotation rollout.daemonset/policy: waves[0].upto: unknown field `upto`, expected one of `nodes`, `upTo`, `bakeSeconds`, `needsApproval`
    Rollout    paused, since its policy is invalid: 0 of 5 nodes updated, stable revision old
    Next       time alone changes nothing: look again when an object changes
    "#);
}

/// A version that was complete comes back in the place of a failed one: its mark alone completes nothing.
#[test]
fn a_driven_rollout_is_complete_once_its_nodes_are() {
    let on_delete = |policy: &str| {
        let mut fleet = Fleet::with_policy(policy);
        fleet.daemon_set["spec"]["updateStrategy"] = json!({"type": "OnDelete"});
        fleet.marked("completed", "2 2026-01-01T00:50:00Z")
    };
    let driven = || on_delete("drive: {type: RollingUpdate}");
    let most = ["a", "b", "c", "d"].into_iter().fold(driven(), |fleet, node| fleet.updated(node, 900));
    let first = |fleet: &Fleet, name: &str| {
        fleet.printed(name, "rollout status").lines().next().unwrap_or_default().to_owned()
    };
    assert_snapshot!(first(&most, "status-returns"), @"Rollout    complete before, and not any more: 4 of 5 nodes updated");
    let all = most.updated("e", 900);
    assert_snapshot!(first(&all, "status-returned"), @"Rollout    complete: 5 of 5 nodes updated");
    assert_snapshot!(first(&all.pulling("e"), "status-lost"), @"Rollout    complete before, and not any more: 5 of 5 nodes updated, 1 unavailable");
    // kubectl refuses to answer under OnDelete, which tells nothing of a policy that is invalid.
    let invalid = on_delete("{drive: {type: RollingUpdate}, onFailure: {action: RollBack}}");
    let ran = invalid.call("status-undrivable", "rollout status");
    assert_eq!((ran.code, ran.err.as_str()), (Some(2), ""));
    // Kubernetes' own controller, which reads no policy, rolls out meanwhile.
    let early = Fleet::with_policy("{drive: {type: RollingUpdate}, waves: [{upTo: 1}]}");
    let ran = early.call("status-early", "rollout status");
    assert_eq!(ran.code, Some(2));
    assert_snapshot!(ran.out.lines().nth(2).unwrap(), @"Rollout    has no effect, and Kubernetes' own controller updates all nodes, since its policy is invalid: 0 of 5 nodes updated, stable revision old");
    assert!(early.call("status-early-why", "why a").out.contains("all nodes, since its policy is invalid."));
}

/// A node that has the new version keeps it, with or without a wave.
#[test]
fn an_updated_node_in_no_wave_is_not_held() {
    let mut fleet = Fleet::with_policy("waves: [{nodes: {matchLabels: {zone: x}}}]").updated("e", 900);
    fleet.nodes[0]["metadata"]["labels"] = json!({"zone": "x"});
    let text = fleet.printed("status-beside", "rollout status");
    assert_snapshot!(text.lines().find(|line| line.starts_with("Held")).unwrap(), @"Held       3 nodes are in no wave and keep the old version: b, c, d");
}

#[test]
fn each_kind_of_evidence_has_its_words() {
    let judged =
        "onFailure: {maxFailures: 100%, maxRestarts: 2, waitingSeconds: 300, availableWithinSeconds: 600}";
    let restarted = json!([{"name": "agent", "restartCount": 7, "state": {"running": {}}}]);
    let not_ready =
        json!([{"type": "Ready", "status": "False", "lastTransitionTime": "2026-01-01T00:40:00Z"}]);
    let mut fleet = Fleet::with_policy(judged)
        .marked("started", "2 2026-01-01T00:30:00Z")
        .troubled("a", json!({"phase": "Running", "conditions": not_ready}))
        .troubled("b", json!({"phase": "Failed", "reason": "OutOfcpu"}))
        .troubled("c", json!({"phase": "Running", "containerStatuses": restarted}))
        .pulling("d")
        .troubled("e", json!({"phase": "Running", "conditions": not_ready}));
    fleet.nodes[0]["status"] = json!({"conditions": not_ready});
    let failing = |fleet: &Fleet, name: &str| {
        let text = fleet.printed(name, "rollout status");
        let lines = text.lines().skip_while(|line| !line.starts_with("Failing"));
        lines.take_while(|line| !line.starts_with("Next")).collect::<Vec<_>>().join("\n")
    };
    assert_snapshot!(failing(&fleet, "evidence"), @"
    Failing    a: the node is down since 2026-01-01T00:40:00Z (for 20m)
               b: pod new-b has failed (OutOfcpu)
               c: pod new-c: a container has restarted 7 times
               d: pod new-d: a container waits (ImagePullBackOff)
               e: pod new-e is not available since 2026-01-01T00:40:00Z (for 20m)
    ");
    fleet.pods[1]["status"] = json!({"phase": "Failed"});
    assert!(failing(&fleet, "evidence-bare").contains("b: pod new-b has failed\n"));
}

/// Reasons are data; their names are for programs.
#[test]
fn no_name_of_a_variant_is_printed() {
    let recordings =
        std::fs::read_to_string(format!("{}/../../tests/data/rollout.jsonl", env!("CARGO_MANIFEST_DIR")));
    let mut seen = 0;
    for recording in recordings.unwrap().lines().step_by(20) {
        for words in [
            ["plan", "-"].as_slice(),
            &["rollout", "status", "-"],
            &["rollout", "plan", "-"],
            &["rollout", "stuck", "-"],
        ] {
            let ran = run(words[0], &words[1..], recording.as_bytes());
            assert!(matches!(ran.code, Some(0 | 1)), "{words:?} {}", ran.err);
            for name in ["Waits", "HeldBy", "RolledBack", "RolloutFailed", " { "] {
                assert!(!ran.out.contains(name), "{words:?}: {}", ran.out);
            }
            seen += usize::from(ran.out.contains("wave") || ran.out.contains("WAVE"));
        }
    }
    assert!(seen > 20, "{seen}");
}

/// kubectl goes back to the version before, which may have failed, too.
#[test]
fn the_undo_of_a_failed_version_names_the_stable_revision() {
    let mut fleet = Fleet::with_policy(&format!("{WAVES}onFailure: {{}}"))
        .marked("failed", "3 2026-01-01T00:40:00Z TooManyFailures")
        .updated("a", 900);
    fleet.revisions[1]["revision"] = json!(3);
    let mut bad = revision("bad", 2, "agent:bad");
    bad["metadata"]["annotations"]["rollout.daemonset/failed"] =
        json!("2 2026-01-01T00:10:00Z TooManyFailures");
    fleet.revisions.push(bad);
    let text = fleet.printed_with_code(1, "undo-stable", "rollout status");
    assert!(text.contains("kubectl rollout undo -n logging daemonset/agent --to-revision=1\n"), "{text}");
}

/// `rollout resume` takes an annotation away, and refuses where the policy itself pauses.
#[test]
fn a_pause_of_the_policy_is_taken_out_of_it() {
    let fleet = Fleet::with_policy(&format!("paused: true\n{}", WAVES.trim_start()));
    let text = fleet.printed_with_code(1, "paused-by-policy", "rollout status");
    assert!(!text.contains("rollout resume"), "{text}");
    assert!(
        text.contains("Resume     kubectl edit daemonset -n logging agent    # its policy says"),
        "{text}"
    );
}
