//! Two pods that were made under `podNames: OnePerNode` never exist on one node.

use super::super::facts::Facts;
use daemonset::policy::PodNames;
use daemonset_sim::PodIdentity;

pub fn broken_by_create(facts: &Facts, pod: &PodIdentity) -> Option<String> {
    if facts.policy.pod_names != PodNames::OnePerNode {
        return None;
    }
    let mut others =
        facts.pods_of(pod.node.as_str()).filter(|(_, other)| other.is_one_per_node && !other.is_gone);
    others.next().map(|(_, other)| format!("one per node: {} beside {}", pod.pod, other.name))
}
