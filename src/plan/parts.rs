//! The values of the steps before the last ones, which carry out the choice.

use crate::choose::waits::Waits;
use crate::node::figures::Counts;
use crate::node::fleet::Fleet;
use crate::node::sync::NodeSync;
use crate::plan::rest_of_cluster::RestOfCluster;
use crate::pods::history::History;
use crate::position::NodeIx;

/// The values that the last steps look at.
pub(crate) struct Parts<'p, 's> {
    pub(crate) fleet: &'p Fleet<'s>,
    pub(crate) history: &'p History<'s>,
    pub(crate) node_sync: &'p NodeSync,
    pub(crate) counts: &'p Counts,
    pub(crate) waits: &'p Waits,
    pub(crate) rest: &'p RestOfCluster<'p>,
}

impl Parts<'_, '_> {
    /// The hash label of the revision that a node should run.
    pub(crate) fn goal_hash(&self, node: NodeIx) -> &str {
        self.fleet.goals.base_of(node).map_or_else(|| self.history.current_hash(), |base| &base.hash)
    }
}
