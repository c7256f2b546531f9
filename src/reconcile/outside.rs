//! The nodes that a decision does not look at: nothing happens there, and only their sums count.
//!
//! A decision on a whole snapshot looks at every node. A [kept state](crate::kept) knows which nodes a plan can touch, and
//! decides on a snapshot of these nodes alone, with the same code.

use crate::action::RequeueReason;
use crate::pod_manifest::Shared;
use crate::reconcile::goal::RolloutState;
use crate::unavailable::{UnavailableCause, UnavailableNodes};
use jiff::Timestamp;
use std::fmt;
use std::sync::Arc;

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
    /// See [`Progress::done`](super::progress::Progress).
    Done,
    /// With a live outdated pod.
    Outdated,
    /// With a Ready outdated pod.
    ReadyOutdated,
    /// A target node that the rollout has not reached.
    NotReached,
}

const FIGURES: usize = Figure::NotReached as usize + 1;

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

/// Over many nodes: how many count in each figure.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    figures: [u32; FIGURES],
    /// Excused nodes have no part in it.
    pub(crate) causes: UnavailableNodes,
    /// See [`Fleet::conflicts`](super::fleet::Fleet).
    pub(crate) conflicts: u32,
}

/// What one node adds to the sums.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Addend {
    pub(crate) figures: Figures,
    pub(crate) cause: Option<UnavailableCause>,
    pub(crate) conflicts: u32,
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
        if let Some(cause) = addend.cause {
            change(self.causes.of_mut(cause), 1);
        }
        change(&mut self.conflicts, addend.conflicts);
    }
}

/// The candidates of an update that a decision does not look at though the update reaches them, by readiness: they are
/// beyond the cap of this plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Reached {
    pub(crate) pending: u32,
    pub(crate) not_ready: u32,
    pub(crate) not_yet_available: u32,
    pub(crate) available: u32,
}

/// The nodes that a decision does not look at.
#[derive(Debug)]
pub(crate) struct Outside<'o> {
    pub(crate) sums: Sums,
    /// Those with a live outdated pod that only the budget or, under OnDelete, a person holds: see
    /// [`Progress::held`](super::progress::Progress).
    pub(crate) held: u32,
    pub(crate) reached: Reached,
    /// The hashes that pods and unseen creates carry there.
    pub(crate) hashes: Vec<&'o str>,
    /// The earliest instant at which time alone changes the answer there.
    pub(crate) next_change: Option<(Timestamp, RequeueReason)>,
    /// When the first doubled node there stops being one.
    pub(crate) place_free_at: Option<Timestamp>,
    /// The taken nodes there.
    pub(crate) taken: Vec<&'o str>,
    /// The target nodes there that have no pod and that a rollout holds, while it is driven.
    pub(crate) held_without_pod: Vec<&'o str>,
    /// The state of the rollout, where the nodes of the snapshot do not suffice to find it.
    pub(crate) rollout: Option<RolloutState>,
    /// Whether a pod there has this name.
    pub(crate) pod_names: Option<&'o dyn PodNames>,
    /// The pod template of an earlier plan, for the same DaemonSet and policy.
    pub(crate) pod_template: Option<Arc<Shared>>,
}

/// Knows the names of all pods of the namespace.
pub(crate) trait PodNames: fmt::Debug + Sync {
    fn has_pod(&self, name: &str) -> bool;
}

impl Outside<'static> {
    /// No node at all.
    pub(crate) fn none() -> &'static Self {
        static NONE: Outside<'static> = Outside::NONE;
        &NONE
    }

    pub(crate) const NONE: Outside<'static> = Outside {
        sums: Sums::NONE,
        held: 0,
        reached: Reached { pending: 0, not_ready: 0, not_yet_available: 0, available: 0 },
        hashes: Vec::new(),
        next_change: None,
        place_free_at: None,
        taken: Vec::new(),
        held_without_pod: Vec::new(),
        rollout: None,
        pod_names: None,
        pod_template: None,
    };
}
