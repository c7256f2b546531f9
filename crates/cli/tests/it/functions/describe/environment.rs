//! Environment variables and their sources.

use super::{container, labelled};
use serde_json::{Value, json};

fn variables(variables: Value) -> Vec<String> {
    labelled(&container(json!({"env": variables})), "Environment:")[1..].to_vec()
}

#[test]
fn values_and_sources_are_shown() {
    let printed = variables(json!([
        {"name": "A", "value": "1"},
        {"name": "B", "value": "x\ny"},
        {"name": "C"},
        {"name": "D", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}}},
        {"name": "E", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k", "optional": true}}},
        {"name": "F", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}},
        {"name": "G", "valueFrom": {"fileKeyRef": {"key": "k"}}},
        {"name": "H", "valueFrom": {}},
    ]));
    assert_eq!(
        printed,
        [
            "  A:→1",
            "  B:→x",
            "  →y",
            "  C:→",
            "  D:→ (v1:spec.nodeName)",
            "  E:→<set to the key 'k' in secret 's'>→Optional: true",
            "  F:→<set to the key 'k' of config map 'c'>→Optional: false",
        ],
        "nothing of sources that kubectl does not know"
    );
}

#[test]
fn whole_sources_are_shown_first() {
    let printed = container(json!({"envFrom": [
        {"configMapRef": {"name": "c"}},
        {"secretRef": {"name": "s", "optional": true}, "prefix": "P_"},
        {},
    ]}));
    assert_eq!(
        labelled(&printed, "Environment Variables from:"),
        [
            "Environment Variables from:",
            "  c→ConfigMap→Optional: false",
            "  s→Secret with prefix 'P_'→Optional: true",
            "  →→Optional: false",
        ]
    );
}

#[test]
fn resources_of_the_container_are_counted_in_their_divisor() {
    let resources = json!({
        "limits": {"cpu": "1500m", "memory": "100Mi", "ephemeral-storage": "1Gi", "hugepages-2Mi": "4Mi"},
        "requests": {"cpu": "250m"},
    });
    let printed = |resource: &str, divisor: Value| {
        let source = json!({"resourceFieldRef": {"resource": resource, "divisor": divisor}});
        let variable = json!({"name": "A", "valueFrom": source});
        let printed = container(json!({"resources": resources, "env": [variable]}));
        let line = labelled(&printed, "Environment:")[1].clone();
        let value = line.strip_prefix("  A:→").unwrap();
        value.strip_suffix(&format!(" ({resource})")).unwrap().to_owned()
    };
    for (resource, divisor, value) in [
        ("limits.cpu", json!(null), "2"),
        ("limits.cpu", json!("0"), "2"),
        ("limits.cpu", json!("1m"), "1500"),
        ("limits.cpu", json!("400m"), "4"),
        ("limits.memory", json!("1Mi"), "100"),
        ("limits.memory", json!("1Gi"), "1"),
        ("limits.memory", json!(1), "104857600"),
        ("limits.ephemeral-storage", json!("1Ki"), "1048576"),
        ("limits.hugepages-2Mi", json!("1Mi"), "4"),
        ("requests.cpu", json!("1m"), "250"),
        ("requests.memory", json!("1"), "0"),
        ("requests.hugepages-1Gi", json!("1"), "0"),
        ("limits.example.com/gpu", json!("1"), ""),
        ("cpu", json!("1"), ""),
    ] {
        assert_eq!(printed(resource, divisor.clone()), value, "{resource} {divisor}");
    }
}

#[test]
fn without_a_limit_the_node_is_the_limit() {
    for (resource, value) in [
        ("limits.cpu", "node allocatable"),
        ("limits.memory", "node allocatable"),
        ("limits.ephemeral-storage", "0"),
        ("requests.cpu", "0"),
    ] {
        let source = json!({"resourceFieldRef": {"resource": resource}});
        let printed = variables(json!([{"name": "A", "valueFrom": source}]));
        assert_eq!(printed, [format!("  A:→{value} ({resource})")]);
    }
}
