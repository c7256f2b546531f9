//! The turn of a node for programs that open its gates.

use crate::input::spec::turn_key;
use crate::rules::turn::Turn;
use daemonset_objects::kubernetes::well_known::{GATE_INFIX, TURN_PREFIX};
use daemonset_objects::model::{DaemonSet, Node};

/// The key of a DaemonSet in annotations of nodes: `turn.daemonset/<key>` is its turn, `<gate>.gate.daemonset/<key>` the answer of a gate.
pub fn key(daemon_set: &DaemonSet) -> String {
    turn_key(daemon_set)
}

/// The request of the turn with this key; `None` where the node is not in turn. A gate is open while its
/// [annotation](gate_annotation) has the same text: an answer to an earlier turn opens nothing.
///
/// A program that works on a node before its pod is replaced, such as a backup, waits for the request, does its work, and writes the
/// request as the gate's annotation, with the node's uid and resourceVersion as preconditions.
///
/// ```
/// use daemonset::{model, turns};
/// use serde_json::{from_value, json};
///
/// let daemon_set: model::DaemonSet = from_value(json!({"metadata": {"name": "agent", "uid": "u1"}}))?;
/// let key = turns::key(&daemon_set);
/// let node: model::Node = from_value(json!({
///     "metadata": {"name": "a", "annotations": {format!("turn.daemonset/{key}"): "7 2026-01-01T12:00:00Z cordoned"}},
/// }))?;
/// assert_eq!(turns::request(&node, &key), Some("7 2026-01-01T12:00:00Z"));
/// assert_eq!(turns::gate_annotation("backup", &key), format!("backup.gate.daemonset/{key}"));
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn request<'n>(node: &'n Node, key: &str) -> Option<&'n str> {
    let value = node.metadata.annotations.get(&format!("{TURN_PREFIX}{key}"))?;
    Turn::parse(value).map(|turn| turn.request)
}

/// The annotation of a node that opens the gate with this name in the turn with this key.
pub fn gate_annotation(gate: &str, key: &str) -> String {
    format!("{gate}{GATE_INFIX}{key}")
}
