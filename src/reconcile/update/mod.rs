//! Which outdated pods go now.

mod candidates;
pub(crate) mod replace;
pub(crate) mod surge;

use crate::reconcile::budget::Budget;
use crate::reconcile::fleet::Fleet;
use crate::reconcile::history::History;
use crate::reconcile::node_sync::{Deletion, NodeSync};
use crate::snapshot::position::{FleetIx, NodeIx};
use crate::snapshot::strategy::Strategy;
use jiff::Timestamp;

/// What the update strategy wants.
#[derive(Debug, Default)]
pub(crate) struct Update {
    /// In the order in which they matter.
    pub(crate) deletes: Vec<Deletion>,
    /// Updated pods that node sync would delete beside the outdated ones which now go themselves, sorted: a switch away from surge must not throw both away.
    pub(crate) spared: Vec<FleetIx>,
    /// Nodes that get an updated pod beside the outdated one.
    pub(crate) creates: Vec<NodeIx>,
    /// When a terminating pod that holds a place in maxSurge is overdue, while others wait for that place.
    pub(crate) place_free_at: Option<Timestamp>,
}

impl Update {
    /// Node sync's deletes, but for the spared ones.
    pub(crate) fn standing_deletes<'u>(&'u self, sync: &'u NodeSync) -> impl Iterator<Item = &'u Deletion> {
        let stands = |deletion: &&Deletion| self.spared.binary_search(&deletion.pod).is_err();
        sync.deletes.iter().filter(stands)
    }

    /// All deletes: node sync's, then the update's own.
    pub(crate) fn all_deletes<'u>(&'u self, sync: &'u NodeSync) -> impl Iterator<Item = &'u Deletion> {
        self.standing_deletes(sync).chain(&self.deletes)
    }
}

/// Applies the strategy to what node sync leaves.
pub(crate) fn update(fleet: &Fleet<'_>, history: &History<'_>, sync: &NodeSync, budget: &Budget) -> Update {
    let mut update = strategy_update(fleet, history, sync, budget);
    update.spared = update.deletes.iter().filter_map(|deletion| sync.spare_of(deletion.pod)).collect();
    update.spared.sort_unstable();
    update
}

fn strategy_update(fleet: &Fleet<'_>, history: &History<'_>, sync: &NodeSync, budget: &Budget) -> Update {
    match fleet.snapshot.strategy {
        Strategy::OnDelete => Update::default(),
        Strategy::Replace(_) => replace::replace(fleet, history, sync, budget),
        Strategy::Surge { .. } => surge::surge(fleet, history, sync, budget),
    }
}
