//! The policy's form, and what is refused.

use crate::support::{given, rolling};
use daemonset::model::IntOrString;
use daemonset::policy::{FailurePolicy, RolloutPolicy, Wave};
use daemonset::{Policy, Recording};
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[test]
fn the_policy_has_a_stable_form() {
    let form = json!({
        "paused": true,
        "approved": {"-3": 1, "7": 2},
        "waves": [
            {"nodes": {"matchLabels": {"zone": "a"}, "matchExpressions": [{"key": "gpu", "operator": "Exists"}]}, "upTo": 1},
            {"upTo": "25%", "bakeSeconds": 600, "needsApproval": true},
            {},
        ],
        "onFailure": {
            "action": "RollBack", "maxFailures": "5%", "maxRestarts": 3, "availableWithinSeconds": 120,
            "waitingSeconds": 60, "waitingReasons": ["ErrImagePull"], "progressDeadlineSeconds": 900,
        },
    });
    let policy: RolloutPolicy = serde_json::from_value(form.clone()).unwrap();
    assert_eq!(serde_json::to_value(&policy).unwrap(), form);
    assert_eq!(serde_json::to_value(RolloutPolicy::default()).unwrap(), json!({}));
    let nulls = json!({"paused": null, "approved": null, "waves": [{"nodes": null, "upTo": null, "bakeSeconds": null, "needsApproval": null}], "onFailure": null});
    let one = RolloutPolicy::default().waves(vec![Wave::default()]);
    assert_eq!(serde_json::from_value::<RolloutPolicy>(nulls).unwrap(), one);
    let plain = serde_json::to_value(Policy::default()).unwrap();
    assert!(["rollout", "drive", "markPrefix"].iter().all(|field| plain.get(field).is_none()), "{plain}");
}

fn path_of_error(rollout: Value) -> String {
    let mut json = given(rolling(1)).json;
    json["policy"] = json!({"rollout": rollout});
    Recording::from_json(json.to_string().as_bytes()).unwrap_err().path
}

#[test]
fn what_can_not_be_read_is_refused_with_its_path() {
    for (rollout, path) in [
        (json!({"pausd": true}), "policy.rollout.pausd"),
        (json!({"paused": "true"}), "policy.rollout.paused"),
        (json!({"approved": {"7": -1}}), "policy.rollout.approved.7"),
        (json!({"waves": [{}, {"upto": 1}]}), "policy.rollout.waves[1].upto"),
        (json!({"waves": [{"upTo": -1}]}), "policy.rollout.waves[0].upTo"),
        (json!({"waves": [{"upTo": "5"}]}), "policy.rollout.waves[0].upTo"),
        (json!({"waves": [{"bakeSeconds": -1}]}), "policy.rollout.waves[0].bakeSeconds"),
        (json!({"waves": [{"nodes": {"matchLabel": {}}}]}), "policy.rollout.waves[0].nodes.matchLabel"),
        (
            json!({"waves": [{"nodes": {"matchExpressions": [{"kee": ""}]}}]}),
            "policy.rollout.waves[0].nodes.matchExpressions[0].kee",
        ),
        (json!({"onFailure": {"action": "Retry"}}), "policy.rollout.onFailure.action"),
        (json!({"onFailure": {"maxFailures": "x"}}), "policy.rollout.onFailure.maxFailures"),
        (json!({"onFailure": {"waitingSeconds": 1.5}}), "policy.rollout.onFailure.waitingSeconds"),
        (json!({"onFailure": {"retries": 1}}), "policy.rollout.onFailure.retries"),
    ] {
        assert_eq!(path_of_error(rollout.clone()), path, "{rollout}");
    }
}

#[test]
fn what_can_not_work_is_refused_with_its_path() {
    let problems =
        |rollout: Value| given(rolling(1)).min_ready(30).policy(json!({"rollout": rollout})).problems();
    assert_eq!(
        problems(json!({"waves": [{"nodes": {"matchExpressions": [{"key": "a", "operator": "Near"}]}}]})),
        [
            "policy.rollout.waves[0].nodes.matchExpressions[0].operator: Invalid value: \"Near\": must be In, NotIn, Exists or DoesNotExist"
        ]
    );
    for field in ["availableWithinSeconds", "progressDeadlineSeconds"] {
        assert_eq!(
            problems(json!({"onFailure": {field: 30}})),
            [format!(
                "policy.rollout.onFailure.{field}: Invalid value: 30: must be greater than spec.minReadySeconds, which is 30"
            )]
        );
    }
    let approved: BTreeMap<i64, u32> = (0..65).map(|number| (number, 1)).collect();
    let many = json!({"waves": vec![json!({"upTo": 1}); 65], "approved": approved, "onFailure": {"waitingReasons": vec!["A"; 65]}});
    assert_eq!(
        problems(many),
        ["approved", "waves", "onFailure.waitingReasons"]
            .map(|field| format!("policy.rollout.{field}: Too many: 65: must have at most 64 items"))
    );
    let far = IntOrString::Int(u32::MAX);
    let policy = RolloutPolicy::default()
        .waves(vec![Wave::default().up_to(far)])
        .on_failure(FailurePolicy::default().max_failures(far));
    let mut recording = given(rolling(1)).recording();
    recording.policy = Policy::default().rollout(policy).mark_prefix("Agents");
    let invalid = recording.snapshot().unwrap_err();
    let paths: Vec<&str> = invalid.problems.iter().map(|problem| problem.path.as_str()).collect();
    assert_eq!(
        paths,
        ["policy.markPrefix", "policy.rollout.waves[0].upTo", "policy.rollout.onFailure.maxFailures"]
    );
}
