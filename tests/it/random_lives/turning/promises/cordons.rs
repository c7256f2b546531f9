//! No node stays unschedulable that a turn made so, and none becomes schedulable that a person has cordoned, or another DaemonSet's turn
//! needs.

use super::super::facts::Facts;
use daemonset_sim::{Change, Event};

pub fn broken_by_uncordon(facts: &Facts, name: &str, step: &[Event]) -> Option<String> {
    let node = facts.nodes.get(name)?;
    if node.is_persons {
        return Some(format!("cordon: of a person on {name} taken back"));
    }
    // One patch may end several turns of nobody.
    let ends = |key: &str, event: &Event| match &event.change {
        Change::TurnEnded { node, turn, .. } => node.as_str() == name && turn == key,
        _ => false,
    };
    let mut others = node.turns().filter(|(key, _)| !step.iter().any(|event| ends(key, event)));
    others.next().map(|(other, _)| format!("cordon: {other} needs that of {name}"))
}

pub fn broken_in(facts: &Facts) -> Vec<String> {
    let is_left = |node: &super::super::facts::Node| {
        node.unschedulable && !node.is_persons && !node.is_cordoned_by_a_turn()
    };
    let left = facts.nodes.iter().filter(|(_, node)| is_left(node));
    left.map(|(name, _)| format!("cordon: left on {name}")).collect()
}
