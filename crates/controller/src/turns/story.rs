//! The events about turns that follow no call: nodes that wait, and those that wait for too long.

use daemonset::EventType;
use daemonset::model::NodeName;
use daemonset::report::{Wait, Warning};
use std::collections::{BTreeMap, BTreeSet};

/// Names that a message has at most.
const NAMES: usize = 5;

/// What the events have told.
#[derive(Debug, Clone, Default)]
pub struct TurnStory {
    /// The nodes that wait for gates; `None` before the first plan of the process, whose predecessor has told of them.
    waiting: Option<BTreeSet<NodeName>>,
    overdue: BTreeSet<NodeName>,
}

/// An event.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) event_type: EventType,
    pub(crate) reason: &'static str,
    pub(crate) message: String,
}

impl TurnStory {
    /// The events that are due now.
    pub(crate) fn observe(&mut self, waits_of: &[(&NodeName, &Wait)], warnings: &[Warning]) -> Vec<Told> {
        let waiting = waiting(waits_of);
        let told = self.waiting.replace(waiting.keys().map(|node| (*node).clone()).collect());
        let is_new = |node: &NodeName| told.as_ref().is_some_and(|told| !told.contains(node));
        let mut new: BTreeMap<&[String], Vec<&NodeName>> = BTreeMap::new();
        for (node, gates) in waiting.into_iter().filter(|(node, _)| is_new(node)) {
            new.entry(gates).or_default().push(node);
        }
        let mut events: Vec<Told> = new.into_iter().map(|(gates, nodes)| waits(&nodes, gates)).collect();
        let overdue = overdue(warnings);
        let newly = overdue.iter().filter(|(node, _)| !self.overdue.contains(**node));
        events.extend(newly.map(|(node, gates)| is_overdue(node, gates)));
        self.overdue = overdue.into_keys().cloned().collect();
        events
    }
}

fn waiting<'w>(waits: &[(&'w NodeName, &'w Wait)]) -> BTreeMap<&'w NodeName, &'w [String]> {
    let waits = waits.iter().filter_map(|(node, wait)| match wait {
        Wait::Gates { gates, .. } => Some((*node, gates.as_slice())),
        _ => None,
    });
    waits.collect()
}

fn overdue(warnings: &[Warning]) -> BTreeMap<&NodeName, &[String]> {
    let overdue = warnings.iter().filter_map(|warning| match warning {
        Warning::TurnOverdue { nodes, .. } => Some(nodes),
        _ => None,
    });
    overdue.flatten().map(|(node, gates)| (node, gates.as_slice())).collect()
}

fn waits(nodes: &[&NodeName], gates: &[String]) -> Told {
    let shown: Vec<&str> = nodes.iter().take(NAMES).map(|node| node.as_str()).collect();
    let names = match nodes.len().saturating_sub(NAMES) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    };
    let (nodes, wait) = if nodes.len() == 1 { ("Node", "waits") } else { ("Nodes", "wait") };
    let message = format!("{nodes} {names} {wait} for {}", of_gates(gates));
    Told { event_type: EventType::Normal, reason: "WaitsForGate", message }
}

fn is_overdue(node: &NodeName, gates: &[String]) -> Told {
    let message = format!("Node {node} waits for {} for longer than its policy allows", of_gates(gates));
    Told { event_type: EventType::Warning, reason: "TurnOverdue", message }
}

fn of_gates(gates: &[String]) -> String {
    let word = if gates.len() == 1 { "gate" } else { "gates" };
    format!("{word} {}", gates.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use daemonset::{Plan, Recording};
    use serde_json::{from_value, json};

    /// A plan in which these nodes wait for gate `backup`, since this instant.
    fn plan(waiting: &[&str], now: &str) -> Plan {
        let ds = json!({
            "metadata": {"name": "agent", "namespace": "ns", "uid": "u", "generation": 1},
            "spec": {
                "selector": {"matchLabels": {"app": "agent"}}, "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 9}},
                "template": {"metadata": {"labels": {"app": "agent"}}},
            },
        });
        let key = daemonset::turns::key(&from_value(ds.clone()).unwrap());
        let node = |name: &str| {
            json!({
                "metadata": {"name": name, "annotations": {format!("turn.daemonset/{key}"): "1 2026-01-01T12:00:00Z"}},
            })
        };
        let owners = json!([{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "u", "controller": true}]);
        let pod = |node: &str| {
            json!({
                "metadata": {"name": node, "namespace": "ns", "uid": node, "creationTimestamp": "2026-01-01T00:00:00Z",
                    "labels": {"app": "agent", "controller-revision-hash": "old"}, "ownerReferences": owners},
                "spec": {"nodeName": node},
                "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}]},
            })
        };
        let recording: Recording = from_value(json!({
            "now": now, "daemonSet": ds,
            "nodes": waiting.iter().copied().map(node).collect::<Vec<_>>(),
            "pods": waiting.iter().copied().map(pod).collect::<Vec<_>>(),
            "policy": {"turn": {"gates": ["backup"], "timeoutSeconds": 600}},
        }))
        .unwrap();
        daemonset::plan(&recording.snapshot().unwrap())
    }

    #[test]
    fn a_node_that_waits_is_told_once_and_again_when_it_is_overdue() {
        let mut story = TurnStory::default();
        let mut told = |waiting: &[&str], now: &str| {
            let plan = plan(waiting, now);
            let waits =
                plan.report.nodes.iter().filter_map(|verdict| Some((&verdict.node, verdict.outcome.wait()?)));
            let events = story.observe(&Vec::from_iter(waits), &plan.warnings);
            events.into_iter().map(|event| format!("{}: {}", event.reason, event.message)).collect::<Vec<_>>()
        };
        assert!(told(&["a"], "2026-01-01T12:00:01Z").is_empty(), "the process before this one has told it");
        assert_eq!(
            told(&["a", "b", "c"], "2026-01-01T12:00:02Z"),
            ["WaitsForGate: Nodes b, c wait for gate backup"]
        );
        assert!(told(&["a", "b", "c"], "2026-01-01T12:00:03Z").is_empty());
        assert_eq!(
            told(&["a"], "2026-01-01T12:10:00Z"),
            ["TurnOverdue: Node a waits for gate backup for longer than its policy allows"]
        );
        assert!(told(&["a"], "2026-01-01T12:11:00Z").is_empty());
    }
}
