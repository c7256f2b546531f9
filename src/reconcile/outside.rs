//! The nodes that a decision does not look at: nothing happens there, and only their sums count.
//!
//! A decision on a whole snapshot looks at every node. A [kept state](crate::kept) knows which nodes a plan can touch, and
//! decides on a snapshot of these nodes alone, with the same code.

use crate::action::RequeueReason;
use crate::pod_manifest::Shared;
use crate::reconcile::figures::Sums;
use crate::reconcile::goal::RolloutState;
use jiff::Timestamp;
use std::fmt;
use std::sync::Arc;

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
    /// How many pods there have a generation and a hash that contradict each other: see
    /// [`Fleet::conflicts`](field@super::fleet::Fleet::conflicts).
    pub(crate) conflicts: u32,
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
        conflicts: 0,
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
