//! Checks the budget against the actual state of the cluster. It reads only the history, and has its own definitions of
//! target node, available and limit.

use daemonset::DeleteReason;
use daemonset::model::{DaemonSetSpec, IntOrString, Taint, UpdateStrategy};
use daemonset_sim::{Actor, Change, Event, NodeState, PodIdentity};
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use std::collections::BTreeMap;

/// A deletion that the budget did not allow, or a pod that its node has no room for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excess {
    /// The figure that the deletion exceeds: `available`, `ready` or `taken`; `pods` where a node has too many of them.
    pub figure: &'static str,
    pub at: Timestamp,
    pub pod: String,
    /// The nodes that are down; of `pods` the other pods of the node.
    pub counted: Vec<String>,
    pub allowed: usize,
}

/// Counts of the controller's deletions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Deletions by the controller that took a target node down.
    pub takedowns: u64,
    /// Takedowns that use up the budget exactly.
    pub at_the_limit: u64,
    /// Deletions on a node whose other pod had crashed by itself, which the controller may not have seen.
    pub not_ours: u64,
    /// Deletions of a pod that had just become Ready, which the controller may not have seen.
    pub unseen: u64,
    /// Deletions on nodes that had just become target nodes, which the controller may not have seen.
    pub unsettled: u64,
    /// Taken nodes that were no target nodes when another one was taken.
    pub taken_and_left: u64,
    /// Deletions after which as many nodes are taken as allowed, one of them no target node any more.
    pub taken_at_the_limit: u64,
}

/// The lag of the controller's caches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Behind {
    pub pods: SignedDuration,
    pub nodes: SignedDuration,
    pub spec: SignedDuration,
    pub revisions: SignedDuration,
}

#[derive(Default)]
pub struct Watcher {
    seen: usize,
    behind: Behind,
    /// Whether the policy has ever steered rollouts.
    pub is_steered: bool,
    /// The strategy that the controller drives, which its next plan follows. Kubernetes' own controller creates the pods then.
    pub driven: Option<UpdateStrategy>,
    pub excesses: Vec<Excess>,
    pub tally: Tally,
    specs: Vec<(Timestamp, DaemonSetSpec)>,
    nodes: BTreeMap<String, Node>,
    pods: BTreeMap<String, Pod>,
}

#[derive(Default)]
struct Node {
    /// The states of the node with their first instants; `None` while it does not exist.
    states: Vec<(Timestamp, Option<NodeState>)>,
    /// For each figure: the controller deleted a good pod here, and no pod has been good since.
    taken_down: [bool; 2],
    /// An update deleted an available pod here, and no pod has been Ready since, whatever became of taints and labels.
    taken: bool,
}

/// The condition that a good pod satisfies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Figure {
    Available,
    /// Ready, for any time: kruise#1323.
    Ready,
}

const FIGURES: [Figure; 2] = [Figure::Available, Figure::Ready];

struct Pod {
    node: String,
    stage: Stage,
    ready_since: Option<Timestamp>,
    /// Earlier intervals in which the pod was Ready, without those that ended by the controller's deletion.
    lost: Vec<(Timestamp, Timestamp)>,
}

/// How far a pod's life is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Live,
    TerminatingSince(Timestamp),
    /// Its phase is final, or its object is gone.
    Ended,
}

/// The grace period of the template. The controller counts on no pod that should be gone by then.
const GRACE: SignedDuration = SignedDuration::from_secs(10);

impl Watcher {
    /// Processes the new events; `behind` is the lag of the caches at their time.
    pub fn watch(&mut self, history: &[Event], behind: Behind) {
        self.behind = behind;
        for event in &history[self.seen..] {
            self.apply(event);
        }
        self.seen = history.len();
    }

    fn apply(&mut self, event: &Event) {
        let t = event.t;
        self.note_stage(event);
        match &event.change {
            Change::PodCreated(pod) => {
                if event.by.is_controller() {
                    self.judge_create(pod, t);
                }
                let node = pod.node.to_string();
                let line = Pod { node, stage: Stage::Live, ready_since: None, lost: Vec::new() };
                self.pods.insert(pod.uid.to_string(), line);
            }
            Change::PodReady(pod) => {
                if let Some(line) = self.pods.get_mut(pod.uid.as_str()) {
                    line.ready_since = Some(t);
                }
                if let Some(node) = self.nodes.get_mut(pod.node.as_str()) {
                    node.taken = false;
                }
            }
            // Nothing else knows of them.
            Change::ControllerCrashed { memory_kept: false, .. } => {
                self.nodes.values_mut().for_each(|node| node.taken = false);
            }
            Change::PodTerminating { pod, reason } if event.by == Actor::Controller => {
                if *reason == Some(DeleteReason::OutdatedAvailable) {
                    self.judge_taken(pod, t);
                }
                self.judge(pod, t);
            }
            Change::PodTerminating { pod, .. }
            | Change::PodUnready { pod, .. }
            | Change::PodFailed { pod, .. } => {
                self.lost(pod, t);
            }
            Change::PodGone(pod) => {
                self.lost(pod, t);
            }
            Change::NodeAdded(state)
            | Change::NodeReady(state)
            | Change::NodeUnready(state)
            | Change::NodeTainted(state)
            | Change::NodeLabelled(state) => {
                let node = self.nodes.entry(state.node.to_string()).or_default();
                node.states.push((t, Some(state.clone())));
            }
            Change::NodeGone { node } => {
                if let Some(node) = self.nodes.get_mut(node.as_str()) {
                    node.states.push((t, None));
                    (node.taken_down, node.taken) = Default::default();
                }
            }
            Change::DaemonSetChanged { spec, .. } => self.specs.push((t, DaemonSetSpec::clone(spec))),
            _ => {}
        }
    }

    fn note_stage(&mut self, event: &Event) {
        let (pod, stage) = match &event.change {
            Change::PodTerminating { pod, .. } => (pod, Stage::TerminatingSince(event.t)),
            Change::PodFailed { pod, .. } | Change::PodGone(pod) => (pod, Stage::Ended),
            _ => return,
        };
        if let Some(line) = self.pods.get_mut(pod.uid.as_str()) {
            line.stage = stage;
        }
    }

    /// Judges a create: only a surge puts a second pod on a node. The controller that creates knows of every pod there,
    /// because it created each of them or has listed it.
    fn judge_create(&mut self, pod: &PodIdentity, t: Timestamp) {
        let surges = self.specs_in_window(t).any(|spec| surges(&spec.update_strategy));
        let counts = |stage: Stage| match stage {
            Stage::Live => true,
            Stage::TerminatingSince(since) => !surges && t < since + GRACE,
            Stage::Ended => false,
        };
        let others =
            self.pods.iter().filter(|(_, other)| other.node == pod.node.as_str() && counts(other.stage));
        let counted: Vec<String> = others.map(|(uid, _)| uid.clone()).collect();
        let allowed = usize::from(surges);
        if counted.len() > allowed {
            self.excesses.push(Excess { figure: "pods", at: t, pod: pod.pod.clone(), counted, allowed });
        }
    }

    /// A pod is no longer good, and the controller is not the cause.
    fn lost(&mut self, pod: &PodIdentity, t: Timestamp) {
        let was_good = FIGURES.map(|figure| self.is_good(pod.uid.as_str(), t, self.least(figure, t)));
        if let Some(line) = self.pods.get_mut(pod.uid.as_str()) {
            line.lost.extend(line.ready_since.take().map(|since| (since, t)));
        }
        let Some(node) = self.nodes.get_mut(pod.node.as_str()) else { return };
        for (taken_down, was_good) in node.taken_down.iter_mut().zip(was_good) {
            *taken_down &= !was_good;
        }
    }

    /// Judges a deletion by the controller: the number of target nodes that it has taken down must stay within the
    /// limit.
    fn judge(&mut self, pod: &PodIdentity, t: Timestamp) {
        let uid = pod.uid.as_str();
        let was_good = FIGURES.map(|figure| self.is_good(uid, t, self.strict(figure)));
        let could_seem_so = FIGURES.map(|figure| self.is_good(uid, t, self.least(figure, t)));
        let Some(line) = self.pods.get_mut(uid) else { return };
        if line.ready_since.take().is_some_and(|since| since >= t - self.behind.pods) {
            self.tally.unseen += 1;
            return;
        }
        for ((figure, was_good), could_seem_so) in FIGURES.into_iter().zip(was_good).zip(could_seem_so) {
            if could_seem_so && let Some(node) = self.nodes.get_mut(pod.node.as_str()) {
                node.taken_down[figure as usize] = false;
            }
            if was_good {
                self.judge_by(figure, pod, t);
            }
        }
    }

    /// Judges an update's deletion of an available pod: the nodes that have lost theirs so and have had no Ready pod since
    /// must stay within the limit.
    fn judge_taken(&mut self, pod: &PodIdentity, t: Timestamp) {
        let name = pod.node.as_str();
        // Another pod that has failed may seem Ready to the controller, which deletes one of a pair then.
        let others: Vec<&str> = self.pods_of(name).filter(|uid| *uid != pod.uid.as_str()).collect();
        let seems_up = others.into_iter().any(|uid| self.may_seem_good(uid, t, SignedDuration::ZERO));
        if seems_up || !self.is_good(pod.uid.as_str(), t, SignedDuration::ZERO) {
            return;
        }
        // A pod outlives its node for a while.
        let is_there = |node: &&mut Node| node.states.last().is_some_and(|(_, state)| state.is_some());
        let Some(node) = self.nodes.get_mut(name).filter(is_there) else { return };
        node.taken = true;
        let taken = || self.nodes.iter().filter(|(_, node)| node.taken);
        let left = taken().filter(|(_, node)| !self.may_seem(node, t).any(|target| target)).count();
        let (taken_down, allowed) =
            (taken().map(|(name, _)| name.clone()).collect::<Vec<_>>(), self.allowed(t));
        self.tally.taken_and_left += left as u64;
        self.tally.taken_at_the_limit += u64::from(left > 0 && taken_down.len() == allowed);
        if taken_down.len() > allowed {
            let counted = taken_down;
            self.excesses.push(Excess { figure: "taken", at: t, pod: pod.pod.clone(), counted, allowed });
        }
    }

    fn judge_by(&mut self, figure: Figure, pod: &PodIdentity, t: Timestamp) {
        let is_settled = self.nodes.get(pod.node.as_str()).is_some_and(|node| self.is_settled(node, t));
        let still_up = self.pods_of(pod.node.as_str()).any(|uid| self.is_good(uid, t, self.strict(figure)));
        let least = self.least(figure, t);
        let seems_up = self.pods_of(pod.node.as_str()).any(|uid| self.may_seem_good(uid, t, least));
        let Some(node) = self.nodes.get_mut(pod.node.as_str()) else { return };
        if still_up {
            return;
        }
        if seems_up {
            self.tally.not_ours += 1;
            return;
        }
        node.taken_down[figure as usize] = true;
        if !is_settled {
            self.tally.unsettled += 1;
            return;
        }
        self.tally.takedowns += 1;
        let taken_down = self.taken_down(figure, t);
        let allowed = self.allowed(t);
        self.tally.at_the_limit += u64::from(taken_down.len() == allowed);
        if taken_down.len() > allowed {
            let figure = figure.name();
            let counted = taken_down;
            self.excesses.push(Excess { figure, at: t, pod: pod.pod.clone(), counted, allowed });
        }
    }

    /// Nodes that the controller took down, and that were target nodes in every state that it may have seen.
    fn taken_down(&self, figure: Figure, t: Timestamp) -> Vec<String> {
        let least = self.least(figure, t);
        let up = |name: &str| self.pods_of(name).any(|uid| self.may_seem_good(uid, t, least));
        let down = self
            .nodes
            .iter()
            .filter(|(name, node)| node.taken_down[figure as usize] && self.is_settled(node, t) && !up(name));
        down.map(|(name, _)| name.clone()).collect()
    }

    fn pods_of<'w>(&'w self, node: &'w str) -> impl Iterator<Item = &'w str> {
        self.pods.iter().filter(move |(_, pod)| pod.node == node).map(|(uid, _)| uid.as_str())
    }

    fn is_good(&self, uid: &str, t: Timestamp, min_ready: SignedDuration) -> bool {
        let since = self.pods.get(uid).and_then(|pod| pod.ready_since);
        since.is_some_and(|since| since + min_ready <= t)
    }

    /// Whether a pod is good, or seems good to a controller that has not seen its crash yet.
    fn may_seem_good(&self, uid: &str, t: Timestamp, min_ready: SignedDuration) -> bool {
        let mut lost = self.pods.get(uid).map_or(&[][..], |pod| &pod.lost).iter();
        let heard_from = t - self.behind.pods;
        self.is_good(uid, t, min_ready)
            || lost.any(|(since, at)| *at >= heard_from && *since + min_ready <= t)
    }

    /// How long a good pod must have been Ready, by the current spec.
    fn strict(&self, figure: Figure) -> SignedDuration {
        figure.seconds(self.specs.last().map(|(_, spec)| spec))
    }

    /// The specs that the controller's cache may have shown at this instant.
    fn specs_in_window(&self, t: Timestamp) -> impl Iterator<Item = &DaemonSetSpec> {
        since(&self.specs, t - self.behind.spec)
    }

    /// Whether a node is a target, for each combination of a spec and a node state that the controller may have seen
    /// together: the caches of different kinds may overtake each other. Where the rollout is steered, any earlier template
    /// may be the one of the node's goal.
    fn may_seem<'w>(&'w self, node: &'w Node, t: Timestamp) -> impl Iterator<Item = bool> + 'w {
        let states = move || since(&node.states, t - self.behind.nodes);
        let earliest = if self.is_steered { Timestamp::MIN } else { t - self.behind.spec };
        since(&self.specs, earliest).flat_map(move |spec| {
            states().map(|state| state.as_ref().is_some_and(|state| is_target(spec, state)))
        })
    }

    /// Whether the node was a target in every state that the controller may have seen.
    fn is_settled(&self, node: &Node, t: Timestamp) -> bool {
        let known = node.states.first().is_some_and(|(at, _)| *at < t - self.behind.nodes);
        known && self.may_seem(node, t).all(|target| target)
    }

    /// The shortest time in Ready that any spec in the window requires of a good pod.
    fn least(&self, figure: Figure, t: Timestamp) -> SignedDuration {
        self.specs_in_window(t).map(|spec| figure.seconds(Some(spec))).min().unwrap_or_default()
    }

    /// The largest maxUnavailable of the specs in the window.
    fn allowed(&self, t: Timestamp) -> usize {
        let targets = self.nodes.values().filter(|node| self.may_seem(node, t).any(|target| target)).count();
        let strategies = self.specs_in_window(t).map(|spec| &spec.update_strategy);
        match &self.driven {
            Some(driven) => limit(driven, targets),
            None => strategies.map(|strategy| limit(strategy, targets)).max().unwrap_or(0),
        }
    }
}

/// The values that held at any time since `began`.
fn since<T>(line: &[(Timestamp, T)], began: Timestamp) -> impl Iterator<Item = &T> {
    let first = line.partition_point(|(at, _)| *at < began).saturating_sub(1);
    line[first..].iter().map(|(_, what)| what)
}

impl Figure {
    fn name(self) -> &'static str {
        match self {
            Figure::Available => "available",
            Figure::Ready => "ready",
        }
    }

    fn seconds(self, spec: Option<&DaemonSetSpec>) -> SignedDuration {
        let seconds = match self {
            Figure::Available => spec.map_or(0, |spec| spec.min_ready_seconds),
            Figure::Ready => 0,
        };
        SignedDuration::from_secs(seconds.into())
    }
}

/// maxUnavailable for this number of target nodes; 0 if the strategy takes no node down.
fn limit(strategy: &UpdateStrategy, targets: usize) -> usize {
    if strategy.kind != "RollingUpdate" || surges(strategy) {
        return 0;
    }
    match strategy.rolling_update.as_ref().and_then(|limits| limits.max_unavailable) {
        None | Some(IntOrString::Int(0) | IntOrString::Percent(0)) => 1,
        Some(IntOrString::Int(number)) => number as usize,
        Some(IntOrString::Percent(percent)) => (percent as usize * targets).div_ceil(100),
    }
}

/// Whether an update creates the new pod beside the old one.
fn surges(strategy: &UpdateStrategy) -> bool {
    let surge = strategy.rolling_update.as_ref().and_then(|limits| limits.max_surge);
    let is_set = surge.is_some_and(|surge| !matches!(surge, IntOrString::Int(0) | IntOrString::Percent(0)));
    strategy.kind == "SurgingRollingUpdate" || (strategy.kind == "RollingUpdate" && is_set)
}

/// Whether a node is a target, by the node selector and the tolerations, which are all that these templates use.
pub fn is_target(spec: &DaemonSetSpec, node: &NodeState) -> bool {
    is_selected(spec, node) && node.taints.iter().all(|taint| is_tolerated(spec, taint))
}

/// Whether a pod that is on the node may stay there.
pub fn may_stay(spec: &DaemonSetSpec, node: &NodeState) -> bool {
    let mut evicting = node.taints.iter().filter(|taint| taint.effect == "NoExecute");
    is_selected(spec, node) && evicting.all(|taint| is_tolerated(spec, taint))
}

fn is_selected(spec: &DaemonSetSpec, node: &NodeState) -> bool {
    let selector = spec.template["spec"]["nodeSelector"].as_object();
    selector.is_none_or(|selector| selector.iter().all(|(key, value)| node.labels.get(key) == value.as_str()))
}

fn is_tolerated(spec: &DaemonSetSpec, taint: &Taint) -> bool {
    let own = spec.template["spec"]["tolerations"].as_array().map_or(&[][..], Vec::as_slice);
    let by_all = match taint.effect.as_str() {
        "NoExecute" => ["not-ready", "unreachable"].as_slice(),
        _ => &["disk-pressure", "memory-pressure", "pid-pressure", "unschedulable"],
    };
    let condition = taint.key.strip_prefix("node.kubernetes.io/");
    condition.is_some_and(|condition| by_all.contains(&condition)) || own.iter().any(|t| covers(t, taint))
}

/// Whether a toleration covers a taint. All tolerations of these tests have the operator `Exists`.
fn covers(toleration: &Value, taint: &Taint) -> bool {
    let matches = |field: &str, value: &str| toleration[field].as_str().is_none_or(|wanted| wanted == value);
    matches("key", &taint.key) && matches("effect", &taint.effect)
}
