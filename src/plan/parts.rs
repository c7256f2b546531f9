//! The values of the steps before the last ones, which carry out the choice.

use crate::node::evaluation::Evaluations;
use crate::node::fleet::Fleet;
use crate::node::sync::NodeSync;
use crate::plan::rest_of_cluster::RestOfCluster;
use crate::pods::history::History;

/// The values that the last steps look at.
pub(crate) struct Parts<'p, 's> {
    pub(crate) fleet: &'p Fleet<'s>,
    pub(crate) history: &'p History<'s>,
    pub(crate) node_sync: &'p NodeSync,
    pub(crate) evaluations: &'p Evaluations,
    pub(crate) rest: &'p RestOfCluster<'p>,
}
