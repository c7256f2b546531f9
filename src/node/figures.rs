//! The figures in which nodes count, and their sums over all nodes. The budget, the status and the progress of a decision are read
//! off these sums, whoever keeps them: a decision on all nodes counts each node once, and a [kept state](crate::kept) counts the
//! changed ones anew.

use crate::node::unavailable::{UnavailableCause, UnavailableNodes};
use crate::objects::position::{IndexVec, NodeIx, neutral};

/// A yes or no about a node, which is counted over all nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
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
    /// An outdated pod of it is a [candidate] of the update.
    Candidate,
    /// That pod waits for the budget or, under OnDelete, for a person, unless this plan takes it.
    Waits,
    /// No target node: under surge it would lose an available pod, whose toleration the template has withdrawn.
    LeavesLast,
}

const FIGURES: usize = Figure::LeavesLast as usize + 1;

/// The figures in which one node counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Figures(u32);

impl Figures {
    pub fn with(self, figure: Figure, counts: bool) -> Self {
        Figures(self.0 | u32::from(counts) << figure as u32)
    }

    pub fn has(self, figure: Figure) -> bool {
        self.0 >> figure as u32 & 1 == 1
    }
}

/// The figures of the nodes of a snapshot, and the sums of all nodes.
#[derive(Debug)]
pub struct Counts {
    pub nodes: IndexVec<NodeIx, Addend>,
    pub sums: Sums,
}

impl Counts {
    /// The counts of these nodes, which are all.
    pub fn new(nodes: Vec<Addend>) -> Self {
        let mut sums = Sums::default();
        // Most nodes count in the same figures as the one before.
        for alike in nodes.chunk_by(PartialEq::eq) {
            if let Some(addend) = alike.first() {
                sums.change(addend, |sum| *sum += alike.len() as u32);
            }
        }
        Counts { nodes: nodes.into(), sums }
    }

    /// Whether a node of the snapshot counts in a figure.
    pub fn has(&self, node: NodeIx, figure: Figure) -> bool {
        self.nodes.at(node).figures.has(figure)
    }

    /// The nodes of the snapshot that count in a figure.
    pub fn with(&self, figure: Figure) -> impl Iterator<Item = NodeIx> {
        let nodes = self.nodes.enumerated().filter(move |(_, addend)| addend.figures.has(figure));
        nodes.map(|(node, _)| node)
    }
}

/// Over many nodes: how many count in each figure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sums {
    figures: [u32; FIGURES],
    /// Excused nodes have no part in it.
    pub causes: UnavailableNodes,
}

/// The part of one node in the sums.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Addend {
    pub figures: Figures,
    /// Why it has no available pod. An excused node has a cause, too, which does not count.
    pub cause: Option<UnavailableCause>,
}

// A large cluster has a hundred thousand of them.
const _: () = assert!(size_of::<Addend>() == 8);

neutral!(Addend, Addend { figures: Figures(0), cause: None });

impl Addend {
    /// The cause for which the node counts as unavailable.
    fn counted_cause(&self) -> Option<UnavailableCause> {
        self.cause.filter(|_| !self.figures.has(Figure::Excused))
    }
}

impl Sums {
    pub fn get(&self, figure: Figure) -> u32 {
        self.figures.get(figure as usize).copied().unwrap_or_default()
    }

    pub fn add(&mut self, addend: &Addend) {
        self.change(addend, |sum| *sum += 1);
    }

    /// Takes back an addend that was added before.
    pub fn subtract(&mut self, addend: &Addend) {
        self.change(addend, |sum| {
            debug_assert!(*sum > 0, "only what was added is taken back");
            *sum = sum.saturating_sub(1);
        });
    }

    fn change(&mut self, addend: &Addend, change: impl Fn(&mut u32)) {
        let mut bits = addend.figures.0;
        while bits != 0 {
            if let Some(sum) = self.figures.get_mut(bits.trailing_zeros() as usize) {
                change(sum);
            }
            // Without the lowest of the bits.
            bits &= bits - 1;
        }
        if let Some(cause) = addend.counted_cause() {
            change(self.causes.of_mut(cause));
        }
    }
}
