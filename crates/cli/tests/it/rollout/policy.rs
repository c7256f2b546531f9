//! Policies that can't be read or used: every problem at once, each with its field.

use super::{Fleet, WAVES};
use crate::plan::file;
use insta::assert_snapshot;
use serde_json::json;

/// The refusal of a policy in a file.
fn refused(name: &str, policy: &str) -> String {
    let path = file(&format!("rollout-{name}.yaml"), policy);
    let ran = Fleet::with_policy("").call(name, &format!("rollout plan -f {path}"));
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{}", ran.err);
    problems(&ran.err.replace(&path, "policy.yaml"))
}

/// A problem a line, without the list of all members of a policy.
fn problems(text: &str) -> String {
    let lines = text.trim_end().split("; ");
    let lines = lines.map(|line| match line.split_once("expected one of `paused`") {
        Some((start, _)) => format!("{start}expected one of `paused`, …"),
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn fields_that_can_not_be_read() {
    let policy = "
paused: maybe
approve: {2: 1}
waves:
- upto: 1
  bakeSeconds: soon
- nodes: {matchLabels: {topology.kubernetes.io/zone: 7}, matchLabel: {}}
  upTo: 10.5
onFailure: {action: Retry, maxRestarts: -1}
";
    assert_snapshot!(refused("unreadable", policy), @r#"
    error: policy.yaml: approve: unknown field `approve`, expected one of `paused`, …
    onFailure.action: unknown variant `Retry`, expected one of `Pause`, `RollBack`, `Undo`
    onFailure.maxRestarts: invalid value: integer `-1`, expected an integer from 0 to 4294967295
    paused: invalid type: string "maybe", expected a boolean
    waves[0].bakeSeconds: invalid type: string "soon", expected an integer from 0 to 4294967295
    waves[0].upto: unknown field `upto`, expected one of `nodes`, `upTo`, `bakeSeconds`, `needsApproval`
    waves[1].nodes.matchLabel: unknown field `matchLabel`, expected `matchLabels` or `matchExpressions`
    waves[1].nodes.matchLabels.topology.kubernetes.io/zone: invalid type: integer `7`, expected a string
    waves[1].upTo: Invalid value: 10.5: must be an integer from 0 to 2147483647 or a percentage such as "10%"
    "#);
}

#[test]
fn fields_that_can_not_be_used() {
    let policy = "
drive: {type: OnDelete}
waves:
- nodes: {matchExpressions: [{key: zone, operator: Near}, {operator: Exists}]}
onFailure: {availableWithinSeconds: 0, progressDeadlineSeconds: 0}
";
    assert_snapshot!(refused("unusable", policy), @r#"
    error: policy.yaml: drive: Invalid value: "OnDelete": must be absent: only a DaemonSet with OnDelete can be driven
    drive.type: Invalid value: "OnDelete": must be RollingUpdate
    waves[0].nodes.matchExpressions[0].operator: Invalid value: "Near": must be In, NotIn, Exists or DoesNotExist
    waves[0].nodes.matchExpressions[1].key: Required value
    onFailure.availableWithinSeconds: Invalid value: 0: must be greater than spec.minReadySeconds, which is 0
    onFailure.progressDeadlineSeconds: Invalid value: 0: must be greater than spec.minReadySeconds, which is 0
    "#);
}

#[test]
fn both_kinds_and_an_entry_that_is_no_wave() {
    assert_snapshot!(refused("both", "{waves: [7], onFailure: {availableWithinSeconds: 0}}"), @"
    error: policy.yaml: waves[0]: invalid type: integer `7`, expected an object
    onFailure.availableWithinSeconds: Invalid value: 0: must be greater than spec.minReadySeconds, which is 0
    ");
}

#[test]
fn a_text_that_is_no_policy() {
    assert_snapshot!(refused("list", "[1]"), @"error: policy.yaml: must be an object with the fields of a policy");
    assert_snapshot!(refused("empty", ""), @"error: policy.yaml: must be an object with the fields of a policy");
    assert_snapshot!(refused("two", "{}\n---\n{}"), @"error: policy.yaml: must be one document");
    assert_snapshot!(refused("broken", "waves: [").lines().next().unwrap(), @"error: policy.yaml: unclosed bracket '[' at line 1, column 8");
}

#[test]
fn every_annotation_is_named() {
    let fleet = Fleet::with_policy("{waves: [{upto: 1}], pause: true}")
        .annotated("paused", "yes")
        .annotated("approved", "two")
        .annotated("aproved", "2=1");
    let ran = fleet.call("annotations", "rollout plan");
    assert_eq!(ran.code, Some(2));
    assert_snapshot!(problems(&ran.err), @r#"
    error: agent.json: annotation rollout.daemonset/approved: Invalid value: "two": must be the number of a revision and a count of waves, as "7=2"
    annotation rollout.daemonset/aproved: unknown annotation: must be policy, paused or approved
    annotation rollout.daemonset/paused: Invalid value: "yes": must be "true" or "false"
    annotation rollout.daemonset/policy: pause: unknown field `pause`, expected one of `paused`, …
    waves[0].upto: unknown field `upto`, expected one of `nodes`, `upTo`, `bakeSeconds`, `needsApproval`
    "#);
}

/// An admin delegates powers with an annotation of the Namespace, which may be an object of the file.
#[test]
fn fields_beyond_the_powers_of_the_namespace() {
    let policy = "
turn: {cordon: true, gates: [drained], timeout: 5}
drain: {graceSeconds: -1, force: true}
priorityClassName: high
waves: [{upto: 1}]
";
    let fleet = |policy: &str, powers: Option<&str>| {
        let mut fleet = Fleet::with_policy(policy);
        let annotations = powers.map(|powers| json!({"rollout.daemonset/powers": powers}));
        fleet.nodes.extend(annotations.map(|annotations| {
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "logging", "annotations": annotations}})
        }));
        fleet
    };
    let ran = fleet(policy, Some("evict")).call("powers", "rollout plan");
    assert_eq!(ran.code, Some(2));
    assert_snapshot!(ran.err.trim_end().replace("; ", "\n"), @"
    error: agent.json: annotation rollout.daemonset/policy: turn: Forbidden: needs the power turn, which the annotation rollout.daemonset/powers of the Namespace does not give
    priorityClassName: Forbidden: needs the power priority, which the annotation rollout.daemonset/powers of the Namespace does not give
    turn.timeout: unknown field `timeout`, expected one of `cordon`, `gates`, `timeoutSeconds`, `onTimeout`
    waves[0].upto: unknown field `upto`, expected one of `nodes`, `upTo`, `bakeSeconds`, `needsApproval`
    drain.force: unknown field
    drain.graceSeconds: invalid value: integer `-1`, expected an integer from 0 to 4294967295
    ");
    let readable = "{turn: {cordon: true, gates: [drained]}, drain: {}, waves: [{}]}";
    let code = |name: &str, powers: Option<&str>| fleet(readable, powers).call(name, "rollout plan").code;
    assert_eq!(code("powers-none", None), Some(2));
    assert_eq!(code("powers-one", Some("turn")), Some(2));
    assert_eq!(code("powers-both", Some("turn,evict")), Some(0));
}

/// A policy of a file takes the place of the DaemonSet's own; pauses and approvals stay.
#[test]
fn a_file_replaces_only_the_policy() {
    let waves = file("rollout-waves.yaml", WAVES);
    let fleet = Fleet::with_policy("{pause: true}").annotated("approved", "2=3");
    let text = fleet.printed("replaced", &format!("rollout plan -f {waves}"));
    assert!(text.contains("by approval, which it has"), "{text}");
}
