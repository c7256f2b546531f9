//! The figures of turns, drains, pulls and changes in place, and the time for which each node has no Ready pod.

use crate::cluster::Cluster;
use crate::event::{Change, Event};
use daemonset::model::{NodeName, Uid};
use daemonset::turns;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// What a rollout did to its nodes beside pods, in figures.
///
/// ```
/// use daemonset::Policy;
/// use daemonset::policy::{TurnMode, TurnPolicy};
/// use daemonset_sim::{Cluster, Runtime, Settings};
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
/// let mut settings = Settings::default().runtime(Some(Runtime::Containerd));
/// settings.controller.policy = Policy::default().turn(TurnMode::Take(TurnPolicy::default().cordon(true)));
/// let mut cluster = Cluster::with_settings(settings, 1, "2026-01-01T12:00:00Z".parse().unwrap());
/// for name in ["a", "b", "c"] {
///     cluster.add_node(name, Default::default());
/// }
/// cluster.create_daemon_set(from_value(daemon_set)?);
/// cluster.run_until_quiet(SignedDuration::from_mins(10)).unwrap();
///
/// let started = cluster.now();
/// cluster.edit(|ds| ds.spec.template["metadata"]["labels"]["version"] = "2".into());
/// let end = cluster.run_rollout(SignedDuration::from_mins(15), SignedDuration::from_hours(2));
/// let figures = cluster.summary(started, end).turns.unwrap();
/// assert_eq!(figures.turns, 3);
/// assert!(figures.in_turn.median >= figures.downtime.median);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TurnFigures {
    /// The number of turns that began.
    pub turns: u32,
    /// How long a turn took; of one that has not ended, until now.
    pub in_turn: Spread,
    /// Pods of others that a drain evicted.
    pub evictions: u32,
    /// Evictions that a disruption budget refused.
    pub evictions_refused: u32,
    /// Images that were pulled.
    pub images_pulled: u32,
    /// Pods that were changed in their place.
    pub pods_changed: u32,
    /// How long a node was without a Ready pod.
    pub downtime: Spread,
}

/// The spread of durations. In JSON they are whole milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Spread {
    /// Half of them are as long at most.
    #[serde(rename = "medianMillis", serialize_with = "millis")]
    pub median: SignedDuration,
    /// Nine of ten are as long at most.
    #[serde(rename = "p90Millis", serialize_with = "millis")]
    pub p90: SignedDuration,
    /// The longest one.
    #[serde(rename = "mostMillis", serialize_with = "millis")]
    pub most: SignedDuration,
}

fn millis<S: serde::Serializer>(duration: &SignedDuration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i64(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX))
}

impl Spread {
    /// Of these durations, each quantile one of them; zero for none.
    pub fn of(durations: impl IntoIterator<Item = SignedDuration>) -> Self {
        let mut sorted: Vec<SignedDuration> = durations.into_iter().collect();
        sorted.sort_unstable();
        // The smallest one that so many percent are not longer than.
        let within = |percent: usize| {
            let rank = (sorted.len() * percent).div_ceil(100).saturating_sub(1);
            sorted.get(rank).copied().unwrap_or_default()
        };
        Spread { median: within(50), p90: within(90), most: within(100) }
    }
}

impl TurnFigures {
    /// Since an instant; `None` where the cluster has neither a runtime nor turns.
    pub(crate) fn new(cluster: &Cluster, started: Timestamp) -> Option<Self> {
        if !cluster.knows_turns() {
            return None;
        }
        let key = cluster.daemon_set().map(turns::key).unwrap_or_default();
        let (now, mut figures) = (cluster.now(), TurnFigures::default());
        let (mut begun, mut took) = (BTreeMap::new(), Vec::new());
        for event in cluster.history().iter().filter(|event| event.t >= started) {
            match &event.change {
                Change::TurnBegan { node, turn, .. } if *turn == key => {
                    figures.turns += 1;
                    begun.insert(node, event.t);
                }
                Change::TurnEnded { node, turn, .. } if *turn == key => {
                    took.extend(begun.remove(node).map(|at| event.t.duration_since(at)));
                }
                Change::PodEvicted { .. } => figures.evictions += 1,
                Change::EvictionRefused { .. } => figures.evictions_refused += 1,
                Change::ImagePulled { .. } => figures.images_pulled += 1,
                Change::PodChanged { .. } => figures.pods_changed += 1,
                _ => {}
            }
        }
        took.extend(begun.into_values().map(|at| now.duration_since(at)));
        figures.in_turn = Spread::of(took);
        figures.downtime = Spread::of(downtime(cluster.history(), started, now).into_values());
        Some(figures)
    }
}

/// How long each node was without a Ready pod of the DaemonSet, from `since` to `until`, computed from a history alone.
///
/// A pod counts as Ready until its deletion or its change in place begins. A node counts from its first Ready pod on, and as long as it
/// is there.
pub fn downtime(history: &[Event], since: Timestamp, until: Timestamp) -> BTreeMap<NodeName, SignedDuration> {
    let mut nodes: BTreeMap<&NodeName, Served<'_>> = BTreeMap::new();
    for event in history.iter().take_while(|event| event.t <= until) {
        let t = event.t.max(since);
        match &event.change {
            Change::PodReady(pod) => nodes.entry(&pod.node).or_default().gains(&pod.uid, t),
            Change::PodTerminating { pod, .. }
            | Change::PodUnready { pod, .. }
            | Change::PodFailed { pod, .. }
            | Change::PodChanged { pod, .. }
            | Change::PodGone(pod) => {
                if let Some(node) = nodes.get_mut(&pod.node) {
                    node.loses(&pod.uid, t);
                }
            }
            Change::NodeGone { node } => {
                if let Some(node) = nodes.get_mut(node) {
                    node.ends(t);
                    node.ready.clear();
                }
            }
            _ => {}
        }
    }
    let all = nodes.into_iter().map(|(name, mut node)| {
        node.ends(until);
        (name.clone(), node.down)
    });
    all.collect()
}

/// A node that has had a Ready pod.
#[derive(Default)]
struct Served<'h> {
    ready: BTreeSet<&'h Uid>,
    down_since: Option<Timestamp>,
    down: SignedDuration,
}

impl<'h> Served<'h> {
    fn gains(&mut self, pod: &'h Uid, t: Timestamp) {
        self.ends(t);
        self.ready.insert(pod);
    }

    fn loses(&mut self, pod: &Uid, t: Timestamp) {
        if self.ready.remove(pod) && self.ready.is_empty() {
            self.down_since = Some(t);
        }
    }

    /// A time without a Ready pod ends.
    fn ends(&mut self, t: Timestamp) {
        if let Some(since) = self.down_since.take() {
            self.down = self.down.saturating_add(t.duration_since(since));
        }
    }
}
