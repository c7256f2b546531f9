//! The number of target nodes without an available pod over time, computed from a history alone.

use crate::event::{Actor, Change, Event, NodeState, PodIdentity};
use daemonset::internal::{CompiledTemplate, Hasher, Placement};
use daemonset::model::{ControllerRevision, DaemonSet, DaemonSetSpec, Node, NodeName, Pod, Uid};
use daemonset::{NodeView, Observed, Snapshot};
use indexmap::IndexMap;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The availability of the target nodes from an instant on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Availability {
    /// The first instant at which these figures hold.
    pub t: Timestamp,
    /// The number of target nodes.
    pub desired: u32,
    /// The number of target nodes without an available pod.
    pub unavailable: u32,
    /// The number of target nodes that a DaemonSet controller took down: it deleted the last available pod, and no pod has been
    /// available there since.
    pub taken_down: u32,
}

/// One point for each change of the availability. Several points of one instant are consecutive states.
pub fn availability(history: &[Event]) -> Vec<Availability> {
    let mut replay = Replay::default();
    for event in history {
        replay.advance_to(event.t);
        replay.apply(event);
        replay.push_point(event.t);
    }
    // Pods may become available after the last event, when minReadySeconds have passed.
    replay.advance_to(Timestamp::MAX);
    replay.curve
}

#[derive(Default)]
struct Replay {
    spec: DaemonSetSpec,
    /// `None` if the spec is invalid.
    template: Option<CompiledTemplate>,
    nodes: IndexMap<NodeName, NodeTrack, Hasher>,
    pods: IndexMap<Uid, PodTrack, Hasher>,
    /// Pods that become available at this instant if they stay Ready.
    waiting_for_min_ready: BinaryHeap<Reverse<(Timestamp, Uid)>>,
    totals: Totals,
    curve: Vec<Availability>,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
struct Totals {
    desired: u32,
    unavailable: u32,
    taken_down: u32,
}

struct NodeTrack {
    /// `None` once the node is gone.
    state: Option<NodeState>,
    target: bool,
    /// The number of its available pods.
    available: u32,
    taken_down: bool,
}

struct PodTrack {
    node: NodeName,
    ready_since: Option<Timestamp>,
    available: bool,
}

impl NodeTrack {
    fn totals(&self) -> Totals {
        let down = self.target && self.available == 0;
        Totals {
            desired: u32::from(self.target),
            unavailable: u32::from(down),
            taken_down: u32::from(down && self.taken_down),
        }
    }
}

impl Replay {
    fn min_ready(&self) -> SignedDuration {
        SignedDuration::from_secs(self.spec.min_ready_seconds.into())
    }

    fn apply(&mut self, event: &Event) {
        match &event.change {
            Change::PodCreated(pod) => {
                let line = PodTrack { node: pod.node.clone(), ready_since: None, available: false };
                self.pods.insert(pod.uid.clone(), line);
            }
            Change::PodReady(pod) => self.ready(pod, event.t),
            Change::PodTerminating { pod, .. } | Change::PodChanged { pod, .. } => {
                self.unready(pod, event.by)
            }
            Change::PodUnready { pod, .. } | Change::PodFailed { pod, .. } => {
                self.unready(pod, Actor::Environment)
            }
            Change::PodGone(pod) => {
                self.unready(pod, Actor::Environment);
                self.pods.swap_remove(&pod.uid);
            }
            Change::NodeAdded(state)
            | Change::NodeReady(state)
            | Change::NodeUnready(state)
            | Change::NodeTainted(state)
            | Change::NodeLabelled(state) => self.node_changed(state),
            Change::NodeGone { node } => self.change_node(node, |line| {
                line.state = None;
                line.target = false;
            }),
            Change::DaemonSetChanged { spec, .. } => self.spec_changed(spec, event.t),
            Change::TurnBegan { .. }
            | Change::TurnLostCordon { .. }
            | Change::TurnEnded { .. }
            | Change::GateOpened { .. }
            | Change::PodEvicted { .. }
            | Change::EvictionRefused { .. }
            | Change::ImagePulled { .. }
            | Change::RolloutSteered { .. }
            | Change::RolloutMoved { .. }
            | Change::Reconciled(_)
            | Change::ControllerCrashed { .. }
            | Change::OtherControllerCrashed { .. } => {}
        }
    }

    fn change_node(&mut self, node: &NodeName, change: impl FnOnce(&mut NodeTrack)) {
        let unknown = || NodeTrack { state: None, target: false, available: 0, taken_down: false };
        let line = self.nodes.entry(node.clone()).or_insert_with(unknown);
        let before = line.totals();
        change(line);
        let after = line.totals();
        let Totals { desired, unavailable, taken_down } = &mut self.totals;
        *desired = *desired + after.desired - before.desired;
        *unavailable = *unavailable + after.unavailable - before.unavailable;
        *taken_down = *taken_down + after.taken_down - before.taken_down;
    }

    fn ready(&mut self, pod: &PodIdentity, t: Timestamp) {
        let Some(line) = self.pods.get_mut(&pod.uid) else { return };
        line.ready_since = Some(t);
        self.update_available(&pod.uid, t);
    }

    /// Makes a Ready pod available, now or once it has been Ready for minReadySeconds.
    fn update_available(&mut self, uid: &Uid, now: Timestamp) {
        let min_ready = self.min_ready();
        let Some(line) = self.pods.get_mut(uid) else { return };
        let Some(at) = line.ready_since.and_then(|since| since.checked_add(min_ready).ok()) else { return };
        if at > now {
            self.waiting_for_min_ready.push(Reverse((at, uid.clone())));
        } else if !line.available {
            line.available = true;
            let node = line.node.clone();
            self.change_node(&node, |node| {
                node.available += 1;
                node.taken_down = false;
            });
        }
    }

    fn unready(&mut self, pod: &PodIdentity, by: Actor) {
        let Some(line) = self.pods.get_mut(&pod.uid) else { return };
        line.ready_since = None;
        if std::mem::take(&mut line.available) {
            self.change_node(&pod.node, |node| {
                node.available = node.available.saturating_sub(1);
                node.taken_down |= by.is_controller() && node.available == 0;
            });
        }
    }

    fn node_changed(&mut self, state: &NodeState) {
        let target = self.template.as_ref().map(|template| is_target(template, state));
        self.change_node(&state.node, |line| {
            line.target = target.unwrap_or(line.target);
            line.state = Some(state.clone());
        });
    }

    /// A new spec may change which nodes are targets and which pods are available.
    fn spec_changed(&mut self, spec: &DaemonSetSpec, t: Timestamp) {
        let longer = spec.min_ready_seconds > self.spec.min_ready_seconds;
        self.spec = spec.clone();
        self.template = compiled_template(spec);
        if let Some(template) = &self.template {
            let states = self.nodes.values().filter_map(|line| line.state.as_ref());
            let targets: Vec<(NodeName, bool)> =
                states.map(|state| (state.node.clone(), is_target(template, state))).collect();
            for (node, target) in targets {
                self.change_node(&node, |line| line.target = target);
            }
        }
        let uids: Vec<Uid> = self.pods.keys().cloned().collect();
        for uid in uids {
            let Some(line) = self.pods.get_mut(&uid) else { continue };
            if longer && std::mem::take(&mut line.available) {
                let node = line.node.clone();
                self.change_node(&node, |node| node.available = node.available.saturating_sub(1));
            }
            self.update_available(&uid, t);
        }
    }

    /// Makes pods available whose minReadySeconds end at or before this instant.
    fn advance_to(&mut self, until: Timestamp) {
        while let Some(Reverse((at, uid))) = self.waiting_for_min_ready.pop() {
            if at > until {
                self.waiting_for_min_ready.push(Reverse((at, uid)));
                return;
            }
            self.update_available(&uid, at);
            self.push_point(at);
        }
    }

    fn push_point(&mut self, t: Timestamp) {
        let Totals { desired, unavailable, taken_down } = self.totals;
        let now = Availability { t, desired, unavailable, taken_down };
        if self.curve.last().is_none_or(|last| Availability { t, ..*last } != now) {
            self.curve.push(now);
        }
    }
}

/// `None` if the spec is invalid.
fn compiled_template(spec: &DaemonSetSpec) -> Option<CompiledTemplate> {
    let mut daemon_set = DaemonSet { spec: spec.clone(), ..DaemonSet::default() };
    daemon_set.metadata.name = "daemonset".to_owned();
    daemon_set.metadata.namespace = "default".to_owned();
    daemon_set.metadata.uid = "uid".into();
    let (nodes, pods, revisions): (&[Node], &[Pod], &[ControllerRevision]) = (&[], &[], &[]);
    let observed = Observed { daemon_set: &daemon_set, nodes, pods, revisions };
    let snapshot = Snapshot::builder(observed, Timestamp::UNIX_EPOCH).check().ok()?;
    Some(snapshot.spec().template.clone())
}

fn is_target(template: &CompiledTemplate, state: &NodeState) -> bool {
    template.decide(&NodeView::from(&node(state))).placement == Placement::Run
}

fn node(state: &NodeState) -> Node {
    let mut node = Node::default();
    node.metadata.name = state.node.clone();
    node.metadata.labels = state.labels.clone();
    node.spec.taints = state.taints.clone();
    node
}
