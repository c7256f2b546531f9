//! The nodes that the snapshot of a decision lacks: the plan does nothing there.
//!
//! A decision on a whole snapshot looks at every node. The crate daemonset-incremental knows which nodes a plan can touch, and
//! carries its [choice](crate::choose) out on a snapshot of these nodes alone, with the same code. A step that needs a figure of
//! the whole cluster adds the part of the other nodes from here.

use crate::action::RequeueReason;
use crate::choose::Choice;
use crate::node::figures::Sums;
use crate::node::notes::Notes;
use crate::pod_manifest::Shared;
use crate::position::NodeIx;
use crate::rollout::goals::KnownRollout;
use crate::rules::in_place::ImageChanges;
use jiff::Timestamp;
use std::sync::Arc;

/// The figures and names that steps need of the nodes, and of their pods, which the snapshot of a decision lacks. "There" means
/// on these nodes.
#[derive(Debug)]
pub struct RestOfCluster<'o> {
    /// The sums of all nodes, and the choice among all candidates; `None` where the snapshot has all nodes.
    pub chosen: Option<(&'o Sums, Choice<NodeIx>)>,
    /// How many pods there have a generation and a hash that contradict each other: see
    /// [`Fleet::conflicts`](field@crate::node::fleet::Fleet::conflicts).
    pub conflicts: u32,
    /// The hashes that pods of the DaemonSet carry, at least those there.
    pub hashes: Vec<&'o str>,
    /// The earliest instant at which time alone changes the answer there.
    pub next_change: Option<(Timestamp, RequeueReason)>,
    /// When the first surging node there stops being one.
    pub place_free_at: Option<Timestamp>,
    /// The nodes there whose pod the update deleted.
    pub deleted_by_update: Vec<&'o str>,
    /// The held target nodes there that have no pod, while the rollout is driven.
    pub held_without_pod: Vec<&'o str>,
    /// The state of the rollout, where the nodes of the snapshot do not suffice to find it.
    pub rollout: Option<KnownRollout>,
    /// What warnings tell of nodes there.
    pub notes: Vec<(&'o str, &'o Notes)>,
    pub pulls: PullSums,
    /// The pod template of an earlier plan, for the same DaemonSet and policy.
    pub pod_template: Option<Arc<Shared>>,
    /// The comparison of revisions of an earlier plan, for the same revisions and the same stable revision.
    pub image_changes: Option<Arc<ImageChanges>>,
}

/// The pulls on these nodes.
#[derive(Debug, Clone, Copy, Default)]
pub struct PullSums {
    /// Pods that pull, and creates of such pods in flight.
    pub pulling: u32,
    /// When the time of the first of these is over.
    pub ends_at: Option<Timestamp>,
    /// Nodes that need a pull pod.
    pub lacking: u32,
}

impl RestOfCluster<'static> {
    /// Of a snapshot that has all nodes.
    pub fn none() -> &'static Self {
        static NONE: RestOfCluster<'static> = RestOfCluster::NONE;
        &NONE
    }

    // A constant beside the static: a struct update takes its fields by value.
    pub const NONE: RestOfCluster<'static> = RestOfCluster {
        chosen: None,
        conflicts: 0,
        hashes: Vec::new(),
        next_change: None,
        place_free_at: None,
        deleted_by_update: Vec::new(),
        held_without_pod: Vec::new(),
        rollout: None,
        notes: Vec::new(),
        pulls: PullSums { pulling: 0, ends_at: None, lacking: 0 },
        pod_template: None,
        image_changes: None,
    };
}
