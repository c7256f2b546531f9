//! The facts of a life: from its history, event by event, and from its objects as they are. Nothing here asks the planner.

use super::super::watcher::{Behind, is_target};
use super::beginning::Beginning;
use daemonset::model::{DaemonSetSpec, Node as Stored, Pod as StoredPod};
use daemonset::{DeleteReason, Policy};
use daemonset_sim::{Actor, Change, Cluster, Event, NodeState};
use jiff::{SignedDuration, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// The prefix of the annotations of all turns.
const TURN: &str = "turn.daemonset/";

/// A turn, as a node's annotation has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    pub request: String,
    pub at: Timestamp,
    pub cordoned: bool,
}

impl Turn {
    fn parse(value: &str) -> Option<Self> {
        let (request, cordoned) = match value.strip_suffix(" cordoned") {
            Some(request) => (request, true),
            None => (value, false),
        };
        let (number, at) = request.split_once(' ')?;
        number.parse::<i64>().ok()?;
        Some(Turn { request: request.to_owned(), at: at.parse().ok()?, cordoned })
    }
}

#[derive(Debug, Default)]
pub struct Node {
    states: Vec<(Timestamp, NodeState)>,
    /// Whether it is in a state in which `Respect` leaves it alone.
    leaves: Vec<(Timestamp, bool)>,
    pub annotations: BTreeMap<String, String>,
    pub unschedulable: bool,
    /// Its condition Ready is Unknown.
    pub is_unreachable: bool,
    /// A person has cordoned it while no turn said that it had.
    pub is_persons: bool,
    /// The DaemonSet's turn.
    pub turn: Option<Turn>,
    /// It has been down since its turn began, or may have seemed so then.
    pub was_down_in_turn: bool,
    /// When the update took a pod in this turn.
    pub taken_in_turn: Option<Timestamp>,
    /// When the update took an available pod; it has had no Ready one since.
    pub taken: Option<Timestamp>,
    /// The process has lost its memory since.
    pub is_taken_forgotten: bool,
    pub images: BTreeSet<String>,
}

#[derive(Debug)]
pub struct Pod {
    pub node: String,
    pub name: String,
    pub born: Timestamp,
    /// Spans in which it was Ready with the containers that it should have.
    ready: Vec<(Timestamp, Option<Timestamp>)>,
    pub is_terminating: bool,
    /// Finished, or no object any more.
    pub is_over: bool,
    pub is_gone: bool,
    /// Made under `podNames: OnePerNode`.
    pub is_one_per_node: bool,
}

pub struct Facts {
    seen: usize,
    pub key: String,
    pub behind: Behind,
    pub specs: Vec<(Timestamp, DaemonSetSpec)>,
    pub nodes: BTreeMap<String, Node>,
    /// When a node of this name was removed.
    removed: BTreeMap<String, Timestamp>,
    pub pods: BTreeMap<String, Pod>,
    /// The policy in force.
    pub policy: Policy,
    /// maxUnavailable, where the update is driven.
    pub limit: u8,
    /// The last refusal, crash or lost answer.
    pub trouble_at: Option<Timestamp>,
    /// The policy has steered rollouts: an earlier template may be the goal.
    pub was_steered: bool,
}

impl Facts {
    pub fn new(beginning: Beginning, cluster: &Cluster, key: String) -> Self {
        let mut facts = Facts {
            seen: 0,
            key,
            behind: Behind::default(),
            specs: Vec::new(),
            nodes: BTreeMap::new(),
            removed: BTreeMap::new(),
            pods: BTreeMap::new(),
            policy: beginning.choices.policy(beginning.limit),
            limit: beginning.limit,
            trouble_at: None,
            was_steered: false,
        };
        facts.read(cluster);
        facts
    }

    /// The events since the last call, in order. Each is to be judged before it is [told](Self::note).
    pub fn new_events<'c>(&mut self, cluster: &'c Cluster) -> &'c [Event] {
        let new = &cluster.history()[self.seen..];
        self.seen = cluster.history().len();
        new
    }

    pub fn note(&mut self, event: &Event) {
        let t = event.t;
        match &event.change {
            Change::PodCreated(pod) => {
                let of_ours = event.by == Actor::Controller;
                let is_one_per_node =
                    of_ours && self.policy.pod_names == daemonset::policy::PodNames::OnePerNode;
                let line = Pod {
                    node: pod.node.to_string(),
                    name: pod.pod.clone(),
                    born: t,
                    ready: Vec::new(),
                    is_terminating: false,
                    is_over: false,
                    is_gone: false,
                    is_one_per_node,
                };
                self.pods.insert(pod.uid.to_string(), line);
            }
            Change::PodReady(pod) => {
                if let Some(line) = self.pods.get_mut(pod.uid.as_str()) {
                    line.ends_to_be_ready(t);
                    line.ready.push((t, None));
                }
                if let Some(node) = self.nodes.get_mut(pod.node.as_str()) {
                    node.taken = None;
                }
            }
            Change::PodTerminating { pod, reason } => {
                self.note_take(event, pod.node.as_str(), pod.uid.as_str(), *reason);
                self.change_pod(pod.uid.as_str(), |line| {
                    line.ends_to_be_ready(t);
                    line.is_terminating = true;
                });
            }
            Change::PodChanged { pod, reason } => {
                self.note_take(event, pod.node.as_str(), pod.uid.as_str(), *reason);
                self.change_pod(pod.uid.as_str(), |line| {
                    line.ends_to_be_ready(t);
                    line.born = t;
                });
            }
            Change::PodUnready { pod, .. } => {
                self.change_pod(pod.uid.as_str(), |line| line.ends_to_be_ready(t));
            }
            Change::PodFailed { pod, .. } => self.change_pod(pod.uid.as_str(), |line| {
                line.ends_to_be_ready(t);
                line.is_over = true;
            }),
            Change::PodGone(pod) => self.change_pod(pod.uid.as_str(), |line| {
                line.ends_to_be_ready(t);
                (line.is_over, line.is_gone) = (true, true);
            }),
            Change::NodeAdded(state)
            | Change::NodeReady(state)
            | Change::NodeUnready(state)
            | Change::NodeTainted(state)
            | Change::NodeLabelled(state) => {
                let node = self.nodes.entry(state.node.to_string()).or_default();
                node.states.push((t, state.clone()));
                node.was_down_in_turn |= !state.ready && node.turn.is_some();
            }
            Change::NodeGone { node } => {
                self.nodes.remove(node.as_str());
                self.removed.insert(node.to_string(), t);
            }
            Change::ImagePulled { node, image, .. } => {
                if let Some(node) = self.nodes.get_mut(node.as_str()) {
                    node.images.insert(image.clone());
                }
            }
            Change::TurnBegan { node, turn, .. } if *turn == self.key => {
                let since = t - self.behind.nodes;
                if let Some(node) = self.nodes.get_mut(node.as_str()) {
                    node.was_down_in_turn = window(&node.states, since).any(|state| !state.ready);
                    node.taken_in_turn = None;
                    // The request is read from the node below.
                    node.turn = Some(Turn { request: String::new(), at: t, cordoned: false });
                }
            }
            Change::TurnEnded { node, turn, .. } if *turn == self.key => {
                if let Some(node) = self.nodes.get_mut(node.as_str()) {
                    node.turn = None;
                    node.taken_in_turn = None;
                    if std::mem::take(&mut node.is_taken_forgotten) {
                        node.taken = None;
                    }
                }
            }
            Change::ControllerCrashed { memory_kept, .. } => {
                self.trouble_at = Some(t);
                if !memory_kept {
                    self.forget();
                }
            }
            Change::Reconciled(reconciled) if reconciled.refused > 0 => self.trouble_at = Some(t),
            Change::DaemonSetChanged { spec, .. } => self.specs.push((t, DaemonSetSpec::clone(spec))),
            _ => {}
        }
    }

    /// Only turns on nodes tell of nodes that were taken.
    pub fn forget(&mut self) {
        for node in self.nodes.values_mut() {
            node.is_taken_forgotten = node.turn.is_some();
            node.taken = node.taken.filter(|_| node.turn.is_some());
        }
    }

    fn note_take(&mut self, event: &Event, node: &str, uid: &str, reason: Option<DeleteReason>) {
        if event.by != Actor::Controller || !reason.is_some_and(is_take) {
            return;
        }
        let was_ready = self.is_ready(uid);
        if let Some(node) = self.nodes.get_mut(node) {
            node.taken_in_turn = Some(event.t).filter(|_| node.turn.is_some());
            if was_ready && reason == Some(DeleteReason::OutdatedAvailable) {
                node.taken = Some(event.t);
                node.is_taken_forgotten = false;
            }
        }
    }

    fn change_pod(&mut self, uid: &str, change: impl FnOnce(&mut Pod)) {
        if let Some(pod) = self.pods.get_mut(uid) {
            change(pod);
        }
    }

    /// Reads the nodes as they are now.
    pub fn read(&mut self, cluster: &Cluster) {
        let (now, key) = (cluster.now(), format!("{TURN}{}", self.key));
        for stored in cluster.nodes() {
            let node = self.nodes.entry(stored.metadata.name.to_string()).or_default();
            let leaves = leaves(stored);
            if node.leaves.last().is_none_or(|(_, last)| *last != leaves) {
                node.leaves.push((now, leaves));
            }
            node.annotations = stored
                .metadata
                .annotations
                .iter()
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect();
            node.unschedulable = stored.spec.unschedulable;
            node.is_unreachable = stored.readiness().is_some_and(|ready| ready.status == "Unknown");
            node.turn = node.annotations.get(&key).and_then(|value| Turn::parse(value));
        }
    }

    /// The gates of the policy that are not open in the turn of a node.
    pub fn closed_gates<'f>(
        &'f self,
        node: &'f Node,
        gates: &'f [String],
    ) -> impl Iterator<Item = &'f String> {
        let is_open = |gate: &&String| {
            let answer = node.annotations.get(&format!("{gate}.gate.daemonset/{}", self.key));
            node.turn.as_ref().is_some_and(|turn| answer == Some(&turn.request))
        };
        gates.iter().filter(move |gate| !is_open(gate))
    }

    pub fn pods_of<'f>(&'f self, node: &'f str) -> impl Iterator<Item = (&'f String, &'f Pod)> {
        self.pods.iter().filter(move |(_, pod)| pod.node == node)
    }

    pub fn is_ready(&self, uid: &str) -> bool {
        self.pods.get(uid).is_some_and(|pod| matches!(pod.ready.last(), Some((_, None))))
    }

    /// Whether the cache may show a pod of this node that has been Ready for so long.
    pub fn may_seem_ready(&self, node: &str, t: Timestamp, least: SignedDuration) -> bool {
        let heard_from = t - self.behind.pods;
        let seems = |(since, until): &(Timestamp, Option<Timestamp>)| {
            until.is_none_or(|until| until >= heard_from) && *since + least <= t
        };
        self.pods_of(node).any(|(_, pod)| pod.ready.iter().any(seems))
    }

    /// Whether a pod of the node is available, and every cache shows it.
    pub fn is_up_throughout(&self, node: &str, t: Timestamp) -> bool {
        let heard_from = t - self.behind.pods;
        let seconds = self.specs_in_window(t).map(|spec| spec.min_ready_seconds).max().unwrap_or(0);
        let most = SignedDuration::from_secs(seconds.into());
        let is_up = |pod: &Pod| matches!(pod.ready.last(), Some((since, None)) if *since + most < heard_from);
        self.pods_of(node).any(|(_, pod)| is_up(pod))
    }

    /// Whether the cache may show a node that is down.
    pub fn may_have_been_down(&self, node: &Node, t: Timestamp) -> bool {
        window(&node.states, t - self.behind.nodes).any(|state| !state.ready)
    }

    /// Whether the cache may show an earlier node of this name.
    pub fn may_seem_unremoved(&self, node: &str, t: Timestamp) -> bool {
        self.removed.get(node).is_some_and(|removed| *removed >= t - self.behind.nodes)
    }

    /// Whether a pod of the node has been available since this instant, or may seem so: its end may be unseen.
    pub fn was_available_since(&self, node: &str, since: Timestamp, t: Timestamp) -> bool {
        let (least, heard_from) = (self.least_min_ready(t), t - self.behind.pods);
        let served = |(from, until): &(Timestamp, Option<Timestamp>)| {
            let until = until.filter(|until| *until < heard_from).unwrap_or(t);
            *from >= since && *from + least <= until
        };
        self.pods_of(node).any(|(_, pod)| pod.ready.iter().any(served))
    }

    fn specs_in_window(&self, t: Timestamp) -> impl Iterator<Item = &DaemonSetSpec> {
        window(&self.specs, t - self.behind.spec)
    }

    pub fn least_min_ready(&self, t: Timestamp) -> SignedDuration {
        let seconds = self.specs_in_window(t).map(|spec| spec.min_ready_seconds).min().unwrap_or(0);
        SignedDuration::from_secs(seconds.into())
    }

    /// The templates of which one may be the goal.
    pub fn templates(&self, t: Timestamp) -> impl Iterator<Item = &serde_json::Value> {
        let since = if self.was_steered { Timestamp::MIN } else { t - self.behind.spec };
        window(&self.specs, since).map(|spec| &spec.template)
    }

    /// The largest maxUnavailable that the controller may have seen.
    pub fn allowed(&self, t: Timestamp) -> usize {
        if self.policy.external_controller.is_some() {
            return self.limit.max(1).into();
        }
        let limit =
            |spec: &DaemonSetSpec| match spec.update_strategy.rolling_update.as_ref()?.max_unavailable? {
                daemonset::model::IntOrString::Int(number) => Some(number as usize),
                daemonset::model::IntOrString::Percent(_) => None,
            };
        self.specs_in_window(t).filter_map(limit).max().unwrap_or(1).max(1)
    }

    /// Whether the node is one of ours, down or not, whatever the caches show.
    pub fn is_settled(&self, node: &Node, t: Timestamp) -> bool {
        let heard_from = t - self.behind.nodes;
        let respects = self.policy.lifecycle == daemonset::policy::LifecyclePolicy::Respect;
        let leaves = respects && window(&node.leaves, heard_from).any(|leaves| *leaves);
        let is_ours = |state: &NodeState| {
            let mut up = state.clone();
            up.taints.retain(|taint| !DOWN.contains(&taint.key.as_str()));
            let earliest = if self.was_steered { Timestamp::MIN } else { t - self.behind.spec };
            window(&self.specs, earliest).all(|spec| is_target(spec, &up))
        };
        !leaves && window(&node.states, heard_from).all(is_ours)
    }
}

/// The taints of a node that is down.
const DOWN: [&str; 2] = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];

impl Pod {
    fn ends_to_be_ready(&mut self, t: Timestamp) {
        if let Some((_, until @ None)) = self.ready.last_mut() {
            *until = Some(t);
        }
    }

    pub fn is_live(&self) -> bool {
        !self.is_terminating && !self.is_over
    }
}

impl Node {
    /// The turns of all DaemonSets on it.
    pub fn turns(&self) -> impl Iterator<Item = (&str, Turn)> {
        self.annotations
            .iter()
            .filter_map(|(key, value)| Some((key.strip_prefix(TURN)?, Turn::parse(value)?)))
    }

    pub fn is_cordoned_by_a_turn(&self) -> bool {
        self.turns().any(|(_, turn)| turn.cordoned)
    }
}

/// Whether this is a take: the update has this reason to delete a pod, or to change it.
pub fn is_take(reason: DeleteReason) -> bool {
    matches!(
        reason,
        DeleteReason::OutdatedPending
            | DeleteReason::OutdatedNotReady
            | DeleteReason::OutdatedNotYetAvailable
            | DeleteReason::OutdatedAvailable
    )
}

/// Whether a pod pulls images for a DaemonSet.
pub fn is_pull_pod(pod: &StoredPod) -> bool {
    pod.metadata.labels.get("pull.daemonset/owner").is_some()
}

fn leaves(node: &Stored) -> bool {
    let kinds = ["DrainInProgress", "Drained", "MaintenanceInProgress", "GracefulNodeShutdownInProgress"];
    let is_true = |kind: &&str| node.status.conditions.iter().any(|c| c.kind == **kind && c.status == "True");
    kinds.iter().any(is_true)
}

/// The values that held at any time since an instant.
fn window<T>(line: &[(Timestamp, T)], began: Timestamp) -> impl Iterator<Item = &T> {
    let first = line.partition_point(|(at, _)| *at < began).saturating_sub(1);
    line[first..].iter().map(|(_, value)| value)
}
