//! Replays the events node by node.

use crate::simulate::revisions::Revisions;
use crate::simulate::run::Run;
use crate::simulate::station::{Phase, Station};
use crate::simulate::targets::{Targets, targets};
use crate::simulate::timeline::{Row, State};
use daemonset::model::{DaemonSetSpec, NodeName};
use daemonset::sim::{Change, PodTrouble};
use std::collections::BTreeMap;

/// One row for every node that was there, by name.
pub(crate) fn rows(run: &Run<'_>, revisions: &Revisions<'_>) -> Vec<Row> {
    let mut replay = Replay { revisions, targets: targets(run), stations: BTreeMap::new(), min_ready: 0 };
    for event in run.events.iter().take_while(|event| event.t <= run.end) {
        replay.apply(run.offset(event.t), &event.change);
    }
    let rows = replay.stations.into_iter().map(|(node, mut station)| {
        station.advance(run.length(), replay.min_ready, revisions);
        Row { node: node.as_str().to_owned(), spans: station.spans }
    });
    rows.filter(|row| row.spans.iter().any(|span| span.state != State::Idle)).collect()
}

struct Replay<'a> {
    revisions: &'a Revisions<'a>,
    targets: BTreeMap<&'a NodeName, Targets>,
    stations: BTreeMap<&'a NodeName, Station<'a>>,
    /// minReadySeconds, in milliseconds.
    min_ready: i64,
}

impl<'a> Replay<'a> {
    fn apply(&mut self, t: i64, change: &'a Change) {
        match change {
            Change::PodCreated(pod) => self.at(t, &pod.node).create(pod),
            Change::PodTerminating { pod, reason } => self.at(t, &pod.node).terminate(pod, *reason),
            Change::PodGone(pod) => self.at(t, &pod.node).forget(pod),
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
            // Whether the node is a target node then, is known already.
            Change::NodeTainted(_) | Change::NodeLabelled(_) => {}
            // Neither changes a node by itself. Other changes: what they mean for a node is not known here.
            Change::Reconciled(_) | Change::ControllerCrashed { .. } | _ => {}
        }
    }

    /// The node, as it is right before the change.
    fn at(&mut self, t: i64, node: &'a NodeName) -> &mut Station<'a> {
        let station = self.stations.entry(node).or_insert_with(|| {
            let targets = self.targets.remove(node).unwrap_or_default();
            Station::new(t, targets)
        });
        station.advance(t, self.min_ready, self.revisions);
        station
    }

    fn respec(&mut self, t: i64, spec: &DaemonSetSpec) {
        for station in self.stations.values_mut() {
            station.advance(t, self.min_ready, self.revisions);
        }
        self.min_ready = i64::from(spec.min_ready_seconds.max(0)) * 1000;
    }
}
