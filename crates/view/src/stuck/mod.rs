//! Whether a rollout moves, which nodes hold it and why, and the commands to run next.

mod change;
pub(crate) mod finding;
mod kept;
mod refusal;
mod text;
mod words;

use crate::case::Case;
use crate::cause::Outage;
use crate::plan::Planned;
use crate::stuck::change::last_change;
pub use crate::stuck::finding::{Ends, StuckFinding};
use crate::stuck::finding::{acts, findings};
use daemonset::DeleteReason;
use daemonset::outlook::{Hints, ObstacleKind, Outlook, RolloutState};
use daemonset::report::NodeOutcome;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

/// How long things may take before they count as stuck: as for a Deployment's `progressDeadlineSeconds`.
pub const PATIENCE: SignedDuration = SignedDuration::from_mins(10);

/// The answer about one DaemonSet.
#[derive(Serialize)]
pub struct StuckAnswer<'a> {
    pub name: &'a str,
    now: Timestamp,
    #[serde(flatten)]
    pub outlook: Outlook,
    /// The things that nodes wait for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<StuckFinding>,
    /// The commands to run next, each once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// There is a version to come from: rounds are told.
    #[serde(skip)]
    is_rollout: bool,
}

impl<'a> StuckAnswer<'a> {
    /// # Errors
    /// A plan that tells only a part of its nodes.
    pub fn new(case: &Case<'a>, patience: SignedDuration) -> Result<Self, String> {
        let Planned { name, .. } = case.planned;
        let outlook = Outlook::with_hints(case.plan, case.now, patience, &hints(case));
        let mut outlook = outlook.map_err(|partial| partial.to_string())?;
        // No round of it ends.
        outlook.rounds_left = outlook.rounds_left.filter(|_| !case.namespace_ends());
        let is_rollout = outlook.outdated > 0 || case.has_older_version();
        let findings = findings(case, &outlook, patience);
        let mut commands: Vec<String> = Vec::new();
        for command in findings.iter().flat_map(|finding| &finding.commands) {
            if !commands.contains(command) {
                commands.push(command.clone());
            }
        }
        Ok(StuckAnswer { name, now: case.now, outlook, findings, commands, is_rollout })
    }

    pub fn is_stuck(&self) -> bool {
        matches!(self.outlook.state, RolloutState::Stuck { .. })
    }

    pub fn is_complete(&self) -> bool {
        self.outlook.state == RolloutState::Complete
    }

    /// Something is due, and nobody does it.
    pub fn is_idle(&self) -> bool {
        self.outlook.obstacles.iter().any(|obstacle| obstacle.kind == ObstacleKind::NotDone)
    }
}

/// Kubernetes' controller deletes a failed pod after a time that doubles up to this (v1.36 `pkg/controller/daemon/daemon_controller.go
/// BackOffLimit`).
const LONGEST_BACK_OFF: SignedDuration = SignedDuration::from_mins(15);

fn only_deletes_failed_pods(case: &Case<'_>) -> bool {
    let mut acting = case.plan.report.nodes.iter().filter(|node| acts(node)).peekable();
    acting.peek().is_some()
        && acting
            .all(|node| matches!(node.outcome, NodeOutcome::Delete { reason: DeleteReason::FailedPod, .. }))
}

/// The facts beside the plan by which it is stuck.
fn hints(case: &Case<'_>) -> Hints {
    let nodes = case.models.nodes.iter();
    let silent = nodes.filter_map(|node| Some((node, Outage::of(node).filter(|outage| outage.silent)?)));
    let hints = silent.fold(Hints::default(), |hints, (node, outage)| {
        hints.silent_node(node.metadata.name.clone(), outage.since)
    });
    let hints = case.plan.report.nodes.iter().fold(hints, |hints, node| match case.fails_since(node) {
        Some(since) => hints.failing_node(node.node.clone(), since),
        None => hints,
    });
    // A failed pod has a back-off before it is deleted.
    let back_off = if only_deletes_failed_pods(case) { LONGEST_BACK_OFF } else { SignedDuration::ZERO };
    match last_change(case).and_then(|at| at.checked_add(back_off).ok()) {
        // No patience helps.
        _ if case.namespace_ends() => hints.last_change(Timestamp::MIN),
        Some(at) => hints.last_change(at),
        None => hints,
    }
}
