//! The policy in JSON: every field is optional, and every problem is found at once.

use daemonset_drain::DrainPolicy;
use serde_json::{Value, from_value, json, to_value};

fn problems(policy: Value) -> Vec<String> {
    let invalid = DrainPolicy::try_from(policy).unwrap_err();
    invalid.problems.iter().map(ToString::to_string).collect()
}

#[test]
fn absent_and_null_fields_are_the_defaults() {
    let nulls = json!({
        "podSelector": null, "evictWithoutController": null, "deleteEmptyDirData": null, "graceSeconds": null,
        "skipWaitForDeleteSeconds": null,
    });
    for policy in [
        json!({}),
        Value::Null,
        nulls,
        json!({"podSelector": {"matchLabels": null, "matchExpressions": null}}),
    ] {
        assert_eq!(from_value::<DrainPolicy>(policy).unwrap(), DrainPolicy::default());
    }
}

#[test]
fn a_policy_is_written_as_it_is_read() {
    let policy = json!({
        "podSelector": {"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "tier", "operator": "Exists"}]},
        "evictWithoutController": true, "deleteEmptyDirData": true, "graceSeconds": 0, "skipWaitForDeleteSeconds": 30,
    });
    assert_eq!(to_value(from_value::<DrainPolicy>(policy.clone()).unwrap()).unwrap(), policy);
    let written = to_value(DrainPolicy::default()).unwrap();
    assert_eq!(
        written,
        json!({"evictWithoutController": false, "deleteEmptyDirData": false, "skipWaitForDeleteSeconds": 0})
    );
}

#[test]
fn a_problem_has_the_path_of_its_field() {
    assert_eq!(problems(json!({"force": true})), ["force: unknown field"]);
    assert_eq!(problems(json!([])), ["must be an object"]);
    assert_eq!(
        problems(json!({"graceSeconds": -1})),
        ["graceSeconds: invalid value: integer `-1`, expected u32"]
    );
    assert_eq!(
        problems(json!({"skipWaitForDeleteSeconds": 1.5})),
        ["skipWaitForDeleteSeconds: invalid type: floating point `1.5`, expected u32"]
    );
    assert_eq!(
        problems(json!({"evictWithoutController": "yes"})),
        ["evictWithoutController: invalid type: string \"yes\", expected a boolean"]
    );
    let misspelt = problems(json!({"podSelector": {"matchLabel": {"app": "web"}}}));
    assert!(misspelt[0].starts_with("podSelector.matchLabel: unknown field `matchLabel`"), "{misspelt:?}");
    let label = problems(json!({"podSelector": {"matchLabels": {"app": 1}}}));
    assert!(label[0].starts_with("podSelector.matchLabels"), "{label:?}");
}

#[test]
fn all_problems_are_found_at_once_in_the_order_of_their_paths() {
    let selector = json!({"matchExpressions": [
        {"operator": "Exists"}, {"key": "app", "operator": "Near"}, {"key": "app", "operator": "In"},
    ]});
    assert_eq!(
        problems(json!({"podSelector": selector, "graceSeconds": "5", "deleteEmptyDirData": 1, "a": 1})),
        [
            "a: unknown field",
            "deleteEmptyDirData: invalid type: integer `1`, expected a boolean",
            "graceSeconds: invalid type: string \"5\", expected u32",
            "podSelector.matchExpressions[0].key: Required value",
            "podSelector.matchExpressions[1].operator: Invalid value: \"Near\": must be In, NotIn, Exists or DoesNotExist",
            "podSelector.matchExpressions[2].values: Invalid value: \"[]\": needs at least one value",
        ]
    );
    let text = from_value::<DrainPolicy>(json!({"a": 1, "b": 2})).unwrap_err().to_string();
    assert_eq!(text, "a: unknown field; b: unknown field");
}
