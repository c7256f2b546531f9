//! The policy in annotations of the DaemonSet.

use daemonset::model::DaemonSet;
use daemonset::{Action, DownNodesPolicy, InvalidRolloutPolicy, LifecyclePolicy, Policy};
use serde_json::{Value, from_value, json};

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
