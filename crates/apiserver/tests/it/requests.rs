//! The effective requests of a pod, and their sums over the DaemonSets of a node.

use daemonset_apiserver::requests::{bounds, pod_requests};
use daemonset_objects::model::DaemonSet;
use daemonset_placement::{NodeShape, OtherLabels, daemons_on};
use serde_json::{Value, json};

fn requests(spec: Value) -> Value {
    json!(pod_requests(&json!({"spec": spec})).unwrap())
}

fn container(resources: Value) -> Value {
    json!({"name": "c", "resources": resources})
}

fn cpu(amount: &str) -> Value {
    container(json!({"requests": {"cpu": amount}}))
}

fn sidecar(amount: &str) -> Value {
    let mut sidecar = cpu(amount);
    sidecar["restartPolicy"] = json!("Always");
    sidecar
}

#[test]
fn containers_add_up() {
    let other = container(json!({"requests": {"cpu": "0.5", "memory": "1Gi", "example.com/gpu": 1}}));
    let spec = json!({"containers": [cpu("250m"), other, {"name": "without"}]});
    assert_eq!(requests(spec), json!({"cpu": "750m", "memory": "1Gi", "example.com/gpu": "1"}));
    assert_eq!(requests(json!({})), json!({}));
    assert_eq!(json!(pod_requests(&Value::Null).unwrap()), json!({}));
}

#[test]
fn a_limit_without_a_request_is_one() {
    let resources = json!({"limits": {"cpu": "2", "memory": "1Gi"}, "requests": {"cpu": "1"}});
    assert_eq!(requests(json!({"containers": [container(resources)]})), json!({"cpu": "1", "memory": "1Gi"}));
}

#[test]
fn the_largest_init_container_counts_where_it_needs_more_than_the_containers() {
    let spec = |init: &[&str]| {
        let init: Vec<Value> = init.iter().map(|amount| cpu(amount)).collect();
        json!({"initContainers": init, "containers": [cpu("300m")]})
    };
    assert_eq!(requests(spec(&["100m", "200m"])), json!({"cpu": "300m"}));
    assert_eq!(requests(spec(&["1", "200m"])), json!({"cpu": "1"}));
}

#[test]
fn a_sidecar_counts_beside_the_containers_and_beside_the_init_containers_after_it() {
    let spec = |init: Value| json!({"initContainers": init, "containers": [cpu("300m")]});
    assert_eq!(requests(spec(json!([sidecar("100m")]))), json!({"cpu": "400m"}));
    assert_eq!(requests(spec(json!([sidecar("100m"), cpu("1")]))), json!({"cpu": "1100m"}));
    assert_eq!(requests(spec(json!([cpu("1"), sidecar("100m")]))), json!({"cpu": "1"}));
}

#[test]
fn overhead_comes_on_top() {
    let spec = json!({"containers": [cpu("300m")], "overhead": {"cpu": "50m", "memory": "10Mi"}});
    assert_eq!(requests(spec), json!({"cpu": "350m", "memory": "10Mi"}));
}

#[test]
fn requests_of_the_whole_pod_go_before_those_of_its_containers() {
    let spec = |resources: Value| {
        let container =
            container(json!({"requests": {"cpu": "300m", "hugepages-2Mi": "2Mi", "example.com/gpu": "1"}}));
        json!({"containers": [container], "resources": resources, "overhead": {"cpu": "50m"}})
    };
    let gpu =
        |cpu: &str, hugepages: &str| json!({"cpu": cpu, "hugepages-2Mi": hugepages, "example.com/gpu": "1"});
    let whole = json!({"requests": {"cpu": "1", "example.com/gpu": "9"}, "limits": {"cpu": "2"}});
    assert_eq!(requests(spec(whole)), gpu("1050m", "2Mi"));
    // A limit alone counts for huge pages; of CPU, the containers' requests do.
    let limits = json!({"limits": {"cpu": "2", "hugepages-2Mi": "4Mi"}});
    assert_eq!(requests(spec(limits)), gpu("350m", "4Mi"));
    let memory = requests(spec(json!({"limits": {"memory": "1Gi"}})));
    assert_eq!((&memory["memory"], &memory["cpu"]), (&json!("1Gi"), &json!("350m")));
}

#[test]
fn a_request_that_is_no_amount_is_an_error_with_its_path() {
    let error = |spec: Value| pod_requests(&json!({"spec": spec})).unwrap_err();
    let bad = error(json!({"containers": [cpu("1"), cpu("much")]}));
    assert_eq!(bad.path, "spec.containers[1].resources.requests.cpu");
    assert!(bad.to_string().starts_with("spec.containers[1].resources.requests.cpu: quantities must match"));
    assert_eq!(error(json!({"overhead": {"cpu": true}})).path, "spec.overhead.cpu");
    assert_eq!(error(json!({"resources": {"limits": {"cpu": ""}}})).path, "spec.resources.limits.cpu");
}

fn agent(name: &str, spec: Value) -> DaemonSet {
    serde_json::from_value(json!({
        "metadata": {"name": name, "namespace": "ns"},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": spec},
        },
    }))
    .unwrap()
}

#[test]
fn sums_have_a_lower_and_an_upper_bound_and_count_pods() {
    let of_zone = json!({"nodeSelector": {"zone": "a"}, "containers": [cpu("1")]});
    let windows = json!({"nodeSelector": {"os": "windows"}, "containers": [cpu("much")]});
    let all = [
        agent("a", json!({"containers": [cpu("100m")]})),
        agent("b", of_zone),
        agent("c", windows),
        agent("d", json!({"containers": [cpu("100m")]})),
        DaemonSet::default(),
    ];
    let linux = NodeShape::default().labels([("os", "linux")].into_iter().collect());
    let sums = bounds(&all, &daemons_on(&all, &linux)).unwrap();
    let expected =
        json!({"certain": {"cpu": "200m", "pods": "2"}, "possible": {"cpu": "1200m", "pods": "3"}});
    assert_eq!(json!(sums), expected);
    let complete = linux.other_labels(OtherLabels::Absent);
    let sums = bounds(&all, &daemons_on(&all, &complete)).unwrap();
    assert_eq!(sums.certain, sums.possible);
    assert_eq!(sums.certain.get("pods").unwrap().units(), 2);
    assert!(bounds(&all, &daemons_on(&all, &NodeShape::default())).is_err(), "a request is no amount");
}
