//! A DaemonSet that passes validation can be planned for: a snapshot accepts it.

use super::{good_with, merge};
use crate::now;
use daemonset::{InvalidInput, Observed, Snapshot};
use daemonset_apiserver::admission::{Rules, validate};
use daemonset_objects::model::{ControllerRevision, DaemonSet, Node, Pod};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

/// Valid and invalid values of the fields that both validate.
fn limits() -> impl Strategy<Value = Value> {
    let limits = [
        json!(null),
        json!(0),
        json!(1),
        json!(-1),
        json!(2_147_483_647),
        json!("0%"),
        json!("007%"),
        json!("100%"),
        json!("101%"),
        json!("99999999999%"),
        json!("+1%"),
        json!("5"),
        json!("%"),
        json!(""),
    ];
    select(limits.to_vec())
}

fn words() -> impl Strategy<Value = &'static str> {
    select(vec!["app", "web", "a", "example.com/a", "", "-", "a b", "7", "controller-revision-hash"])
}

fn requirements() -> impl Strategy<Value = Value> {
    let operators = select(vec!["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "", "Like"]);
    let values = prop::collection::vec(words(), 0..3);
    (words(), operators, values)
        .prop_map(|(key, operator, values)| json!({"key": key, "operator": operator, "values": values}))
}

fn strategies() -> impl Strategy<Value = Value> {
    let kinds =
        select(vec!["RollingUpdate", "RollingUpdate", "OnDelete", "SurgingRollingUpdate", "Recreate"]);
    (kinds, limits(), limits()).prop_map(|(kind, unavailable, surge)| {
        let mut limits = json!({"maxUnavailable": unavailable, "maxSurge": surge});
        limits.as_object_mut().unwrap().retain(|_, limit| !limit.is_null());
        json!({"updateStrategy": {"type": kind, "rollingUpdate": limits}})
    })
}

fn selectors() -> impl Strategy<Value = Value> {
    let labels = prop::collection::btree_map(words(), words(), 0..3);
    (labels, prop::collection::vec(requirements(), 0..2)).prop_map(
        |(labels, expressions)| json!({"selector": {"matchLabels": labels, "matchExpressions": expressions}}),
    )
}

fn pods() -> impl Strategy<Value = Value> {
    let terms = (prop::collection::vec(requirements(), 0..2), prop::collection::vec(requirements(), 0..2));
    let terms = terms.prop_map(|(expressions, fields)| {
        let required =
            json!({"nodeSelectorTerms": [{"matchExpressions": expressions, "matchFields": fields}]});
        json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}})
    });
    let field = |value: Value| {
        let requirement = json!({"key": "metadata.name", "operator": "In", "values": [value]});
        let required = json!({"nodeSelectorTerms": [{"matchFields": [requirement]}]});
        json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}})
    };
    let comparing = words().prop_map(|bound| {
        let requirement = json!({"key": "a", "operator": "Gt", "values": [bound]});
        let required = json!({"nodeSelectorTerms": [{"matchExpressions": [requirement]}]});
        json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}})
    });
    let tolerations = requirements().prop_map(|mut toleration| {
        toleration["value"] = toleration["values"].get(0).cloned().unwrap_or(json!(""));
        toleration.as_object_mut().unwrap().remove("values");
        json!({"tolerations": [toleration]})
    });
    let port = |port: i64| json!({"containers": [{"name": "c", "image": "i", "ports": [{"containerPort": 80, "hostPort": port}]}]});
    prop_oneof![
        terms,
        comparing,
        words().prop_map(move |name| field(json!(name))),
        tolerations,
        select(vec![-1, 0, 80, 65_536]).prop_map(port),
    ]
    .prop_map(|pod| json!({"template": {"spec": pod}}))
}

/// The valid DaemonSet with up to three changes.
fn daemon_sets() -> impl Strategy<Value = Value> {
    let figures = select(vec![-1, 0, 5])
        .prop_map(|figure| json!({"minReadySeconds": figure, "revisionHistoryLimit": figure}));
    let changes = prop_oneof![strategies(), selectors(), pods(), figures];
    prop::collection::vec(changes, 1..4).prop_map(|changes| {
        let mut patch = json!({});
        changes.iter().for_each(|change| merge(&mut patch, change));
        with_uid(good_with("/spec", &patch))
    })
}

/// Under OnDelete the API server does not validate limits; a snapshot reads any value.
fn with_uid(mut object: Value) -> Value {
    object["metadata"]["uid"] = json!("uid-web");
    let strategy = &mut object["spec"]["updateStrategy"];
    if strategy["type"] == "OnDelete" {
        strategy.as_object_mut().unwrap().remove("rollingUpdate");
    }
    object
}

/// The problem that a snapshot reports for a DaemonSet that the API server accepts; `None` for one that it refuses.
fn told_of_what_is_taken(object: &Value) -> Option<Result<(), InvalidInput>> {
    validate(object, &Rules::default()).is_empty().then(|| {
        let daemon_set: DaemonSet = serde_json::from_value(object.clone()).unwrap();
        let (nodes, pods, revisions): ([&Node; 0], [&Pod; 0], [&ControllerRevision; 0]) = ([], [], []);
        let observed = Observed { daemon_set: &daemon_set, nodes, pods, revisions };
        Snapshot::builder(observed, now()).check().map(|_| ())
    })
}

/// Upstream accepts both. Nodes are then compared with a string that is no number, so none matches; and a selector
/// may select the hash of the template, so that each new pod would be released.
fn is_known(invalid: &InvalidInput) -> bool {
    let no_number = |path: &str| path.contains(".nodeAffinity.") && path.ends_with(".values");
    let changing = |problem: &str| problem.contains("its value changes with each template");
    invalid.problems.iter().all(|problem| no_number(&problem.path) || changing(&problem.to_string()))
}

proptest! {
    #[test]
    fn a_valid_daemon_set_can_be_planned_for(object in daemon_sets()) {
        if let Some(Err(invalid)) = told_of_what_is_taken(&object) {
            prop_assert!(is_known(&invalid), "{invalid} of {object}");
        }
    }

    /// No change of a valid DaemonSet panics, whichever its type is.
    #[test]
    fn every_object_has_a_result(place in select(places()), value in select(oddities())) {
        let mut object = good_with("/", &json!({}));
        *object.pointer_mut(&place).unwrap() = value;
        let errors = validate(&object, &Rules::default());
        prop_assert_eq!(errors.is_empty(), errors.to_string() == "[]");
    }
}

fn oddities() -> Vec<Value> {
    [
        json!(null),
        json!(-5),
        json!(1.5),
        json!("x"),
        json!(true),
        json!([]),
        json!([[1]]),
        json!({"a": [null]}),
    ]
    .to_vec()
}

/// Every path in the valid DaemonSet.
fn places() -> Vec<String> {
    fn below(value: &Value, at: &str, places: &mut Vec<String>) {
        places.push(at.to_owned());
        match value {
            Value::Object(members) => {
                members.iter().for_each(|(name, value)| below(value, &format!("{at}/{name}"), places));
            }
            Value::Array(items) => {
                items
                    .iter()
                    .enumerate()
                    .for_each(|(index, item)| below(item, &format!("{at}/{index}"), places));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut places = Vec::new();
    below(&good_with("/", &json!({})), "", &mut places);
    places
}

/// The generator reaches objects that are accepted, objects that each rule of both sides refuses, and objects that
/// only a snapshot refuses.
#[test]
fn the_generator_reaches_every_rule() {
    let mut runner = TestRunner::deterministic();
    let (mut taken, mut known, mut refused) = (0, 0, std::collections::BTreeSet::new());
    for _ in 0..1500 {
        let object = daemon_sets().new_tree(&mut runner).unwrap().current();
        match told_of_what_is_taken(&object) {
            Some(Ok(())) => taken += 1,
            Some(Err(_)) => known += 1,
            None => refused.extend(validate(&object, &Rules::default()).into_iter().map(|error| error.path)),
        }
    }
    assert!(taken > 100 && known > 3, "{taken} taken, {known} known");
    for path in [
        "spec.selector.matchLabels",
        "spec.minReadySeconds",
        "spec.updateStrategy",
        "spec.updateStrategy.rollingUpdate.maxUnavailable",
        "spec.updateStrategy.rollingUpdate.maxSurge",
        "spec.template.metadata.labels",
        "spec.template.spec.tolerations[0].operator",
        "spec.template.spec.containers[0].ports[0].hostPort",
    ] {
        assert!(refused.contains(path), "{path} is in none of {refused:?}");
    }
}
