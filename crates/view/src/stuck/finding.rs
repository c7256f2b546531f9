//! The thing that each node of a rollout waits for; nodes that are alike are one finding.

use crate::case::Case;
use crate::cause::Cause;
use crate::stuck::change::last_change;
use crate::why::StrategyLimit;
use crate::words;
use daemonset::outlook::{ObstacleKind, Outlook, RolloutState};
use daemonset::report::{GatedTurn, NodeOutcome, NodeVerdict, Situation, Wait, WaitKind};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use std::collections::BTreeMap;

/// Names at most so many nodes.
const MOST_NAMES: usize = 10;

/// Who ends a wait; the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Ends {
    /// Somebody must do something, or has to look at least.
    Somebody,
    /// Time, and a kubelet or another controller that does its work.
    Time,
    /// Other nodes.
    Others,
}

/// Nodes that wait for the same thing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StuckFinding {
    pub ends: Ends,
    /// By name; empty for the whole DaemonSet.
    pub nodes: Vec<String>,
    pub text: String,
    /// When it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// When time ends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// That of the first node, as data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// The commands to run next.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
}

/// The same of one node.
struct Waiting<'n> {
    ends: Ends,
    node: &'n NodeVerdict,
    /// The text where there is no cause.
    text: String,
    until: Option<Timestamp>,
    cause: Option<Cause>,
    commands: Vec<String>,
}

impl StuckFinding {
    /// `node-2: …`
    pub fn line(&self) -> String {
        match self.nodes.as_slice() {
            [] => self.text.clone(),
            nodes => format!("{}: {}", words::names(nodes, MOST_NAMES), self.text),
        }
    }
}

/// All of a rollout, the most urgent first.
pub fn findings(case: &Case<'_>, outlook: &Outlook, patience: SignedDuration) -> Vec<StuckFinding> {
    let finder = Finder::new(case, outlook, patience);
    let of_all = outlook.obstacles.iter().filter(|obstacle| obstacle.nodes.is_empty());
    let mut findings: Vec<StuckFinding> =
        of_all.map(|obstacle| finder.of_daemon_set(obstacle.kind)).collect();
    if case.plan.report.situation == Situation::BeingDeleted && findings.is_empty() {
        findings.push(finder.ends());
    }
    let nodes = || case.plan.report.nodes.iter();
    // A pod that is down comes before the fact that a person is to delete it.
    findings.append(&mut finder.grouped(nodes().filter_map(|node| finder.down(node)).collect()));
    findings.append(&mut finder.grouped(nodes().filter_map(|node| finder.wait(node)).collect()));
    findings.append(&mut case.strays());
    findings
}

/// Whether the plan acts on the node.
pub(super) fn acts(node: &NodeVerdict) -> bool {
    matches!(
        node.outcome,
        NodeOutcome::Create { .. } | NodeOutcome::Delete { .. } | NodeOutcome::UpdateInPlace { .. }
    )
}

pub(crate) struct Finder<'c> {
    pub(crate) case: &'c Case<'c>,
    patience: SignedDuration,
    is_stuck: bool,
    obstacles: BTreeMap<&'c str, ObstacleKind>,
    /// The nodes that use each limit: thousands of nodes may wait for them.
    pub(super) users: [(StrategyLimit, Vec<&'c NodeVerdict>); 2],
}

impl<'c> Finder<'c> {
    fn new(case: &'c Case<'c>, outlook: &'c Outlook, patience: SignedDuration) -> Self {
        let obstacles = outlook.obstacles.iter();
        let of_nodes = obstacles.flat_map(|it| it.nodes.iter().map(|node| (node.as_str(), it.kind)));
        let is_stuck = matches!(outlook.state, RolloutState::Stuck { .. });
        let users = [StrategyLimit::MaxUnavailable, StrategyLimit::MaxSurge]
            .map(|limit| (limit, case.users_of(limit)));
        Finder { case, patience, is_stuck, obstacles: of_nodes.collect(), users }
    }

    fn of_daemon_set(&self, kind: ObstacleKind) -> StuckFinding {
        let (text, commands) = match kind {
            ObstacleKind::BeingDeleted => self.being_deleted(),
            _ => (kind.to_string(), vec![self.case.describe_daemon_set()]),
        };
        StuckFinding {
            ends: Ends::Somebody,
            nodes: Vec::new(),
            text,
            since: None,
            until: None,
            cause: None,
            commands,
        }
    }

    /// A deletion that goes on.
    fn ends(&self) -> StuckFinding {
        let (text, _) = self.being_deleted();
        let stuck_at = last_change(self.case).and_then(|at| at.checked_add(self.patience).ok());
        StuckFinding {
            ends: Ends::Time,
            nodes: Vec::new(),
            text: text + &stuck_at.map(|at| self.stuck_at(at)).unwrap_or_default(),
            since: self.case.planned.daemon_set.metadata.deletion_timestamp,
            until: stuck_at,
            cause: None,
            commands: Vec::new(),
        }
    }

    /// Nodes that are alike together, the most urgent first.
    fn grouped(&self, waits: Vec<Waiting<'_>>) -> Vec<StuckFinding> {
        let mut alike: BTreeMap<(Ends, String), Vec<&Waiting<'_>>> = BTreeMap::new();
        for wait in &waits {
            let key = wait.cause.as_ref().map_or_else(|| wait.text.clone(), Cause::key);
            alike.entry((wait.ends, key)).or_default().push(wait);
        }
        let mut grouped: Vec<StuckFinding> =
            alike.into_iter().map(|((ends, _), waits)| self.together(ends, &waits)).collect();
        grouped.sort_by(|a, b| (a.ends, &a.nodes).cmp(&(b.ends, &b.nodes)));
        grouped
    }

    fn together(&self, ends: Ends, waits: &[&Waiting<'_>]) -> StuckFinding {
        let causes: Vec<&Cause> = waits.iter().filter_map(|wait| wait.cause.as_ref()).collect();
        let text = match waits.first() {
            Some(first) if causes.is_empty() => first.text.clone(),
            Some(first) => Cause::together(&causes, self.case.now) + &first.text,
            None => String::new(),
        };
        let until = waits.iter().filter_map(|wait| wait.until).min();
        let stuck_at = until.filter(|_| !causes.is_empty()).map(|at| self.stuck_at(at));
        StuckFinding {
            ends,
            nodes: waits.iter().map(|wait| wait.node.node.to_string()).collect(),
            text: text + &stuck_at.unwrap_or_default(),
            since: causes.iter().filter_map(|cause| cause.since()).min(),
            until,
            cause: causes.first().map(|cause| (*cause).clone()),
            commands: waits.first().map(|wait| wait.commands.clone()).unwrap_or_default(),
        }
    }

    /// The end of the patience.
    pub(super) fn stuck_at(&self, at: Timestamp) -> String {
        format!("; it counts as stuck {}", words::relative(at, self.case.now))
    }

    /// `None` for a node that waits for nothing, or that the plan acts on.
    fn wait<'n>(&self, node: &'n NodeVerdict) -> Option<Waiting<'n>> {
        let obstacle = self.obstacles.get(node.node.as_str()).copied();
        let is_settled = matches!(node.outcome, NodeOutcome::UpToDate | NodeOutcome::NotTarget);
        if is_settled && obstacle.is_none() {
            return None;
        }
        if let Some(wait) = self.wait_for_cause(node, obstacle) {
            return Some(wait);
        }
        let (ends, text, commands) = match obstacle {
            Some(kind) => {
                let (text, commands) = self.obstacle(node, kind);
                (Ends::Somebody, text, commands)
            }
            // Within the patience, too: nothing comes of it until somebody does something.
            None if self.case.hindrance(node).is_some() => {
                let (text, commands) = self.not_done(node);
                (Ends::Somebody, text, commands)
            }
            None => {
                let (ends, text) = self.of_wait(node, node.outcome.wait()?)?;
                (ends, text, Vec::new())
            }
        };
        Some(Waiting { ends, node, text, until: self.until(node), cause: None, commands })
    }

    /// Why the pod of a node is down that a person is to delete, which may be no help.
    fn down<'n>(&self, node: &'n NodeVerdict) -> Option<Waiting<'n>> {
        if node.outcome.wait_kind() != Some(WaitKind::ManualDelete) {
            return None;
        }
        let cause = self.case.cause(node).filter(Cause::is_failure)?;
        let commands = self.case.commands(node, &cause);
        Some(Waiting {
            ends: Ends::Somebody,
            node,
            text: String::new(),
            until: None,
            cause: Some(cause),
            commands,
        })
    }

    /// A cause that the objects show: a failure at once, and a pod that is merely not Ready once patience is over.
    fn wait_for_cause<'n>(
        &self,
        node: &'n NodeVerdict,
        obstacle: Option<ObstacleKind>,
    ) -> Option<Waiting<'n>> {
        let told_otherwise = matches!(
            node.outcome.wait_kind(),
            Some(WaitKind::ManualDelete | WaitKind::BackOff | WaitKind::NodeLeaves)
        );
        let failed = matches!(
            (node.outcome.wait_kind(), obstacle),
            (Some(WaitKind::BackOff), _) | (None, Some(ObstacleKind::NotDone | ObstacleKind::Failing) | None)
        );
        let is_held = node.outcome.wait_kind() == Some(WaitKind::Rollout);
        let is_told_by_obstacle = matches!(
            obstacle,
            Some(ObstacleKind::NotDone | ObstacleKind::Rejected | ObstacleKind::DeletedByUpdate)
        );
        let is_told = told_otherwise || is_told_by_obstacle;
        if is_told && !failed {
            return None;
        }
        let cause = self.case.cause(node)?;
        if failed && matches!(cause, Cause::PodFailed { .. }) {
            return Some(self.failed(node, obstacle, cause));
        }
        // The rollout holds the node; its pod may be down all the same.
        if is_told || is_held && !cause.is_failure() {
            return None;
        }
        if acts(node) && !matches!(cause, Cause::NodeSilent { .. }) {
            return None;
        }
        let is_late = obstacle.is_some() || cause.is_failure();
        let ends = if is_late { Ends::Somebody } else { Ends::Time };
        // Until then it counts as a rollout that moves.
        let until = cause.since().filter(|_| obstacle.is_none() && !self.is_stuck);
        let until = until.and_then(|since| since.checked_add(self.patience).ok());
        let until = until.filter(|until| *until > self.case.now);
        let mut commands = self.case.commands(node, &cause);
        if obstacle.is_some() && !cause.is_failure() {
            commands.extend(self.case.undo_for(&cause));
        }
        Some(Waiting { ends, node, text: String::new(), until, cause: Some(cause), commands })
    }

    /// Its pod has failed, and goes: at once, or after a back-off.
    fn failed<'n>(&self, node: &'n NodeVerdict, obstacle: Option<ObstacleKind>, cause: Cause) -> Waiting<'n> {
        let mut commands = self.case.commands(node, &cause);
        let wait = node.outcome.wait().and_then(|wait| self.of_wait(node, wait));
        let text = match (obstacle, wait) {
            (Some(ObstacleKind::NotDone), _) => {
                let (told, more) = self.not_done(node);
                commands.extend(more);
                format!(". Besides, {told}")
            }
            (_, Some((_, wait))) => format!("; {wait}"),
            (_, None) => String::new(),
        };
        Waiting { ends: Ends::Somebody, node, text, until: None, cause: Some(cause), commands }
    }

    /// When closed gates count as stuck, if the rollout does not yet.
    pub(super) fn gates_stuck_at(&self, turn: &GatedTurn) -> Option<Timestamp> {
        let at = turn.late_from()?.checked_add(self.patience).ok()?;
        (at > self.case.now && !self.is_stuck).then_some(at)
    }

    /// When time ends the wait.
    fn until(&self, node: &NodeVerdict) -> Option<Timestamp> {
        let wait = node.outcome.wait()?;
        let gated = match wait {
            Wait::Gates { turn, .. } => turn.as_ref().and_then(|turn| self.gates_stuck_at(turn)),
            Wait::Termination { overdue_at, .. } => *overdue_at,
            _ => None,
        };
        wait.until().or(gated)
    }
}
