//! No turn ends while its node waits for the new daemon.

use super::super::facts::Facts;
use daemonset::policy::TurnMode;
use jiff::Timestamp;

pub fn broken_by_end(facts: &Facts, t: Timestamp, name: &str) -> Option<String> {
    if !matches!(facts.policy.turn, Some(TurnMode::Take(_))) {
        return None;
    }
    let node = facts.nodes.get(name)?;
    let (turn, taken) = (node.turn.as_ref()?, node.taken_in_turn?);
    // A pod that is older than the turn: nothing of it was taken after all.
    let is_untouched = facts.pods_of(name).any(|(_, pod)| pod.is_live() && pod.born < turn.at);
    let waits = !facts.was_available_since(name, taken, t) && facts.is_settled(node, t) && !is_untouched;
    waits.then(|| format!("end: {name} waits for its daemon"))
}
