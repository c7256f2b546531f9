//! Placement for others: nodes that need not exist, and the DaemonSets that a changed node concerns.

mod affected;
mod conformance;
mod properties;
mod stories;

use daemonset::model::{DaemonSet, Node};
use serde_json::{Value, json};

/// A DaemonSet with these members in the spec of its template.
pub fn daemon_set(name: &str, spec: Value) -> DaemonSet {
    serde_json::from_value(json!({
        "metadata": {"name": name, "namespace": "ns", "uid": format!("uid-{name}")},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": spec},
            "updateStrategy": {"type": "RollingUpdate"},
        },
    }))
    .unwrap()
}

/// A node with these labels, and taints as `key:effect`.
pub fn node(name: &str, labels: Value, taints: &[&str]) -> Node {
    let taint = |text: &&str| {
        let (key, effect) = text.split_once(':').unwrap();
        json!({"key": key, "effect": effect})
    };
    let taints: Vec<Value> = taints.iter().map(taint).collect();
    serde_json::from_value(json!({"metadata": {"name": name, "labels": labels}, "spec": {"taints": taints}}))
        .unwrap()
}

/// Required node affinity with these terms.
pub fn required(terms: Value) -> Value {
    let required = json!({"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}});
    json!({"affinity": {"nodeAffinity": required}})
}
