//! Nodes that are too small for the pod, even if all other pods leave.

use super::context::LintContext;
use super::finding::{Finding, Rule, Severity};
use super::format::node_names;
use super::manifest::POD;
use daemonset::internal::quantity::{Amounts, amounts, pod_requests, text};
use daemonset::internal::{Placement, room_for};
use daemonset::model::{NodeName, Pod};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// One finding for each resource, about the target nodes whose allocatable resources are given.
pub(super) fn too_small(context: &LintContext<'_>) -> Vec<Finding> {
    let spec = context.manifest.daemon_set.spec.template.get("spec").unwrap_or(&Value::Null);
    let Ok(pod) = Pod::deserialize(json!({"spec": spec})) else { return Vec::new() };
    let requests = pod_requests(&pod);
    let mut lacking: BTreeMap<&str, Small> = BTreeMap::new();
    let mut known = 0;
    for node in context.nodes.iter().filter(|node| node.placement == Placement::Run) {
        let Some(allocatable) = context.preflight.allocatable.get(node.verdict.node.as_str()) else {
            continue;
        };
        let allocatable = amounts(allocatable);
        known += 1;
        for (resource, amount) in &requests {
            if let Some(room) = room_for(&allocatable, resource).filter(|room| room < amount) {
                let small = lacking.entry(resource).or_default();
                small.nodes.push(node.name());
                small.most = small.most.max(room);
            }
        }
    }
    let findings = lacking.into_iter();
    findings.map(|(resource, small)| finding(context, (resource, &requests), small, known)).collect()
}

/// The nodes that have too little of a resource.
#[derive(Default)]
struct Small {
    nodes: Vec<NodeName>,
    /// How much the largest of them has.
    most: i128,
}

fn finding(
    context: &LintContext<'_>,
    (resource, requests): (&str, &Amounts<'_>),
    small: Small,
    known: usize,
) -> Finding {
    let Small { nodes, most } = small;
    let (number, has) = match nodes.len() {
        1 => ("is", "it has"),
        _ => ("are", "none of them has more than"),
    };
    let wanted = text(requests.get(resource).copied().unwrap_or_default());
    Finding::new(Rule::NodeTooSmall, Severity::Error, path(context, resource))
        .why(format_args!(
            "{} of {known} target nodes {number} too small for the pod, even without any other: it requests {resource} {wanted}, and {has} {}: {}",
            nodes.len(),
            text(most),
            node_names(&nodes)
        ))
        .remedy("Request less, or keep the pod off these nodes with a node selector or affinity")
        .nodes(nodes)
}

/// The first container that requests the resource, or the spec of a pod whose sum or overhead does.
fn path(context: &LintContext<'_>, resource: &str) -> String {
    let containers = context.manifest.containers();
    let has = |value: &Value, list: &str| {
        value.pointer(&format!("/resources/{list}")).is_some_and(|list| list.get(resource).is_some())
    };
    let found = containers.iter().find_map(|(item, _)| {
        let list = ["requests", "limits"].into_iter().find(|list| has(item.value, list))?;
        Some(format!("{}.resources.{list}[{resource}]", item.path))
    });
    found.unwrap_or_else(|| POD.to_owned())
}
