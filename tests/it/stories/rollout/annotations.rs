//! The policy in annotations of the DaemonSet.

use daemonset::model::DaemonSet;
use daemonset::policy::{
    DownNodesPolicy, DrainPolicy, FitPolicy, InPlacePolicy, InvalidRolloutPolicy, LifecyclePolicy,
    Permission, Permissions, PodNames, PullPolicy, TurnMode, TurnPolicy,
};
use daemonset::{Action, Policy, Problem, ProblemKind};
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
    Policy::from_annotations(&ds(annotations), &Permissions::default())
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
    assert_eq!(
        (policy.conditions, policy.external_controller.unwrap().kind.as_str()),
        (true, "RollingUpdate")
    );
}

fn read_with(powers: &str, policy: Value) -> Result<Policy, InvalidRolloutPolicy> {
    Policy::from_annotations(
        &ds(json!({"rollout.daemonset/policy": policy.to_string()})),
        &Permissions::parse(powers),
    )
}

/// Each with its path, and whether it is not permitted.
fn problems(invalid: &InvalidRolloutPolicy) -> Vec<(&str, bool)> {
    let forbidden = |problem: &Problem| matches!(problem.kind, ProblemKind::Forbidden { .. });
    let problems = invalid.problems.iter().map(|found| &found.problem);
    problems.map(|problem| (problem.path.as_str(), forbidden(problem))).collect()
}

fn paths(invalid: &InvalidRolloutPolicy) -> Vec<&str> {
    invalid.problems.iter().map(|found| found.problem.path.as_str()).collect()
}

fn of_turns() -> Value {
    json!({
        "podNames": "OnePerNode", "pull": {"parallel": 3}, "inPlace": "IfPossible", "fit": "Hold",
        "turn": {"cordon": true, "gates": ["drained"]}, "drain": {"graceSeconds": 30}, "priorityClassName": "high",
    })
}

#[test]
fn a_policy_may_have_the_fields_of_turns() {
    let policy = read_with("turn,evict,priority", of_turns()).unwrap();
    let expected = Policy::default()
        .rollout(daemonset::policy::RolloutPolicy::default())
        .pod_names(PodNames::OnePerNode)
        .pull(PullPolicy::default().parallel(daemonset::model::IntOrString::Int(3)))
        .in_place(InPlacePolicy::IfPossible)
        .fit(FitPolicy::Hold)
        .turn(TurnMode::Take(TurnPolicy::default().cordon(true).gates(["drained"])))
        .drain(DrainPolicy::default().grace_seconds(30))
        .priority_class_name(Some("high".to_owned()));
    assert_eq!(policy, expected);
}

#[test]
fn a_field_beyond_the_powers_of_the_namespace_is_not_permitted() {
    let lacks = |powers: &str| {
        let problems = read_with(powers, of_turns()).unwrap_err().problems.into_iter();
        problems.map(|found| found.problem.to_string()).collect::<Vec<_>>()
    };
    let [turn, drain, priority] = [
        ("turn", Permission::Turn),
        ("drain", Permission::Evict),
        ("priorityClassName", Permission::Priority),
    ]
    .map(|(field, power)| {
        format!("{field}: Forbidden: needs the power {power}, which the annotation {} of the Namespace does not give", Permissions::ANNOTATION)
    });
    assert_eq!(lacks(""), [turn.clone(), drain.clone(), priority.clone()]);
    assert_eq!(lacks("turn"), [drain, priority.clone()]);
    assert_eq!(lacks("evict , turn"), [priority], "in any order, with spaces");
    assert_eq!(lacks("priority,evict,turns,*"), [turn], "a word that nobody knows gives nothing");
}

#[test]
fn the_other_choices_of_turns_need_no_power_nor_does_a_field_that_is_null() {
    let others = json!({"podNames": "OnePerNode", "pull": {}, "inPlace": "IfPossible", "fit": "Hold"});
    assert!(read_with("", others).is_ok());
    assert!(read_with("", json!({"turn": null, "drain": null, "priorityClassName": null})).is_ok());
    assert_eq!(problems(&read_with("", json!({"turn": "Keep"})).unwrap_err()), [("turn", true)]);
}

#[test]
fn what_is_not_permitted_and_what_can_not_be_read_are_named_at_once() {
    let policy = json!({
        "turn": {"cordon": true}, "fit": "Maybe",
        "drain": {"graceSeconds": -1, "podSelector": {"matchLabel": {}}},
    });
    let invalid = read_with("evict", policy.clone()).unwrap_err();
    assert_eq!(problems(&invalid), [("turn", true), ("fit", false)]);
    let mut policy = policy;
    policy["fit"] = json!("Hold");
    let invalid = read_with("evict", policy).unwrap_err();
    let expected = [("turn", true), ("drain.graceSeconds", false), ("drain.podSelector.matchLabel", false)];
    assert_eq!(problems(&invalid), expected);
    assert_eq!(problems(&read_with("evict", json!({"drain": []})).unwrap_err()), [("drain", false)]);
}

#[test]
fn turns_that_the_check_would_refuse_are_an_error() {
    for (policy, path) in [
        (json!({"turn": {"gates": ["a", "A"]}}), "turn.gates[1]"),
        (json!({"turn": {"onTimeout": "Proceed"}}), "turn.onTimeout"),
        (json!({"pull": {"parallel": 0}}), "pull.parallel"),
    ] {
        assert_eq!(paths(&read_with("turn", policy).unwrap_err()), [path]);
    }
    let surging = |policy: Value| {
        let mut ds = ds(json!({"rollout.daemonset/policy": policy.to_string()}));
        ds.spec.update_strategy = from_value(
            json!({"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}}),
        )
        .unwrap();
        paths(&Policy::from_annotations(&ds, &Permissions::all()).unwrap_err()).concat()
    };
    assert_eq!(surging(json!({"turn": {}})), "turn");
    assert_eq!(surging(json!({"podNames": "OnePerNode"})), "podNames");
}

#[test]
fn the_callers_own_turns_stay_where_the_annotation_has_none() {
    let own = Policy::default()
        .turn(TurnMode::Take(TurnPolicy::default().cordon(true)))
        .drain(DrainPolicy::default())
        .pull(PullPolicy::default())
        .fit(FitPolicy::Hold)
        .pod_names(PodNames::OnePerNode)
        .in_place(InPlacePolicy::IfPossible)
        .priority_class_name(Some("high".to_owned()));
    let json = |text: &str| serde_json::from_str(text).map_err(|error| error.to_string());
    let annotated = ds(json!({"rollout.daemonset/policy": "{}"}));
    // A policy made in code needs no powers.
    let policy = own.clone().with_annotations(&annotated, &Permissions::default(), json).unwrap();
    assert_eq!(policy, own.rollout(daemonset::policy::RolloutPolicy::default()));
}

#[test]
fn the_callers_other_choices_stay() {
    let own = Policy::default().burst(7).lifecycle(LifecyclePolicy::Respect);
    let json = |text: &str| serde_json::from_str(text).map_err(|error| error.to_string());
    let policy = own
        .with_annotations(&ds(json!({"rollout.daemonset/policy": "{}"})), &Permissions::default(), json)
        .unwrap();
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
        ("policy", r#"{"approved": {"x": 1}}"#, "approved"),
        // Members of other controllers' strategies, and misspelt ones: to skip them would let all nodes go.
        ("policy", r#"{"drive": {"type": "RollingUpdate", "maxUnavailable": 2}}"#, "drive.maxUnavailable"),
        (
            "policy",
            r#"{"drive": {"type": "RollingUpdate", "rollingUpdate": {"partition": 5}}}"#,
            "drive.rollingUpdate.partition",
        ),
        (
            "policy",
            r#"{"drive": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "x"}}}"#,
            "drive.rollingUpdate.maxUnavailable",
        ),
        // Labels that no node can have: the wave would be empty, and done at once.
        ("policy", r#"{"waves": [{"nodes": {"matchLabels": {"a b": "c"}}}]}"#, "waves[0].nodes.matchLabels"),
        (
            "policy",
            r#"{"waves": [{"nodes": {"matchLabels": {"a": "b c"}}}]}"#,
            "waves[0].nodes.matchLabels.a",
        ),
        (
            "policy",
            r#"{"waves": [{}, {"nodes": {"matchExpressions": [{"key": "a", "operator": "In", "values": ["b", "-c"]}]}}]}"#,
            "waves[1].nodes.matchExpressions[0].values",
        ),
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
        let first = &invalid.problems[0];
        assert_eq!((first.annotation.as_str(), first.problem.path.as_str()), (key.as_str(), path), "{text}");
    }
}

/// The API server would refuse each new pod, once the old one has gone.
#[test]
fn a_priority_class_has_a_name_that_can_exist() {
    let path = |class: &str| {
        let read = read_with("priority", json!({"priorityClassName": class}));
        read.err().map(|invalid| paths(&invalid).concat())
    };
    assert_eq!(
        ["High Priority", "Daemons", "daemons-1.high", ""].map(path),
        [Some("priorityClassName".to_owned()), Some("priorityClassName".to_owned()), None, None]
    );
}

#[test]
fn a_null_is_no_value() {
    let policy = json!({"waves": null, "onFailure": null, "turn": null, "pull": {"parallel": null, "timeoutSeconds": null}});
    let policy = read_with("turn", policy).unwrap();
    assert_eq!((policy.turn, policy.pull), (None, Some(PullPolicy::default())));
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
    assert!(Policy::from_annotations(&policy(padded(16 * 1024)), &Permissions::default()).is_ok());
    let too_long = policy(padded(16 * 1024 + 1));
    let invalid =
        Policy::default().with_annotations(&too_long, &Permissions::default(), not_read).unwrap_err();
    assert_eq!(paths(&invalid), ["policy"]);
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
            .map(|read| paths(&read.unwrap_err()).concat());
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
    assert_eq!(paths(&invalid), ["rollout.approved", "rollout.waves", "rollout.onFailure.waitingReasons"]);
    assert_eq!(invalid.problems[0].problem.kind.to_string(), "Too many: 65: must have at most 64 items");
    let wave = json!({"nodes": {"matchExpressions": [{"key": "a", "operator": "Like"}]}});
    let many = |count: usize| with(json!({"waves": vec![wave.clone(); count]})).unwrap_err();
    assert_eq!(paths(&many(1)), ["waves[0].nodes.matchExpressions[0].operator"]);
    assert_eq!(paths(&many(65)), ["rollout.waves"], "nobody looks at each of them");
}

#[test]
fn a_list_is_no_object() {
    // serde would read it as the members in their order, so that each would be a default, such as a selector of all nodes.
    for (policy, path) in [
        (json!({"waves": [[]]}), "waves[0]"),
        (json!({"waves": [{"nodes": []}]}), "waves[0].nodes"),
        (
            json!({"waves": [{"nodes": {"matchExpressions": [["a", "Exists"]]}}]}),
            "waves[0].nodes.matchExpressions[0]",
        ),
        (json!({"onFailure": []}), "onFailure"),
        (json!({"drive": []}), "drive"),
        (json!({"pull": []}), "pull"),
        (json!({"turn": []}), "turn"),
        (json!({"drain": []}), "drain"),
        (json!({"drain": {"podSelector": []}}), "drain.podSelector"),
    ] {
        let annotations = json!({"rollout.daemonset/policy": policy.to_string()});
        let invalid =
            Policy::from_annotations(&ds(annotations), &Permissions::parse("turn,evict")).unwrap_err();
        assert_eq!(paths(&invalid), [path], "{policy}");
        assert!(invalid.to_string().contains("object"), "{policy}: {invalid}");
    }
    for policy in [
        json!({"rollout": []}),
        json!({"rollout": {"waves": [[]]}}),
        json!({"pull": []}),
        json!({"drive": []}),
    ] {
        assert!(from_value::<Policy>(policy.clone()).is_err(), "{policy}");
    }
}

#[test]
fn all_problems_are_named_at_once() {
    let policy = json!({"waves": [{"upTo": "half"}]});
    let annotations = json!({
        "rollout.daemonset/policy": policy.to_string(), "rollout.daemonset/paused": "yes", "rollout.daemonset/approved": "7", "rollout.daemonset/wave": "1",
    });
    let invalid = read(annotations).unwrap_err();
    let problems: Vec<&str> = invalid.problems.iter().map(|problem| problem.annotation.as_str()).collect();
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
    let invalid = Policy::from_annotations(&ds, &Permissions::default()).unwrap_err();
    let policy = invalid.policy(Policy::default().burst(7));
    assert!(policy.burst == 7 && policy.rollout.unwrap().paused);
    assert_eq!(
        policy.turn,
        Some(TurnMode::Keep),
        "a typing error must not uncordon a node whose daemon is away"
    );
    let Action::RecordEvent { reason, message, .. } = invalid.event(&ds) else { panic!() };
    assert_eq!(reason.as_str(), "InvalidRolloutPolicy");
    assert_eq!(
        message,
        "The rollout is paused, since its policy can't be read: annotation rollout.daemonset/paused: Invalid value: \
         \"maybe\": must be \"true\" or \"false\""
    );
}

#[test]
fn the_event_about_a_policy_that_is_not_permitted_names_the_power() {
    let ds = ds(json!({"rollout.daemonset/policy": r#"{"drain": {}}"#}));
    let invalid = Policy::from_annotations(&ds, &Permissions::parse("turn")).unwrap_err();
    let Action::RecordEvent { message, .. } = invalid.event(&ds) else { panic!() };
    assert_eq!(
        message,
        "The rollout is paused, since its policy is not permitted: annotation rollout.daemonset/policy: drain: Forbidden: \
         needs the power evict, which the annotation rollout.daemonset/powers of the Namespace does not give"
    );
}

#[test]
fn a_namespace_delegates_powers_by_an_annotation() {
    let labels = |text: &str| [(Permissions::ANNOTATION, text)].into_iter().collect();
    assert_eq!(Permissions::of_namespace(&labels("turn,evict,priority")), Permissions::all());
    assert_eq!(Permissions::of_namespace(&labels("turn")), Permissions::default().turn(true));
    assert_eq!(Permissions::of_namespace(&Default::default()), Permissions::default());
    assert_eq!(
        (Permissions::all().to_string(), Permissions::default().to_string()),
        ("turn,evict,priority".into(), String::new())
    );
}
