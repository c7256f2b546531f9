//! Pod anti-affinity between the DaemonSet's own pods.

use super::context::LintContext;
use super::finding::{Finding, Rule, Severity};
use super::format::count;
use super::manifest::{Manifest, ManifestItem, POD};
use daemonset::kubernetes::Selector;
use daemonset::model::{LabelSelector, NodeName};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Each node has its own value of this label.
const HOSTNAME: &str = "kubernetes.io/hostname";

/// A surge needs two pods on one node, and such a term forbids them. This holds for every topology key, because a node
/// shares its value with itself.
pub(super) fn with_surge(manifest: &Manifest<'_>) -> Vec<Finding> {
    let terms = terms_to_itself(manifest).into_iter().filter(|_| manifest.surges());
    let finding = |term: ManifestItem<'_>| {
        Finding::new(Rule::SurgeWithAntiAffinity, Severity::Error, term.path)
            .why("The term keeps a pod away from nodes that have one of the same labels: during a surge the new one stays Pending, and the update stops")
            .remedy("Leave the term out (a DaemonSet has one pod a node anyway), or replace instead of surging")
    };
    terms.map(finding).collect()
}

/// With a topology key such as the zone, only one node of each zone can have a pod.
pub(super) fn to_itself(context: &LintContext<'_>) -> Vec<Finding> {
    let terms = terms_to_itself(&context.manifest).into_iter();
    terms
        .filter(|term| term.text("topologyKey") != HOSTNAME)
        .filter_map(|term| crowded(context, &term))
        .collect()
}

fn crowded(context: &LintContext<'_>, term: &ManifestItem<'_>) -> Option<Finding> {
    let key = term.text("topologyKey");
    let mut domains: BTreeMap<&str, Vec<NodeName>> = BTreeMap::new();
    for node in context.nodes.iter().filter(|node| node.is_target()) {
        if let Some(value) = node.view.label(key) {
            domains.entry(value).or_default().push(node.name());
        }
    }
    domains.retain(|_, nodes| nodes.len() > 1);
    let nodes: Vec<NodeName> = domains.values().flatten().cloned().collect();
    let without = nodes.len() - domains.len();
    let finding = Finding::new(Rule::AntiAffinityToItself, Severity::Error, &term.path)
        .why(format_args!(
            "Only one of the nodes with the same {key} can have the pod: of {} {} will stay without it",
            count(context.desired(), "target node"),
            without
        ))
        .remedy("Leave the term out, or use the topology key kubernetes.io/hostname")
        .nodes(nodes);
    (without > 0).then_some(finding)
}

/// The required terms that select the DaemonSet's own pods, outdated and updated. Terms that are narrowed by label keys
/// (such as the revision's) or by namespaces are left out, because they may not select them.
fn terms_to_itself<'a>(manifest: &Manifest<'a>) -> Vec<ManifestItem<'a>> {
    const FIELD: &str = "requiredDuringSchedulingIgnoredDuringExecution";
    let terms = manifest.pod(&format!("/affinity/podAntiAffinity/{FIELD}")).and_then(Value::as_array);
    let items = terms.into_iter().flatten().enumerate().map(|(index, value)| ManifestItem {
        path: format!("{POD}.affinity.podAntiAffinity.{FIELD}[{index}]"),
        value,
    });
    items.filter(|term| selects_own(manifest, term)).collect()
}

fn selects_own(manifest: &Manifest<'_>, term: &ManifestItem<'_>) -> bool {
    let narrowed = ["matchLabelKeys", "mismatchLabelKeys", "namespaces", "namespaceSelector"];
    if narrowed.into_iter().any(|field| term.has(field)) {
        return false;
    }
    // A missing selector selects no pod; an empty one selects every pod.
    let selector = term.value.get("labelSelector").and_then(|value| LabelSelector::deserialize(value).ok());
    let Some(selector) = selector else { return false };
    Selector::new(&selector, "")
        .ok()
        .is_some_and(|selector| selector.matches_labels(&manifest.template.metadata.labels))
}
