//! The result of a rollout in figures.

use crate::cluster::Cluster;
use crate::cluster::RolloutEnd;
use crate::event::Change;
use crate::figures::availability::{Availability, availability};
use crate::figures::rollout::RolloutFigures;
use crate::figures::turns::TurnFigures;
use daemonset::report::{NodePlacement, NodeVerdict, PodState, PodVerdict};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use std::collections::BTreeSet;

/// A rollout in figures.
///
/// ```
/// use daemonset_sim::{Behaviour, Cluster, RolloutEnd};
/// use jiff::SignedDuration;
/// use serde_json::{from_value, json};
///
/// # let daemon_set = json!({
/// #     "metadata": {"name": "agent", "namespace": "ns", "uid": "u1"},
/// #     "spec": {
/// #         "selector": {"matchLabels": {"app": "agent"}},
/// #         "template": {"metadata": {"labels": {"app": "agent"}}},
/// #         "updateStrategy": {"type": "RollingUpdate"},
/// #     },
/// # });
/// let mut cluster = Cluster::new(1);
/// for name in ["a", "b", "c"] {
///     cluster.add_node(name, Default::default());
/// }
/// cluster.create_daemon_set(from_value(daemon_set)?);
/// cluster.run_until_quiet(SignedDuration::from_mins(10)).unwrap();
///
/// // The new version never becomes Ready, and maxUnavailable is 1: two nodes keep the old pod.
/// let started = cluster.now();
/// cluster.release(Behaviour::broken(), |template| template["metadata"]["labels"]["version"] = "2".into());
/// let end = cluster.run_rollout(SignedDuration::from_mins(15), SignedDuration::from_hours(2));
/// let summary = cluster.summary(started, end);
/// assert_eq!((summary.end, summary.worst_unavailable.nodes, summary.not_updated.len()), (RolloutEnd::Stuck, 1, 3));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Summary {
    /// How it ended.
    pub end: RolloutEnd,
    /// When it began.
    pub started: Timestamp,
    /// When it was complete or was given up.
    pub ended: Timestamp,
    /// From beginning to end, in seconds, rounded up.
    pub duration_seconds: u64,
    /// The number of nodes at the end.
    pub nodes: u32,
    /// D at the end: the number of target nodes.
    pub desired: u32,
    /// The largest M of all plans.
    pub max_unavailable: u32,
    /// The largest S of all plans.
    pub max_surge: u32,
    /// The largest number of target nodes without an available pod at one time, for any cause.
    pub worst_unavailable: Worst,
    /// The largest number of target nodes at one time that the controller itself had taken down.
    pub worst_taken_down: Worst,
    /// Pods that the controller created, or Kubernetes' own one beside a driver.
    pub pods_created: u64,
    /// Pods that one of them deleted.
    pub pods_deleted: u64,
    /// Pods whose phase became Failed.
    pub pods_failed: u64,
    /// How often a pod lost its readiness by a crash or with its node; terminating pods do not count.
    pub pods_lost_readiness: u64,
    /// How often the controller reconciled.
    pub reconciles: u64,
    /// How often the execution of a plan stopped early, because an action was refused or its answer was lost.
    pub plans_stopped: u64,
    /// How often one of them crashed.
    pub controller_crashes: u64,
    /// Nodes without an available updated pod at the end, with the reason; by name.
    pub not_updated: Vec<NodeVerdict>,
    /// The rollout that the policy steers; `None` if it steers none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rollout: Option<RolloutFigures>,
    /// Turns and what goes with them; `None` where the cluster has neither a [runtime](field@crate::Settings::runtime) nor turns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub turns: Option<TurnFigures>,
}

/// The worst value of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Worst {
    /// The value.
    pub nodes: u32,
    /// The number of target nodes then.
    pub desired: u32,
    /// When the value was reached first; `None` if it is 0.
    pub at: Option<Timestamp>,
}

impl Cluster {
    /// Processes events until the rollout is complete, until no event has moved it for longer than `patience`, or until
    /// `bound` has passed.
    pub fn run_rollout(&mut self, patience: SignedDuration, bound: SignedDuration) -> RolloutEnd {
        self.watch_rollout(patience, bound, |_| {})
    }

    /// As [`run_rollout`](Cluster::run_rollout); `watch` gets the cluster after each step.
    pub fn watch_rollout(
        &mut self,
        patience: SignedDuration,
        bound: SignedDuration,
        mut watch: impl FnMut(&Cluster),
    ) -> RolloutEnd {
        let last = self.now().saturating_add(bound).unwrap_or(Timestamp::MAX);
        let mut moved = self.now();
        while !self.is_rolled_out() {
            if self.is_rolled_back() {
                return RolloutEnd::RolledBack;
            }
            let Some(at) = self.next_at() else { return self.standstill() };
            if at > last {
                self.run_until(last);
                return RolloutEnd::OutOfTime;
            }
            let moves_until = self.rollout_moves_until().map_or(moved, |until| until.max(moved));
            if at.duration_since(moves_until) > patience {
                return self.standstill();
            }
            let seen = self.history().len();
            self.step();
            let news = self.history().get(seen..).unwrap_or_default();
            if news.iter().any(|event| moves_a_rollout(&event.change)) {
                moved = self.now();
            }
            watch(self);
        }
        // The version that is complete is the one before.
        if self.undone_at().is_some() { RolloutEnd::RolledBack } else { RolloutEnd::Complete }
    }

    /// The figures of a rollout that began at `started` and ends now, with this end.
    pub fn summary(&self, started: Timestamp, end: RolloutEnd) -> Summary {
        let mut summary = Summary::new(started, self.now(), end);
        summary.count(self);
        summary.turns = TurnFigures::new(self, started);
        let curve = availability(self.history());
        summary.worst_unavailable = worst(&curve, started, |point| point.unavailable);
        summary.worst_taken_down = worst(&curve, started, |point| point.taken_down);
        summary.desired = curve.last().map_or(0, |point| point.desired);
        summary.nodes = u32::try_from(self.nodes().count()).unwrap_or(u32::MAX);
        if let Some(Ok(plan)) = self.plan() {
            summary.rollout = plan.report.rollout.map(|report| RolloutFigures::new(self, started, report));
            summary.not_updated = plan.report.nodes.into_iter().filter(is_not_updated).collect();
        }
        summary
    }
}

impl Summary {
    fn new(started: Timestamp, ended: Timestamp, end: RolloutEnd) -> Self {
        let seconds = ended.duration_since(started).as_millis().max(0).unsigned_abs().div_ceil(1000);
        Summary {
            end,
            started,
            ended,
            duration_seconds: u64::try_from(seconds).unwrap_or(u64::MAX),
            nodes: 0,
            desired: 0,
            max_unavailable: 0,
            max_surge: 0,
            worst_unavailable: Worst::default(),
            worst_taken_down: Worst::default(),
            pods_created: 0,
            pods_deleted: 0,
            pods_failed: 0,
            pods_lost_readiness: 0,
            reconciles: 0,
            plans_stopped: 0,
            controller_crashes: 0,
            not_updated: Vec::new(),
            rollout: None,
            turns: None,
        }
    }

    fn count(&mut self, cluster: &Cluster) {
        let mut terminating = BTreeSet::new();
        for event in cluster.history() {
            if let Change::PodTerminating { pod, .. } = &event.change {
                terminating.insert(&pod.uid);
            }
            if event.t < self.started {
                continue;
            }
            match (&event.change, event.by) {
                (Change::PodCreated(_), by) if by.is_controller() => self.pods_created += 1,
                (Change::PodTerminating { .. }, by) if by.is_controller() => self.pods_deleted += 1,
                (Change::PodFailed { .. }, _) => self.pods_failed += 1,
                (Change::PodUnready { pod, .. }, _) if !terminating.contains(&pod.uid) => {
                    self.pods_lost_readiness += 1;
                }
                (Change::ControllerCrashed { .. } | Change::OtherControllerCrashed { .. }, _) => {
                    self.controller_crashes += 1;
                }
                (Change::Reconciled(reconciled), _) => {
                    self.reconciles += 1;
                    self.plans_stopped += u64::from(reconciled.refused);
                    self.max_unavailable = self.max_unavailable.max(reconciled.budget.max_unavailable);
                    self.max_surge = self.max_surge.max(reconciled.budget.max_surge);
                }
                _ => {}
            }
        }
    }
}

/// Whether an event moves a rollout: all events do, except reconciles that create and delete no pod, and evictions
/// that are refused.
fn moves_a_rollout(change: &Change) -> bool {
    match change {
        Change::Reconciled(reconciled) => reconciled.created > 0 || reconciled.deleted > 0,
        // A drain asks again and again.
        Change::EvictionRefused { .. } => false,
        _ => true,
    }
}

/// The largest value from `started` on.
fn worst(curve: &[Availability], started: Timestamp, value: impl Fn(&Availability) -> u32) -> Worst {
    let first = curve.partition_point(|point| point.t <= started).saturating_sub(1);
    let mut worst = Worst::default();
    for point in curve.get(first..).unwrap_or_default() {
        if value(point) > worst.nodes {
            worst = Worst { nodes: value(point), desired: point.desired, at: Some(point.t.max(started)) };
        }
    }
    worst
}

/// Whether a target node lacks an available updated pod, any node still has an outdated one that does not end, or an update
/// took a node's pod that is not back.
fn is_not_updated(verdict: &NodeVerdict) -> bool {
    let available = |state: &PodState| matches!(state, PodState::Available { .. });
    let updated = verdict.pods.iter().any(|pod| pod.updated && available(&pod.state));
    let ends = |pod: &PodVerdict| pod.deleted.is_some() || matches!(pod.state, PodState::Terminating { .. });
    let outdated = verdict.pods.iter().any(|pod| !pod.updated && !ends(pod));
    match verdict.placement {
        NodePlacement::Run => !updated || outdated,
        _ => outdated || verdict.counts.deleted_by_update,
    }
}
