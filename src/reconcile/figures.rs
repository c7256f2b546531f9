//! The figures in which nodes count, one node at a time, and their sums over all nodes. The budget, the status and the
//! progress of a decision are read off these sums, whoever keeps them: a decision on all nodes counts each node once, and a
//! [kept state](crate::kept) counts the changed ones anew.

use crate::reconcile::budget::BudgetUse;
use crate::reconcile::fleet::Fleet;
use crate::reconcile::node_sync::NodeSync;
use crate::reconcile::progress::waits_for_the_limit;
use crate::reconcile::status::node_figures;
use crate::reconcile::unavailable::unavailable_cause;
use crate::snapshot::placement::Placement;
use crate::snapshot::position::{IndexVec, NodeIx, neutral};
use crate::unavailable::{UnavailableCause, UnavailableNodes};

/// A yes or no about a node, which is counted over all nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Figure {
    Desired,
    Unavailable,
    NotReady,
    BeingReplaced,
    Doubled,
    Lost,
    Taken,
    DownBefore,
    Excused,
    /// A target node with a pod, be it finished or terminating.
    Scheduled,
    Ready,
    Available,
    Updated,
    /// No target node, with a pod.
    Misscheduled,
    /// With an available updated pod, and without a live outdated one.
    Done,
    /// With a live outdated pod, in flight included.
    Outdated,
    /// With a Ready outdated pod that waits for the update.
    ReadyOutdated,
    /// A target node that the rollout has not reached.
    NotReached,
    /// A target node without a pod that the rollout has not reached, while it is driven: the other controller creates the new
    /// version there.
    HeldWithoutPod,
    /// Its outdated pod waits for the budget or, under OnDelete, for a person, unless this plan takes it.
    Waits,
}

const FIGURES: usize = Figure::Waits as usize + 1;

/// The figures in which one node counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Figures(u32);

impl Figures {
    pub(crate) fn with(self, figure: Figure, counts: bool) -> Self {
        Figures(self.0 | u32::from(counts) << figure as u32)
    }

    pub(crate) fn has(self, figure: Figure) -> bool {
        self.0 >> figure as u32 & 1 == 1
    }
}

/// The figures of all nodes of a snapshot, and their sums with those outside of it.
#[derive(Debug)]
pub(crate) struct Counts {
    pub(crate) nodes: IndexVec<NodeIx, Addend>,
    pub(crate) sums: Sums,
}

impl Counts {
    pub(crate) fn new(fleet: &Fleet<'_>, node_sync: &NodeSync) -> Self {
        let mut sums = fleet.outside.sums.clone();
        sums.conflicts += fleet.conflicts.iter().filter(|node| node.is_none()).count() as u32;
        let addend = |node| {
            let addend = Addend::new(fleet, node_sync, node);
            sums.add(&addend);
            addend
        };
        let nodes = fleet.nodes.positions().map(addend).collect();
        Counts { nodes, sums }
    }

    /// Whether a node of the snapshot counts in a figure.
    pub(crate) fn has(&self, node: NodeIx, figure: Figure) -> bool {
        self.nodes.at(node).figures.has(figure)
    }

    /// The nodes of the snapshot that count in a figure.
    pub(crate) fn with(&self, figure: Figure) -> impl Iterator<Item = NodeIx> {
        let nodes = self.nodes.enumerated().filter(move |(_, addend)| addend.figures.has(figure));
        nodes.map(|(node, _)| node)
    }
}

/// Over many nodes: how many count in each figure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    figures: [u32; FIGURES],
    /// Excused nodes have no part in it.
    pub(crate) causes: UnavailableNodes,
    /// See [`Fleet::conflicts`](field@Fleet::conflicts).
    pub(crate) conflicts: u32,
}

/// The part of one node in the sums.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Addend {
    pub(crate) figures: Figures,
    /// Why it has no available pod. An excused node has a cause, too, which does not count.
    pub(crate) cause: Option<UnavailableCause>,
    pub(crate) conflicts: u32,
}

neutral!(Addend, Addend { figures: Figures(0), cause: None, conflicts: 0 });

impl Addend {
    fn new(fleet: &Fleet<'_>, node_sync: &NodeSync, node: NodeIx) -> Self {
        let counts = BudgetUse::new(fleet, node_sync, node);
        let is_target = fleet.placement(node) == Placement::Run;
        let is_held = is_target && fleet.goal.of(node).is_held();
        let has_ready_outdated = || fleet.pods_of(node).any(|(_, pod)| pod.is_ready() && !pod.of_goal);
        let has_pod = || fleet.pods_of(node).next().is_some();
        let waits = is_target && waits_for_the_limit(fleet, node_sync, node);
        let figures = counts
            .figures(node_figures(fleet, node))
            .with(Figure::ReadyOutdated, is_target && !is_held && has_ready_outdated())
            .with(Figure::NotReached, is_held)
            .with(Figure::HeldWithoutPod, is_held && fleet.snapshot.drives() && !has_pod())
            .with(Figure::Waits, waits);
        let conflicts = match fleet.conflicts.as_slice() {
            [] => 0,
            conflicts => conflicts.iter().filter(|other| **other == Some(node)).count() as u32,
        };
        Addend { figures, cause: unavailable_cause(fleet, node, counts), conflicts }
    }

    /// The cause for which the node counts as unavailable.
    fn counted_cause(&self) -> Option<UnavailableCause> {
        self.cause.filter(|_| !self.figures.has(Figure::Excused))
    }
}

impl Sums {
    pub(crate) const NONE: Sums =
        Sums { figures: [0; FIGURES], causes: UnavailableNodes::NONE, conflicts: 0 };

    pub(crate) fn get(&self, figure: Figure) -> u32 {
        self.figures.get(figure as usize).copied().unwrap_or_default()
    }

    pub(crate) fn add(&mut self, addend: &Addend) {
        self.change(addend, |sum, number| *sum += number);
    }

    /// Takes back an addend that was added before.
    pub(crate) fn subtract(&mut self, addend: &Addend) {
        self.change(addend, |sum, number| {
            debug_assert!(*sum >= number, "only what was added is taken back");
            *sum = sum.saturating_sub(number);
        });
    }

    fn change(&mut self, addend: &Addend, change: impl Fn(&mut u32, u32)) {
        let mut bits = addend.figures.0;
        while bits != 0 {
            if let Some(sum) = self.figures.get_mut(bits.trailing_zeros() as usize) {
                change(sum, 1);
            }
            // Without the lowest of the bits.
            bits &= bits - 1;
        }
        if let Some(cause) = addend.counted_cause() {
            change(self.causes.of_mut(cause), 1);
        }
        change(&mut self.conflicts, addend.conflicts);
    }
}
