//! Replays the events node by node.

use crate::pod_now::Phase;
use crate::replayed_node::{ReplayedNode, Targets};
use crate::row::{Row, State};
use crate::run::{Revisions, Run};
use daemonset::model::{DaemonSetSpec, NodeName};
use daemonset_sim::{Change, Event, PodTrouble, availability};
use std::collections::BTreeMap;

/// One row for every node that was there, by name.
pub fn rows(run: &Run<'_>, revisions: &Revisions<'_>) -> Vec<Row> {
    let mut replay = RunReplay { revisions, targets: targets(run), nodes: BTreeMap::new(), min_ready: 0 };
    for event in run.events.iter().take_while(|event| event.t <= run.end) {
        replay.apply(run.offset(event.t), &event.change);
    }
    let rows = replay.nodes.into_iter().map(|(name, mut node)| {
        node.advance(run.length(), replay.min_ready, revisions);
        Row { node: name.as_str().to_owned(), spans: node.spans }
    });
    rows.filter(|row| row.spans.iter().any(|span| span.state != State::Idle)).collect()
}

struct RunReplay<'a> {
    revisions: &'a Revisions<'a>,
    targets: BTreeMap<&'a NodeName, Targets>,
    nodes: BTreeMap<&'a NodeName, ReplayedNode<'a>>,
    /// minReadySeconds, in milliseconds.
    min_ready: i64,
}

impl<'a> RunReplay<'a> {
    fn apply(&mut self, t: i64, change: &'a Change) {
        match change {
            Change::PodCreated(pod) => self.at(t, &pod.node).create(pod),
            Change::PodTerminating { pod, reason } => self.at(t, &pod.node).terminate(pod, *reason),
            Change::PodGone(pod) => self.at(t, &pod.node).forget(pod),
            Change::PodChanged { pod, reason } => self.at(t, &pod.node).change(pod, *reason),
            Change::PodReady(pod) => self.at(t, &pod.node).turn(pod, Phase::Ready { since: t }),
            Change::PodUnready { pod, reason: PodTrouble::Crashed } => {
                self.at(t, &pod.node).turn(pod, Phase::Failed(PodTrouble::Crashed));
            }
            Change::PodUnready { pod, reason } => self.at(t, &pod.node).turn(pod, Phase::Unready(*reason)),
            Change::PodFailed { pod, reason } => self.at(t, &pod.node).turn(pod, Phase::Failed(*reason)),
            Change::NodeAdded(node) => self.at(t, &node.node).join(node.ready),
            Change::NodeGone { node } => self.at(t, node).leave(),
            Change::NodeReady(node) | Change::NodeUnready(node) => self.at(t, &node.node).ready = node.ready,
            Change::DaemonSetChanged { spec, .. } => self.respec(t, spec),
            // Targets are known already.
            Change::NodeTainted(_) | Change::NodeLabelled(_) => {}
            // Neither changes a node by itself; the meaning of other changes is not known here.
            Change::Reconciled(_) | Change::ControllerCrashed { .. } | _ => {}
        }
    }

    /// The node, as it is right before the change.
    fn at(&mut self, t: i64, name: &'a NodeName) -> &mut ReplayedNode<'a> {
        let node = self.nodes.entry(name).or_insert_with(|| {
            let targets = self.targets.remove(name).unwrap_or_default();
            ReplayedNode::new(t, targets)
        });
        node.advance(t, self.min_ready, self.revisions);
        node
    }

    fn respec(&mut self, t: i64, spec: &DaemonSetSpec) {
        for node in self.nodes.values_mut() {
            node.advance(t, self.min_ready, self.revisions);
        }
        self.min_ready = i64::from(spec.min_ready_seconds.max(0)) * 1000;
    }
}

/// The library counts the targets of a whole history, so it gets the history of one node at a time.
pub fn targets<'a>(run: &Run<'a>) -> BTreeMap<&'a NodeName, Targets> {
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
        | Change::PodChanged { pod, .. }
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
