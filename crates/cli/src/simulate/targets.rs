//! When each node is a target node.

use crate::simulate::run::Run;
use daemonset::model::NodeName;
use daemonset::sim::{Change, Event, availability};
use std::collections::BTreeMap;

/// From an instant on, in milliseconds since the start, a node is a target node or not.
pub(crate) type Targets = Vec<(i64, bool)>;

/// The library tells it of a whole history: so it is asked for the history of one node at a time.
pub(crate) fn targets<'a>(run: &Run<'a>) -> BTreeMap<&'a NodeName, Targets> {
    let mut histories: BTreeMap<&NodeName, Vec<Event>> = BTreeMap::new();
    for event in run.events {
        if let Some(node) = node_of(&event.change) {
            histories.entry(node).or_default();
        }
    }
    for event in run.events {
        match (&event.change, node_of(&event.change)) {
            (Change::DaemonSetChanged { .. }, _) => {
                histories.values_mut().for_each(|history| history.push(event.clone()));
            }
            (_, Some(node)) => histories.entry(node).or_default().push(event.clone()),
            (_, None) => {}
        }
    }
    histories.into_iter().map(|(node, history)| (node, of_one(run, &history))).collect()
}

fn of_one(run: &Run<'_>, history: &[Event]) -> Targets {
    let mut targets: Targets = Vec::new();
    for it in availability(history) {
        let target = it.desired > 0;
        if targets.last().is_none_or(|last| last.1 != target) {
            targets.push((run.offset(it.t), target));
        }
    }
    targets
}

/// The node that an event changes, where it is about one that was there.
fn node_of(change: &Change) -> Option<&NodeName> {
    match change {
        Change::PodCreated(pod) | Change::PodGone(pod) | Change::PodReady(pod) => Some(&pod.node),
        Change::PodTerminating { pod, .. }
        | Change::PodUnready { pod, .. }
        | Change::PodFailed { pod, .. } => Some(&pod.node),
        Change::NodeAdded(node)
        | Change::NodeReady(node)
        | Change::NodeUnready(node)
        | Change::NodeTainted(node)
        | Change::NodeLabelled(node) => Some(&node.node),
        Change::NodeGone { node } => Some(node),
        Change::DaemonSetChanged { .. } | Change::Reconciled(_) | Change::ControllerCrashed { .. } | _ => {
            None
        }
    }
}
