//! The figures in which nodes count, and their sums over all nodes.
//!
//! The budget, the status and the progress of a decision are read off these sums. A decision on all nodes counts each node once; the
//! crate daemonset-incremental keeps the sums, and counts the changed nodes anew.

use crate::node::unavailable::{UnavailableCause, UnavailableNodes};
use crate::position::neutral;

/// A yes or no about a node, which is counted over all nodes.
///
/// The figures up to `Excused` are those of the [`Budget`](crate::choose::limits::Budget), after node sync's deletes. The others are about
/// the pods as they are. "Updated" and "outdated" are about the current revision, as in the status, except where the goal is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    Desired,
    Unavailable,
    NotReady,
    BeingReplaced,
    Surging,
    DownAfterUpdate,
    DeletedByUpdate,
    DownBefore,
    Excused,
    /// A target node with a pod, be it finished or terminating.
    Scheduled,
    Ready,
    Available,
    /// A target node with a live updated pod, and without a live outdated one.
    Updated,
    /// No target node, with a pod.
    Misscheduled,
    /// A target node with an available updated pod, and without a live outdated one.
    Done,
    /// A target node with a live outdated pod, in flight included.
    Outdated,
    /// A target node that the rollout has reached, with a Ready pod that is not of its goal.
    ReadyOutdated,
    /// A target node that the rollout has not reached.
    Held,
    /// A held target node without a pod, while the rollout is driven: the other controller creates the new version there.
    HeldWithoutPod,
    /// Its outdated pod makes it a candidate of the update.
    Candidate,
    /// That pod waits for the budget or, under OnDelete, for a person, and for nothing else, unless this plan takes it.
    Waits,
    /// No target node: under surge it would lose an available pod, whose toleration the template has withdrawn.
    LeavesLast,
    /// It is in turn, and not excused: it has its place in the budget.
    InTurn,
    /// It is in turn, and its kubelet reports: it has a place among the turns.
    TurnPlace,
    /// The same of an excused node: these have places of their own.
    ExcusedTurnPlace,
}

// The last variant must stay the last one: a figure beyond it has no sum.
const FIGURES: usize = Figure::ExcusedTurnPlace as usize + 1;

/// The figures in which one node counts: its part in the sums.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NodeFigures {
    /// A bit for each [`Figure`].
    pub(super) bits: u32,
    /// Why it has no available pod. An excused node has a cause, too, which does not count.
    pub cause: Option<UnavailableCause>,
}

// A large cluster has a hundred thousand of them.
const _: () = assert!(size_of::<NodeFigures>() == 8);
// The shifts below lose no figure.
const _: () = assert!(FIGURES <= u32::BITS as usize);

neutral!(NodeFigures, NodeFigures { bits: 0, cause: None });

impl NodeFigures {
    /// Of a target node whose only pod is available and of the current revision.
    pub(crate) const SETTLED: NodeFigures = NodeFigures {
        bits: 1 << Figure::Desired as u32
            | 1 << Figure::Scheduled as u32
            | 1 << Figure::Ready as u32
            | 1 << Figure::Available as u32
            | 1 << Figure::Updated as u32
            | 1 << Figure::Done as u32,
        cause: None,
    };

    /// Counts the node in a figure, or leaves it as it is: a figure that it counts in stays.
    pub fn with(self, figure: Figure, counts: bool) -> Self {
        NodeFigures { bits: self.bits | u32::from(counts) << figure as u32, ..self }
    }

    pub fn with_cause(self, cause: Option<UnavailableCause>) -> Self {
        NodeFigures { cause, ..self }
    }

    pub fn has(self, figure: Figure) -> bool {
        self.bits >> figure as u32 & 1 == 1
    }

    /// The cause for which the node counts as unavailable.
    fn counted_cause(self) -> Option<UnavailableCause> {
        self.cause.filter(|_| !self.has(Figure::Excused))
    }
}

/// Over many nodes: how many count in each figure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sums {
    figures: [u32; FIGURES],
    /// Excused nodes have no part in it.
    pub causes: UnavailableNodes,
}

impl Sums {
    pub fn get(&self, figure: Figure) -> u32 {
        self.figures.get(figure as usize).copied().unwrap_or_default()
    }

    /// Changes each number in which the node counts.
    pub fn change(&mut self, node: NodeFigures, change: impl Fn(&mut u32)) {
        // Most nodes count in about six of the figures: only the bits that are set are visited.
        let mut bits = node.bits;
        while bits != 0 {
            if let Some(sum) = self.figures.get_mut(bits.trailing_zeros() as usize) {
                change(sum);
            }
            // Without the lowest of the bits.
            bits &= bits - 1;
        }
        if let Some(cause) = node.counted_cause() {
            change(self.causes.of_mut(cause));
        }
    }
}
