//! The update strategy: which outdated pods go now.

mod candidates;
pub(crate) mod replace;
pub(crate) mod surge;

use crate::reconcile::budget::Budget;
use crate::reconcile::figures::Counts;
use crate::reconcile::fleet::Fleet;
use crate::reconcile::history::History;
use crate::reconcile::node_sync::{Deletion, NodeSync};
use crate::snapshot::position::{FleetIx, NodeIx};
use crate::snapshot::strategy::Strategy;
use jiff::Timestamp;

/// The creates and deletes of the update strategy.
#[derive(Debug, Default)]
#[doc(alias = "rollingUpdate")]
pub(crate) struct Update {
    /// The most urgent first.
    pub(crate) deletes: Vec<Deletion>,
    /// Updated pods that node sync marked as excess but that must survive, because the update deletes the outdated pod
    /// beside them; sorted. Without this, switching from surge to rolling update would delete both pods of a node.
    pub(crate) spared: Vec<FleetIx>,
    /// Nodes that get an updated pod beside the outdated one.
    pub(crate) creates: Vec<NodeIx>,
    /// When a terminating pod that holds a place in maxSurge is overdue, while others wait for that place.
    pub(crate) place_free_at: Option<Timestamp>,
}

impl Update {
    /// Node sync's deletes without the spared pods.
    pub(crate) fn node_sync_deletes<'u>(
        &'u self,
        node_sync: &'u NodeSync,
    ) -> impl Iterator<Item = &'u Deletion> {
        let is_not_spared = |deletion: &&Deletion| self.spared.binary_search(&deletion.pod).is_err();
        node_sync.deletes.iter().filter(is_not_spared)
    }

    /// All deletes: node sync's, then the update's own.
    pub(crate) fn all_deletes<'u>(&'u self, node_sync: &'u NodeSync) -> impl Iterator<Item = &'u Deletion> {
        self.node_sync_deletes(node_sync).chain(&self.deletes)
    }
}

/// Applies the strategy to the pods that node sync leaves.
pub(crate) fn update(
    fleet: &Fleet<'_>,
    history: &History<'_>,
    node_sync: &NodeSync,
    counts: &Counts,
    budget: &Budget,
) -> Update {
    let mut update = strategy_update(fleet, history, node_sync, counts, budget);
    update.spared =
        update.deletes.iter().filter_map(|deletion| node_sync.given_up_for(deletion.pod)).collect();
    update.spared.sort_unstable();
    update
}

fn strategy_update(
    fleet: &Fleet<'_>,
    history: &History<'_>,
    node_sync: &NodeSync,
    counts: &Counts,
    budget: &Budget,
) -> Update {
    match fleet.snapshot.spec.strategy {
        Strategy::OnDelete => Update::default(),
        Strategy::Replace(_) => replace::replace(fleet, history, node_sync, counts, budget),
        Strategy::Surge { .. } => surge::surge(fleet, history, node_sync, counts, budget),
    }
}
