//! The turn of a node: what happens on it before and after its pod is replaced. At most one pod, cordons and gates, images that are
//! pulled first, pods that are changed in their place, pods that would not fit, and the priority of created pods.

mod abandoned_turns;
mod at_most_one;
mod begin;
mod details;
mod end;
mod fit;
mod in_place;
mod memory;
mod priority;
mod pull;
mod room;

use crate::support::{Given, PodStory, old};
use daemonset::{Action, TurnReason};
use serde_json::{Value, json};

/// The outcome of a node.
fn outcome(given: &Given, node: &str) -> Value {
    json!(given.plan().report.node(node).unwrap().outcome)
}

/// The patches of nodes, each with its node.
fn patches(given: &Given) -> Vec<(String, Value)> {
    let patch = |action: &Action| match action {
        Action::PatchNode { node, annotations, .. } => Some((node.name.clone(), json!(annotations))),
        _ => None,
    };
    given.plan().actions.iter().filter_map(patch).collect()
}

/// The nodes whose turn begins.
fn begun(given: &Given) -> Vec<String> {
    let begun = |action: &Action| match action {
        Action::PatchNode { node, reason: TurnReason::TurnBegins, .. } => Some(node.name.clone()),
        _ => None,
    };
    given.plan().actions.iter().filter_map(begun).collect()
}

/// The pods that the update takes.
fn taken(given: &Given) -> Vec<String> {
    let taken = |action: &Action| match action {
        Action::DeletePod { pod, reason, .. } if reason.is_update() => Some(pod.name.clone()),
        Action::UpdatePodInPlace { pod, .. } => Some(pod.name.clone()),
        _ => None,
    };
    given.plan().actions.iter().filter_map(taken).collect()
}

/// An old pod whose container runs.
pub(in crate::stories) fn running() -> PodStory {
    old().runs("old", "runtime://1", 3600)
}
