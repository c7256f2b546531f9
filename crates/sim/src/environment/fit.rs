//! The free resources of nodes, for a policy that asks whether a pod fits, and for the scheduler.

use crate::environment::Environment;
use crate::requirements::Resources;
use crate::watch::Objects;
use daemonset::Policy;
use daemonset::internal::quantity::{amounts, pod_requests};
use daemonset::kubernetes::free_resources;
use daemonset::model::{NodeName, Pod, Quantity, ResourceList};
use daemonset::policy::RuleReads;
use std::collections::BTreeMap;

impl Environment {
    /// The resources that no pod requests, of the nodes whose capacity is limited, for a policy that asks for them. `shown` are the
    /// objects that the controller sees.
    pub(crate) fn free(&self, policy: &Policy, shown: &Objects) -> BTreeMap<NodeName, ResourceList> {
        if !RuleReads::of(policy).free {
            return BTreeMap::new();
        }
        let limited = || self.kubelets.iter().filter(|(_, kubelet)| !kubelet.capacity.is_empty());
        let mut bound: BTreeMap<&NodeName, Vec<&Pod>> =
            limited().map(|(node, _)| (node, Vec::new())).collect();
        for pod in shown.pods.values() {
            if let Some(bound) = bound.get_mut(&pod.spec.node_name) {
                bound.push(pod);
            }
        }
        let free = limited().map(|(node, kubelet)| {
            let bound = bound.remove(node).unwrap_or_default();
            (node.clone(), free_resources(&kubelet.capacity, bound))
        });
        free.collect()
    }

    /// Gives a node so much room that these of its resources are free beside the pods that are bound to it.
    pub(crate) fn set_free(&mut self, node: &NodeName, free: &ResourceList) {
        let Some(kubelet) = self.kubelets.get(node) else { return };
        let mut capacity = amounts(free);
        for pod in kubelet.pods.iter().filter(|uid| self.occupies(uid)).filter_map(|uid| self.pod(uid)) {
            for (resource, requested) in pod_requests(pod) {
                if let Some(amount) = capacity.get_mut(resource) {
                    *amount = amount.saturating_add(requested);
                }
            }
        }
        let in_billionths = |amount: i128| Quantity(format!("{amount}n"));
        let capacity =
            capacity.into_iter().map(|(resource, amount)| (resource.to_owned(), in_billionths(amount)));
        let capacity = capacity.collect();
        if let Some(kubelet) = self.kubelets.get_mut(node) {
            kubelet.capacity = capacity;
        }
    }
}

/// Whether a node with these resources has room for a pod beside these others.
pub(crate) fn has_room<'p>(
    capacity: &ResourceList,
    others: impl IntoIterator<Item = &'p Pod>,
    pod: &Pod,
) -> bool {
    if capacity.is_empty() {
        return true;
    }
    let free = free_resources(capacity, others);
    let free = amounts(&free);
    // A pod that asks for nothing fits where more is requested than there is.
    pod_requests(pod)
        .into_iter()
        .all(|(resource, requested)| free.get(resource).is_none_or(|free| requested <= (*free).max(0)))
}

impl Resources {
    /// Those of which there is an end.
    pub(crate) fn as_list(self) -> ResourceList {
        let Resources { cpu_millis, memory_bytes } = self;
        let amounts = [
            ("cpu", cpu_millis, format!("{cpu_millis}m")),
            ("memory", memory_bytes, memory_bytes.to_string()),
        ];
        let limited = amounts.into_iter().filter(|(_, amount, _)| *amount != u64::MAX);
        limited.map(|(name, _, quantity)| (name.to_owned(), Quantity(quantity))).collect()
    }
}
