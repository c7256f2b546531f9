//! The nodes that a decision does not look at: nothing happens there.
//!
//! A decision on a whole snapshot looks at every node. A [kept state](crate::kept) knows which nodes a plan can touch, and
//! carries its [choice](crate::choose) out on a snapshot of these nodes alone, with the same code.

use crate::action::RequeueReason;
use crate::objects::pod_manifest::Shared;
use crate::rollout::goals::KnownRollout;
use jiff::Timestamp;
use std::fmt;
use std::sync::Arc;

/// The nodes that a decision does not look at.
#[derive(Debug)]
pub struct Outside<'o> {
    /// How many pods there have a generation and a hash that contradict each other: see
    /// [`Fleet::conflicts`](field@crate::node::fleet::Fleet::conflicts).
    pub conflicts: u32,
    /// The hashes that pods and unseen creates carry there.
    pub hashes: Vec<&'o str>,
    /// The earliest instant at which time alone changes the answer there.
    pub next_change: Option<(Timestamp, RequeueReason)>,
    /// When the first doubled node there stops being one.
    pub place_free_at: Option<Timestamp>,
    /// The taken nodes there.
    pub taken: Vec<&'o str>,
    /// The target nodes there that have no pod and that a rollout holds, while it is driven.
    pub held_without_pod: Vec<&'o str>,
    /// The state of the rollout, where the nodes of the snapshot do not suffice to find it.
    pub rollout: Option<KnownRollout>,
    /// Whether a pod there has this name.
    pub pod_names: Option<&'o dyn PodLookup>,
    /// The pod template of an earlier plan, for the same DaemonSet and policy.
    pub pod_template: Option<Arc<Shared>>,
}

/// Knows the names of all pods of the namespace.
pub trait PodLookup: fmt::Debug + Sync {
    fn has_pod(&self, name: &str) -> bool;
}

impl Outside<'static> {
    /// No node at all.
    pub fn none() -> &'static Self {
        static NONE: Outside<'static> = Outside::NONE;
        &NONE
    }

    pub const NONE: Outside<'static> = Outside {
        conflicts: 0,
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
