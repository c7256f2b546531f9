//! Which outdated pods go now.

mod candidates;
pub(crate) mod replace;
pub(crate) mod surge;

use crate::budget::Budget;
use crate::fleet::Fleet;
use crate::history::History;
use crate::node_sync::{Deletion, NodeSync};
use crate::snapshot::Strategy;
use jiff::Timestamp;

/// What the update strategy wants.
#[derive(Debug, Default)]
pub(crate) struct Update {
    /// In the order in which they matter.
    pub(crate) deletes: Vec<Deletion>,
    /// Nodes that get an updated pod beside the outdated one, as positions.
    pub(crate) creates: Vec<u32>,
    /// Nodes that count against maxSurge before this plan's own surge.
    pub(crate) doubled: u32,
    /// When a terminating pod that holds a place in maxSurge is overdue, while others wait for that place.
    pub(crate) place_free_at: Option<Timestamp>,
}

/// Applies the strategy to what node sync leaves.
///
/// Where it takes a node's kept outdated pod, the updated one that was to go as excess stays: a switch away from surge
/// must not throw both away.
pub(crate) fn update(
    fleet: &Fleet<'_>,
    history: &History<'_>,
    sync: &mut NodeSync,
    budget: &Budget,
) -> Update {
    let update = strategy_update(fleet, history, sync, budget);
    for deletion in &update.deletes {
        sync.rescue_spare_of(deletion.pod);
    }
    update
}

fn strategy_update(fleet: &Fleet<'_>, history: &History<'_>, sync: &NodeSync, budget: &Budget) -> Update {
    match fleet.snapshot.strategy {
        Strategy::OnDelete => Update::default(),
        Strategy::Replace(_) => replace::replace(fleet, history, sync, budget),
        Strategy::Surge { .. } => surge::surge(fleet, history, sync, budget),
    }
}
