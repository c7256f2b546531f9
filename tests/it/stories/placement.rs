//! Placement: whether a node should run the pod.

use crate::daemons_on::required;
use crate::support::{Given, NodeStory, affinity, given, new, node, old, on_delete, rolling};
use daemonset::report::NodePlacement;
use serde_json::{Value, json};

/// A word for the placement of a node, for a template whose spec has these members.
fn placement(spec: &Value, node: NodeStory) -> &'static str {
    placements(spec, [node])[0]
}

/// The placements of nodes, in the order of their names.
fn placements(spec: &Value, nodes: impl IntoIterator<Item = NodeStory>) -> Vec<&'static str> {
    let mut given = nodes.into_iter().fold(given(on_delete()), Given::node);
    for (key, value) in spec.as_object().unwrap() {
        given = given.with(&format!("/daemonSet/spec/template/spec/{key}"), value.clone());
    }
    let word = |placement: &NodePlacement| match placement {
        NodePlacement::Run => "run",
        NodePlacement::ContinueOnly { .. } => "continue",
        NodePlacement::OtherNodeName => "other name",
        NodePlacement::NodeSelectorMismatch => "selector",
        NodePlacement::NodeAffinityMismatch => "affinity",
        NodePlacement::UntoleratedNoExecute { .. } => "execute",
        other => panic!("{other:?}"),
    };
    given.plan().report.nodes.iter().map(|verdict| word(&verdict.placement)).collect()
}

#[test]
fn a_template_with_a_node_name_runs_only_on_that_node() {
    assert_eq!(placement(&json!({"nodeName": "a"}), node("a")), "run");
    assert_eq!(placement(&json!({"nodeName": "a"}), node("b")), "other name");
}

#[test]
fn every_entry_of_the_node_selector_must_match() {
    let selector = json!({"nodeSelector": {"os": "linux", "disk": "ssd"}});
    assert_eq!(placement(&selector, node("a").label("os", "linux").label("disk", "ssd")), "run");
    assert_eq!(placement(&selector, node("a").label("os", "linux")), "selector");
    assert_eq!(placement(&selector, node("a").label("os", "linux").label("disk", "hdd")), "selector");
}

#[test]
fn each_affinity_operator_has_its_own_meaning() {
    let one = |operator: &str, values: Value| {
        required(json!([{"matchExpressions": [{"key": "gen", "operator": operator, "values": values}]}]))
    };
    let gen_of = |value: &str| node("a").label("gen", value);
    for (affinity, node, expected) in [
        (one("In", json!(["4", "5"])), gen_of("5"), "run"),
        (one("In", json!(["4", "5"])), gen_of("6"), "affinity"),
        (one("In", json!(["4"])), node("a"), "affinity"),
        (one("NotIn", json!(["4"])), gen_of("4"), "affinity"),
        (one("NotIn", json!(["4"])), gen_of("5"), "run"),
        (one("NotIn", json!(["4"])), node("a"), "run"),
        (one("Exists", json!([])), gen_of("x"), "run"),
        (one("Exists", json!([])), node("a"), "affinity"),
        (one("DoesNotExist", json!([])), node("a"), "run"),
        (one("DoesNotExist", json!([])), gen_of("x"), "affinity"),
        (one("Gt", json!(["4"])), gen_of("5"), "run"),
        (one("Gt", json!(["4"])), gen_of("4"), "affinity"),
        (one("Gt", json!(["4"])), gen_of("x"), "affinity"),
        (one("Lt", json!(["4"])), gen_of("3"), "run"),
        (one("Lt", json!(["4"])), gen_of("4"), "affinity"),
        (one("Lt", json!(["4"])), node("a"), "affinity"),
    ] {
        assert_eq!(placement(&affinity, node), expected, "{affinity}");
    }
}

#[test]
fn terms_are_ored_their_requirements_anded_and_an_empty_term_matches_nothing() {
    let here = json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]});
    let mut both = here.clone();
    both["matchExpressions"] = json!([{"key": "disk", "operator": "Exists"}]);
    assert_eq!(placement(&required(json!([here, {}])), node("a")), "run");
    assert_eq!(placement(&required(json!([here])), node("b")), "affinity");
    assert_eq!(placement(&required(json!([both])), node("a")), "affinity");
    assert_eq!(placement(&required(json!([both])), node("a").label("disk", "x")), "run");
    assert_eq!(placement(&required(json!([{}])), node("a")), "affinity");
    assert_eq!(placement(&required(json!([])), node("a")), "affinity");
    assert_eq!(placement(&json!({"affinity": affinity("a")}), node("a")), "run");
}

#[test]
fn no_execute_excludes_no_schedule_lets_pods_stay_and_prefer_has_no_effect() {
    let none = json!({});
    assert_eq!(placement(&none, node("a").taint("x", "NoExecute").taint("x", "NoSchedule")), "execute");
    assert_eq!(placement(&none, node("a").taint("x", "NoSchedule")), "continue");
    assert_eq!(placement(&none, node("a").taint("x", "PreferNoSchedule")), "run");
}

#[test]
fn the_selector_is_checked_before_the_taints() {
    let selector = json!({"nodeSelector": {"os": "linux"}});
    assert_eq!(placement(&selector, node("a").taint("x", "NoExecute")), "selector");
}

#[test]
fn tolerations_match_by_key_value_effect_and_known_operators() {
    let with = |toleration: Value| json!({"tolerations": [toleration]});
    for (toleration, expected) in [
        (json!({"key": "x", "operator": "Exists"}), "run"),
        (json!({"operator": "Exists"}), "run"),
        (json!({"key": "x", "operator": "Exists", "effect": "NoSchedule"}), "run"),
        (json!({"key": "x", "operator": "Exists", "effect": "NoExecute"}), "continue"),
        (json!({"key": "y", "operator": "Exists"}), "continue"),
        (json!({"key": "x"}), "run"),
        (json!({"key": "x", "operator": "Equal", "value": ""}), "run"),
        (json!({"key": "x", "operator": "Equal", "value": "1"}), "continue"),
        (json!({"key": "x", "operator": "Gt", "value": "0"}), "continue"),
        (json!({"key": "x", "operator": "Lt", "value": "9"}), "continue"),
    ] {
        let found = placement(&with(toleration.clone()), node("a").taint("x", "NoSchedule"));
        assert_eq!(found, expected, "{toleration}");
    }
}

#[test]
fn every_daemon_pod_tolerates_the_nodes_own_conditions() {
    let none = json!({});
    for condition in ["disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"] {
        let key = format!("node.kubernetes.io/{condition}");
        assert_eq!(placement(&none, node("a").taint(&key, "NoSchedule")), "run", "{key}");
        assert_eq!(placement(&none, node("a").taint(&key, "NoExecute")), "execute", "{key}");
    }
    for condition in ["not-ready", "unreachable"] {
        let key = format!("node.kubernetes.io/{condition}");
        assert_eq!(placement(&none, node("a").taint(&key, "NoExecute")), "run", "{key}");
        assert_eq!(placement(&none, node("a").taint(&key, "NoSchedule")), "continue", "{key}");
    }
    let network = || node("a").taint("node.kubernetes.io/network-unavailable", "NoSchedule");
    assert_eq!(placement(&none, network()), "continue");
    assert_eq!(placement(&json!({"hostNetwork": true}), network()), "run");
}

#[test]
fn cordon_and_node_readiness_do_not_matter_by_themselves() {
    let mut given = given(rolling(1)).node(node("a"));
    given.json["nodes"][0]["spec"]["unschedulable"] = json!(true);
    given.json["nodes"][0]["status"] = json!({"conditions": [{"type": "Ready", "status": "False"}]});
    assert_eq!(given.steps(), ["create on a in batch 0: MissingPod"]);
}

fn tainted(key: &str) -> Given {
    given(rolling(1)).node(node("a").taint(key, "NoSchedule").has(old().tolerates(key)))
}

#[test]
fn a_pod_is_deleted_when_the_template_withdraws_its_toleration() {
    assert_eq!(tainted("dedicated").steps(), ["delete a-1: TolerationWithdrawn"]);
    assert_eq!(
        tainted("dedicated").with("/daemonSet/spec/updateStrategy", on_delete()).steps(),
        [""; 0],
        "under OnDelete a person decides"
    );
    let updated =
        given(rolling(1)).node(node("a").taint("dedicated", "NoSchedule").has(new().tolerates("dedicated")));
    assert_eq!(updated.steps(), [""; 0]);
    let only_to_schedule = json!([{"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"}]);
    let pod = old().with("/spec/tolerations", only_to_schedule);
    let by_effect = given(rolling(1)).node(node("a").taint("dedicated", "NoSchedule").has(pod));
    assert_eq!(by_effect.steps(), ["delete a-1: TolerationWithdrawn"]);
    let another_tolerated = given(rolling(1)).tolerates(json!([{"key": "other", "operator": "Exists"}]));
    let both = node("a").taint("other", "NoSchedule").taint("dedicated", "NoSchedule");
    assert_eq!(
        another_tolerated.node(both.has(old().tolerates("dedicated"))).steps(),
        ["delete a-1: TolerationWithdrawn"],
        "other tolerations of the template have no effect"
    );
}

#[test]
fn a_pod_stays_when_its_node_is_tainted_later() {
    let later = given(rolling(1)).node(node("a").taint("dedicated", "NoSchedule").has(old()));
    assert_eq!(later.steps(), [""; 0]);
    let one_of_two = given(rolling(1)).node(
        node("a")
            .taint("dedicated", "NoSchedule")
            .taint("other", "NoSchedule")
            .has(old().tolerates("dedicated")),
    );
    assert_eq!(one_of_two.steps(), [""; 0]);
    let conditions = tainted("node.kubernetes.io/not-ready");
    assert_eq!(conditions.steps(), [""; 0], "taints for the node's own conditions do not count");
    let everything = json!([{"operator": "Exists"}]);
    let mixed = given(rolling(1)).node(
        node("a")
            .taint("dedicated", "NoSchedule")
            .taint("node.kubernetes.io/network-unavailable", "NoSchedule")
            .has(old().with("/spec/tolerations", everything)),
    );
    assert_eq!(mixed.steps(), [""; 0]);
}

/// A node has a disk of some kind, a zone of its own, and perhaps the label `cow`, which is as long as `gpu`, or one that is longer than
/// `os` by 64 bytes.
fn one_of_many(number: usize) -> NodeStory {
    let of = number % 40;
    let disk = ["ssd", "hdd", "nvme"][of % 3];
    let node = node(&format!("n{number:02}")).label("disk", disk).label("zone/x", &of.to_string());
    let node = if of % 2 == 0 { node.label(["gpu", "cow"][of / 2 % 2], "yes") } else { node };
    let long = "k".repeat(64 + "os".len());
    if of % 5 == 0 { node.label("os", "linux") } else { node.label(&long, &of.to_string()) }
}

/// The nodes are placed beside each other as each of them alone.
#[track_caller]
fn places_alike(spec: &Value, run: usize) {
    let nodes = || (0..60).map(one_of_many);
    let together = placements(spec, nodes());
    assert_eq!(together, nodes().map(|node| placement(spec, node)).collect::<Vec<_>>());
    assert_eq!(together.iter().filter(|placement| **placement == "run").count(), run);
}

#[test]
fn nodes_with_equal_labels_are_placed_as_each_one_alone() {
    let gpu = required(json!([{"matchExpressions": [{"key": "gpu", "operator": "DoesNotExist"}]}]));
    let mut ssd_without_gpu = gpu.clone();
    ssd_without_gpu["nodeSelector"] = json!({"disk": "ssd"});
    places_alike(&json!({}), 60);
    places_alike(&json!({"nodeSelector": {"disk": "ssd"}}), 21);
    places_alike(&gpu, 45);
    places_alike(&ssd_without_gpu, 15);
    // More different values than are remembered.
    places_alike(&json!({"nodeSelector": {"zone/x": "7"}}), 2);
    places_alike(&json!({"nodeSelector": {"os": "linux"}}), 12);
}

#[test]
fn a_rule_that_reads_names_sees_each_node() {
    let field = json!({"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n46"]}]});
    places_alike(&required(json!([field])), 1);
    places_alike(&json!({"nodeName": "n48"}), 1);
}
