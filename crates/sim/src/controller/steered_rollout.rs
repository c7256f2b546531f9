//! The rollout that the policy steers, as the simulated controller sees it from plan to plan.

use crate::environment::Environment;
use crate::event::{Actor, Change};
use crate::event_queue::{Timer, later};
use crate::settings::ControllerSettings;
use crate::steering::Steering;
use daemonset::Policy;
use daemonset::model::{DaemonSet, NodeName};
use daemonset::report::{
    NodeOutcome, NodePlacement, RolloutReport, RolloutStage, Wait, WaveProgress, WaveReport,
};
use daemonset::{Action, Plan, RequeueReason};
use jiff::Timestamp;
use std::collections::BTreeSet;
use std::mem;
use std::sync::Arc;

/// The last plan's view of it.
#[derive(Debug, Default)]
pub(crate) struct SteeredRollout {
    /// As the history has it; `None` if no policy steers.
    report: Option<Box<RolloutReport>>,
    /// The hash of the revision that is rolled out.
    revision: String,
    /// The generation of the DaemonSet that was planned.
    pub(crate) generation: i64,
    /// Until when time alone moves a rollout, steered or not: a wave bakes, a Ready pod becomes available, or a failure or a deadline is due.
    pub(crate) waits_until: Option<Timestamp>,
    /// The target nodes that neither have the goal of the rollout nor are held.
    restless: BTreeSet<NodeName>,
}

impl SteeredRollout {
    /// Learns from a plan, whose report has the verdicts of the changed nodes at least; `exists` knows all nodes. Returns
    /// [`Change::RolloutMoved`] if the rollout has moved.
    pub(crate) fn see(
        &mut self,
        plan: &Plan,
        generation: i64,
        exists: impl Fn(&str) -> bool,
    ) -> Option<Change> {
        let waits_until = waits_until(plan);
        let Some(report) = &plan.report.rollout else {
            *self = SteeredRollout { waits_until, ..SteeredRollout::default() };
            return None;
        };
        self.waits_until = waits_until;
        self.generation = generation;
        self.restless.retain(|node| exists(node.as_str()));
        for verdict in &plan.report.nodes {
            let is_settled =
                matches!(verdict.outcome, NodeOutcome::UpToDate | NodeOutcome::Waits(Wait::Rollout { .. }));
            if is_settled || verdict.placement != NodePlacement::Run {
                self.restless.remove(&verdict.node);
            } else {
                self.restless.insert(verdict.node.clone());
            }
        }
        let revision = plan.report.current_revision.as_ref().map_or("", |revision| revision.hash.as_str());
        let is_same = self.report.as_ref().is_some_and(|before| milestones(before) == milestones(report));
        if is_same && self.revision == revision {
            return None;
        }
        let report = Box::new(report.clone());
        self.revision = revision.to_owned();
        self.report = Some(report.clone());
        Some(Change::RolloutMoved { revision: revision.to_owned(), report })
    }

    pub(crate) fn stage(&self) -> Option<&RolloutStage> {
        self.report.as_ref().map(|report| &report.stage)
    }

    /// Every target node has the goal of the rollout, or is held.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.restless.is_empty()
    }

    /// The new version has failed, and every target node is on the old one again.
    pub(crate) fn is_rolled_back(&self) -> bool {
        self.is_at_rest() && matches!(self.stage(), Some(RolloutStage::RolledBack { .. }))
    }
}

/// Everything about a rollout but its count of updated nodes and the end of a bake, which may change with each pod.
fn milestones(report: &RolloutReport) -> impl PartialEq + use<> {
    let waves = report.waves.iter().map(|wave| (wave.nodes.clone(), mem::discriminant(&wave.progress)));
    let waves: Vec<(Arc<[NodeName]>, mem::Discriminant<WaveProgress>)> = waves.collect();
    let failing: Vec<NodeName> = report.failing.iter().map(|failing| failing.node.clone()).collect();
    (report.stage.clone(), report.stable.clone(), report.nodes, waves, failing)
}

fn waits_until(plan: &Plan) -> Option<Timestamp> {
    let waves = plan.report.rollout.iter().flat_map(|report| &report.waves);
    let baking = waves.filter_map(|wave| match wave.progress {
        WaveProgress::Baking { until, .. } => Some(until),
        _ => None,
    });
    let due = plan.actions.iter().filter_map(|action| match action {
        Action::Requeue {
            at,
            reason:
                RequeueReason::WaveDone
                | RequeueReason::FailureDue
                | RequeueReason::ProgressDeadline
                | RequeueReason::MinReadySeconds
                | RequeueReason::PullTimeout
                | RequeueReason::InPlaceSettled,
            ..
        } => Some(*at),
        _ => None,
    });
    baking.chain(due).max()
}

impl Environment {
    /// Records that the rollout has moved. A user who approves sees a wave that waits for approval.
    pub(crate) fn rollout_moved(&mut self, moved: Change) {
        if let Change::RolloutMoved { report, .. } = &moved {
            let waits = |wave: &WaveReport| wave.progress == WaveProgress::WaitsForApproval;
            let waves = report.waves.iter().position(waits).and_then(|wave| u32::try_from(wave + 1).ok());
            if let (Some(waves), Some(after)) = (waves, self.settings.approves_after) {
                self.queue.push(later(self.now, after), Timer::Steer(Steering::Approve { waves }));
            }
        }
        self.record(Actor::Controller, moved);
    }
}

impl ControllerSettings {
    /// The policy for this DaemonSet.
    pub(crate) fn policy_for(&self, daemon_set: &DaemonSet) -> Policy {
        let policy = self.policy.clone();
        if !self.reads_annotations {
            return policy;
        }
        let json = |text: &str| serde_json::from_str(text).map_err(|error| error.to_string());
        let annotated = policy.clone().with_annotations(daemon_set, &self.powers, json);
        annotated.unwrap_or_else(|invalid| invalid.policy(policy))
    }
}
