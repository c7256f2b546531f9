//! `Policy::daemonTolerations` and `Policy::binding`: the ties of a pod to its node, and the taints that it tolerates there.

use super::manifest::created;
use crate::support::{given, new, node, on_delete, rolling};
use daemonset::reconcile;
use daemonset_audit::{ViolationKind, audit};
use serde_json::{Value, json};

const CORDONED: &str = "node.kubernetes.io/unschedulable";

#[test]
fn placement_and_pods_have_the_same_tolerations() {
    let fleet = || {
        given(on_delete())
            .node(node("a").taint(CORDONED, "NoSchedule"))
            .node(node("b").taint("gpu", "NoSchedule"))
    };
    let nodes = |policy: Value| {
        let pods = created(&fleet().policy(policy));
        let node = |pod: &Value| {
            pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
            ["nodeSelectorTerms"][0]["matchFields"][0]["values"][0].as_str().unwrap().to_owned()
        };
        let found: Vec<(String, Value)> =
            pods.iter().map(|pod| (node(pod), pod["spec"]["tolerations"].clone())).collect();
        found
    };
    let kubernetes = nodes(json!({"daemonTolerations": "Kubernetes"}));
    assert_eq!(kubernetes, nodes(json!({})), "the default");
    assert_eq!((kubernetes.len(), kubernetes[0].0.as_str()), (1, "a"));
    assert_eq!(nodes(json!({"daemonTolerations": "None"})), []);
    let gpu = json!([{"key": "gpu", "operator": "Exists"}]);
    assert_eq!(nodes(json!({"daemonTolerations": {"Given": gpu}})), [("b".to_owned(), gpu)]);
}

#[test]
fn given_tolerations_replace_those_of_the_template_that_are_like_them() {
    let own = json!([{"key": "x", "operator": "Equal", "value": "1", "effect": "NoExecute", "tolerationSeconds": 5}]);
    let given_ones = json!([{"key": "x", "operator": "Equal", "value": "1", "effect": "NoExecute"}]);
    let pods = created(
        &given(on_delete())
            .tolerates(own)
            .policy(json!({"daemonTolerations": {"Given": given_ones}}))
            .node(node("a")),
    );
    assert_eq!(pods[0]["spec"]["tolerations"], given_ones);
}

#[test]
fn a_toleration_that_the_api_server_refuses_is_a_problem() {
    let problems = |toleration: Value| {
        given(on_delete())
            .policy(json!({"daemonTolerations": {"Given": [{"key": "ok"}, toleration]}}))
            .problems()
    };
    let at = "policy.daemonTolerations.Given[1]";
    for (toleration, expected) in [
        (json!({"key": "a b"}), "key: Invalid value: \"a b\": must be a label key"),
        (json!({"value": "1"}), "operator: Invalid value: \"\": must be Exists where the key is empty"),
        (json!({"key": "a", "operator": "Lt"}), "operator: Invalid value: \"Lt\": must be Equal or Exists"),
        (
            json!({"key": "a", "operator": "Exists", "value": "1"}),
            "value: Invalid value: \"1\": must be empty with operator Exists",
        ),
        (
            json!({"key": "a", "effect": "Never"}),
            "effect: Invalid value: \"Never\": must be NoSchedule, PreferNoSchedule or NoExecute",
        ),
    ] {
        assert_eq!(problems(toleration), [format!("{at}.{expected}")]);
    }
}

#[test]
fn an_unknown_choice_is_unreadable_by_its_path() {
    let unreadable = |policy: Value| {
        let json = given(on_delete()).policy(policy).json;
        daemonset::Recording::from_json(json.to_string().as_bytes()).unwrap_err().to_string()
    };
    assert!(unreadable(json!({"binding": "byName"})).starts_with("policy.binding: unknown variant `byName`"));
    let text = unreadable(json!({"daemonTolerations": "some"}));
    assert!(text.starts_with("policy.daemonTolerations: unknown variant `some`"), "{text}");
    let text = unreadable(json!({"daemonTolerations": {"Given": [{"key": "a", "tolerationSeconds": 3}]}}));
    assert!(text.starts_with("policy.daemonTolerations.Given[0].tolerationSeconds: unknown field"), "{text}");
}

/// A cluster of node agents has no scheduler: each pod is bound from the beginning, and its affinity is the template's.
#[test]
fn a_pod_may_be_bound_by_its_node_name() {
    let affinity = json!({"podAffinity": {"some": "thing"}});
    let pods = created(
        &given(on_delete())
            .with("/daemonSet/spec/template/spec/affinity", affinity.clone())
            .policy(json!({"binding": "NodeName"}))
            .node(node("a"))
            .node(node("b")),
    );
    let node_names: Vec<&Value> = pods.iter().map(|pod| &pod["spec"]["nodeName"]).collect();
    assert_eq!(node_names, ["a", "b"]);
    assert_eq!(pods[0]["spec"]["affinity"], affinity, "not rewritten");
    let plain = created(&given(on_delete()).policy(json!({"binding": "NodeName"})).node(node("a")));
    assert_eq!(plain[0]["spec"].get("affinity"), None);
}

/// Its node is the one that it names, and when that node goes, the pod is bound: the pod garbage collector's.
#[test]
fn a_pod_bound_by_name_is_not_lost_with_its_node() {
    let bound = given(rolling(1)).policy(json!({"binding": "NodeName"})).stray("gone", new().pending());
    assert_eq!(bound.steps(), [""; 0]);
    let unbound = given(rolling(1)).stray("gone", new().pending().unbound());
    assert_eq!(unbound.steps().len(), 1);
}

/// A plan of one policy, judged by another: each difference is a wrong manifest.
#[test]
fn a_manifest_of_another_policy_breaks_a_rule() {
    let field = |planned: Value, judged: Value| {
        let fleet = || given(on_delete()).node(node("a"));
        let actions = reconcile(&fleet().policy(planned).recording().snapshot().unwrap());
        let found = audit(&fleet().policy(judged).recording().snapshot().unwrap(), &actions);
        let mut fields = found.into_iter().map(|violation| match violation.kind {
            ViolationKind::WrongManifest { field } => field,
            other => panic!("{other}"),
        });
        (fields.next(), fields.next())
    };
    let (named, affine) = (json!({"binding": "NodeName"}), json!({"binding": "NodeAffinity"}));
    assert_eq!(field(named.clone(), affine.clone()), (Some("spec.affinity"), None));
    assert_eq!(field(affine, named), (Some("spec.nodeName"), None));
    let (all, none) = (json!({"daemonTolerations": "Kubernetes"}), json!({"daemonTolerations": "None"}));
    assert_eq!(field(all.clone(), none.clone()), (Some("spec.tolerations"), None), "too many");
    assert_eq!(field(none, all), (Some("spec.tolerations"), None), "too few");
}
