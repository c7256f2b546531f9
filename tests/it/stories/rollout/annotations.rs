//! The policy in annotations of the DaemonSet.

use daemonset::model::DaemonSet;
use daemonset::policy::{DownNodesPolicy, InvalidRolloutPolicy, LifecyclePolicy};
use daemonset::{Action, Policy};
use serde_json::{Value, from_value, json};
use std::collections::BTreeMap;

fn ds(annotations: Value) -> DaemonSet {
    let spec = json!({"minReadySeconds": 30, "updateStrategy": {"type": "OnDelete"}});
    from_value(
        json!({"metadata": {"name": "agent", "namespace": "ns", "annotations": annotations}, "spec": spec}),
    )
    .unwrap()
}

fn read(annotations: Value) -> Result<Policy, InvalidRolloutPolicy> {
    Policy::from_annotations(&ds(annotations))
}

#[test]
fn without_annotations_nothing_is_steered() {
    assert_eq!(
        read(json!({"team": "x", "rollout.daemonset.example/paused": "?"})).unwrap(),
        Policy::default()
    );
}

#[test]
fn a_policy_may_have_the_fields_beside_the_rollout() {
    let text = json!({
        "waves": [{"upTo": 1}], "downNodes": "ExcuseIfDownBefore", "lifecycle": "Respect", "conditions": true,
        "drive": {"type": "RollingUpdate"},
    });
    let policy = read(json!({"rollout.daemonset/policy": text.to_string()})).unwrap();
    assert_eq!(policy.rollout.unwrap().waves.len(), 1);
    assert_eq!(
        (policy.down_nodes, policy.lifecycle),
        (DownNodesPolicy::ExcuseIfDownBefore, LifecyclePolicy::Respect)
    );
    assert_eq!((policy.conditions, policy.drive.unwrap().kind.as_str()), (true, "RollingUpdate"));
}

#[test]
fn the_callers_other_choices_stay() {
    let own = Policy::default().burst(7).lifecycle(LifecyclePolicy::Respect);
    let json = |text: &str| serde_json::from_str(text).map_err(|error| error.to_string());
    let policy = own.with_annotations(&ds(json!({"rollout.daemonset/policy": "{}"})), json).unwrap();
    assert_eq!(
        (policy.burst, policy.lifecycle, policy.rollout.is_some()),
        (7, LifecyclePolicy::Respect, true)
    );
}

#[test]
fn a_person_pauses_and_approves_without_an_editor() {
    let policy = r#"{"approved": {"6": 1, "7": 1}}"#;
    let annotations = |paused: &str, approved: &str| json!({"rollout.daemonset/policy": policy, "rollout.daemonset/paused": paused, "rollout.daemonset/approved": approved});
    let rollout = read(annotations("true", "7=3")).unwrap().rollout.unwrap();
    assert!(rollout.paused);
    assert_eq!(rollout.approved, [(6, 1), (7, 3)].into());
    assert!(!read(annotations("false", "7=3")).unwrap().rollout.unwrap().paused);
    assert!(read(json!({"rollout.daemonset/paused": "true"})).unwrap().rollout.unwrap().paused, "alone, too");
}

#[test]
fn nothing_is_tolerated() {
    for (key, text, path) in [
        ("policy", "waves: []", ""),
        ("policy", "[]", ""),
        ("policy", r#"{"wave": []}"#, "wave"),
        ("policy", r#"{"rollout": {}}"#, "rollout"),
        ("policy", r#"{"waves": [{"upTo": "half"}]}"#, "waves[0].upTo"),
        ("policy", r#"{"onFailure": {"availableWithinSeconds": 30}}"#, "onFailure.availableWithinSeconds"),
        ("policy", r#"{"drive": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}"#, "drive"),
        ("paused", "yes", ""),
        ("paused", "True", ""),
        ("paused", "", ""),
        ("approved", "7", ""),
        ("approved", "7=", ""),
        ("approved", "+7=1", ""),
        ("approved", "7=1,8=1", ""),
        ("approved", "7=99999999999", ""),
        ("pausd", "true", ""),
        ("", "true", ""),
    ] {
        let key = format!("rollout.daemonset/{key}");
        let invalid = read(json!({key.clone(): text})).unwrap_err();
        assert_eq!((invalid.annotation.as_str(), invalid.path.as_str()), (key.as_str(), path), "{text}");
    }
}

fn waves(count: usize) -> String {
    format!(r#"{{"waves": [{}]}}"#, vec!["{}"; count].join(","))
}

/// A reader that must not be asked.
fn not_read(_: &str) -> Result<Value, String> {
    panic!("the text is too long to be read")
}

#[test]
fn a_policy_has_a_size() {
    let text = waves(1);
    let padded = |bytes: usize| format!("{text}{}", " ".repeat(bytes - text.len()));
    let policy = |text: String| ds(json!({"rollout.daemonset/policy": text}));
    assert!(Policy::from_annotations(&policy(padded(16 * 1024))).is_ok());
    let invalid = Policy::default().with_annotations(&policy(padded(16 * 1024 + 1)), not_read).unwrap_err();
    assert_eq!((invalid.path.as_str(), invalid.also.len()), ("policy", 0));
    assert_eq!(
        invalid.to_string(),
        "annotation rollout.daemonset/policy: policy: Too long: may not be more than 16384 bytes"
    );
    assert!(invalid.policy(Policy::default()).rollout.unwrap().paused);
}

#[test]
fn an_annotation_that_a_person_types_has_a_size() {
    let zeros = |count: usize| "0".repeat(count);
    let approved = |text: String| read(json!({"rollout.daemonset/approved": text}));
    assert!(approved(format!("{}7=1", zeros(61))).is_ok());
    let paths =
        [approved(format!("{}7=1", zeros(62))), read(json!({"rollout.daemonset/paused": " ".repeat(65)}))]
            .map(|read| read.unwrap_err().path);
    assert_eq!(paths, ["approved", "paused"]);
}

#[test]
fn a_policy_has_at_most_64_entries_of_each_kind() {
    let approved =
        |count: usize| json!((0..count).map(|number| (number.to_string(), 1)).collect::<BTreeMap<_, _>>());
    let policy = |count: usize| json!({"waves": vec![json!({}); count], "approved": approved(count), "onFailure": {"waitingReasons": vec!["A"; count]}});
    let with = |policy: Value| read(json!({"rollout.daemonset/policy": policy.to_string()}));
    assert!(with(policy(64)).is_ok());
    let invalid = with(policy(65)).unwrap_err();
    let paths: Vec<&str> = invalid.all().map(|problem| problem.path.as_str()).collect();
    assert_eq!(paths, ["rollout.approved", "rollout.waves", "rollout.onFailure.waitingReasons"]);
    assert_eq!(invalid.message, "Too many: 65: must have at most 64 items");
    let wave = json!({"nodes": {"matchExpressions": [{"key": "a", "operator": "Like"}]}});
    let paths = |count: usize| {
        let invalid = with(json!({"waves": vec![wave.clone(); count]})).unwrap_err();
        invalid.all().map(|problem| problem.path.clone()).collect::<Vec<_>>()
    };
    assert_eq!(paths(1), ["waves[0].nodes.matchExpressions[0].operator"]);
    assert_eq!(paths(65), ["rollout.waves"], "nobody looks at each of them");
}

#[test]
fn all_problems_are_named_at_once() {
    let policy = json!({"waves": [{"upTo": "half"}]});
    let annotations = json!({
        "rollout.daemonset/policy": policy.to_string(), "rollout.daemonset/paused": "yes", "rollout.daemonset/approved": "7", "rollout.daemonset/wave": "1",
    });
    let invalid = read(annotations).unwrap_err();
    let problems: Vec<&str> = invalid.all().map(|problem| problem.annotation.as_str()).collect();
    let key = |name: &str| format!("rollout.daemonset/{name}");
    assert_eq!(problems, ["wave", "policy", "paused", "approved"].map(key));
    let failure = json!({"onFailure": {"availableWithinSeconds": 30, "progressDeadlineSeconds": 30}});
    let invalid = read(json!({"rollout.daemonset/policy": failure.to_string()})).unwrap_err();
    assert_eq!(
        invalid.to_string(),
        "annotation rollout.daemonset/policy: onFailure.availableWithinSeconds: Invalid value: 30: must be greater than \
         spec.minReadySeconds, which is 30; onFailure.progressDeadlineSeconds: Invalid value: 30: must be greater than \
         spec.minReadySeconds, which is 30"
    );
}

#[test]
fn an_unreadable_policy_pauses_and_its_author_gets_an_event() {
    let ds = ds(json!({"rollout.daemonset/paused": "maybe"}));
    let invalid = Policy::from_annotations(&ds).unwrap_err();
    let policy = invalid.policy(Policy::default().burst(7));
    assert!(policy.burst == 7 && policy.rollout.unwrap().paused);
    let Action::RecordEvent { reason, message, .. } = invalid.event(&ds) else { panic!() };
    assert_eq!(reason.as_str(), "InvalidRolloutPolicy");
    assert_eq!(
        message,
        "The rollout is paused, since its policy can't be read: annotation rollout.daemonset/paused: Invalid value: \
         \"maybe\": must be \"true\" or \"false\""
    );
}
