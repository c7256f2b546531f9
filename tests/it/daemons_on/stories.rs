//! Each rule of `daemons_on` as a story.

use super::{daemon_set, node, required};
use daemonset::model::{DaemonSet, Taint};
use daemonset::report::NodePlacement;
use daemonset_placement::{
    DaemonOn, Daemons, LabelKnowledge, NodeShape, OtherLabels, Runs, UnknownFact, WhyNot, daemons_on,
};
use serde_json::{Value, json};

fn on(spec: Value, shape: &NodeShape) -> DaemonOn {
    daemons_on(&[daemon_set("agent", spec)], shape).daemons.remove(0)
}

/// The answer in short: `yes`, `no`, `invalid`, or the facts that it depends on.
fn word(spec: Value, shape: &NodeShape) -> String {
    match on(spec, shape).runs {
        Runs::Yes => "yes".to_owned(),
        Runs::No { .. } => "no".to_owned(),
        Runs::Maybe { depends_on } => depends_on.iter().map(fact).collect::<Vec<_>>().join(" "),
        Runs::Invalid { .. } => "invalid".to_owned(),
        other => panic!("{other:?}"),
    }
}

fn fact(fact: &UnknownFact) -> String {
    match fact {
        UnknownFact::Name => "the-name".to_owned(),
        UnknownFact::Label { key } => key.clone(),
        UnknownFact::Taint { taint } => format!("{}:{}", taint.key, taint.effect),
        other => panic!("{other:?}"),
    }
}

fn taint(key: &str, effect: &str) -> Taint {
    let mut taint = Taint::default();
    (taint.key, taint.effect) = (key.to_owned(), effect.to_owned());
    taint
}

/// Linux, of a zone that is not known, without other labels.
fn new_node() -> NodeShape {
    NodeShape::default()
        .labels([("os", "linux")].into_iter().collect())
        .label("zone", LabelKnowledge::Present)
        .other_labels(OtherLabels::Absent)
}

fn expression(key: &str, operator: &str, values: &[&str]) -> Value {
    json!({"key": key, "operator": operator, "values": values})
}

fn one(key: &str, operator: &str, values: &[&str]) -> Value {
    required(json!([{"matchExpressions": [expression(key, operator, values)]}]))
}

#[test]
fn a_node_selector_depends_only_on_labels_that_are_not_known() {
    assert_eq!(word(json!({}), &new_node()), "yes");
    assert_eq!(word(json!({"nodeSelector": {"os": "linux"}}), &new_node()), "yes");
    assert_eq!(word(json!({"nodeSelector": {"os": "windows"}}), &new_node()), "no");
    assert_eq!(word(json!({"nodeSelector": {"zone": "a"}}), &new_node()), "zone");
    assert_eq!(word(json!({"nodeSelector": {"zone": "a", "os": "windows"}}), &new_node()), "no");
    assert_eq!(word(json!({"nodeSelector": {"disk": "ssd"}}), &new_node()), "no");
    let open = new_node().other_labels(OtherLabels::Unknown);
    assert_eq!(word(json!({"nodeSelector": {"disk": "ssd", "zone": "a"}}), &open), "disk zone");
    let no_disk = open.label("disk", LabelKnowledge::Absent);
    assert_eq!(word(json!({"nodeSelector": {"disk": "ssd"}}), &no_disk), "no");
}

#[test]
fn a_label_that_is_there_answers_for_its_presence() {
    let unknown = new_node().label("zone", LabelKnowledge::Unknown);
    for (spec, present, not_known) in [
        (one("zone", "Exists", &[]), "yes", "zone"),
        (one("zone", "DoesNotExist", &[]), "no", "zone"),
        (one("zone", "In", &["a"]), "zone", "zone"),
        (one("zone", "NotIn", &["a"]), "zone", "zone"),
        (one("zone", "Gt", &["4"]), "zone", "zone"),
    ] {
        assert_eq!(word(spec.clone(), &new_node()), present, "{spec}");
        assert_eq!(word(spec.clone(), &unknown), not_known, "{spec}");
    }
}

#[test]
fn a_label_with_few_possible_values_is_decided_where_all_agree() {
    let values = |values: &[&str]| {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        new_node().label("zone", LabelKnowledge::OneOf(values))
    };
    assert_eq!(word(one("zone", "In", &["a", "b", "c"]), &values(&["a", "b"])), "yes");
    assert_eq!(word(one("zone", "In", &["a"]), &values(&["a", "b"])), "zone");
    assert_eq!(word(one("zone", "In", &["c"]), &values(&["a", "b"])), "no");
    assert_eq!(word(one("zone", "Gt", &["4"]), &values(&["5", "6"])), "yes");
    assert_eq!(word(json!({"nodeSelector": {"zone": "a"}}), &values(&["b"])), "no");
    assert_eq!(word(json!({"nodeSelector": {"zone": "a"}}), &values(&["a"])), "yes");
    assert_eq!(word(one("zone", "Exists", &[]), &values(&[])), "yes");
    assert_eq!(word(one("zone", "In", &["a"]), &values(&[])), "zone");
}

#[test]
fn of_ored_terms_one_that_surely_matches_decides_and_those_that_may_are_named() {
    let shape = new_node().label("rack", LabelKnowledge::Present);
    let zone = json!({"matchExpressions": [expression("zone", "In", &["a"])]});
    let linux = json!({"matchExpressions": [expression("os", "In", &["linux"])]});
    let never = [expression("os", "In", &["windows"]), expression("rack", "In", &["7"])];
    let never = json!({"matchExpressions": never});
    let both = json!({"matchExpressions": [expression("zone", "In", &["a"])],
        "matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["x"]}]});
    assert_eq!(word(required(json!([zone, linux])), &shape), "yes");
    assert_eq!(word(required(json!([zone, never])), &shape), "zone");
    assert_eq!(word(required(json!([never, {}])), &shape), "no");
    assert_eq!(word(required(json!([never, both])), &shape), "the-name zone");
    assert_eq!(word(required(json!([])), &shape), "no");
}

#[test]
fn a_name_that_is_not_known_may_be_the_one_that_the_template_wants() {
    let field = |operator: &str| {
        required(json!([{"matchFields": [{"key": "metadata.name", "operator": operator, "values": ["a"]}]}]))
    };
    for spec in [json!({"nodeName": "a"}), field("In"), field("NotIn")] {
        assert_eq!(word(spec.clone(), &new_node()), "the-name", "{spec}");
    }
    let named = |name: &str| new_node().name(Some(name.into()));
    assert_eq!(word(json!({"nodeName": "a"}), &named("a")), "yes");
    assert_eq!(word(json!({"nodeName": "a"}), &named("b")), "no");
    assert_eq!(word(field("NotIn"), &named("b")), "yes");
}

#[test]
fn a_taint_that_keeps_new_pods_out_is_a_no() {
    let tainted = |effect: &str| new_node().taints(vec![taint("gpu", effect)]);
    let why = |effect: &str| match on(json!({}), &tainted(effect)).runs {
        Runs::No { why: WhyNot::Placement { placement } } => placement,
        other => panic!("{other:?}"),
    };
    assert!(matches!(why("NoSchedule"), NodePlacement::ContinueOnly { taint, .. } if taint.key == "gpu"));
    assert!(
        matches!(why("NoExecute"), NodePlacement::UntoleratedNoExecute { taint, .. } if taint.key == "gpu")
    );
    assert_eq!(word(json!({}), &tainted("PreferNoSchedule")), "yes");
    let everything = json!({"tolerations": [{"operator": "Exists"}]});
    assert_eq!(word(everything, &tainted("NoExecute")), "yes");
}

#[test]
fn every_daemon_pod_tolerates_the_conditions_of_its_node() {
    let cordoned = new_node().taints(vec![taint("node.kubernetes.io/unschedulable", "NoSchedule")]);
    assert_eq!(word(json!({}), &cordoned), "yes");
    let no_network = new_node().taints(vec![taint("node.kubernetes.io/network-unavailable", "NoSchedule")]);
    assert_eq!(word(json!({}), &no_network), "no");
    assert_eq!(word(json!({"hostNetwork": true}), &no_network), "yes");
}

#[test]
fn a_taint_that_may_be_there_makes_a_maybe() {
    let shape =
        new_node().possible_taints(vec![taint("spot", "NoSchedule"), taint("soft", "PreferNoSchedule")]);
    assert_eq!(word(json!({}), &shape), "spot:NoSchedule");
    assert_eq!(word(json!({"nodeSelector": {"zone": "a"}}), &shape), "zone spot:NoSchedule");
    assert_eq!(word(json!({"nodeSelector": {"os": "windows"}}), &shape), "no");
    assert_eq!(word(json!({"tolerations": [{"key": "spot", "operator": "Exists"}]}), &shape), "yes");
}

#[test]
fn a_startup_taint_only_delays_a_pod() {
    let shape = new_node().startup_taints(vec![taint("starting", "NoExecute"), taint("cni", "NoSchedule")]);
    let keys = |spec: Value| on(spec, &shape).waits_for.into_iter().map(|t| t.key).collect::<Vec<_>>();
    assert_eq!(word(json!({}), &shape), "yes");
    assert_eq!(keys(json!({})), ["starting", "cni"]);
    assert_eq!(keys(json!({"tolerations": [{"key": "cni", "operator": "Exists"}]})), ["starting"]);
    assert!(keys(json!({"nodeSelector": {"os": "windows"}})).is_empty());
}

#[test]
fn a_daemon_set_without_a_plan_has_an_answer_of_its_own() {
    let mut no_selector = daemon_set("a", json!({}));
    no_selector.spec.selector = None;
    let mut everything = daemon_set("b", json!({}));
    everything.spec.selector = Some(Default::default());
    let mut deleted = daemon_set("c", json!({}));
    deleted.metadata.deletion_timestamp = Some("2026-01-01T00:00:00Z".parse().unwrap());
    let bad_operator = daemon_set("d", one("zone", "Near", &["a"]));
    let mut bad_strategy = daemon_set("e", json!({}));
    bad_strategy.spec.update_strategy.kind = "Sideways".to_owned();
    let all = [
        no_selector,
        everything,
        deleted,
        bad_operator,
        bad_strategy,
        DaemonSet::default(),
        daemon_set("f", json!({})),
    ];
    let answer = daemons_on(&all, &new_node());
    let runs: Vec<String> = answer
        .daemons
        .iter()
        .map(|daemon| match &daemon.runs {
            Runs::Invalid { problems } => problems[0].path.rsplit('.').next().unwrap().to_owned(),
            other => format!("{other:?}"),
        })
        .collect();
    let expected = [
        "selector",
        "No { why: SelectingAll }",
        "No { why: BeingDeleted }",
        "operator",
        "type",
        "selector",
        "Yes",
    ];
    assert_eq!(runs, expected);
    assert_eq!(answer.possible().map(|(position, _)| position).collect::<Vec<_>>(), [6]);
}

#[test]
fn everything_about_a_node_that_exists_is_known() {
    let shape = NodeShape::from(&node("a", json!({"os": "linux"}), &["x:NoSchedule"]));
    let named = |name: &str| {
        let field = json!({"key": "metadata.name", "operator": "In", "values": [name]});
        let tolerating = json!([{"key": "x", "operator": "Exists"}]);
        let mut spec = required(json!([{"matchFields": [field]}]));
        spec["tolerations"] = tolerating;
        word(spec, &shape)
    };
    assert_eq!([named("a"), named("b")], ["yes", "no"]);
    assert_eq!(word(json!({}), &shape), "no", "it has the taint");
    let tolerating = |selector: Value| {
        word(json!({"nodeSelector": selector, "tolerations": [{"operator": "Exists"}]}), &shape)
    };
    assert_eq!(tolerating(json!({"os": "linux"})), "yes");
    assert_eq!(tolerating(json!({"disk": "ssd"})), "no", "it has no other label");
}

#[test]
fn a_daemon_set_that_depends_on_an_unknown_fact_is_possible_and_not_certain() {
    let all = [
        daemon_set("maybe", json!({"nodeSelector": {"zone": "a"}})),
        daemon_set("never", json!({"nodeSelector": {"os": "windows"}})),
        daemon_set("always", json!({})),
        daemon_set("too", json!({"nodeSelector": {"os": "linux"}})),
    ];
    let answer = daemons_on(&all, &new_node());
    let named = |(position, daemon): (usize, &DaemonOn)| (position, daemon.name.clone());
    let [maybe, always, too] =
        [(0, "maybe"), (2, "always"), (3, "too")].map(|(n, name)| (n, name.to_owned()));
    assert_eq!(answer.certain().map(named).collect::<Vec<_>>(), [always.clone(), too.clone()]);
    assert_eq!(answer.possible().map(named).collect::<Vec<_>>(), [maybe, always, too]);
}

#[test]
fn the_order_of_daemon_sets_changes_no_answer() {
    let mut all = vec![
        daemon_set("a", json!({"nodeSelector": {"zone": "a"}})),
        daemon_set("b", one("os", "NotIn", &["linux"])),
        daemon_set("c", json!({})),
    ];
    let forward = Daemons::new(&all).on(&new_node());
    all.reverse();
    let mut backward = Daemons::new(&all).on(&new_node());
    backward.daemons.reverse();
    assert_eq!(forward, backward);
}

#[test]
fn host_ports_are_those_that_the_scheduler_sees() {
    let port = |port: Value| json!({"ports": [port]});
    let spec = json!({
        "containers": [
            port(json!({"containerPort": 80, "hostPort": 9100})),
            port(json!({"containerPort": 80, "hostPort": 9100, "protocol": "TCP", "hostIP": "0.0.0.0"})),
            port(json!({"containerPort": 53, "hostPort": 53, "protocol": "UDP", "hostIP": "10.0.0.1"})),
            port(json!({"containerPort": 7000})),
            port(json!({"containerPort": 7001, "hostPort": 0})),
        ],
        "initContainers": [
            port(json!({"containerPort": 1, "hostPort": 1})),
            {"restartPolicy": "Always", "ports": [{"containerPort": 2, "hostPort": 2}]},
        ],
    });
    let printed = |spec: Value| {
        let ports = on(spec, &new_node()).host_ports;
        ports.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(printed(spec.clone()), "2/TCP 10.0.0.1:53/UDP 9100/TCP");
    let mut host_network = spec;
    host_network["hostNetwork"] = json!(true);
    assert_eq!(printed(host_network), "2/TCP 10.0.0.1:53/UDP 7000/TCP 7001/TCP 9100/TCP");
}

#[test]
fn ports_conflict_between_daemon_sets_that_may_meet() {
    let port = |number: u32, ip: &str, protocol: &str| {
        let port = json!({"containerPort": 1, "hostPort": number, "hostIP": ip, "protocol": protocol});
        json!({"containers": [{"ports": [port]}]})
    };
    let mut elsewhere = port(80, "", "TCP");
    elsewhere["nodeSelector"] = json!({"os": "windows"});
    let mut perhaps = port(80, "10.0.0.1", "TCP");
    perhaps["nodeSelector"] = json!({"zone": "a"});
    let all = [
        daemon_set("a", port(80, "", "TCP")),
        daemon_set("b", elsewhere),
        daemon_set("c", port(80, "", "UDP")),
        daemon_set("d", perhaps),
        daemon_set("e", port(80, "10.0.0.2", "TCP")),
    ];
    let conflicts = daemons_on(&all, &new_node()).port_conflicts();
    let pairs: Vec<(usize, usize)> =
        conflicts.iter().map(|conflict| (conflict.first, conflict.second)).collect();
    assert_eq!(pairs, [(0, 3), (0, 4)]);
}

#[test]
fn a_new_node_like_another_has_its_labels_but_not_its_name_and_conditions() {
    let labels = json!({"kubernetes.io/hostname": "a", "os": "linux"});
    let taints =
        ["gpu:NoSchedule", "node.kubernetes.io/not-ready:NoExecute", "karpenter.sh/disrupted:NoSchedule"];
    let like = NodeShape::like(&node("a", labels, &taints));
    let tolerates = json!({"tolerations": [{"key": "gpu", "operator": "Exists"}]});
    assert_eq!(word(tolerates.clone(), &like), "yes");
    let mut of_host = tolerates;
    of_host["nodeSelector"] = json!({"kubernetes.io/hostname": "a"});
    assert_eq!(word(of_host, &like), "kubernetes.io/hostname");
    assert_eq!(word(json!({}), &like), "no");
}

#[test]
fn a_shape_and_an_answer_are_json() {
    let json = json!({
        "labels": {"os": "linux"},
        "uncertainLabels": {"zone": {"OneOf": ["a", "b"]}, "host": "Present"},
        "otherLabels": "Absent",
        "startupTaints": [{"key": "starting", "effect": "NoSchedule"}],
        "taints": null,
    });
    let shape: NodeShape = serde_json::from_value(json).unwrap();
    let answer = on(json!({"nodeSelector": {"zone": "a"}}), &shape);
    assert_eq!(
        serde_json::to_value(answer).unwrap(),
        json!({
            "namespace": "ns", "name": "agent",
            "runs": {"type": "Maybe", "dependsOn": [{"type": "Label", "key": "zone"}]},
            "waitsFor": [{"key": "starting", "effect": "NoSchedule"}],
            "hostPorts": [],
        })
    );
    let taint = new_node().taints(vec![taint("gpu", "NoSchedule")]);
    assert_eq!(
        serde_json::to_value(on(json!({}), &taint).runs).unwrap(),
        json!({"type": "No", "why": {"type": "Placement",
            "placement": {"type": "ContinueOnly", "taint": {"key": "gpu", "effect": "NoSchedule"}}}})
    );
    let invalid = daemons_on(&[DaemonSet::default()], &new_node());
    assert_eq!(
        serde_json::to_value(&invalid.daemons[0].runs).unwrap()["problems"][0],
        "spec.selector: Required value"
    );
}
