//! The schema of the policy annotation says the same as its reader.

use crate::program::run;
use daemonset::Policy;
use daemonset::model::DaemonSet;
use daemonset::policy::Powers;
use jsonschema::Validator;
use serde_json::{Value, from_value, json};

fn schema() -> Validator {
    let printed = run("schema", &[], b"").out;
    jsonschema::draft202012::new(&serde_json::from_str(&printed).unwrap()).unwrap()
}

/// Every field of a policy.
fn whole() -> Value {
    let selector = json!({"matchLabels": {"pool": "a"}, "matchExpressions": [{"key": "b", "operator": "In", "values": ["c"]}]});
    json!({
        "paused": false,
        "approved": {"7": 2},
        "waves": [{"nodes": selector, "upTo": "10%", "bakeSeconds": 60, "needsApproval": true}, {"upTo": 3}, {}],
        "onFailure": {
            "action": "Undo", "maxFailures": 1, "maxRestarts": 2, "availableWithinSeconds": 600, "waitingSeconds": 60,
            "waitingReasons": ["ImagePullBackOff"], "progressDeadlineSeconds": 900,
        },
        "drive": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}},
        "downNodes": "ExcuseIfDownBefore",
        "lifecycle": "Respect",
        "conditions": true,
        "podNames": "OnePerNode",
        "turn": {"cordon": true, "gates": ["drained"], "timeoutSeconds": 60, "onTimeout": "Proceed"},
        "drain": {
            "podSelector": selector, "evictWithoutController": true, "deleteEmptyDirData": true, "graceSeconds": 5,
            "skipWaitForDeleteSeconds": 5,
        },
        "pull": {"parallel": 2, "timeoutSeconds": 60},
        "inPlace": "IfPossible",
        "fit": "Hold",
        "priorityClassName": "high",
    })
}

fn is_read(policy: &Value) -> bool {
    let daemon_set: DaemonSet = from_value(json!({
        "metadata": {"annotations": {"rollout.daemonset/policy": policy.to_string()}},
        "spec": {"updateStrategy": {"type": "OnDelete"}},
    }))
    .unwrap();
    Policy::from_annotations(&daemon_set, &Powers::parse("turn,evict,priority")).is_ok()
}

/// The pointer of each value in it.
fn pointers(value: &Value, here: &str, all: &mut Vec<String>) {
    all.push(here.to_owned());
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(key, member)| pointers(member, &format!("{here}/{key}"), all));
        }
        Value::Array(elements) => {
            elements
                .iter()
                .enumerate()
                .for_each(|(i, element)| pointers(element, &format!("{here}/{i}"), all));
        }
        _ => {}
    }
}

#[test]
fn the_schema_knows_each_field_and_refuses_each_unknown_one() {
    let (schema, whole) = (schema(), whole());
    assert!(is_read(&whole));
    assert!(
        schema.is_valid(&whole),
        "{:?}",
        schema.iter_errors(&whole).map(|e| e.to_string()).collect::<Vec<_>>()
    );
    let mut all = Vec::new();
    pointers(&whole, "", &mut all);
    let mut refused = 0;
    for pointer in &all {
        let mut policy = whole.clone();
        let Some(Value::Object(members)) = policy.pointer_mut(pointer) else { continue };
        members.insert("misspelt".to_owned(), json!(1));
        let is_open = ["/approved", "/waves/0/nodes/matchLabels", "/drain/podSelector/matchLabels"]
            .contains(&&**pointer);
        if !is_open && !pointer.starts_with("/drive") {
            assert!(!is_read(&policy), "{pointer}");
            assert!(!schema.is_valid(&policy), "{pointer}");
            refused += 1;
        }
    }
    assert!(refused >= 12, "{refused}");
}

#[test]
fn the_schema_accepts_each_value_that_the_reader_accepts() {
    let (schema, whole) = (schema(), whole());
    let mut all = Vec::new();
    pointers(&whole, "", &mut all);
    let (mut accepted, mut refused) = (0, 0);
    let values = json!([
        true,
        0,
        1,
        -1,
        1.5,
        70_000,
        "1",
        "25%",
        "x",
        "Keep",
        "Wait",
        "Never",
        "Pause",
        "RollBack",
        [],
        {},
        ["a"]
    ]);
    for pointer in &all {
        for value in values.as_array().unwrap() {
            let mut policy = whole.clone();
            *policy.pointer_mut(pointer).unwrap() = value.clone();
            match is_read(&policy) {
                true => {
                    assert!(schema.is_valid(&policy), "{pointer}: {value}");
                    accepted += 1;
                }
                false => refused += usize::from(!schema.is_valid(&policy)),
            }
        }
    }
    assert!(accepted > 140 && refused > 900, "{accepted} are accepted, {refused} refused by both");
}
