//! No pod is taken on a node that is not in turn, or whose turn has a closed gate; and no more nodes lose an available pod to the
//! update than may be without.

use super::super::facts::Facts;
use daemonset::DeleteReason;
use daemonset::policy::{OnTimeout, TurnMode};
use daemonset_sim::PodIdentity;
use jiff::{SignedDuration, Timestamp};

pub fn broken_by_take(facts: &Facts, t: Timestamp, pod: &PodIdentity) -> Option<String> {
    let rules = match facts.policy.turn.as_ref()? {
        TurnMode::Keep => return Some(format!("kept: {} is taken", pod.pod)),
        TurnMode::Take(rules) => rules,
        _ => return None,
    };
    // A pod outlives its node for a while; then it is not the update that takes it away.
    let node = facts.nodes.get(pod.node.as_str())?;
    // A node may join under the name of one that was in turn, and whose pods it inherits.
    if facts.may_seem_unremoved(pod.node.as_str(), t) {
        return None;
    }
    let Some(turn) = &node.turn else { return Some(format!("not in turn: {}", pod.node)) };
    let closed: Vec<&String> = facts.closed_gates(node, &rules.gates).collect();
    let timeout = rules.timeout_seconds.map(|seconds| SignedDuration::from_secs(seconds.into()));
    let is_overdue = timeout.is_some_and(|timeout| turn.at + timeout <= t);
    let proceeds = rules.on_timeout == OnTimeout::Proceed && is_overdue;
    (!closed.is_empty() && !proceeds).then(|| format!("gates: {closed:?} of {} closed", pod.node))
}

/// The nodes from which an update took an available pod, and that have had none since.
pub fn broken_by_loss(
    facts: &Facts,
    t: Timestamp,
    pod: &PodIdentity,
    reason: DeleteReason,
) -> Option<String> {
    let name = pod.node.as_str();
    if reason != DeleteReason::OutdatedAvailable
        || !facts.is_ready(pod.uid.as_str())
        || !facts.nodes.contains_key(name)
    {
        return None;
    }
    let mut taken: Vec<&str> = facts
        .nodes
        .iter()
        .filter(|(other, node)| *other != name && node.taken.is_some())
        .map(|(other, _)| other.as_str())
        .collect();
    taken.push(name);
    let allowed = facts.allowed(t);
    (taken.len() > allowed).then(|| format!("taken: {taken:?} of {allowed}"))
}
