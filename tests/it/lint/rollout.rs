//! The policy of a rollout.

use super::{calm, calm_without_nodes, current_revision, found, line, pod_field, says, text};
use crate::support::{Given, new, node, on_delete, revision, rolling};
use daemonset::policy::Permissions;
use daemonset_view::lint::{Preflight, lint};
use insta::assert_snapshot;
use serde_json::{Value, json};

const POLICY: &str = "rollout.daemonset/policy";

/// The fleet without findings, under this policy.
fn under(rollout: Value) -> Given {
    calm().policy(json!({"rollout": rollout}))
}

/// A failure policy without a finding.
fn guarded() -> Value {
    json!({"availableWithinSeconds": 300})
}

/// A fleet that runs version 2 on `a` and `b` in zone 1 and on `c` in zone 2.
fn zones(rollout: Value) -> Given {
    let zoned = |name, zone| node(name).label("zone", zone).has(new());
    let given = calm_without_nodes().node(zoned("a", "1")).node(zoned("b", "1")).node(zoned("c", "2"));
    given.policy(json!({"rollout": rollout}))
}

fn zone(zone: &str) -> Value {
    json!({"nodes": {"matchLabels": {"zone": zone}}})
}

#[test]
fn a_good_policy_has_no_findings() {
    assert_eq!(says(&under(json!({}))), [""; 0]);
    let canary = json!({"waves": [{"upTo": 1, "bakeSeconds": 600}, {}], "onFailure": guarded()});
    assert_eq!(says(&under(canary)), [""; 0]);
    assert_eq!(says(&zones(json!({"waves": [zone("1"), zone("2")]}))), [""; 0]);
}

#[test]
fn a_wave_that_matches_no_node_is_found() {
    let waves = json!([zone("3"), {"upTo": 0}, {}]);
    assert_snapshot!(text(&zones(json!({"waves": waves}))), @"
    Warning WaveWithoutNodes policy.rollout.waves[0].nodes: It matches no target node: the wave has no node, and neither bakes nor shows a failure.
    Warning WaveWithoutNodes policy.rollout.waves[1].upTo: It is 0: the wave has no node, and neither bakes nor shows a failure.
    ");
    let without_nodes = calm_without_nodes().policy(json!({"rollout": {"waves": waves}}));
    assert!(says(&without_nodes).iter().all(|line| !line.contains("Wave")), "no nodes are known");
}

#[test]
fn a_wave_that_adds_no_node_is_found() {
    assert_snapshot!(text(&zones(json!({"waves": [{"upTo": "60%"}, {"upTo": 1}, {}, zone("2")]}))), @"
    Advice WaveAddsNoNode policy.rollout.waves[1]: Its 1 node belongs to the waves before it: it updates nothing, and only waits.
    Advice WaveAddsNoNode policy.rollout.waves[3]: Its 1 node belongs to the waves before it: it updates nothing, and only waits.
    ");
}

#[test]
fn nodes_in_no_wave_are_found() {
    let given = zones(json!({"waves": [{"upTo": 1}, zone("2")]}));
    assert_snapshot!(text(&given), @"Advice NodesInNoWave policy.rollout.waves: 1 of 3 nodes belongs to no wave and never gets a new version: b.");
    assert_eq!(found(&given)[0].nodes[0].as_str(), "b");
    assert_snapshot!(text(&zones(json!({"waves": [{"upTo": 1}]}))), @"Advice NodesInNoWave policy.rollout.waves: 2 of 3 nodes belong to no wave and never get a new version: b, c.");
}

#[test]
fn a_bake_below_min_ready_seconds_is_found() {
    let baked = |seconds: u32| under(json!({"waves": [{"bakeSeconds": seconds}]}));
    assert_snapshot!(text(&baked(5)), @"Advice BakeBelowMinReady policy.rollout.waves[0].bakeSeconds: It is 5, and minReadySeconds is 10: the wave bakes for 10 seconds.");
    assert_eq!((says(&baked(0)), says(&baked(10))), (vec![], vec![]), "minReadySeconds is 10");
}

#[test]
fn a_failure_that_nobody_notices_is_found() {
    assert_snapshot!(text(&under(json!({"onFailure": {}}))), @"Warning FailureUnnoticed policy.rollout.onFailure: Only pods in phase Failed and nodes that go down count: a version that crashes again and again, or never becomes Ready, has not failed.");
    for noticed in ["maxRestarts", "availableWithinSeconds", "waitingSeconds", "progressDeadlineSeconds"] {
        assert_eq!(says(&under(json!({"onFailure": {noticed: 300}}))), [""; 0], "{noticed}");
    }
}

#[test]
fn waiting_reasons_without_their_seconds_are_found() {
    let reasons = |seconds: Value| {
        let mut failure = guarded();
        failure["waitingReasons"] = json!(["ErrImagePull"]);
        failure["waitingSeconds"] = seconds;
        under(json!({"onFailure": failure}))
    };
    assert_snapshot!(text(&reasons(Value::Null)), @"Advice WaitingReasonsUnused policy.rollout.onFailure.waitingReasons: Without waitingSeconds no container waits in vain, whatever its reason is.");
    assert_eq!(says(&reasons(json!(60))), [""; 0]);
}

#[test]
fn failures_that_take_the_whole_canary_are_found() {
    let allowed = |most: Value, more: Value| {
        let mut failure = guarded();
        failure["maxFailures"] = most;
        failure["progressDeadlineSeconds"] = more;
        zones(json!({"waves": [{"upTo": 1}, {}], "onFailure": failure}))
    };
    assert_snapshot!(text(&allowed(json!(1), Value::Null)), @"Warning CanaryMayFail policy.rollout.onFailure.maxFailures: It is 1 and lets 1 of 3 nodes fail, and wave 0 has 1 node: a version that fails on all of wave 0 has not failed, and the rollout waits for good.");
    assert_snapshot!(text(&allowed(json!("70%"), Value::Null)), @"Warning CanaryMayFail policy.rollout.onFailure.maxFailures: It is 70% and lets 2 of 3 nodes fail, and wave 0 has 1 node: a version that fails on all of wave 0 has not failed, and the rollout waits for good.");
    assert_eq!(says(&allowed(json!("30%"), Value::Null)), [""; 0], "none of 3");
    assert_eq!(says(&allowed(json!(1), json!(600))), [""; 0], "the deadline ends it");
}

#[test]
fn a_deadline_before_the_first_probe_is_found() {
    let probed = |failure: Value| {
        let probe = json!({"httpGet": {"port": 8080}, "initialDelaySeconds": 60});
        let container = json!({"name": "c", "image": "agent:2", "readinessProbe": probe});
        pod_field(under(json!({"onFailure": failure})), "containers", json!([container]))
    };
    assert_snapshot!(text(&probed(json!({"availableWithinSeconds": 60, "progressDeadlineSeconds": 60}))), @"
    Error DeadlineTooShort policy.rollout.onFailure.availableWithinSeconds: It is 60, and the first probe of a pod comes 60 seconds after its start: a version that works fails.
    Error DeadlineTooShort policy.rollout.onFailure.progressDeadlineSeconds: It is 60, and the first probe of a pod comes 60 seconds after its start: a version that works fails.
    ");
    // A pod that is Ready then has the same time again for its minReadySeconds, which are 10.
    let later = json!({"availableWithinSeconds": 61, "progressDeadlineSeconds": 61});
    assert_eq!(says(&probed(later)), [""; 0]);
}

#[test]
fn a_roll_back_without_an_old_revision_is_found() {
    let rolls_back = json!({"onFailure": {"action": "RollBack", "availableWithinSeconds": 300}});
    // The revision of the pods is lost, and the template is a new one.
    let mut failed = revision("new", 2);
    failed["metadata"]["annotations"] =
        json!({"rollout.daemonset/failed": "2 2026-01-01T11:00:00Z TooManyFailures"});
    let changed = |revisions: Vec<Value>| {
        let given = pod_field(under(rolls_back.clone()), "containers/0/image", json!("agent:3"));
        given.with("/revisions", json!(revisions))
    };
    let without =
        |given: &Given| says(given).into_iter().find(|line| line.contains("NoBase")).unwrap_or_default();
    assert_snapshot!(without(&changed(vec![failed])), @"Warning NoBase policy.rollout.onFailure.action: No old revision is there to go back to, or each has failed itself: where it should roll back, the rollout only stops.");
    assert_eq!(without(&changed(vec![revision("old", 1)])), "");
    assert_eq!(without(&changed(vec![])), "", "no revisions are given");
    let settled = under(rolls_back.clone()).with("/revisions", json!([current_revision()]));
    assert_eq!(
        without(&settled),
        "",
        "this rollout is over, and has made the stable revision of the next one"
    );
    let first = calm_without_nodes()
        .node(node("a"))
        .with("/revisions", json!([]))
        .policy(json!({"rollout": rolls_back}));
    assert_snapshot!(without(&first), @"Advice NoBase policy.rollout.onFailure.action: The first version has no other one to go back to: where it should roll back, the rollout only stops.");
    let undoes = json!({"rollout": {"onFailure": {"action": "Undo", "availableWithinSeconds": 300}}});
    assert!(without(&first.policy(undoes)).starts_with("Advice NoBase policy.rollout.onFailure.action: "));
}

#[test]
fn a_history_that_forgets_undone_versions_is_found() {
    let with_limit = |limit: i32, action: &str, drive: Value| {
        let policy = json!({
            "rollout": {"onFailure": {"action": action, "availableWithinSeconds": 300}},
            "drive": drive,
        });
        let given = calm_without_nodes().node(node("a")).policy(policy);
        let given = given.with("/daemonSet/spec/updateStrategy", on_delete());
        let given = given.with("/daemonSet/spec/revisionHistoryLimit", json!(limit));
        says(&given).into_iter().find(|line| line.contains("UndoneRevisionGoes")).unwrap_or_default()
    };
    assert_snapshot!(with_limit(0, "Undo", rolling(1)), @"Warning UndoneRevisionGoes spec.revisionHistoryLimit: It is 0, and the other controller deletes each revision without a pod: the stable revision, or the version that was undone, whose mark keeps it from being undone again.");
    let none = [(1, "Undo", rolling(1)), (0, "Pause", rolling(1)), (0, "Undo", json!(null))];
    assert_eq!(none.map(|(limit, action, drive)| with_limit(limit, action, drive)), ["", "", ""]);
}

/// The findings of the fleet with these annotations on its DaemonSet.
fn annotated(given: &Given, annotations: &Value) -> Vec<String> {
    let mut recording = given.recording();
    let annotations: daemonset::model::Labels = serde_json::from_value(annotations.clone()).unwrap();
    recording.daemon_set.metadata.annotations = annotations;
    let json = |text: &str| serde_json::from_str(text).map_err(|error| error.to_string());
    let preflight = Preflight::new(&recording.daemon_set, recording.now)
        .nodes(&recording.nodes)
        .pods(&recording.pods)
        .revisions(&recording.revisions)
        .read_annotations(&Permissions::default(), json);
    lint(&preflight).iter().map(line).collect()
}

#[test]
fn a_policy_in_annotations_is_found_by_the_path_of_its_field() {
    let policy = |policy: Value| annotated(&calm(), &json!({POLICY: policy.to_string()}));
    assert_snapshot!(policy(json!({"waves": [{"upto": 1}]})).join("\n"), @"Error InvalidRolloutPolicy metadata.annotations[rollout.daemonset/policy].waves[0].upto: It can't be used, and the rollout counts as paused: unknown field `upto`, expected one of `nodes`, `upTo`, `bakeSeconds`, `needsApproval`.");
    assert_snapshot!(policy(json!({"onFailure": {}})).join("\n"), @"Warning FailureUnnoticed metadata.annotations[rollout.daemonset/policy].onFailure: Only pods in phase Failed and nodes that go down count: a version that crashes again and again, or never becomes Ready, has not failed.");
    assert_snapshot!(annotated(&calm(), &json!({"rollout.daemonset/paused": "yes"})).join("\n"), @r#"Error InvalidRolloutPolicy metadata.annotations[rollout.daemonset/paused]: It can't be used, and the rollout counts as paused: Invalid value: "yes": must be "true" or "false"."#);
    assert_eq!(policy(json!({})), [""; 0]);
}

/// The other controller creates pods of the new version only, and its surge is not ours.
#[test]
fn a_driven_rollout_that_surges_or_rolls_back_is_an_error() {
    let driven = calm().with("/daemonSet/spec/updateStrategy", on_delete());
    let policy = |policy: Value| annotated(&driven, &json!({POLICY: policy.to_string()}));
    let rolling = json!({"type": "RollingUpdate"});
    let mut failure = guarded();
    failure["action"] = json!("RollBack");
    assert_snapshot!(policy(json!({"drive": rolling, "onFailure": failure})).join("\n"), @r#"Error InvalidRolloutPolicy metadata.annotations[rollout.daemonset/policy].onFailure.action: It can't be used, and the rollout counts as paused: Invalid value: "RollBack": must be Pause or Undo: the other controller creates pods of the new version only."#);
    let surge = json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}});
    assert_snapshot!(policy(json!({"drive": surge})).join("\n"), @r#"Error InvalidRolloutPolicy metadata.annotations[rollout.daemonset/policy].drive: It can't be used, and the rollout counts as paused: Invalid value: "RollingUpdate": must not surge: another controller creates the pods."#);
    assert_eq!(policy(json!({"drive": rolling})), [""; 0]);
    // Kubernetes' own controller reads no policy.
    let early = annotated(&calm(), &json!({POLICY: json!({"drive": rolling}).to_string()}));
    assert_snapshot!(early.join("\n"), @r#"Error InvalidRolloutPolicy metadata.annotations[rollout.daemonset/policy].drive: It has no effect, and Kubernetes' own controller updates all nodes: Invalid value: "RollingUpdate": must be absent: only a DaemonSet with OnDelete can be driven."#);
    let choice = driven.policy(json!({"drive": rolling, "rollout": {"onFailure": failure}}));
    assert_snapshot!(text(&choice), @r#"Error Invalid policy.rollout.onFailure.action: It is refused: Invalid value: "RollBack": must be Pause or Undo: the other controller creates pods of the new version only."#);
}

/// The DaemonSet itself has OnDelete, and the update goes on all the same.
#[test]
fn the_rules_look_at_the_driven_strategy() {
    let driven = |limit: Value| {
        let given = calm().min_ready(0).with("/daemonSet/spec/updateStrategy", on_delete());
        let unprobed = json!([{"name": "c", "image": "agent:2"}]);
        let given = pod_field(given, "containers", unprobed);
        let drive = json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": limit}});
        annotated(&given, &json!({POLICY: json!({"drive": drive}).to_string()})).join("\n")
    };
    assert_snapshot!(driven(json!("100%")), @"
    Warning MaxUnavailableTakesAll metadata.annotations[rollout.daemonset/policy].drive.rollingUpdate.maxUnavailable: 100% allows all 3 target nodes to be without a pod at a time.
    Warning NoReadinessProbe spec.template.spec.containers: No container has a readiness probe: a pod is Ready as soon as it runs, and an update goes on at once, whether it works or not.
    Advice MinReadyZero spec.minReadySeconds: It is 0: a pod that is Ready for a moment and crashes then has already let the update go on, through all 3 target nodes.
    ");
    let first = |limit| driven(limit).lines().next().unwrap_or_default().to_owned();
    assert_snapshot!(first(json!("67%")), @"Warning PercentRoundsToAll metadata.annotations[rollout.daemonset/policy].drive.rollingUpdate.maxUnavailable: 67% of 3 target nodes rounds up to 3, so that all of them may be without a pod at a time.");
    assert_snapshot!(first(json!(0)), @"Error BothLimitsZero metadata.annotations[rollout.daemonset/policy].drive.rollingUpdate.maxUnavailable: maxUnavailable and maxSurge are both 0, so that no pod could ever be replaced: apps/v1 refuses it, and here maxUnavailable counts as 1.");
}

mod rehearsed {
    use super::*;
    use daemonset::Policy;
    use daemonset::policy::RolloutPolicy;
    use daemonset_sim::{Behaviour, Distribution, Settings};
    use daemonset_view::lint::{Finding, LintRehearsal};
    use jiff::SignedDuration;

    /// Pods become Ready 2 minutes after their start.
    fn rehearsed(rollout: Value, change: impl FnOnce(&mut daemonset::model::DaemonSet)) -> Option<Finding> {
        rehearsed_with(Policy::default(), rollout, change)
    }

    fn rehearsed_with(
        policy: Policy,
        rollout: Value,
        change: impl FnOnce(&mut daemonset::model::DaemonSet),
    ) -> Option<Finding> {
        let mut recording = calm().recording();
        change(&mut recording.daemon_set);
        let rollout: RolloutPolicy = serde_json::from_value(rollout).unwrap();
        let policy = policy.rollout(rollout);
        let ready = Distribution::fixed(SignedDuration::from_mins(2));
        let settings = Settings::default().behaviour(Behaviour::default().ready(ready));
        LintRehearsal::new(&recording.daemon_set, &recording.nodes, &policy).settings(settings).finding()
    }

    #[test]
    fn a_deadline_that_a_simulated_rollout_misses_is_found() {
        let within = |seconds: u32| {
            let failure = json!({"availableWithinSeconds": seconds, "action": "RollBack"});
            rehearsed(json!({"waves": [{"upTo": 1}, {"needsApproval": true}], "onFailure": failure}), |_| {})
        };
        assert_snapshot!(line(&within(100).unwrap()), @"Warning DeadlineTooShort policy.rollout.onFailure.availableWithinSeconds: In a simulation on 3 nodes a version that works fails on a after 103 seconds, with TooManyFailures; its image is pulled within 50 seconds, and its pods are Ready within 2 minutes more.");
        let later = json!({"waves": [{"upTo": 0}, {"needsApproval": true}], "onFailure": {"availableWithinSeconds": 100}});
        assert!(rehearsed(later, |_| {}).is_some(), "nobody needs to approve");
        assert_eq!(within(200), None, "a pod needs 2 minutes, its image, and minReadySeconds");
        let progress = |seconds: u32| {
            rehearsed(json!({"paused": true, "onFailure": {"progressDeadlineSeconds": seconds}}), |_| {})
        };
        assert_snapshot!(line(&progress(100).unwrap()), @"Warning DeadlineTooShort policy.rollout.onFailure.progressDeadlineSeconds: In a simulation on 3 nodes a version that works fails after 103 seconds, with ProgressDeadlineExceeded; its image is pulled within 50 seconds, and its pods are Ready within 2 minutes more.");
        assert_eq!(progress(200), None);
    }

    #[test]
    fn a_driven_rollout_is_rehearsed_beside_the_other_controller() {
        let within = |seconds: u32| {
            let drive: daemonset::model::UpdateStrategy =
                serde_json::from_value(json!({"type": "RollingUpdate"})).unwrap();
            let rollout =
                json!({"waves": [{"upTo": 1}, {}], "onFailure": {"availableWithinSeconds": seconds}});
            let on_delete = |ds: &mut daemonset::model::DaemonSet| {
                ds.spec.update_strategy = serde_json::from_value(on_delete()).unwrap()
            };
            rehearsed_with(Policy::default().external_controller(drive), rollout, on_delete)
        };
        assert_snapshot!(line(&within(100).unwrap()), @"Warning DeadlineTooShort policy.rollout.onFailure.availableWithinSeconds: In a simulation on 3 nodes a version that works fails on a after 103 seconds, with TooManyFailures; its image is pulled within 50 seconds, and its pods are Ready within 2 minutes more.");
        assert_eq!(within(200), None);
    }

    #[test]
    fn nothing_is_rehearsed_where_nothing_is_judged() {
        assert_eq!(rehearsed(json!({"waves": [{"upTo": 1}, {}]}), |_| {}), None);
        let short = || json!({"onFailure": {"availableWithinSeconds": 11}});
        assert!(rehearsed(short(), |_| {}).is_some());
        assert_eq!(rehearsed(short(), |ds| ds.spec.update_strategy.kind = "OnDelete".to_owned()), None);
        assert_eq!(rehearsed(short(), |ds| ds.spec.template = Value::Null), None, "an invalid template");
    }
}
