//! Fields that never change, and values that may stay although a new DaemonSet could not have them.

use super::{good_with, merge, messages};
use daemonset_apiserver::admission::{Rules, validate, validate_status_update, validate_update};
use serde_json::{Value, json};

/// A stored DaemonSet with generation 4, template generation 4, and a status.
fn stored() -> Value {
    let meta = json!({
        "uid": "u", "generation": 3, "creationTimestamp": "2026-01-01T00:00:00Z",
        "annotations": {"deprecated.daemonset.template.generation": "4"},
    });
    let status = json!({"numberReady": 1, "collisionCount": 2});
    good_with("/", &json!({"metadata": meta, "status": status}))
}

fn with(object: &Value, patch: &Value) -> Value {
    let mut object = object.clone();
    merge(&mut object, patch);
    object
}

/// The messages for an update by a JSON merge patch.
fn messages_of(old: &Value, patch: &Value) -> Vec<String> {
    validate_update(old, &with(old, patch), &Rules::default()).messages()
}

#[test]
fn an_unchanged_object_is_valid() {
    assert_eq!(messages_of(&stored(), &json!({})), [""; 0]);
}

#[test]
fn the_identity_of_an_object_is_immutable() {
    for (patch, expected) in [
        (json!({"name": "a"}), "name: Invalid value: \"a\": field is immutable"),
        (json!({"name": "a/b%"}), "name: Invalid value: \"a/b%\": may not contain '/'"),
        (json!({"name": ".."}), "name: Invalid value: \"..\": may not be '..'"),
        (json!({"generateName": "a/b%"}), "generateName: Invalid value: \"a/b%\": may not contain '/'"),
        (json!({"generateName": "a%-"}), "generateName: Invalid value: \"a%-\": may not contain '%'"),
        (json!({"namespace": "a"}), "namespace: Invalid value: \"a\": field is immutable"),
        (json!({"uid": "a"}), "uid: Invalid value: \"a\": field is immutable"),
        (json!({"creationTimestamp": null}), "creationTimestamp: Invalid value: null: field is immutable"),
        (json!({"deletionTimestamp": "x"}), "deletionTimestamp: Invalid value: \"x\": field is immutable"),
        (
            json!({"deletionGracePeriodSeconds": 5}),
            "deletionGracePeriodSeconds: Invalid value: 5: field is immutable",
        ),
        (json!({"generation": 2}), "generation: Invalid value: 2: must not be decremented"),
        (json!({"labels": {"a": " "}}), "labels: Invalid value: \" \": a valid label must"),
        (json!({"finalizers": ["a"]}), "finalizers[0]: Invalid value: \"a\": name is neither"),
    ] {
        let messages = messages_of(&stored(), &json!({"metadata": patch}));
        assert!(messages[0].starts_with(&format!("metadata.{expected}")), "{messages:?}");
    }
}

#[test]
fn a_generated_name_is_any_part_of_a_path_once_its_object_is_stored() {
    for prefix in ["..", ".", "A_b"] {
        assert_eq!(
            messages_of(&stored(), &json!({"metadata": {"generateName": prefix}})),
            [""; 0],
            "{prefix}"
        );
    }
}

#[test]
fn no_finalizer_is_added_during_deletion() {
    let deleted = json!({"metadata": {"deletionTimestamp": "2026-02-01T00:00:00Z", "finalizers": ["a/b"]}});
    let old = with(&stored(), &deleted);
    assert_eq!(messages_of(&old, &json!({"metadata": {"finalizers": []}})), [""; 0]);
    let expected = "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{\"c/d\", \"orphan\"}";
    assert_eq!(messages_of(&old, &json!({"metadata": {"finalizers": ["orphan", "a/b", "c/d"]}})), [expected]);
}

fn template_generation(generation: i64) -> Value {
    json!({"annotations": {"deprecated.daemonset.template.generation": generation.to_string()}})
}

#[test]
fn the_template_generation_rises_with_the_template() {
    let image = json!({"containers": [{"name": "main", "image": "new", "imagePullPolicy": "Always", "terminationMessagePolicy": "File"}]});
    let changed = |generation| json!({"metadata": template_generation(generation), "spec": {"template": {"spec": image}}});
    let same = |generation| json!({"metadata": template_generation(generation)});
    let messages_of = |patch| messages_of(&stored(), &patch);
    assert_eq!(messages_of(changed(5)), [""; 0]);
    let of = |detail: &str| format!("spec.templateGeneration: Invalid value: {detail}");
    assert_eq!(messages_of(changed(4)), [of("4: must be incremented upon template update")]);
    assert_eq!(messages_of(same(5)), [of("5: must not be incremented without template update")]);
    assert_eq!(messages_of(same(3)), [of("3: must not be decremented")]);
    assert_eq!(
        messages_of(same(-1)),
        [of("-1: must not be decremented"), of("-1: must be greater than or equal to 0")]
    );
}

#[test]
fn another_spelling_of_an_amount_changes_no_template() {
    let asking = |cpu| {
        let resources = json!({"limits": {"cpu": cpu}, "requests": {"cpu": cpu}});
        json!({"spec": {"template": {"spec": {"resources": resources, "nodeSelector": {}}}}})
    };
    assert_eq!(messages_of(&with(&stored(), &asking("1")), &asking("1000m")), [""; 0]);
}

#[test]
fn the_selector_is_immutable() {
    let expected = "spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"web\"},\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"In\",\"values\":[\"web\"]},{\"key\":\"app\",\"operator\":\"Exists\"}]}: field is immutable";
    let expressions =
        json!([{"key": "app", "operator": "In", "values": ["web"]}, {"key": "app", "operator": "Exists"}]);
    let patch = json!({"spec": {"selector": {"matchExpressions": expressions}}});
    assert_eq!(messages_of(&stored(), &patch), [expected]);
    let none = messages_of(&stored(), &json!({"spec": {"selector": null}}));
    assert_eq!(none[0], "spec.selector: Invalid value: null: field is immutable");
    assert_eq!(messages_of(&stored(), &json!({"spec": {"selector": {"matchExpressions": []}}})), [""; 0]);
}

/// Values that a new template could not have, but that a stored one may keep while another field changes.
#[test]
fn stored_values_may_stay() {
    let spread = |selector: Value| {
        let constraint = json!({
            "maxSkew": 1, "topologyKey": "a", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector,
        });
        json!([constraint])
    };
    let bad_selector = json!({"matchExpressions": [{"key": "a", "operator": "In", "values": ["b c"]}]});
    let term = json!({"topologyKey": "a", "labelSelector": bad_selector});
    let required = "requiredDuringSchedulingIgnoredDuringExecution";
    let nodes = json!({(required): {"nodeSelectorTerms": [bad_selector]}});
    let sysctls = json!([{"name": "net.a", "value": "b"}]);
    let container = json!({
        "name": "main", "image": "i", "imagePullPolicy": "Always", "terminationMessagePolicy": "File",
        "resources": {"limits": {"cpu": "1", "hugepages-2Mi": "3Mi"}, "requests": {"hugepages-2Mi": "3Mi"}},
    });
    for pod in [
        json!({"affinity": {"podAffinity": {(required): [term]}}}),
        json!({"affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term}]}}}),
        json!({"affinity": {"nodeAffinity": nodes}}),
        json!({"topologySpreadConstraints": spread(bad_selector.clone())}),
        json!({"hostNetwork": true, "securityContext": {"sysctls": sysctls}}),
        json!({"hostNetwork": true, "hostUsers": false}),
        json!({"tolerations": [{"key": "a", "operator": "Gt", "value": "5"}]}),
        json!({"containers": [container]}),
    ] {
        let old = with(&stored(), &json!({"spec": {"template": {"spec": pod}}}));
        assert!(!validate(&old, &Rules::default()).is_empty(), "{pod}");
        assert_eq!(messages_of(&old, &json!({"spec": {"minReadySeconds": 1}})), [""; 0], "{pod}");
        assert!(!validate_update(&stored(), &old, &Rules::default()).is_empty(), "{pod}");
    }
}

#[test]
fn a_stored_deletion_cost_and_selector_may_stay() {
    let cost = json!({"annotations": {"controller.kubernetes.io/pod-deletion-cost": "x"}});
    let expressions = json!([{"key": "b", "operator": "NotIn", "values": ["c d"]}]);
    for spec in
        [json!({"template": {"metadata": cost}}), json!({"selector": {"matchExpressions": expressions}})]
    {
        let old = with(&stored(), &json!({"spec": spec}));
        assert!(!validate(&old, &Rules::default()).is_empty(), "{spec}");
        assert_eq!(messages_of(&old, &json!({"spec": {"minReadySeconds": 1}})), [""; 0], "{spec}");
    }
}

/// A stored toleration with a comparing operator may stay; then its value is validated.
#[test]
fn comparing_tolerations_have_an_integer() {
    let compared = |value: &str| {
        let toleration = json!({"key": "a", "operator": "Lt", "value": value});
        json!({"spec": {"template": {"spec": {"tolerations": [toleration]}}}})
    };
    let old = with(&stored(), &compared("5"));
    let canonical = "must be a valid decimal integer in canonical form";
    let go = |fault: &str, value: &str| format!("strconv.ParseInt: parsing {value:?}: {fault}");
    for (value, expected) in [
        ("", vec!["must be non-empty".to_owned(), go("invalid syntax", "")]),
        ("x", vec![canonical.to_owned(), go("invalid syntax", "x")]),
        ("05", vec![canonical.to_owned()]),
        ("-0", vec![canonical.to_owned()]),
        ("99999999999999999999", vec![go("value out of range", "99999999999999999999")]),
    ] {
        let path = "spec.template.spec.tolerations[0].value: Invalid value: ";
        let expected: Vec<String> =
            expected.iter().map(|fault| format!("{path}{value:?}: {fault}")).collect();
        let messages =
            messages_of(&old, &with(&compared(value), &json!({"metadata": template_generation(5)})));
        assert_eq!(messages, expected);
    }
}

#[test]
fn counters_are_not_negative_and_collisions_never_fall() {
    let messages_of = |status: Value| {
        messages(&validate_status_update(&stored(), &with(&stored(), &json!({"status": status}))))
    };
    for counter in [
        "currentNumberScheduled",
        "numberMisscheduled",
        "desiredNumberScheduled",
        "numberReady",
        "observedGeneration",
        "updatedNumberScheduled",
        "numberAvailable",
        "numberUnavailable",
    ] {
        let expected = format!("status.{counter}: Invalid value: -1: must be greater than or equal to 0");
        assert_eq!(messages_of(json!({(counter): -1})), [expected]);
    }
    let lower = |count: &str| format!("status.collisionCount: Invalid value: {count}: cannot be decremented");
    assert_eq!(messages_of(json!({"collisionCount": 1})), [lower("1")]);
    assert_eq!(messages_of(json!({"collisionCount": null})), [lower("0")]);
    assert_eq!(messages_of(json!({"collisionCount": 3})), [""; 0]);
    let negative = "status.collisionCount: Invalid value: -1: must be greater than or equal to 0";
    assert_eq!(messages_of(json!({"collisionCount": -1})), [negative.to_owned(), lower("-1")]);
    assert_eq!(messages_of(json!({"numberReady": 5, "spec": null})), [""; 0]);
}
