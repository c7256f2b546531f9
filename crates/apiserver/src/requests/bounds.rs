//! The sums of requests over the DaemonSets of a node (feature `placement`).

use super::{Requests, UnreadableRequest, pod_requests};
use crate::quantity::Quantity;
use daemonset_objects::model::DaemonSet;
use daemonset_placement::{DaemonsOn, Runs};
use serde::Serialize;

/// The requests of all daemon pods of a node, with the number of pods as the resource `pods`: between these bounds,
/// whatever the unknown facts about the node turn out to be.
///
/// See the example of [`bounds`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Bounds {
    /// Of the DaemonSets that surely run there.
    pub certain: Requests,
    /// Of those and of the DaemonSets that may run there.
    pub possible: Requests,
}

/// Sums the requests of the daemon pods of a node. `daemon_sets` are those of the call that gave the answer, in its order.
///
/// ```
/// use daemonset_objects::model;
/// use daemonset_placement::{NodeShape, daemons_on};
/// use daemonset_apiserver::requests::bounds;
/// use serde_json::{from_value, json};
///
/// let agent = |name: &str, selector: serde_json::Value| json!({
///     "metadata": {"name": name, "namespace": "ns"},
///     "spec": {
///         "selector": {"matchLabels": {"app": name}},
///         "template": {"metadata": {"labels": {"app": name}}, "spec": {
///             "nodeSelector": selector,
///             "containers": [{"name": "c", "resources": {"requests": {"cpu": "100m"}}}],
///         }},
///     },
/// });
/// let daemon_sets: Vec<model::DaemonSet> =
///     from_value(json!([agent("everywhere", json!({})), agent("gpu", json!({"pool": "gpu"}))]))?;
/// let answer = daemons_on(&daemon_sets, &NodeShape::default());
/// let bounds = bounds(&daemon_sets, &answer).unwrap();
/// assert_eq!(json!(bounds), json!({
///     "certain": {"cpu": "100m", "pods": "1"},
///     "possible": {"cpu": "200m", "pods": "2"},
/// }));
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Errors
/// The first request of a DaemonSet that may run there and that is no amount.
pub fn bounds<'d>(
    daemon_sets: impl IntoIterator<Item = &'d DaemonSet>,
    answer: &DaemonsOn,
) -> Result<Bounds, UnreadableRequest> {
    let mut bounds = Bounds::default();
    for (ds, daemon) in daemon_sets.into_iter().zip(&answer.daemons) {
        if !daemon.runs.is_possible() {
            continue;
        }
        let mut requests = pod_requests(&ds.spec.template)?;
        requests.count_pod();
        bounds.possible.add(&requests);
        if daemon.runs == Runs::Yes {
            bounds.certain.add(&requests);
        }
    }
    Ok(bounds)
}

impl Requests {
    /// Each pod takes one of the resource `pods` (v1.36 scheduler `framework/types.go Resource.AllowedPodNumber`).
    fn count_pod(&mut self) {
        self.amounts.extend(Quantity::parse("1").into_iter().map(|one| ("pods".to_owned(), one)));
    }
}
