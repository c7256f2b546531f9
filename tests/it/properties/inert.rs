//! The fields that have no effect, each under the conditions in which it has none: the plan is the same, byte for byte.

use super::{planned, world};
use crate::support::{TURN_KEY, cases, on, on_delete, rolling, surging};
use daemonset::policy::Rule;
use daemonset::{Action, Recording};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A fleet with turns, pulls and changes in place, as JSON, without any oddity in its policy.
fn fleet() -> impl Strategy<Value = Value> {
    world::turning().prop_map(|world| world.given().json)
}

fn recording(fleet: &Value) -> Recording {
    serde_json::from_value(fleet.clone()).unwrap()
}

/// The whole plan.
fn bytes(fleet: &Value) -> String {
    serde_json::to_string(&planned(&recording(fleet))).unwrap()
}

/// The actions of a plan, but for those that are left out.
fn actions_but(fleet: &Value, is_left_out: impl Fn(&Action) -> bool) -> Vec<Action> {
    planned(&recording(fleet)).actions.into_iter().filter(|action| !is_left_out(action)).collect()
}

/// The fleet with another strategy, and without the fields that surge refuses.
fn updated_by(mut fleet: Value, strategy: Value) -> Value {
    fleet["daemonSet"]["spec"]["updateStrategy"] = strategy;
    fleet["policy"]["podNames"] = json!("Generated");
    fleet["policy"]["turn"] = Value::Null;
    fleet
}

/// The fleet with another value of a field of the policy.
fn with(fleet: &Value, field: &str, value: Value) -> Value {
    let mut fleet = fleet.clone();
    fleet["policy"][field] = value;
    fleet
}

/// Whether each of these values of a field gives the same plan.
fn is_same(fleet: &Value, field: &str, values: [Value; 2]) -> Result<(), TestCaseError> {
    let [one, other] = values.map(|value| bytes(&with(fleet, field, value)));
    prop_assert_eq!(one, other, "{}", field);
    Ok(())
}

fn each<'f>(fleet: &'f mut Value, list: &str) -> impl Iterator<Item = &'f mut Value> {
    fleet[list].as_array_mut().into_iter().flatten()
}

/// Changes the annotations of each node or pod.
fn annotate(fleet: &mut Value, list: &str, change: impl Fn(&mut serde_json::Map<String, Value>)) {
    for object in each(fleet, list) {
        if let Some(annotations) = object["metadata"]["annotations"].as_object_mut() {
            change(annotations);
        } else {
            let mut annotations = serde_json::Map::new();
            change(&mut annotations);
            object["metadata"]["annotations"] = Value::Object(annotations);
        }
    }
}

fn own_turn() -> String {
    format!("turn.daemonset/{TURN_KEY}")
}

fn is_pull_pod(pod: &Value) -> bool {
    pod["metadata"]["labels"]["pull.daemonset/owner"].is_string()
}

fn without_pull_pods(fleet: &Value) -> Value {
    let mut fleet = fleet.clone();
    fleet["pods"].as_array_mut().unwrap().retain(|pod| !is_pull_pod(pod));
    fleet
}

const SINCE: &str = "in-place.daemonset/since";

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(60), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_rule_has_no_effect_under_strategies_that_it_does_not_name(fleet in fleet(), limit in 1_u32..4) {
        for strategy in [rolling(limit), surging(limit), on_delete()] {
            let fleet = updated_by(fleet.clone(), strategy);
            let in_force = recording(&fleet).snapshot().unwrap().spec().strategy;
            for rule in Rule::ALL.iter().filter(|rule| !rule.has_effect(in_force)) {
                is_same(&fleet, rule.member(), [on(*rule), Value::Null])?;
            }
        }
    }

    #[test]
    fn fit_has_no_effect_where_no_room_is_known_or_the_node_is_emptied_first(fleet in fleet()) {
        let mut unknown = fleet.clone();
        unknown["free"] = json!({});
        is_same(&unknown, "fit", [json!("Hold"), json!("Ignore")])?;
        let emptied = with(&updated_by(fleet, rolling(2)), "turn", json!({"gates": ["drained"]}));
        is_same(&emptied, "fit", [json!("Hold"), json!("Ignore")])?;
    }

    #[test]
    fn the_room_of_nodes_has_no_effect_where_nobody_asks(fleet in fleet()) {
        let fleet = with(&fleet, "fit", json!("Ignore"));
        let mut unknown = fleet.clone();
        unknown["free"] = json!({});
        prop_assert_eq!(bytes(&fleet), bytes(&unknown));
    }

    #[test]
    fn no_plan_reads_how_a_node_is_drained(fleet in fleet()) {
        is_same(&fleet, "drain", [json!({"evictWithoutController": true, "graceSeconds": 1}), Value::Null])?;
    }

    #[test]
    fn an_annotation_of_another_form_is_none(fleet in fleet(), text in "[ 0-9a-z{}:]{0,12}") {
        for (list, key) in [("nodes", own_turn()), ("pods", SINCE.to_owned())] {
            let (mut garbage, mut none) = (fleet.clone(), fleet.clone());
            annotate(&mut garbage, list, |annotations| _ = annotations.insert(key.clone(), json!(text)));
            annotate(&mut none, list, |annotations| _ = annotations.remove(&key));
            prop_assert_eq!(bytes(&garbage), bytes(&none), "{}", key);
        }
    }

    /// The gates of a turn that is over, the turns of others, and facts of nodes and containers that only new fields read.
    #[test]
    fn leftovers_have_no_effect_without_the_fields(fleet in fleet()) {
        let mut fleet = without_pull_pods(&fleet);
        for rule in Rule::ALL.iter().filter(|rule| !matches!(rule, Rule::PodNames | Rule::DownNodes | Rule::Lifecycle)) {
            fleet["policy"].as_object_mut().unwrap().remove(rule.member());
        }
        fleet["memory"].as_object_mut().map(|memory| memory.remove("turns"));
        annotate(&mut fleet, "nodes", |annotations| _ = annotations.remove(&own_turn()));
        annotate(&mut fleet, "pods", |annotations| _ = annotations.remove(SINCE));
        let mut bare = fleet.clone();
        for node in each(&mut bare, "nodes") {
            node["metadata"]["annotations"] = json!({});
            node["status"]["images"] = json!([]);
        }
        for pod in each(&mut bare, "pods") {
            pod["spec"]["containers"] = json!([]);
            // Restarts and waits are causes in the report.
            for status in pod["status"]["containerStatuses"].as_array_mut().into_iter().flatten() {
                (status["containerID"], status["imageID"]) = (Value::Null, Value::Null);
            }
        }
        bare["free"] = json!({});
        bare["nodesVersion"] = Value::Null;
        prop_assert_eq!(bytes(&fleet), bytes(&bare));
    }

    /// A patch in flight, after which a node counts as in turn, is another matter.
    #[test]
    fn without_the_policy_turns_end_at_once_and_count_nowhere(fleet in fleet()) {
        let mut fleet = with(&fleet, "turn", Value::Null);
        fleet["memory"].as_object_mut().map(|memory| memory.remove("turns"));
        let mut none = fleet.clone();
        annotate(&mut none, "nodes", |annotations| _ = annotations.remove(&own_turn()));
        let is_patch = |action: &Action| matches!(action, Action::PatchNode { .. });
        prop_assert_eq!(actions_but(&fleet, is_patch), actions_but(&none, |_| false));
    }

    #[test]
    fn pull_pods_count_nowhere(fleet in fleet()) {
        let fleet = with(&fleet, "pull", Value::Null);
        // A cap on deletes is asked about again.
        let is_of_pulls = |action: &Action| {
            matches!(action, Action::DeletePod { reason, .. } if *reason == daemonset::DeleteReason::PullDone)
                || matches!(action, Action::Requeue { .. })
        };
        prop_assert_eq!(actions_but(&fleet, is_of_pulls), actions_but(&without_pull_pods(&fleet), is_of_pulls));
    }

    #[test]
    fn a_priority_is_no_part_of_the_template(fleet in fleet()) {
        let plan = |class: Value| {
            let mut plan: Value = serde_json::from_str(&bytes(&with(&fleet, "priorityClassName", class))).unwrap();
            for action in each(&mut plan, "actions") {
                let spec = action.pointer_mut("/pod/spec").and_then(Value::as_object_mut);
                spec.map(|spec| spec.remove("priorityClassName"));
            }
            plan
        };
        prop_assert_eq!(plan(json!("system-node-critical")), plan(Value::Null));
    }
}
