//! Promises that are checked after each step of every rollout. The checks use only the API server's objects and the
//! history.

use daemonset::model::{
    DaemonSetSpec, IntOrString, Labels, Node, NodeName, OwnerReference, Pod, Toleration, Uid,
};
use daemonset_sim::{Actor, Change, Cluster, Event};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The worst figures so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Worst {
    /// Target nodes that the controller had taken down at the same time.
    pub taken_down: usize,
    /// Target nodes without an available pod at the same time.
    pub unavailable: usize,
    /// Nodes with two live pods at the same time.
    pub surging: usize,
}

#[derive(Default)]
pub struct Watcher {
    pub worst: Worst,
    seen: usize,
    spec: DaemonSetSpec,
    pods: BTreeMap<Uid, Line>,
    /// Nodes on which the controller deleted the available pod, and no pod has been available since.
    down: BTreeSet<NodeName>,
    /// Nodes on which the controller deleted the Ready pod, and no pod has been Ready since.
    silenced: BTreeSet<NodeName>,
    limit: usize,
    surged: bool,
}

struct Line {
    node: NodeName,
    ready_since: Option<Timestamp>,
}

impl Watcher {
    /// Checks everything; to be called after each step.
    pub fn watch(&mut self, cluster: &Cluster) {
        let targets = targets(cluster);
        for event in cluster.history().get(self.seen..).unwrap_or_default() {
            self.replay(event, &targets);
        }
        self.seen = cluster.history().len();
        self.up_again(cluster.now(), &targets);
        self.at_most_one_pod_a_node(cluster);
        let up = |node: &&NodeName| self.is_up(node, cluster.now(), self.min_ready());
        self.worst.unavailable =
            self.worst.unavailable.max(targets.len() - targets.iter().filter(up).count());
    }

    fn replay(&mut self, event: &Event, targets: &BTreeSet<NodeName>) {
        match &event.change {
            Change::PodCreated(pod) => {
                self.pods.insert(pod.uid.clone(), Line { node: pod.node.clone(), ready_since: None });
            }
            Change::PodReady(pod) => {
                if let Some(line) = self.pods.get_mut(&pod.uid) {
                    line.ready_since = Some(event.t);
                }
            }
            Change::PodTerminating { pod, .. } => {
                self.up_again(event.t, targets);
                self.budget_in_force(targets.len());
                let before =
                    [self.min_ready(), SignedDuration::ZERO].map(|m| self.is_up(&pod.node, event.t, m));
                self.pods.remove(&pod.uid);
                let after =
                    [self.min_ready(), SignedDuration::ZERO].map(|m| self.is_up(&pod.node, event.t, m));
                if event.by == Actor::Controller && targets.contains(&pod.node) {
                    self.taken_down(pod.node.clone(), event.t, [0, 1].map(|n| before[n] && !after[n]));
                }
            }
            Change::PodUnready { pod, .. } => {
                if let Some(line) = self.pods.get_mut(&pod.uid) {
                    line.ready_since = None;
                }
            }
            Change::PodFailed { pod, .. } | Change::PodGone(pod) => {
                self.pods.remove(&pod.uid);
            }
            Change::DaemonSetChanged { spec, .. } => self.spec = (**spec).clone(),
            _ => {}
        }
    }

    fn taken_down(&mut self, node: NodeName, t: Timestamp, [available, ready]: [bool; 2]) {
        if available {
            self.down.insert(node.clone());
        }
        if ready {
            self.silenced.insert(node);
        }
        for (what, nodes) in [("available", &self.down), ("Ready", &self.silenced)] {
            assert!(
                !(available || ready) || nodes.len() <= self.limit,
                "{t}: the controller took the {what} pods of {nodes:?}, at most {} may be down",
                self.limit
            );
        }
        self.worst.taken_down = self.worst.taken_down.max(self.down.len());
    }

    /// While a node is down, the larger of two successive limits counts, because no node comes back at once.
    fn budget_in_force(&mut self, targets: usize) {
        let now = max_unavailable(&self.spec, targets);
        let nothing_down = self.down.is_empty() && self.silenced.is_empty();
        self.limit = if nothing_down { now } else { self.limit.max(now) };
    }

    /// A node that is no longer a target does not count as taken down.
    fn up_again(&mut self, t: Timestamp, targets: &BTreeSet<NodeName>) {
        let min_ready = self.min_ready();
        let down = std::mem::take(&mut self.down);
        self.down =
            down.into_iter().filter(|n| targets.contains(n) && !self.is_up(n, t, min_ready)).collect();
        let silenced = std::mem::take(&mut self.silenced);
        let silent = |n: &NodeName| targets.contains(n) && !self.is_up(n, t, SignedDuration::ZERO);
        self.silenced = silenced.into_iter().filter(silent).collect();
    }

    fn min_ready(&self) -> SignedDuration {
        SignedDuration::from_secs(self.spec.min_ready_seconds.into())
    }

    fn is_up(&self, node: &NodeName, t: Timestamp, min_ready: SignedDuration) -> bool {
        let up = |line: &Line| line.ready_since.is_some_and(|since| since + min_ready <= t);
        self.pods.values().any(|line| line.node == *node && up(line))
    }

    /// A node may have two pods under surge, and after a switch away from it until the last pair is gone.
    fn at_most_one_pod_a_node(&mut self, cluster: &Cluster) {
        let mut pods: BTreeMap<&NodeName, usize> = BTreeMap::new();
        for pod in cluster.pods().filter(|pod| is_ours(cluster, pod) && is_live(pod)) {
            *pods.entry(target(pod)).or_default() += 1;
        }
        let most = pods.values().copied().max().unwrap_or_default();
        self.surged = surges(&self.spec) || (self.surged && most > 1);
        let allowed = if self.surged { 2 } else { 1 };
        assert!(most <= allowed, "{}: live pods a node: {pods:?}", cluster.now());
        self.worst.surging = self.worst.surging.max(pods.values().filter(|pods| **pods > 1).count());
    }
}

/// At the end of a rollout `kubectl rollout status` reports the actual state.
pub fn at_rest(cluster: &Cluster) {
    let done = targets(cluster).iter().all(|node| {
        let min_ready = cluster.daemon_set().unwrap().spec.min_ready_seconds;
        let here = |pod: &&Pod| target(pod) == node && is_ours(cluster, pod) && is_live(pod);
        let pods: Vec<&Pod> = cluster.pods().filter(here).collect();
        let updated = |pod: &&&Pod| version(cluster, pod) == current(cluster);
        pods.iter().filter(updated).any(|pod| {
            ready_since(pod)
                .is_some_and(|since| since + SignedDuration::from_secs(min_ready.into()) <= cluster.now())
        })
    });
    assert!(done || !cluster.is_rolled_out(), "{}: done too early", cluster.now());
}

pub fn target(pod: &Pod) -> &NodeName {
    let bound = Some(&pod.spec.node_name).filter(|node| !node.as_str().is_empty());
    bound.or(pod.spec.affinity_node.as_ref()).unwrap()
}

pub fn is_ours(cluster: &Cluster, pod: &Pod) -> bool {
    let ours = &cluster.daemon_set().unwrap().metadata.uid;
    let owner = |owner: &OwnerReference| owner.controller == Some(true) && owner.uid == *ours;
    pod.metadata.owner_references.iter().any(owner)
}

pub fn is_live(pod: &Pod) -> bool {
    pod.metadata.deletion_timestamp.is_none() && !matches!(pod.status.phase.as_ref(), "Failed" | "Succeeded")
}

pub fn ready_since(pod: &Pod) -> Option<Timestamp> {
    let ready = pod.status.conditions.iter().find(|c| c.kind == "Ready" && c.status == "True");
    ready.filter(|_| is_live(pod))?.last_transition_time
}

/// The image of a pod's revision.
pub fn version(cluster: &Cluster, pod: &Pod) -> String {
    let key = "controller-revision-hash";
    let hash = pod.metadata.labels.get(key);
    let revision = cluster.revisions().find(|r| hash.is_some() && r.metadata.labels.get(key) == hash);
    revision.map_or_else(|| "unknown".to_owned(), |revision| image(&revision.data["spec"]["template"]))
}

pub fn current(cluster: &Cluster) -> String {
    image(&cluster.daemon_set().unwrap().spec.template)
}

fn image(template: &Value) -> String {
    template["spec"]["containers"][0]["image"].as_str().unwrap().to_owned()
}

fn surges(spec: &DaemonSetSpec) -> bool {
    let rolling = spec.update_strategy.rolling_update.as_ref();
    let surge = rolling.and_then(|limits| limits.max_surge).is_some_and(|surge| !surge.is_zero());
    let kind = spec.update_strategy.kind.as_str();
    kind == "SurgingRollingUpdate" || (kind == "RollingUpdate" && surge)
}

/// M if the strategy replaces pods; 0 otherwise, because the controller then takes no node down.
fn max_unavailable(spec: &DaemonSetSpec, targets: usize) -> usize {
    if surges(spec) || spec.update_strategy.kind != "RollingUpdate" {
        return 0;
    }
    let limit = spec.update_strategy.rolling_update.as_ref().and_then(|limits| limits.max_unavailable);
    match limit.unwrap_or(IntOrString::Int(1)) {
        IntOrString::Int(number) => usize::try_from(number).unwrap().max(1),
        IntOrString::Percent(percent) => (usize::try_from(percent).unwrap() * targets).div_ceil(100).max(1),
    }
}

/// A second, simple implementation of placement: only the node selector and taints.
pub fn targets(cluster: &Cluster) -> BTreeSet<NodeName> {
    let Some(daemon_set) = cluster.daemon_set() else { return BTreeSet::new() };
    let spec = &daemon_set.spec.template["spec"];
    let read = |field: &str| Some(spec[field].clone()).filter(|value| !value.is_null());
    let selector: Labels =
        read("nodeSelector").map_or_else(Labels::default, |v| serde_json::from_value(v).unwrap());
    let tolerations: Vec<Toleration> =
        read("tolerations").map_or_else(Vec::new, |v| serde_json::from_value(v).unwrap());
    let is_target = |node: &&Node| {
        let labels = &node.metadata.labels;
        let keeps_out = |effect: &str| effect == "NoSchedule" || effect == "NoExecute";
        let mut taints = node.spec.taints.iter().filter(|taint| keeps_out(&taint.effect));
        selector.iter().all(|(key, value)| labels.get(key) == Some(value))
            && taints.all(|taint| {
                let daemons = match taint.key.strip_prefix("node.kubernetes.io/") {
                    Some("unreachable" | "not-ready") => taint.effect == "NoExecute",
                    Some("unschedulable") => taint.effect == "NoSchedule",
                    _ => false,
                };
                let matches = |t: &Toleration| {
                    t.operator == "Exists" && (t.key.is_empty() || t.key == taint.key) && t.effect.is_empty()
                };
                daemons || tolerations.iter().any(matches)
            })
    };
    cluster.nodes().filter(is_target).map(|node| node.metadata.name.clone()).collect()
}
