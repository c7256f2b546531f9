//! The manifests of created pods.

use crate::support::{Given, given, new, node, on_delete};
use daemonset::Action;
use serde_json::{Value, json};

pub(super) fn created(given: &Given) -> Vec<Value> {
    let pods = given.plan().actions.into_iter().filter_map(|action| match action {
        Action::CreatePod { pod, .. } => Some(pod.to_value()),
        _ => None,
    });
    pods.collect()
}

#[test]
fn a_manifest_names_its_node_and_its_revision() {
    let actions = given(on_delete()).node(node("a")).plan().actions;
    let manifest = actions.into_iter().find_map(|action| match action {
        Action::CreatePod { pod, .. } => Some(pod),
        _ => None,
    });
    let manifest = manifest.unwrap();
    assert_eq!((manifest.node().as_str(), manifest.revision_hash()), ("a", "new"));
    assert_eq!(format!("{manifest:?}"), "PodManifest(a of new)", "a plan's debug text stays short");
}

fn toleration(condition: &str, effect: &str) -> Value {
    json!({"key": format!("node.kubernetes.io/{condition}"), "operator": "Exists", "effect": effect})
}

#[test]
fn a_pod_is_the_template_tied_to_its_node() {
    let pods = created(&given(on_delete()).generation(4).node(node("a")));
    assert_eq!(
        pods,
        [json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "generateName": "agent-",
                "namespace": "ns",
                "labels": {"app": "agent", "controller-revision-hash": "new", "pod-template-generation": "4"},
                "ownerReferences": [crate::support::owner()],
            },
            "spec": {
                "containers": [{"name": "c", "image": "new"}],
                "affinity": crate::support::affinity("a"),
                "tolerations": [
                    toleration("not-ready", "NoExecute"),
                    toleration("unreachable", "NoExecute"),
                    toleration("disk-pressure", "NoSchedule"),
                    toleration("memory-pressure", "NoSchedule"),
                    toleration("pid-pressure", "NoSchedule"),
                    toleration("unschedulable", "NoSchedule"),
                ],
            },
        })]
    );
}

#[test]
fn all_fields_of_the_template_are_kept_except_required_node_affinity() {
    let preferred =
        json!([{"weight": 1, "preference": {"matchExpressions": [{"key": "x", "operator": "Exists"}]}}]);
    let affinity = json!({
        "podAffinity": {"some": "thing"},
        "nodeAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": preferred,
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                {"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]},
                {"matchExpressions": [{"key": "y", "operator": "Exists"}]},
            ]},
        },
    });
    let given = given(on_delete())
        .with("/daemonSet/spec/template/spec/affinity", affinity)
        .with("/daemonSet/spec/template/spec/hostNetwork", json!(true))
        .with("/daemonSet/spec/template/spec/fieldOfTomorrow", json!([1.5, null]))
        .with("/daemonSet/spec/template/metadata/annotations", json!({"note": "x"}))
        .with("/daemonSet/spec/template/metadata/finalizers", json!(["example.com/hold"]))
        .node(node("a"));
    let pod = &created(&given)[0];
    let mut expected = crate::support::affinity("a");
    expected["podAffinity"] = json!({"some": "thing"});
    expected["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"] = preferred;
    assert_eq!(pod["spec"]["affinity"], expected);
    assert_eq!(pod["spec"]["fieldOfTomorrow"], json!([1.5, null]));
    assert_eq!(pod["metadata"]["annotations"], json!({"note": "x"}));
    assert_eq!(pod["metadata"]["finalizers"], json!(["example.com/hold"]));
    let tolerations = pod["spec"]["tolerations"].as_array().unwrap();
    assert!(tolerations.contains(&toleration("network-unavailable", "NoSchedule")));
}

#[test]
fn a_template_that_was_copied_from_a_pod_makes_new_pods() {
    let copied = json!({
        "name": "agent-x", "generateName": "other-", "namespace": "elsewhere", "selfLink": "/x", "uid": "u9",
        "resourceVersion": "7", "generation": 3, "creationTimestamp": null, "deletionTimestamp": "2020-01-01T00:00:00Z",
        "deletionGracePeriodSeconds": 30, "ownerReferences": [{"uid": "u8"}], "managedFields": [{"manager": "kubectl"}],
        "labels": {"app": "agent"}, "annotations": {"note": "x"}, "fieldOfTomorrow": 1,
    });
    let given = given(on_delete()).with("/daemonSet/spec/template/metadata", copied).node(node("a"));
    let metadata = &created(&given)[0]["metadata"];
    let fields: Vec<&String> = metadata.as_object().unwrap().keys().collect();
    assert_eq!(
        fields,
        ["annotations", "fieldOfTomorrow", "generateName", "labels", "namespace", "ownerReferences"]
    );
    assert_eq!((&metadata["generateName"], &metadata["namespace"]), (&json!("agent-"), &json!("ns")));
    assert_eq!(metadata["ownerReferences"].as_array().unwrap().len(), 1);
    assert_eq!(metadata["ownerReferences"][0]["kind"], "DaemonSet");
}

#[test]
fn a_toleration_of_the_template_is_replaced_only_by_one_like_it() {
    let like = json!({"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300});
    let unlike = json!({"key": "node.kubernetes.io/not-ready", "operator": "Exists"});
    let given = given(on_delete())
        .with("/daemonSet/spec/template/spec/tolerations", json!([like, unlike]))
        .node(node("a"));
    let tolerations = created(&given)[0]["spec"]["tolerations"].clone();
    assert_eq!(tolerations[0], toleration("not-ready", "NoExecute"), "no tolerationSeconds");
    assert_eq!(tolerations[1], unlike);
    assert_eq!(tolerations.as_array().unwrap().len(), 7);
}

#[test]
fn the_name_prefix_ends_in_a_dash_if_it_is_short_enough() {
    let prefix = |name: &str| {
        let given = given(on_delete()).with("/daemonSet/metadata/name", json!(name)).node(node("a"));
        created(&given)[0]["metadata"]["generateName"].as_str().unwrap().to_owned()
    };
    assert_eq!(prefix("agent.v1"), "agent.v1-");
    let longest = "a".repeat(253);
    assert_eq!(prefix(&longest), longest);
    assert_eq!(prefix(&longest[1..]), format!("{}-", &longest[1..]));
    assert_eq!(prefix("Agent"), "Agent", "the API server would refuse the name");
}

#[test]
fn a_deterministic_name_is_repeatable_and_unused() {
    let named = |given: Given| given.policy(json!({"podNames": "Deterministic"}));
    let name = |given: &Given| created(given)[0]["metadata"]["name"].as_str().unwrap().to_owned();
    let stable = named(given(on_delete()).node(node("a")));
    let first = name(&stable);
    assert_eq!(name(&stable), first);
    assert_eq!(created(&stable)[0]["metadata"].get("generateName"), None);
    assert!(first.starts_with("agent-") && first.len() == 16, "{first}");
    let taken = stable.stray("elsewhere", new().named(&first));
    assert_ne!(name(&taken), first);
    let long =
        named(given(on_delete()).node(node("a"))).with("/daemonSet/metadata/name", json!("x".repeat(200)));
    assert_eq!(name(&long).len(), 63);
}

#[test]
fn every_pod_of_a_plan_has_its_own_node() {
    let pods = created(&given(on_delete()).node(node("a")).node(node("b")));
    let nodes: Vec<_> = pods.iter().map(|pod| pod["spec"]["affinity"].clone()).collect();
    assert_eq!(nodes, [crate::support::affinity("a"), crate::support::affinity("b")]);
}
