//! The replicas of other people's workloads: they move to another node when theirs is drained, within a disruption budget.

use crate::environment::Environment;
use crate::environment::pod_lifecycle::{is_finished, is_ready};
use crate::event::{Actor, Change};
use crate::event_queue::{Timer, later};
use crate::probability::Distribution;
use crate::random::Purpose;
use crate::requirements::PodRequirements;
use crate::settings::Behaviour;
use crate::workload::Workload;
use daemonset::model::{NodeName, Pod, Uid};
use daemonset_drain::{EvictPod, EvictionOutcome};
use jiff::SignedDuration;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

/// The namespace of all workloads.
const NAMESPACE: &str = "apps";

impl Environment {
    /// Makes the replicas that a workload lacks, as far as there are nodes for them.
    pub(crate) fn replicate(&mut self, number: usize) {
        let wanted = self.workloads.get(number).map_or(0, |set| set.workload.replicas as usize);
        for _ in self.replicas(number).len()..wanted {
            let Some(node) = self.node_for(number) else { return };
            self.add_replica(number, &node);
        }
    }

    /// Lets each workload that lacks replicas make them soon: a node may have room again.
    pub(crate) fn replicate_missing(&mut self) {
        for number in 0..self.workloads.len() {
            let Some(set) = self.workloads.get(number) else { continue };
            if self.replicas(number).len() < set.workload.replicas as usize {
                let rng = &mut self.random.stream(Purpose::Bind, [NAMESPACE, &set.workload.name], set.made);
                let at = later(self.now, self.settings.scheduling.sample(rng));
                self.queue.push(at, Timer::Replicate(number));
            }
        }
    }

    /// The replicas that are neither terminating nor finished.
    pub(crate) fn replicas(&self, number: usize) -> Vec<Uid> {
        let own = self.runtimes.iter().filter(|(_, runtime)| runtime.workload == Some(number));
        own.map(|(uid, _)| uid).filter(|uid| !self.is_ending(uid)).cloned().collect()
    }

    /// The schedulable node with the fewest replicas of the workload, and then of all of them.
    fn node_for(&self, number: usize) -> Option<NodeName> {
        let fits = self.kubelets.iter().filter(|(name, kubelet)| {
            let is_open = self.objects.nodes.get(*name).is_some_and(|node| {
                !node.spec.unschedulable
                    && node.spec.taints.iter().all(|taint| taint.effect == "PreferNoSchedule")
            });
            kubelet.up && !kubelet.shuts_down && is_open
        });
        let emptiest = fits.min_by_key(|(name, kubelet)| {
            let sets = kubelet.pods.iter().filter_map(|uid| self.runtimes.get(uid)?.workload);
            let sets: Vec<usize> = sets.collect();
            (sets.iter().filter(|set| **set == number).count(), sets.len(), (*name).clone())
        });
        emptiest.map(|(name, _)| name.clone())
    }

    fn add_replica(&mut self, number: usize, node: &NodeName) {
        let uid = self.new_uid();
        let Some(set) = self.workloads.get_mut(number) else { return };
        set.made += 1;
        let Workload { name, ready, stop, local_storage, .. } = set.workload.clone();
        let none = Distribution::fixed(SignedDuration::ZERO);
        let behaviour = Behaviour::default().pull(none).start(none).ready(ready).stop(stop);
        let volumes = if local_storage { json!([{"name": "cache", "emptyDir": {}}]) } else { json!([]) };
        let manifest = json!({
            "metadata": {
                "name": format!("{name}-{}", set.made), "namespace": NAMESPACE, "uid": uid,
                "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name, "uid": set.uid, "controller": true}],
            },
            "spec": {"nodeName": node, "volumes": volumes},
            "status": {"phase": "Pending"},
        });
        let Ok(mut pod) = Pod::deserialize(&manifest) else { return };
        pod.metadata.creation_timestamp = Some(self.now);
        let requirements = Arc::new(PodRequirements::from_template(&manifest));
        let uid = self.add_pod(Actor::Environment, pod, Some(requirements));
        if let Some(runtime) = self.runtimes.get_mut(&uid) {
            (runtime.workload, runtime.behaviour) = (Some(number), behaviour);
        }
        self.start(&uid);
    }

    /// The API server evicts a pod, unless a disruption budget forbids it (v1.36 `registry/core/pod/storage/eviction.go`).
    pub(crate) fn evict(&mut self, evict: &EvictPod, by: Actor) -> EvictionOutcome {
        let Ok(uid) = self.existing_pod(&evict.pod) else { return EvictionOutcome::Gone };
        let node = self.runtimes.get(&uid).map(|runtime| runtime.node.clone()).unwrap_or_default();
        let pod = format!("{}/{}", evict.pod.namespace, evict.pod.name);
        if self.is_protected(&uid) {
            self.record(by, Change::EvictionRefused { node, pod });
            return EvictionOutcome::Rejected;
        }
        if !self.is_ending(&uid) {
            self.record(by, Change::PodEvicted { node, pod });
        }
        self.delete_pod_within(by, &uid, None, evict.grace_seconds);
        EvictionOutcome::Accepted
    }

    /// Whether a disruption budget keeps a pod. One that does not run, or ends, has no budget.
    fn is_protected(&self, uid: &Uid) -> bool {
        let Some((pod, runtime)) = self.pod(uid).zip(self.runtimes.get(uid)) else { return false };
        let Some(number) = runtime.workload else { return false };
        let Some(set) = self.workloads.get(number) else { return false };
        let Some(max_unavailable) = set.workload.max_unavailable else { return false };
        if pod.status.phase != "Running" || self.is_ending(uid) {
            return false;
        }
        let is_healthy = |uid: &Uid| self.pod(uid).is_some_and(|pod| is_ready(pod) && !is_finished(pod));
        let healthy = self.replicas(number).iter().filter(|uid| is_healthy(uid)).count();
        let needed = set.workload.replicas.saturating_sub(max_unavailable) as usize;
        healthy < needed + usize::from(is_ready(pod))
    }
}
