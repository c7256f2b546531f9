//! The free resources of nodes, for a policy that asks whether a pod fits.

use super::environment::Environment;
use super::pod_lifecycle::is_finished;
use super::requirements::Resources;
use super::watch::Objects;
use daemonset::model::{NodeName, Pod, Quantity, ResourceList};
use std::collections::BTreeMap;

impl Environment {
    /// The resources that no pod requests, of the nodes whose capacity is limited. `shown` are the objects that the controller sees.
    pub(super) fn free(&self, shown: &Objects) -> BTreeMap<NodeName, ResourceList> {
        let mut requested: BTreeMap<&NodeName, Resources> = BTreeMap::new();
        let bound = |pod: &&Pod| pod.is_bound() && !is_finished(pod);
        for pod in shown.pods.values().map(|pod| &**pod).filter(bound) {
            let Some(runtime) = self.runtimes.get(&pod.metadata.uid) else { continue };
            let sum = requested.entry(&pod.spec.node_name).or_default();
            *sum = sum.plus(runtime.requirements.resources);
        }
        let limited = self.kubelets.iter().filter(|(_, kubelet)| kubelet.capacity != Resources::UNLIMITED);
        let free = limited.map(|(node, kubelet)| {
            let requested = requested.get(node).copied().unwrap_or_default();
            (node.clone(), kubelet.capacity.less(requested).as_list())
        });
        free.collect()
    }
}

impl Resources {
    fn less(self, other: Resources) -> Resources {
        Resources {
            cpu_millis: self.cpu_millis.saturating_sub(other.cpu_millis),
            memory_bytes: self.memory_bytes.saturating_sub(other.memory_bytes),
        }
    }

    fn as_list(self) -> ResourceList {
        let amounts = [("cpu", format!("{}m", self.cpu_millis)), ("memory", self.memory_bytes.to_string())];
        amounts.map(|(name, amount)| (name.to_owned(), Quantity(amount))).into()
    }
}
