//! Everything about one node that a plan depends on, decided once: by its placement, its goal and its pods.

use crate::input::authority::Authority;
use crate::input::placement::Placement;
use crate::input::strategy::Strategy;
use crate::node::budget::{budget_figures, in_turn};
use crate::node::candidate::{candidate, eligible, has_place};
use crate::node::cause::unavailable_cause;
use crate::node::figures::{Figure, NodeFigures, Sums};
use crate::node::fleet::Fleet;
use crate::node::sync::NodeSync;
use crate::node::wait::Wait;
use crate::pods::history::History;
use crate::position::{FleetIx, IndexVec, NodeIx, neutral};
use crate::rules::{Hold, Holds};

/// One node.
#[derive(Debug, Clone, Default)]
pub struct NodeEvaluation {
    pub figures: NodeFigures,
    /// Its outdated pod, if the update may take that as soon as there is room, or nothing holds the node.
    pub candidate: Option<FleetIx>,
    /// Why the node waits for something else than a limit.
    pub hold: Option<Box<Hold>>,
}

neutral!(
    NodeEvaluation,
    NodeEvaluation { figures: NodeFigures { bits: 0, cause: None }, candidate: None, hold: None }
);

impl NodeEvaluation {
    fn without_candidate(figures: NodeFigures) -> Self {
        NodeEvaluation { figures, candidate: None, hold: None }
    }

    /// The thing that its candidate waits for, if that is no limit.
    pub fn wait(&self) -> Option<&Wait> {
        self.hold.as_ref()?.wait.as_ref()
    }
}

/// The nodes of a snapshot, and the sums of all nodes.
#[derive(Debug)]
pub struct Evaluations {
    pub nodes: IndexVec<NodeIx, NodeEvaluation>,
    pub sums: Sums,
}

impl Evaluations {
    /// Of the nodes of the snapshot, which are all there are.
    pub(crate) fn new(nodes: Vec<NodeEvaluation>) -> Self {
        let mut sums = Sums::default();
        // Most nodes count in the same figures as the one before.
        for alike in nodes.chunk_by(|one, other| one.figures == other.figures) {
            if let Some(node) = alike.first() {
                sums.change(node.figures, |sum| *sum += alike.len() as u32);
            }
        }
        Evaluations { nodes: nodes.into(), sums }
    }

    /// The figures of a node.
    pub fn figures(&self, node: NodeIx) -> NodeFigures {
        self.nodes.at(node).figures
    }

    /// Whether a node of the snapshot counts in a figure.
    pub fn has(&self, node: NodeIx, figure: Figure) -> bool {
        self.figures(node).has(figure)
    }

    /// The nodes of the snapshot that count in a figure.
    pub fn with(&self, figure: Figure) -> impl Iterator<Item = NodeIx> {
        let nodes = self.nodes.enumerated().filter(move |(_, node)| node.figures.has(figure));
        nodes.map(|(node, _)| node)
    }
}

/// The evaluations of all nodes of the snapshot.
pub fn evaluate(fleet: &Fleet<'_>, history: &History<'_>, node_sync: &NodeSync) -> Vec<NodeEvaluation> {
    let evaluator = Evaluator { fleet, node_sync, holds: Holds::new(fleet, history) };
    fleet.nodes.positions().map(|node| evaluator.evaluation(node)).collect()
}

/// Evaluates one node after the other.
struct Evaluator<'f, 'a> {
    fleet: &'f Fleet<'a>,
    node_sync: &'f NodeSync,
    holds: Option<Holds<'f, 'a>>,
}

impl Evaluator<'_, '_> {
    fn evaluation(&self, node: NodeIx) -> NodeEvaluation {
        let Evaluator { fleet, node_sync, .. } = *self;
        if fleet.is_settled(node) {
            let figures = NodeFigures::SETTLED.with(Figure::Held, fleet.goals.of(node).is_held());
            return NodeEvaluation::without_candidate(figures);
        }
        let figures = node_figures(fleet, node_sync, node);
        if !figures.has(Figure::Candidate) {
            return NodeEvaluation::without_candidate(figures);
        }
        let candidate = eligible(fleet, node_sync, node);
        let hold = self.holds.as_ref().zip(candidate).and_then(|(holds, (_, pod))| holds.of(node, pod));
        let candidate = candidate.map(|(pod, _)| pod);
        let mut evaluation = NodeEvaluation { figures, candidate, hold };
        let waits = evaluation.wait().is_none() && waits_for_the_limit(fleet, node_sync, node);
        evaluation.figures = figures.with(Figure::Waits, waits);
        evaluation
    }
}

fn node_figures(fleet: &Fleet<'_>, node_sync: &NodeSync, node: NodeIx) -> NodeFigures {
    // Two views of the same pods. The budget is about the time after node sync's deletes, the status about now.
    let mut figures = budget_figures(fleet, node_sync, node);
    let is_in_turn = fleet.turn(node).is_some();
    if is_in_turn {
        figures = in_turn(fleet, node, figures);
    }
    let figures = match fleet.placement(node) {
        Placement::Run => target_figures(fleet, node_sync, node, figures),
        Placement::ContinueOnly(_) | Placement::Exclude(_) => {
            let is_present = fleet.in_flight(node).is_some() || fleet.pods_of(node).next().is_some();
            let leaves_last = node_sync.leaving(fleet, node).next().is_some();
            figures.with(Figure::Misscheduled, is_present).with(Figure::LeavesLast, leaves_last)
        }
    };
    // `unavailable_cause` makes this test again, over all pods of the node: most nodes are spared it.
    let is_available = figures.has(Figure::Available) && !is_in_turn;
    figures.with_cause(if is_available { None } else { unavailable_cause(fleet, node, figures) })
}

/// The figures of a target node over all of its pods, beside others.
fn target_figures(fleet: &Fleet<'_>, node_sync: &NodeSync, node: NodeIx, others: NodeFigures) -> NodeFigures {
    let is_held = fleet.goals.of(node).is_held();
    // The status counts a create in flight as a pod that is there, so that it does not fall back while the list lags.
    let in_flight = fleet.in_flight(node);
    let mut figures = others
        .with(Figure::Desired, true)
        .with(Figure::Scheduled, in_flight.is_some())
        .with(Figure::Outdated, in_flight.is_some_and(|create| !create.updated))
        .with(Figure::Held, is_held);
    let mut is_updated = in_flight.is_some_and(|create| create.updated);
    let (mut is_there, mut is_off_goal) = (false, false);
    for (_, pod) in fleet.pods_of(node) {
        is_there = true;
        // Finished and terminating pods are there, and nothing more `[finished-is-not-updated]`.
        if !pod.is_live() {
            continue;
        }
        is_updated |= pod.is_updated();
        is_off_goal |= !pod.of_goal;
        figures = figures
            .with(Figure::Ready, pod.is_ready())
            .with(Figure::Available, pod.is_available())
            .with(Figure::Outdated, !pod.is_updated())
            .with(Figure::ReadyOutdated, !pod.of_goal && pod.is_ready() && !is_held);
    }
    let has_outdated = figures.has(Figure::Outdated);
    // Only a driven update has such nodes: otherwise node sync creates the pod, from the stable revision where there is one.
    let is_held_without_pod = is_held && !is_there && !Authority::of(fleet.snapshot).syncs_nodes();
    // The flag first: in a settled fleet no node is looked at twice.
    let is_candidate = is_off_goal && candidate(fleet, node_sync, node).is_some();
    figures
        .with(Figure::Scheduled, is_there)
        // A node is updated when it runs the current template and no older one: `kubectl rollout status` must not report
        // success while an old pod keeps a node up beside a new one that is not available.
        .with(Figure::Updated, is_updated && !has_outdated)
        .with(Figure::Done, figures.has(Figure::Available) && !has_outdated)
        .with(Figure::HeldWithoutPod, is_held_without_pod)
        .with(Figure::Candidate, is_candidate)
}

/// Whether a [candidate] waits for the budget or, under OnDelete, for a person, unless this plan takes it. While node sync
/// deletes other pods of the node, it waits for those to go instead.
fn waits_for_the_limit(fleet: &Fleet<'_>, node_sync: &NodeSync, node: NodeIx) -> bool {
    let is_backed_off = node_sync.back_off(node).is_some();
    // The report gives such a node the outcome of the delete, not of the limit.
    let has_excess = fleet.pods_of(node).any(|(index, _)| node_sync.deletes_pod(index));
    let is_free = match fleet.snapshot.spec.strategy {
        Strategy::OnDelete | Strategy::Replace(_) => true,
        Strategy::Surge { .. } => has_place(fleet, node_sync, node),
    };
    is_free && !has_excess && !is_backed_off && !fleet.awaits_revision
}
