//! What is due, and when: the heart of a discrete-event simulation.

use crate::model::{NodeName, Uid};
use jiff::Timestamp;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Something that will happen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    /// The scheduler looks at a pod.
    Schedule(Uid),
    /// Something happens to a pod on its node, unless its life has taken another turn since.
    Pod { uid: Uid, turn: u32, step: PodStep },
    /// The pod garbage collector removes the pods of a node that is gone.
    CollectGarbage(NodeName),
    /// A node that joined, or that was down, becomes Ready.
    NodeUp { node: NodeName, turn: u32 },
    /// Nodes come and go.
    Churn(u64),
}

/// What happens to a pod on its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PodStep {
    /// Its image is there and its container runs.
    Started,
    /// Its readiness probe succeeds.
    Ready,
    /// Its container is started again.
    Restarted,
    /// Its container ends.
    Crashed,
    /// Its node is short of something.
    Evicted,
    /// All its containers have ended after its deletion.
    Stopped,
}

/// What is due, in the order of time; at the same instant in the order in which it was asked for.
#[derive(Debug, Default)]
pub(super) struct Queue {
    heap: BinaryHeap<Reverse<(Timestamp, u64, Due)>>,
    asked: u64,
}

impl Queue {
    pub(super) fn push(&mut self, at: Timestamp, due: Due) {
        self.asked += 1;
        self.heap.push(Reverse((at, self.asked, due)));
    }

    pub(super) fn next_at(&self) -> Option<Timestamp> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    pub(super) fn pop(&mut self) -> Option<(Timestamp, Due)> {
        self.heap.pop().map(|Reverse((at, _, due))| (at, due))
    }
}
