//! The outlook of a rollout: whether it still moves, the obstacles in its way, and how many rounds are left.
//! `kubectl rollout status` shows none of these.

pub use crate::report::movement::Obstacles;

use crate::report::movement::Movement;
use crate::report::{NodePlacement, NodeVerdict, Plan, PodState, ReportScope, Situation, StrategyInForce};
use daemonset_objects::model::NodeName;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt;
use thiserror::Error;

/// The outlook of a rollout.
///
/// ```
/// use daemonset::outlook::{ObstacleKind, Outlook, RolloutState};
/// use daemonset::{Recording, plan};
///
/// let mut recording = Recording::from_json(&std::fs::read("examples/recording.json")?)?;
/// recording.daemon_set.spec.update_strategy.kind = "OnDelete".into();
/// let plan = plan(&recording.snapshot()?);
/// let outlook = Outlook::new(&plan, recording.now, jiff::SignedDuration::from_mins(10))?;
/// let RolloutState::Stuck { obstacles, .. } = outlook.state else { panic!("a person deletes the pods") };
/// assert_eq!(obstacles[0].kind, ObstacleKind::WaitsForDelete);
/// assert_eq!((outlook.outdated, outlook.rounds_left), (3, None));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[must_use]
#[non_exhaustive]
pub struct Outlook {
    /// Whether it moves.
    #[serde(rename = "standing")]
    pub state: RolloutState,
    /// Target nodes with an outdated pod that is neither terminating nor finished.
    pub outdated: u32,
    /// How many rounds of updates are left: the Ready ones of `outdated` divided by maxUnavailable or maxSurge, rounded up,
    /// and at least 1 while anything is under way. An estimate, as if every round were full and every pod became
    /// available. `None` under OnDelete, where a person deletes the pods.
    pub rounds_left: Option<u32>,
}

/// The report has the verdicts of some nodes only, and an outlook needs those of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("the report has the verdicts of the changed nodes alone, and the outlook needs those of all nodes")]
#[non_exhaustive]
pub struct PartialReport;

/// Whether a rollout moves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum RolloutState {
    /// Nothing is left to do.
    Complete,
    /// The plan acts, or time alone lets it go on.
    #[non_exhaustive]
    Moving {
        /// Nodes that the plan, or the next one, acts on.
        acting: u32,
        /// Nodes that need nothing but time.
        waiting: u32,
    },
    /// Nothing moves until a person removes one of these obstacles.
    #[non_exhaustive]
    Stuck {
        /// In the order of [`ObstacleKind`]; never empty.
        obstacles: Vec<Obstacle>,
    },
}

/// An obstacle, with its nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Obstacle {
    /// The kind.
    pub kind: ObstacleKind,
    /// The nodes with this obstacle, by name; empty for an obstacle of the whole DaemonSet.
    pub nodes: Vec<NodeName>,
}

/// The kind of an obstacle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[non_exhaustive]
pub enum ObstacleKind {
    /// The selector is empty: the controller does nothing.
    SelectingAll,
    /// The DaemonSet is being deleted: the controller does nothing.
    BeingDeleted,
    /// The strategy is OnDelete: a person deletes the outdated pods.
    WaitsForDelete,
    /// The updated pod has not been Ready for longer than the caller's patience.
    NotReady,
    /// The updated pod fails again and again.
    Failing,
    /// The updated pod's Ready condition has no transition time, so that minReadySeconds never pass.
    NoReadyTime,
    /// A terminating pod is overdue: its kubelet does not answer, or a finalizer holds it.
    Overdue,
    /// The node went down with the updated pod on it, and counts against the limit.
    NodeLost,
    /// The update deleted the node's pod, and the node is no Ready target node any more: it counts against the limit.
    NodeTaken,
    /// The node leaves, and the policy leaves it alone.
    NodeLeaves,
    /// The rollout is paused.
    RolloutPaused,
    /// The next wave waits for approval.
    WaitsForApproval,
    /// The new version has failed, and no further node gets it.
    RolloutFailed,
    /// The API server rejects the node's create or delete again and again.
    Rejected,
    /// The policy of turns can't be read.
    TurnsKept,
    /// The node is in turn, and gates are not open.
    ClosedGates,
    /// The node does not report, so that its turn does not begin.
    NodeUnreachable,
    /// The new pod does not fit on the node.
    DoesNotFit,
    /// The limit is used up for another reason than those above.
    NoRoom,
}

// The last variant must stay the last one.
const _: () = assert!(ObstacleKind::ALL.len() == ObstacleKind::NoRoom as usize + 1);

impl ObstacleKind {
    /// All kinds, in their order.
    pub const ALL: [ObstacleKind; 19] = [
        ObstacleKind::SelectingAll,
        ObstacleKind::BeingDeleted,
        ObstacleKind::WaitsForDelete,
        ObstacleKind::NotReady,
        ObstacleKind::Failing,
        ObstacleKind::NoReadyTime,
        ObstacleKind::Overdue,
        ObstacleKind::NodeLost,
        ObstacleKind::NodeTaken,
        ObstacleKind::NodeLeaves,
        ObstacleKind::RolloutPaused,
        ObstacleKind::WaitsForApproval,
        ObstacleKind::RolloutFailed,
        ObstacleKind::Rejected,
        ObstacleKind::TurnsKept,
        ObstacleKind::ClosedGates,
        ObstacleKind::NodeUnreachable,
        ObstacleKind::DoesNotFit,
        ObstacleKind::NoRoom,
    ];
}

/// A clause that names the obstacle and, where one exists, the way out.
impl fmt::Display for ObstacleKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ObstacleKind::SelectingAll => {
                "the selector is empty, so that the controller does nothing: give it labels"
            }
            ObstacleKind::BeingDeleted => "the DaemonSet is being deleted, so that the controller does nothing",
            ObstacleKind::WaitsForDelete => "the strategy is OnDelete: delete the outdated pods yourself",
            ObstacleKind::NotReady => {
                "the updated pod has not been Ready for too long: look at its events and logs"
            }
            ObstacleKind::Failing => {
                "the updated pod fails again and again: repair the template, or undo the update"
            }
            ObstacleKind::NoReadyTime => {
                "the updated pod's Ready condition tells no time, so that minReadySeconds never pass"
            }
            ObstacleKind::Overdue => {
                "a pod should be gone and is not: its kubelet does not answer, or a finalizer holds it"
            }
            ObstacleKind::NodeLost => {
                "the node went down with the updated pod: repair or remove it, or undo the update"
            }
            ObstacleKind::NodeTaken => {
                "the update deleted the node's pod, and the node is no Ready target node any more: look at its taints, labels \
                 and conditions, or remove it"
            }
            ObstacleKind::NodeLeaves => "the node leaves, and the policy leaves it alone",
            ObstacleKind::RolloutPaused => "the rollout is paused",
            ObstacleKind::WaitsForApproval => "the next wave waits for approval",
            ObstacleKind::RolloutFailed => "the new version has failed",
            ObstacleKind::Rejected => {
                "the API server rejects the action on the node again and again: look at webhooks, quotas and rights"
            }
            ObstacleKind::TurnsKept => "the policy of turns can't be read, so that no node is changed: repair it",
            ObstacleKind::ClosedGates => "gates of the node's turn are not open: look at those who open them",
            ObstacleKind::NodeUnreachable => "the node does not report: repair or remove it",
            ObstacleKind::DoesNotFit => {
                "the new pod requests more than the node has: make room, or give the pods a priority"
            }
            ObstacleKind::NoRoom => "the limit is used up",
        })
    }
}

impl Outlook {
    /// The outlook by a plan made at `now`. A pod that has not become Ready for `patience` is an obstacle; for a Deployment,
    /// `progressDeadlineSeconds` is 600 by default, and a DaemonSet has no such field.
    ///
    /// # Errors
    /// [`PartialReport`] for a plan from changes, by which any rollout would be complete as soon as nothing changes:
    /// `Tracker::explain` of daemonset-incremental gives the plan with all verdicts. [`Obstacles`] need none.
    pub fn new(plan: &Plan, now: Timestamp, patience: SignedDuration) -> Result<Self, PartialReport> {
        match plan.report.scope {
            ReportScope::AllNodes => Ok(Outlook::of_all_nodes(plan, now, patience)),
            ReportScope::ChangedNodes => Err(PartialReport),
        }
    }

    fn of_all_nodes(plan: &Plan, now: Timestamp, patience: SignedDuration) -> Self {
        let report = &plan.report;
        let nothing_done = |kind| Outlook {
            state: RolloutState::Stuck { obstacles: vec![Obstacle { kind, nodes: Vec::new() }] },
            outdated: 0,
            rounds_left: None,
        };
        match report.situation {
            Situation::SelectingAll => return nothing_done(ObstacleKind::SelectingAll),
            Situation::BeingDeleted => return nothing_done(ObstacleKind::BeingDeleted),
            Situation::NameCollision => {
                let state = RolloutState::Moving { acting: 0, waiting: 0 };
                return Outlook { state, outdated: 0, rounds_left: None };
            }
            Situation::Synced => {}
        }
        let movement = |node: &NodeVerdict| Movement::of(node).at(now, patience);
        let moves: Vec<_> = report.nodes.iter().map(|node| (&node.node, movement(node))).collect();
        let outdated = report.nodes.iter().filter(|node| is_outdated(node, is_live)).count();
        Outlook { outdated: whole(outdated), rounds_left: rounds_left(plan, &moves), state: state(&moves) }
    }
}

fn state(moves: &[(&NodeName, Movement)]) -> RolloutState {
    let count = |wanted| whole(moves.iter().filter(|(_, movement)| *movement == wanted).count());
    let (acting, waiting) = (count(Movement::Acting), count(Movement::Waiting));
    if acting + waiting > 0 {
        return RolloutState::Moving { acting, waiting };
    }
    let mut obstacles: BTreeMap<ObstacleKind, Vec<NodeName>> = BTreeMap::new();
    for (node, movement) in moves {
        if let Movement::Blocked(kind) = movement {
            obstacles.entry(*kind).or_default().push((*node).clone());
        }
    }
    let held = moves.iter().filter(|(_, movement)| *movement == Movement::Held);
    if obstacles.is_empty() && held.clone().count() > 0 {
        obstacles.insert(ObstacleKind::NoRoom, held.map(|(node, _)| (*node).clone()).collect());
    }
    if obstacles.is_empty() {
        return RolloutState::Complete;
    }
    let obstacles = obstacles.into_iter().map(|(kind, nodes)| Obstacle { kind, nodes });
    RolloutState::Stuck { obstacles: obstacles.collect() }
}

fn rounds_left(plan: &Plan, moves: &[(&NodeName, Movement)]) -> Option<u32> {
    let budget = plan.report.budget?;
    let limit = match plan.report.strategy? {
        StrategyInForce::OnDelete => return None,
        StrategyInForce::Replace(_) => budget.max_unavailable,
        StrategyInForce::Surge(_) => budget.max_surge,
    };
    let ready = plan.report.nodes.iter().filter(|node| is_outdated(node, is_ready)).count();
    let under_way = moves.iter().any(|(_, movement)| *movement != Movement::Settled);
    Some(whole(ready).div_ceil(limit.max(1)).max(u32::from(under_way)))
}

fn is_outdated(node: &NodeVerdict, how: fn(PodState) -> bool) -> bool {
    node.placement == NodePlacement::Run && node.pods.iter().any(|pod| !pod.updated && how(pod.state))
}

fn is_live(state: PodState) -> bool {
    match state {
        PodState::Available { .. }
        | PodState::Ready { .. }
        | PodState::NotReady { .. }
        | PodState::Pending { .. } => true,
        PodState::Terminating { .. } | PodState::Failed | PodState::Succeeded => false,
    }
}

fn is_ready(state: PodState) -> bool {
    matches!(state, PodState::Available { .. } | PodState::Ready { .. })
}

fn whole(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
