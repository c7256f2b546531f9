//! The ends of turns that nobody plans for any more.

use crate::action::Action;
use crate::input::spec::turn_key;
use crate::plan::turns::{end_with, keys, others};
use crate::rules::turn::Turn;
use daemonset_objects::NodeView;
use daemonset_objects::kubernetes::well_known::{GATE_INFIX, TURN_PREFIX};
use daemonset_objects::model::DaemonSet;
use std::collections::BTreeSet;

/// The ends of the turns whose key is that of none of these DaemonSets, by the name of the node: nobody plans for them any more, and
/// their nodes would stay cordoned.
///
/// `daemon_sets` must be all that exist, of each kind for which this crate plans. A cordon is handed over to a turn of one of them alone.
/// A controller asks for it when it starts, and from time to time.
///
/// ```
/// use daemonset::{Action, model, turns::abandoned_turns};
/// use serde_json::{from_value, json};
///
/// let node: model::Node = from_value(json!({
///     "metadata": {"name": "a", "annotations": {"turn.daemonset/gone.00000000": "3 2026-01-01T00:00:00Z cordoned"}},
///     "spec": {"unschedulable": true},
/// }))?;
/// let [Action::PatchNode { unschedulable: Some(false), .. }] = abandoned_turns([&node], &[])[..] else { panic!("the turn ends") };
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn abandoned_turns<'a, N: Into<NodeView<'a>>>(
    nodes: impl IntoIterator<Item = N>,
    daemon_sets: &[DaemonSet],
) -> Vec<Action> {
    let known: BTreeSet<String> = daemon_sets.iter().map(turn_key).collect();
    let nodes: Vec<NodeView<'_>> = nodes.into_iter().map(Into::into).collect();
    let mut nodes: Vec<&NodeView<'_>> = nodes.iter().collect();
    nodes.sort_unstable_by_key(|node| node.name);
    nodes.into_iter().filter_map(|node| ends_on(node, &known)).collect()
}

/// One patch ends all of them: the next one would meet another version of the node.
fn ends_on(node: &NodeView<'_>, known: &BTreeSet<String>) -> Option<Action> {
    let is_known = |key: &str| key.strip_prefix(TURN_PREFIX).is_some_and(|key| known.contains(key));
    let left = others(node, |key| !is_known(key));
    let is_gate_of = |key: &str, turn: &str| {
        let gate = turn.strip_prefix(TURN_PREFIX).and_then(|turn| key.strip_suffix(turn));
        gate.is_some_and(|gate| gate.ends_with(GATE_INFIX))
    };
    let removed = keys(node).filter(|key| left.keys().any(|turn| key == turn || is_gate_of(key, turn)));
    let has_cordoned = left.values().any(|value| Turn::parse(value).is_some_and(|turn| turn.cordoned));
    let end = || end_with(node, removed, has_cordoned, &others(node, is_known));
    (!left.is_empty()).then(end)
}
