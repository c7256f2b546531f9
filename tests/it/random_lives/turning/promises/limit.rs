//! When a turn begins, no more nodes that are up are in turn than maxUnavailable allows.

use super::super::facts::Facts;
use jiff::{SignedDuration, Timestamp};

/// Nodes that were down and come back are apart, and those that wait for room.
pub fn broken_by_begin(facts: &Facts, t: Timestamp, name: &str) -> Option<String> {
    let seems_up = |name: &str| facts.may_seem_ready(name, t, SignedDuration::ZERO);
    let began = facts.nodes.get(name)?;
    // An excused node has a limit of its own.
    if facts.may_have_been_down(began, t) {
        return None;
    }
    // While a node is down that is not in turn, one in turn whose pod works may wait for its room.
    let is_up = |name: &str| facts.is_up_throughout(name, t);
    let mut others = facts.nodes.iter().filter(|(other, node)| *other != name && node.turn.is_none());
    let may_wait = others.any(|(other, _)| !is_up(other)) || !facts.is_up_throughout(name, t);
    let in_turn = facts.nodes.iter().filter(|(other, node)| {
        *other != name && node.turn.is_some() && !node.was_down_in_turn && (!may_wait || !seems_up(other))
    });
    let mut in_turn: Vec<&str> = in_turn.map(|(other, _)| other.as_str()).collect();
    in_turn.push(name);
    let allowed = facts.allowed(t);
    (in_turn.len() > allowed).then(|| format!("turn limit: {in_turn:?} of {allowed}"))
}
