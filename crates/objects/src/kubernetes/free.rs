//! The resources of a node that no pod requests.

use crate::kubernetes::quantity::{Amounts, ONE, amounts, pod_requests};
use crate::model::{Pod, Quantity, ResourceList};

/// The resources of a node that no pod requests, as a decision with the choice `fit` of a policy needs them: `allocatable` of its status,
/// less the requests of `pods`, which are all pods that are bound to it. Finished pods request nothing. A resource of which more is
/// requested than there is, is negative.
///
/// ```
/// use daemonset::kubernetes::free_resources;
/// use daemonset::model::{Pod, ResourceList};
/// use serde_json::{from_value, json, to_value};
///
/// let allocatable: ResourceList = from_value(json!({"cpu": "2", "memory": "4Gi", "pods": "110"}))?;
/// let pods: Vec<Pod> = from_value(json!([
///     {"spec": {"containers": [{"resources": {"requests": {"cpu": "1500m"}}}]}},
///     {"spec": {"containers": [{"resources": {"requests": {"cpu": "1"}}}]}, "status": {"phase": "Succeeded"}},
/// ]))?;
/// let free = free_resources(&allocatable, &pods);
/// assert_eq!(to_value(free)?, json!({"cpu": "500m", "memory": "4294967296", "pods": "109"}));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use]
pub fn free_resources<'p>(
    allocatable: &ResourceList,
    pods: impl IntoIterator<Item = &'p Pod>,
) -> ResourceList {
    let mut free: Amounts<'_> = amounts(allocatable);
    let is_finished = |pod: &&Pod| matches!(pod.status.phase.as_ref(), "Succeeded" | "Failed");
    for pod in pods.into_iter().filter(|pod| !is_finished(pod)) {
        for (resource, requested) in pod_requests(pod) {
            if let Some(free) = free.get_mut(resource) {
                *free = free.saturating_sub(requested);
            }
        }
    }
    free.into_iter().map(|(resource, amount)| (resource.to_owned(), quantity(amount))).collect()
}

/// The shortest of the units that a person reads.
fn quantity(amount: i128) -> Quantity {
    const MILLI: i128 = ONE / 1000;
    Quantity(if amount % ONE == 0 {
        (amount / ONE).to_string()
    } else if amount % MILLI == 0 {
        format!("{}m", amount / MILLI)
    } else {
        format!("{amount}n")
    })
}
