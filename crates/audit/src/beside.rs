//! The facts about the kept nodes that a snapshot of a part of them lacks.

use crate::fleet::Carried;
use crate::goals::{Base, Surroundings};
use crate::kept::NotKept;
use daemonset::internal::{NodeIx, Placement, Position};
use daemonset_incremental::Tracker;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The pods of the DaemonSet on nodes that a snapshot lacks, by their hash.
#[derive(Debug, Default)]
pub(crate) struct Elsewhere(pub(crate) BTreeMap<Arc<str>, HashSum>);

/// The pods that have one hash.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HashSum {
    pub(crate) pods: HashPods,
    /// The hash means the template.
    pub(crate) is_updated: bool,
}

/// How many pods have one hash.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct HashPods {
    pub(crate) carried: Carried,
    pub(crate) live: u32,
}

/// The nodes of a snapshot, which are in these slots of the tracker, beside all others.
pub(crate) struct Beside<'t> {
    pub(crate) tracker: &'t Tracker,
    pub(crate) slots: &'t [u32],
    pub(crate) elsewhere: &'t Elsewhere,
}

impl Surroundings for Beside<'_> {
    type Error = NotKept;

    fn key(&self, node: NodeIx) -> u32 {
        self.slots.get(node.index()).copied().unwrap_or(u32::MAX)
    }

    fn matches(&self, node: NodeIx) -> Arc<[bool]> {
        self.tracker.wave_matches(self.key(node)).collect()
    }

    fn placement_by(&self, base: &Base<'_>, node: NodeIx) -> Result<Placement, NotKept> {
        self.tracker.base_placement(self.key(node), base.view.uid).ok_or(NotKept::OtherBase)
    }

    fn live_elsewhere(&self, hash: &str) -> u32 {
        self.elsewhere.0.get(hash).map_or(0, |sum| sum.pods.live)
    }
}
