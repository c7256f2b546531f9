//! The outlook of a rollout: whether it still moves, the obstacles in its way, and how many rounds are left.
//! `kubectl rollout status` shows none of these.

mod hints;
mod watch;

pub use self::hints::Hints;
pub use crate::node::obstacle::{Obstacle, ObstacleKind};
pub use crate::report::movement::Obstacles;

use self::watch::Watch;
use crate::report::movement::{Movement, bakes, stops_the_others};
use crate::report::{NodePlacement, NodeVerdict, Plan, PodState, ReportScope, Situation, StrategyInForce};
use daemonset_objects::model::NodeName;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use std::collections::BTreeMap;
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
    /// All obstacles, in the order of [`ObstacleKind`]: a rollout that moves may have some that stop one node only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub obstacles: Vec<Obstacle>,
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
    /// Nothing moves until a person removes one of these obstacles. Where the new version has failed, a node may still wait for its pod,
    /// which changes nothing for the others.
    #[non_exhaustive]
    Stuck {
        /// In the order of [`ObstacleKind`]; never empty.
        obstacles: Vec<Obstacle>,
    },
}

impl Outlook {
    /// The outlook by a plan made at `now`. A pod that has not become Ready for `patience` is an obstacle, and so is a gate that has not
    /// opened for so long since the turn began, or since it is overdue; for a Deployment, `progressDeadlineSeconds` is 600 by default, and
    /// a DaemonSet has no such field.
    ///
    /// # Errors
    /// [`PartialReport`] for a plan from changes, by which any rollout would be complete as soon as nothing changes:
    /// `Tracker::explain` of daemonset-incremental gives the plan with all verdicts. [`Obstacles`] need none.
    pub fn new(plan: &Plan, now: Timestamp, patience: SignedDuration) -> Result<Self, PartialReport> {
        Outlook::with_hints(plan, now, patience, &Hints::default())
    }

    /// The same by facts that no plan has.
    ///
    /// # Errors
    /// As for [`new`](Self::new).
    pub fn with_hints(
        plan: &Plan,
        now: Timestamp,
        patience: SignedDuration,
        hints: &Hints,
    ) -> Result<Self, PartialReport> {
        match plan.report.scope {
            ReportScope::AllNodes => Ok(Outlook::of_all_nodes(plan, &Watch { now, patience, hints })),
            ReportScope::ChangedNodes => Err(PartialReport),
        }
    }

    fn of_all_nodes(plan: &Plan, watch: &Watch<'_>) -> Self {
        let report = &plan.report;
        let nothing_done = |kind| {
            let obstacles = vec![Obstacle { kind, nodes: Vec::new() }];
            let state = RolloutState::Stuck { obstacles: obstacles.clone() };
            Outlook { state, obstacles, outdated: 0, rounds_left: None }
        };
        match report.situation {
            Situation::SelectingAll => return nothing_done(ObstacleKind::SelectingAll),
            // Its pods end, and the garbage collector goes on by itself.
            Situation::BeingDeleted if !watch.is_in_motion() => {
                return nothing_done(ObstacleKind::BeingDeleted);
            }
            Situation::BeingDeleted | Situation::NameCollision => {
                let state = RolloutState::Moving { acting: 0, waiting: 0 };
                return Outlook { state, obstacles: Vec::new(), outdated: 0, rounds_left: None };
            }
            Situation::Synced => {}
        }
        let moves: Vec<_> = report.nodes.iter().map(|node| (&node.node, watch.movement(node))).collect();
        let outdated = report.nodes.iter().filter(|node| is_outdated(node, is_live)).count();
        let (state, obstacles) = state(&moves, bakes(plan));
        Outlook { state, obstacles, outdated: whole(outdated), rounds_left: rounds_left(plan, &moves) }
    }
}

/// The state, and all obstacles.
fn state(moves: &[(&NodeName, Movement)], bakes: bool) -> (RolloutState, Vec<Obstacle>) {
    let mut by_kind: BTreeMap<ObstacleKind, Vec<NodeName>> = BTreeMap::new();
    for (node, movement) in moves {
        if let Movement::Blocked(kind) = movement {
            by_kind.entry(*kind).or_default().push((*node).clone());
        }
    }
    let count = |wanted| whole(moves.iter().filter(|(_, movement)| *movement == wanted).count());
    let (acting, mut waiting) = (count(Movement::Acting), count(Movement::Waiting));
    let held = count(Movement::Held);
    if acting + waiting == 0 && held > 0 {
        waiting = if bakes { held } else { count(Movement::Ends) };
    }
    let moves_on = acting > 0 || (waiting > 0 && !stops_the_others(by_kind.keys()));
    // Nodes that the limit holds wait for others; without others nothing ends their wait.
    if by_kind.is_empty() && !moves_on && held > 0 {
        let held = moves.iter().filter(|(_, movement)| *movement == Movement::Held);
        by_kind.insert(ObstacleKind::NoRoom, held.map(|(node, _)| (*node).clone()).collect());
    }
    let obstacles: Vec<Obstacle> =
        by_kind.into_iter().map(|(kind, nodes)| Obstacle { kind, nodes }).collect();
    let state = match obstacles.is_empty() {
        _ if moves_on => RolloutState::Moving { acting, waiting },
        true => RolloutState::Complete,
        false => RolloutState::Stuck { obstacles: obstacles.clone() },
    };
    (state, obstacles)
}

fn rounds_left(plan: &Plan, moves: &[(&NodeName, Movement)]) -> Option<u32> {
    let budget = plan.report.budget?;
    let limit = match plan.report.strategy? {
        StrategyInForce::OnDelete => return None,
        StrategyInForce::Replace(_) => budget.max_unavailable,
        StrategyInForce::Surge(_) => budget.max_surge,
    };
    let ready = plan.report.nodes.iter().filter(|node| is_outdated(node, is_ready)).count();
    let under_way = moves.iter().any(|(_, movement)| !matches!(movement, Movement::Settled | Movement::Ends));
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
