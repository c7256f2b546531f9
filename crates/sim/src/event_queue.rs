//! The event queue of the discrete-event simulation: timers in the order in which they fire.

use crate::steering::Steering;
use daemonset::model::{NodeName, Uid};
use jiff::{SignedDuration, Timestamp};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A future event of the simulation.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Timer {
    /// The scheduler tries to bind a pod.
    SchedulePod(Uid),
    /// A pod changes its state on its node. The timer is stale when the pod has entered another epoch since.
    Pod { uid: Uid, epoch: u32, transition: PodTransition },
    /// The pod garbage collector removes the pods of a deleted node.
    CollectGarbage(NodeName),
    /// A node that joined or was down becomes Ready. The timer is stale when the node has entered another epoch since.
    NodeReady { node: NodeName, epoch: u32 },
    /// The next random event of a node, with its number.
    Churn(u64),
    /// A user steers the rollout.
    Steer(Steering),
    /// The pull of an image ends. The timer is stale when the pull was lost with its node.
    ImagePulled { node: NodeName, image: String },
    /// Something answers the request of a turn.
    OpenGate { node: NodeName, gate: String, turn: String, request: String },
    /// The controller looks at the drain of a node.
    Drain(NodeName),
    /// A workload makes the replicas that it lacks.
    Replicate(usize),
    /// A kubelet reports the images of its node.
    ReportImages(NodeName),
}

impl Timer {
    fn moves_a_rollout(&self) -> bool {
        use PodTransition::{Killed, PulledOnly, Ready, Started, Stopped};
        match self {
            Timer::Steer(_) | Timer::OpenGate { .. } => true,
            // A crash may come long after a rollout is stuck, and a restart comes again and again.
            Timer::Pod { transition, .. } => {
                matches!(transition, Started | Ready | Stopped | Killed | PulledOnly)
            }
            _ => false,
        }
    }
}

/// A change of a pod's state on its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PodTransition {
    /// The image has been pulled, and the containers run.
    Started,
    /// The readiness probe succeeds.
    Ready,
    /// The kubelet restarts the container after a crash.
    Restarted,
    /// The container crashes.
    Crashed,
    /// The kubelet evicts the pod because its node is short of a resource.
    Evicted,
    /// All containers have ended after the deletion of the pod.
    Stopped,
    /// The image can't be pulled.
    PullFailed,
    /// The old containers have ended of a pod that is changed in its place.
    Killed,
    /// A pod that only pulls has all its images.
    PulledOnly,
    /// A pod has run, or tried to, for as long as its `activeDeadlineSeconds`.
    DeadlineExceeded,
}

/// Timers by the instant at which they fire; timers of one instant fire in the order in which they were pushed.
#[derive(Debug, Default)]
pub(crate) struct EventQueue {
    heap: BinaryHeap<Reverse<(Timestamp, u64, Timer)>>,
    /// How many timers have been pushed so far.
    pushed: u64,
    /// The instant of the last timer that was pushed and moves a rollout by its nature: somebody steers it or opens a gate, or a pod starts,
    /// becomes Ready or ends.
    pub(crate) moves_until: Option<Timestamp>,
}

impl EventQueue {
    pub(crate) fn push(&mut self, at: Timestamp, timer: Timer) {
        self.pushed += 1;
        if timer.moves_a_rollout() {
            self.moves_until = self.moves_until.max(Some(at));
        }
        self.heap.push(Reverse((at, self.pushed, timer)));
    }

    pub(crate) fn next_at(&self) -> Option<Timestamp> {
        self.heap.peek().map(|Reverse((at, ..))| *at)
    }

    pub(crate) fn pop(&mut self) -> Option<(Timestamp, Timer)> {
        self.heap.pop().map(|Reverse((at, _, timer))| (at, timer))
    }
}

/// The instant `delay` after `now`; `now` if that is beyond the last instant.
pub(crate) fn later(now: Timestamp, delay: SignedDuration) -> Timestamp {
    now.saturating_add(delay).unwrap_or(now)
}
