//! maxUnavailable, maxSurge, minReadySeconds and probes.

use super::{calm, calm_without_nodes, pod_field, says, text};
use crate::support::{Given, new, on_delete, rolling, surging};
use insta::assert_snapshot;
use serde_json::{Value, json};

fn strategy(strategy: Value) -> Given {
    calm().with("/daemonSet/spec/updateStrategy", strategy)
}

fn many(number: usize) -> Given {
    calm_without_nodes().nodes((0..number).map(|n| format!("n{n:05}")), new())
}

#[test]
fn a_max_unavailable_that_takes_all_nodes_is_found() {
    assert_snapshot!(text(&strategy(rolling("100%"))), @"Warning MaxUnavailableTakesAll spec.updateStrategy.rollingUpdate.maxUnavailable: 100% allows all 3 target nodes to be without a pod at a time.");
    assert_snapshot!(text(&strategy(rolling(3))), @"Warning MaxUnavailableTakesAll spec.updateStrategy.rollingUpdate.maxUnavailable: 3 allows all 3 target nodes to be without a pod at a time.");
    assert_eq!(says(&strategy(rolling(2))), [""; 0]);
    assert_eq!(says(&many(1)), [""; 0], "a single node has no part");
}

#[test]
fn a_percentage_that_rounds_up_to_all_nodes_is_found() {
    assert_snapshot!(text(&strategy(rolling("67%"))), @"Warning PercentRoundsToAll spec.updateStrategy.rollingUpdate.maxUnavailable: 67% of 3 target nodes rounds up to 3, so that all of them may be without a pod at a time.");
    assert_snapshot!(text(&strategy(surging("70%"))), @"Advice PercentRoundsToAll spec.updateStrategy.rollingUpdate.maxSurge: 70% of 3 target nodes rounds up to 3, so that all of them may have two pods at a time.");
    let proposal = json!({"type": "SurgingRollingUpdate", "surgingRollingUpdate": {"maxSurge": "70%"}});
    assert!(
        says(&strategy(proposal))[0].contains("spec.updateStrategy.surgingRollingUpdate.maxSurge: 70% of 3")
    );
    assert_eq!(says(&strategy(rolling("66%"))), [""; 0]);
    assert_eq!(says(&many(1).with("/daemonSet/spec/updateStrategy", rolling("10%"))), [""; 0], "one node");
}

#[test]
fn two_limits_at_once_are_found() {
    let limits = |unavailable: Value, surge: Value| {
        let limits = json!({"maxUnavailable": unavailable, "maxSurge": surge});
        strategy(json!({"type": "RollingUpdate", "rollingUpdate": limits}))
    };
    assert_snapshot!(text(&limits(json!(0), json!(0))), @"Error BothLimitsZero spec.updateStrategy.rollingUpdate.maxUnavailable: maxUnavailable and maxSurge are both 0, so that no pod could ever be replaced: apps/v1 refuses it, and here maxUnavailable counts as 1.");
    assert_snapshot!(text(&limits(json!(1), json!(1))), @"Error BothLimitsSet spec.updateStrategy.rollingUpdate.maxUnavailable: maxUnavailable is not 0 beside maxSurge, which apps/v1 refuses; here maxSurge alone counts.");
    assert_snapshot!(text(&limits(json!(null), json!(1))), @"Error BothLimitsSet spec.updateStrategy.rollingUpdate.maxUnavailable: maxUnavailable is absent, which apps/v1 reads as 1 and then refuses beside maxSurge.");
    assert_eq!(says(&limits(json!(1), json!(0))), [""; 0]);
    assert_eq!(says(&limits(json!("0%"), json!(1))), [""; 0]);
}

#[test]
fn a_missing_strategy_type_is_found() {
    assert_snapshot!(text(&strategy(json!({}))), @"Warning StrategyMissing spec.updateStrategy.type: The type is absent, which the update proposal reads as OnDelete and apps/v1 as RollingUpdate.");
    assert_eq!(says(&strategy(on_delete())), [""; 0]);
}

#[test]
fn a_rollout_that_is_slow_by_min_ready_seconds_is_found() {
    assert_snapshot!(text(&many(100).min_ready(600)), @"Advice SlowRollout spec.minReadySeconds: An update of 100 target nodes takes 16 hours at least: 100 rounds of 10 minutes each.");
    assert_snapshot!(text(&many(5).min_ready(86_400).with("/daemonSet/spec/updateStrategy", surging(2))), @"Advice SlowRollout spec.minReadySeconds: An update of 5 target nodes takes 3 days at least: 3 rounds of 24 hours each.");
    assert_eq!(
        says(&many(100).min_ready(600).with("/daemonSet/spec/updateStrategy", rolling("10%"))),
        [""; 0]
    );
    assert_eq!(says(&many(5).min_ready(86_400).with("/daemonSet/spec/updateStrategy", on_delete())), [""; 0]);
}

#[test]
fn min_ready_seconds_of_zero_are_found() {
    assert_snapshot!(text(&calm().min_ready(0)), @"Advice MinReadyZero spec.minReadySeconds: It is 0: a pod that is Ready for a moment and crashes then has already let the update go on, through all 3 target nodes.");
    assert_eq!(says(&calm().min_ready(1)), [""; 0]);
    assert_eq!(says(&many(1).min_ready(0)), [""; 0], "no other node follows");
    assert_eq!(says(&strategy(on_delete()).min_ready(0)), [""; 0], "a user decides");
}

#[test]
fn a_missing_readiness_probe_is_found() {
    let without = |given| pod_field(given, "containers", json!([{"name": "c", "image": "agent:2"}]));
    assert_snapshot!(text(&without(calm())), @"Advice NoReadinessProbe spec.template.spec.containers: No container has a readiness probe: a pod is Ready as soon as it runs, and an update goes on after minReadySeconds, whether it works or not.");
    assert!(says(&without(calm().min_ready(0)))[0].starts_with("Warning NoReadinessProbe"));
    assert_eq!(says(&without(strategy(on_delete()))), [""; 0]);
    let probed = json!({"name": "x", "image": "x:1", "startupProbe": {"exec": {}}});
    let sidecar =
        json!({"name": "x", "image": "x:1", "restartPolicy": "Always", "readinessProbe": {"exec": {}}});
    let init = json!({"name": "x", "image": "x:1", "readinessProbe": {"exec": {}}});
    assert_eq!(says(&pod_field(calm(), "containers", json!([{"image": "agent:2"}, probed]))), [""; 0]);
    assert_eq!(says(&pod_field(without(calm()), "initContainers", json!([sidecar]))), [""; 0]);
    assert_eq!(
        says(&pod_field(without(calm()), "initContainers", json!([init]))).len(),
        1,
        "it is done by then"
    );
    let gates = json!([{"conditionType": "example.com/up"}]);
    assert_eq!(says(&pod_field(without(calm()), "readinessGates", gates)), [""; 0]);
}
