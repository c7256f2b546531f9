//! Workloads of other people.

use crate::probability::Distribution;
use daemonset::model::Uid;
use jiff::SignedDuration;

/// A workload of somebody else, as a ReplicaSet makes it. A replica that is evicted is made again on another node.
///
/// ```
/// use daemonset_sim::{Cluster, Workload};
///
/// let mut cluster = Cluster::new(1);
/// cluster.add_node("a", Default::default());
/// cluster.add_node("b", Default::default());
/// cluster.add_workload(Workload::new("web", 4).max_unavailable(Some(1)));
/// let on = |node: &str| cluster.pods().filter(|pod| pod.spec.node_name.as_str() == node).count();
/// assert_eq!((on("a"), on("b")), (2, 2));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Workload {
    /// Its name, which the names of its pods begin with.
    pub name: String,
    /// The number of its pods.
    pub replicas: u32,
    /// How many of them a PodDisruptionBudget lets evictions make unavailable at a time; `None` without a budget.
    pub max_unavailable: Option<u32>,
    /// The time from the start of a replica to Ready.
    pub ready: Distribution,
    /// The time from a replica's deletion to its end; at most its grace period of 30 s.
    pub stop: Distribution,
    /// Whether each replica has an emptyDir volume, which blocks a drain by default.
    pub local_storage: bool,
}

impl Workload {
    /// A workload without a disruption budget.
    pub fn new(name: impl Into<String>, replicas: u32) -> Self {
        let seconds = SignedDuration::from_secs;
        Workload {
            name: name.into(),
            replicas,
            max_unavailable: None,
            ready: Distribution::long_tail(seconds(5), seconds(15)),
            stop: Distribution::long_tail(seconds(1), seconds(8)),
            local_storage: false,
        }
    }
}

daemonset::internal::setters! {
    Workload {
        max_unavailable: Option<u32>,
        ready: Distribution,
        stop: Distribution,
        local_storage: bool,
    }
}

/// A workload with its state.
#[derive(Debug)]
pub(crate) struct ReplicaSet {
    pub(crate) workload: Workload,
    pub(crate) uid: Uid,
    /// How many replicas it has made so far.
    pub(crate) made: u64,
}
