//! The priority class of created pods, which is no part of the template.

use crate::support::{Given, given, new, node, rolling};
use daemonset::Action;
use serde_json::{Value, json};

fn class(given: &Given) -> Value {
    let plan = given.plan();
    let create = plan.actions.iter().find_map(|action| match action {
        Action::CreatePod { pod, .. } => Some(pod.to_value()),
        _ => None,
    });
    create.unwrap()["spec"]["priorityClassName"].clone()
}

fn fleet() -> Given {
    given(rolling(1)).node(node("a")).policy(json!({"priorityClassName": "daemons"}))
}

#[test]
fn a_created_pod_without_a_priority_gets_that_of_the_policy() {
    assert_eq!(class(&fleet()), "daemons");
}

#[test]
fn the_priority_of_a_template_stays() {
    let with =
        |field: &str, value: Value| fleet().with(&format!("/daemonSet/spec/template/spec/{field}"), value);
    assert_eq!(class(&with("priorityClassName", json!("own"))), "own");
    assert_eq!(class(&with("priority", json!(7))), Value::Null);
}

#[test]
fn no_pod_is_outdated_for_the_priority_of_the_policy() {
    let given = given(rolling(1)).node(node("a").has(new())).policy(json!({"priorityClassName": "daemons"}));
    assert_eq!(given.steps(), [""; 0]);
}
