//! The figures of a rollout that a policy steers.

use crate::cluster::Cluster;
use crate::event::{Change, Event};
use daemonset::model::NodeName;
use daemonset::report::{FailingNode, RolloutReport, RolloutStage, WaveProgress, WaveReport};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A rollout that a policy steers, in figures.
///
/// ```
/// use daemonset_sim::{Behaviour, Cluster, RolloutEnd, Settings};
/// use daemonset::Policy;
/// use daemonset::policy::RolloutPolicy;
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
/// // One canary. A pod that is not available after a minute fails the version.
/// let rollout: RolloutPolicy = from_value(json!({
///     "waves": [{"upTo": 1}, {}],
///     "onFailure": {"action": "RollBack", "availableWithinSeconds": 60},
/// }))?;
/// let mut settings = Settings::default();
/// settings.controller.policy = Policy::default().rollout(rollout);
/// let mut cluster = Cluster::with_settings(settings, 1, "2026-01-01T12:00:00Z".parse().unwrap());
/// for name in ["a", "b", "c"] {
///     cluster.add_node(name, Default::default());
/// }
/// cluster.create_daemon_set(from_value(daemon_set)?);
/// cluster.run_until_quiet(SignedDuration::from_mins(10)).unwrap();
///
/// let started = cluster.now();
/// cluster.release(Behaviour::broken(), |template| template["metadata"]["labels"]["version"] = "2".into());
/// let end = cluster.run_rollout(SignedDuration::from_mins(15), SignedDuration::from_hours(2));
/// let rollout = cluster.summary(started, end).rollout.unwrap();
/// assert_eq!((end, rollout.reached, rollout.failing[0].node.as_str()), (RolloutEnd::RolledBack, 1, "a"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RolloutFigures {
    /// How far it may go, at the end.
    pub stage: RolloutStage,
    /// The name of the revision for nodes that the rollout has not reached; `None` if there is none.
    #[serde(rename = "base")]
    pub stable: Option<String>,
    /// The number of nodes that take part, at the end.
    pub nodes: u32,
    /// The number of nodes that ever got the new version.
    pub reached: u32,
    /// Its waves; empty where all nodes are released at once.
    pub waves: Vec<WaveSummary>,
    /// When the new version failed; `None` if it did not.
    pub failed_at: Option<Timestamp>,
    /// The nodes that counted as failed then, or count at the end if the version has not failed.
    pub failing: Arc<[FailingNode]>,
}

/// One wave of [`RolloutFigures`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct WaveSummary {
    /// The number of its nodes, at the end.
    pub nodes: u32,
    /// When it opened; `None` if it did not.
    pub opened_at: Option<Timestamp>,
    /// When it was done; `None` if it was not.
    pub done_at: Option<Timestamp>,
}

impl RolloutFigures {
    /// The figures of a rollout that began at `started`, and that the last plan reports so.
    pub(crate) fn new(cluster: &Cluster, started: Timestamp, last: RolloutReport) -> Self {
        let last = cluster.report_before_undo().cloned().unwrap_or(last);
        let nodes = |wave: &WaveReport| u32::try_from(wave.nodes.len()).unwrap_or(u32::MAX);
        let waves =
            last.waves.iter().map(|wave| WaveSummary { nodes: nodes(wave), ..WaveSummary::default() });
        let mut figures = RolloutFigures {
            stage: last.stage,
            stable: last.stable,
            nodes: last.nodes,
            reached: cluster.nodes_reached(started),
            waves: waves.collect(),
            failed_at: None,
            failing: last.failing,
        };
        let current = cluster.last_revision();
        for event in cluster.history().iter().filter(|event| event.t >= started) {
            match &event.change {
                // At the first instant the one before may still be the current revision.
                Change::RolloutMoved { revision, report } if Some(revision) == current => {
                    figures.count(event.t, report);
                }
                _ => {}
            }
        }
        figures
    }

    fn count(&mut self, at: Timestamp, report: &RolloutReport) {
        for (figures, wave) in self.waves.iter_mut().zip(&report.waves) {
            let (is_open, is_done) = match wave.progress {
                WaveProgress::Updating | WaveProgress::Baking { .. } => (true, false),
                WaveProgress::Done => (true, true),
                // It waits, or the rollout is stopped.
                _ => (false, false),
            };
            figures.opened_at = figures.opened_at.or(is_open.then_some(at));
            figures.done_at = figures.done_at.or(is_done.then_some(at));
        }
        let has_failed =
            matches!(report.stage, RolloutStage::Stopped { .. } | RolloutStage::RolledBack { .. });
        if has_failed && self.failed_at.is_none() {
            self.failed_at = Some(at);
            self.failing = Arc::clone(&report.failing);
        }
    }
}

/// The position of the last change of the template in a history, if a controller has restored it, as under `onFailure: Undo`.
#[must_use]
pub fn undone_at(events: &[Event]) -> Option<usize> {
    let is_change =
        |event: &Event| matches!(event.change, Change::DaemonSetChanged { template_changed: true, .. });
    let last = events.iter().rposition(is_change)?;
    events.get(last).filter(|event| event.by.is_controller()).map(|_| last)
}

impl Cluster {
    /// The number of nodes that got a pod of the current revision from this instant on.
    pub fn nodes_reached(&self, since: Timestamp) -> u32 {
        let current = self.last_revision();
        let reached = self.history().iter().filter(|event| event.t >= since).filter_map(|event| match &event
            .change
        {
            Change::PodCreated(pod) | Change::PodChanged { pod, .. } if Some(&pod.revision) == current => {
                Some(&pod.node)
            }
            _ => None,
        });
        u32::try_from(reached.collect::<BTreeSet<&NodeName>>().len()).unwrap_or(u32::MAX)
    }

    pub(crate) fn undone_at(&self) -> Option<usize> {
        undone_at(self.history())
    }

    /// The history until the template was restored, if that came last.
    fn before_undo(&self) -> &[Event] {
        let end = self.undone_at().unwrap_or(self.history().len());
        self.history().get(..end).unwrap_or_default()
    }

    /// The last report about a version that was undone.
    fn report_before_undo(&self) -> Option<&RolloutReport> {
        self.undone_at()?;
        self.before_undo().iter().rev().find_map(|event| match &event.change {
            Change::RolloutMoved { report, .. } => Some(&**report),
            _ => None,
        })
    }

    /// The hash of the revision that the controller last found to be the current one, or of the one that it has undone.
    fn last_revision(&self) -> Option<&String> {
        self.before_undo().iter().rev().find_map(|event| match &event.change {
            Change::Reconciled(reconciled) => Some(&reconciled.revision).filter(|hash| !hash.is_empty()),
            _ => None,
        })
    }
}
