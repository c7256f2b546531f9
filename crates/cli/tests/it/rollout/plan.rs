//! `rollout plan`, and `plan` of a steered rollout.

use super::{Fleet, WAVES};
use crate::plan::file;
use crate::program::run;
use insta::assert_snapshot;
use serde_json::{Value, json};

#[test]
fn the_waves_before_anything_happens() {
    let judged =
        format!("{WAVES}onFailure: {{maxFailures: 10%, waitingSeconds: 300, progressDeadlineSeconds: 1200}}");
    assert_snapshot!(Fleet::with_policy(&judged).printed("plan", "rollout plan"), @"
    DaemonSet  logging/agent, agent.json
    Revision   new #2, current as before; stable revision old
    Policy     in force
    Rollout    progressing: 0 of 5 nodes updated, stable revision old

    WAVE  NODES  NEW  OPENS                                      NOW                               NEW NODES
    0     1      1    at once                                    updating                          a
    1     3      2    when wave 0 is Ready for 10m               waits for wave 0                  b, c
    2     4      1    when wave 1 is available, and by approval  waits for wave 1, needs approval  d

    Stops      before wave 2, until kubectl daemonset rollout approve logging/agent --wave 2
               after the last wave: 1 node is in no wave and keeps the old version: e
    Failure    when more than 10% of the nodes fail, or 20m pass without progress, the rollout stops
    A node     fails when its pod is in phase Failed
               fails when it goes down under its new pod
               fails when its pod is 5m old, and a container waits for one of: CrashLoopBackOff, ImagePullBackOff, ErrImagePull and 4 more
    ");
    let json: Value =
        serde_json::from_str(&Fleet::with_policy(WAVES).printed("plan-json", "rollout plan -o json"))
            .unwrap();
    assert_eq!(json["waves"][1]["newNodes"], json!(["b", "c"]));
    assert_eq!(json["waves"][1]["bakeSecondsBefore"], 600);
    assert_eq!(
        json["stops"],
        json!([{"type": "Approval", "wave": 2}, {"type": "NoWave", "count": 1, "nodes": ["e"]}])
    );
    assert_eq!((&json["base"], &json["revision"]["number"]), (&json!("old"), &json!(2)));
}

#[test]
fn a_policy_of_a_file_is_tried() {
    let canary = file("rollout-canary.yaml", "waves: [{nodes: {matchLabels: {zone: x}}}, {}]");
    let mut fleet = Fleet::with_policy("");
    fleet.nodes[3]["metadata"]["labels"] = json!({"zone": "x"});
    let text = fleet.printed("plan-file", &format!("rollout plan -f {canary}"));
    assert_snapshot!(text.replace(&canary, "canary.yaml"), @"
    DaemonSet  logging/agent, agent.json
    Revision   new #2, current as before; stable revision old
    Policy     canary.yaml
    Rollout    progressing: 0 of 5 nodes updated, stable revision old

    WAVE  NODES  NEW  OPENS                     NOW               NEW NODES
    0     1      1    at once                   updating          d
    1     5      4    when wave 0 is available  waits for wave 0  a, b, c, e

    Stops      nowhere, unless a node fails or does not become available
    Failure    nothing is judged: a version that fails goes on as far as the limits let it
    ");
    let ran = fleet.call("plan-without", "rollout plan");
    assert_eq!(ran.code, Some(1));
    assert_snapshot!(ran.err, @r#"error: daemonsets.apps "agent" has no rollout policy: all nodes are updated within the limits of its update strategy; -f names a policy to try, annotation rollout.daemonset/policy holds the one in force"#);
    let ran = run("rollout", &["plan", "-f", "-", &fleet.file("plan-stdin")], b"{}");
    assert!(ran.out.contains("Waves      none: all 5 nodes are released at once"), "{}{}", ran.out, ran.err);
    let ran = run("rollout", &["plan", "-f", "-", "-"], b"{}");
    assert_eq!((ran.code, ran.err.as_str()), (Some(2), "error: --policy -: stdin is the cluster already\n"));
    let ran = run("rollout", &["plan", "x.json", "--from", "y.json"], b"");
    assert_eq!(ran.err, "error: --from: the file with the cluster is named already\n");
}

/// A fleet that is settled: the waves are those of the version to come.
#[test]
fn the_waves_of_the_next_version() {
    let settled = ["a", "b", "c", "d", "e"]
        .into_iter()
        .fold(Fleet::with_policy(WAVES), |fleet, node| fleet.updated(node, 900));
    assert_snapshot!(settled.printed("plan-next", "rollout plan"), @"
    DaemonSet  logging/agent, agent.json
    Revision   new #2, current as before; stable revision old
    Policy     in force
    Rollout    complete: the waves are those of the next version

    WAVE  NODES  NEW  OPENS                                      NOW  NEW NODES
    0     1      1    at once                                    -    a
    1     3      2    when wave 0 is Ready for 10m               -    b, c
    2     4      1    when wave 1 is available, and by approval  -    d

    Stops      before wave 2, until kubectl daemonset rollout approve logging/agent --wave 2
               after the last wave: 1 node is in no wave and keeps the old version: e
    Failure    nothing is judged: a version that fails goes on as far as the limits let it
    ");
}

#[test]
fn a_rollout_that_has_failed_or_is_paused_or_has_no_stable_revision() {
    let failed = Fleet::with_policy("{waves: [{}], onFailure: {action: RollBack}}")
        .marked("failed", "2 2026-01-01T00:50:00Z TooManyFailures");
    let stops = |text: String| {
        let from = text.find("Stops ").unwrap();
        text[from..].to_owned()
    };
    assert_snapshot!(stops(failed.printed("plan-failed", "rollout plan")), @"
    Stops      now: the version has failed (TooManyFailures), until kubectl annotate -n logging controllerrevision/new rollout.daemonset/failed-
    Failure    when a node fails, all nodes go back to the version before
    A node     fails when its pod is in phase Failed
               fails when it goes down under its new pod
    ");
    let undone = Fleet::with_policy("{waves: [{}], onFailure: {action: Undo}}");
    assert_snapshot!(stops(undone.printed("plan-undone", "rollout plan")), @"
    Stops      nowhere, unless a node fails or does not become available
    Failure    when a node fails, the DaemonSet gets the template of the version before back
    A node     fails when its pod is in phase Failed
               fails when it goes down under its new pod
    ");
    let paused = Fleet::with_policy("{waves: [{}]}").annotated("paused", "true");
    assert_snapshot!(stops(paused.printed("plan-paused", "rollout plan")), @"
    Stops      now: paused, until kubectl daemonset rollout resume logging/agent
    Failure    nothing is judged: a version that fails goes on as far as the limits let it
    ");
    let mut alone = Fleet::with_policy("{waves: [{needsApproval: true}], onFailure: {action: RollBack}}");
    alone.revisions.remove(0);
    assert_snapshot!(stops(alone.printed("plan-no-stable", "rollout plan")), @"
    Stops      before wave 0, until kubectl daemonset rollout approve logging/agent --wave 0
    Failure    when a node fails, the rollout stops, since there is no stable revision to go back to
    A node     fails when its pod is in phase Failed
               fails when it goes down under its new pod
    Stable     no old revision is left: a missing pod of a held node gets the new version
    ");
}

#[test]
fn a_plan_has_the_waves_and_the_evidence_in_its_head() {
    let judged = format!("{WAVES}onFailure: {{maxFailures: 1, waitingSeconds: 300}}");
    let fleet = Fleet::with_policy(&judged).updated("a", 900).pulling("b");
    assert_snapshot!(fleet.printed("plan-head", "plan"), @r#"
    DaemonSet  logging/agent, RollingUpdate, maxUnavailable 1: updated 2/5, ready 4/5, available 4/5
    Revision   new #2, current as before
    Budget     spent: 1 of 5 nodes may be unavailable, 1 is (1 not Ready): b
    Rollout    progressing: 2 of 5 nodes updated, stable revision old
    Waves      wave 0: done; 1 node, 1 updated, 1 available
               wave 1: updating; 3 nodes, 2 updated, 1 available
               wave 2: waits for wave 1, needs approval; 4 nodes, 2 updated, 1 available
    Failing    b: pod new-b: a container waits (ImagePullBackOff)
    Held       1 node is in no wave and keeps the old version: e
    Nodes      5: 1 waiting for Ready (unable to pull its image), 2 not reached by the rollout, 1 held by maxUnavailable, 1 up to date
    Now        mark 2 revisions, write the status; 3 nodes must wait (1 unable to pull its image)
    As of      2026-01-01T01:00:00Z, as --now says; agent.json

    NODE  PLACEMENT  POD    REVISION            STATE              NOW
    a     run        new-a  updated #2 by hash  available for 15m  up to date
    b     run        new-b  updated #2 by hash  Pending for 30m    waits until Ready: unable to pull its image
    c     run        old-c  outdated #1         available for 30m  waits: maxUnavailable spent (1 of 1)
    d     run        old-d  outdated #1         available for 30m  is held for wave 2: wave 2 waits for the pods of the
                                                                   waves before it
    e     run        old-e  outdated #1         available for 30m  is held: it is in no wave

    Actions, in order
      1. mark revision new rollout.daemonset/started="2 2026-01-01T01:00:00Z": the rollout begins
      2. mark revision new rollout.daemonset/wave="2 2026-01-01T01:00:00Z 1": the nodes of a wave may be updated
      3. write status as it has changed: updated 0 -> 2, ready 5 -> 4, available 5 -> 4, unavailable 0 -> 1

    Next       time alone changes nothing: look again when an object changes
    Run        kubectl daemonset stuck logging/agent -f agent.json
    "#);
}

#[test]
fn a_plan_whose_policy_is_invalid_is_paused() {
    let fleet =
        Fleet::with_policy("{waves: [{upto: 1}], onFailure: {action: Retry}}").annotated("paused", "yes");
    let text = fleet.printed("plan-invalid", "plan");
    let head: Vec<&str> = text
        .lines()
        .filter(|line| ["Invalid", "Policy", "Rollout", "Resume"].iter().any(|label| line.starts_with(label)))
        .collect();
    assert_snapshot!(head.join("\n"), @r#"
    Invalid    annotation rollout.daemonset/paused: Invalid value: "yes": must be "true" or "false"; annotation rollout.daemonset/policy: onFailure.action: unknown variant `Retry`, expected one of `Pause`, `RollBack`, `Undo`; waves[0].upto: unknown field `upto`, expected one of `nodes`, `upTo`, `bakeSeconds`, `needsApproval`
    Rollout    paused, since its policy is invalid: 0 of 5 nodes updated, stable revision old
    "#);
}

/// A recorded decision is made again as it was.
#[test]
fn a_recording_does_not_ask_the_annotations() {
    let mut recording = crate::plan::recording("recorded", &["a"]);
    recording["daemonSet"]["metadata"]["annotations"] = json!({"rollout.daemonset/paused": "true"});
    let paused = file("rollout-recorded.json", recording.to_string());
    assert!(!run("plan", &[&paused], b"").out.contains("Rollout"));
    assert!(!run("describe", &[&paused], b"").out.contains("Rollout"));
    recording["policy"] = json!({"rollout": {"paused": true}});
    let paused = file("rollout-recorded.json", recording.to_string());
    assert!(run("plan", &[&paused], b"").out.contains("\nRollout    paused"));
}

/// A pause after the end holds the version to come.
#[test]
fn a_settled_fleet_that_is_paused() {
    let nodes = ["a", "b", "c", "d", "e"];
    let settled = nodes.into_iter().fold(Fleet::with_policy("{}"), |fleet, node| fleet.updated(node, 900));
    let mut settled = settled.annotated("paused", "true");
    let text = settled.printed("plan-next-paused", "rollout plan");
    assert!(
        text.contains("Stops      now: paused, until kubectl daemonset rollout resume logging/agent\n"),
        "{text}"
    );
    settled.daemon_set["metadata"]["annotations"] = json!({"rollout.daemonset/policy": WAVES});
    settled.daemon_set["spec"]["minReadySeconds"] = json!(30);
    // An approval is of one revision, and the next one has the next number.
    let approval = |settled: &Fleet| {
        let json = settled.printed("plan-next-approved", "rollout plan -o json");
        serde_json::from_str::<Value>(&json).unwrap()["waves"][2]["isApproved"].clone()
    };
    settled = settled.annotated("approved", "2=3");
    assert_eq!(approval(&settled), false);
    settled = settled.annotated("approved", "3=3");
    assert_eq!(approval(&settled), true);
    let json: Value =
        serde_json::from_str(&settled.printed("plan-next-json", "rollout plan -o json")).unwrap();
    let bakes: Vec<&Value> =
        json["waves"].as_array().unwrap().iter().map(|wave| &wave["bakeSecondsBefore"]).collect();
    assert_eq!(bakes, [0, 600, 30]);
}

#[test]
fn a_daemon_set_that_is_being_deleted_has_no_rollout() {
    let mut deleted = Fleet::with_policy(WAVES);
    deleted.daemon_set["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:50:00Z");
    let ran = deleted.call("plan-deleted", "rollout plan");
    assert_eq!(ran.code, Some(1));
    assert_snapshot!(ran.err, @r#"error: daemonsets.apps "agent" has no rollout: the DaemonSet is being deleted, so that the controller does nothing"#);
    assert!(deleted.printed("status-deleted", "rollout status").contains("rollout to finish"));
}
