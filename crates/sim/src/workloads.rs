//! Workloads of other people: replicas that move to another node when theirs is drained, within a disruption budget.

use super::cluster::Cluster;
use super::environment::Environment;
use super::event::{Actor, Change};
use super::event_queue::{Timer, later};
use super::pod_lifecycle::{is_finished, is_ready};
use super::probability::Distribution;
use super::random::Purpose;
use super::requirements::PodRequirements;
use super::settings::Behaviour;
use daemonset::model::{NodeName, Pod, Uid};
use daemonset_drain::{EvictPod, EvictionOutcome};
use jiff::SignedDuration;
use serde::Deserialize;
use serde_json::json;
use std::sync::Arc;

/// The namespace of all workloads.
const NAMESPACE: &str = "apps";

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
pub(super) struct ReplicaSet {
    workload: Workload,
    uid: Uid,
    /// How many replicas it has made so far.
    made: u64,
}

impl Cluster {
    /// Adds a workload of somebody else, whose replicas spread over the schedulable nodes and are Ready at once.
    pub fn add_workload(&mut self, workload: Workload) {
        self.on_environment(|environment| {
            let uid = environment.new_uid();
            let number = environment.workloads.len();
            environment.workloads.push(ReplicaSet { workload, uid, made: 0 });
            environment.replicate(number);
            for uid in environment.replicas(number) {
                // It has run for a while.
                if let Some(runtime) = environment.runtimes.get_mut(&uid) {
                    runtime.epoch += 1;
                    runtime.started = true;
                }
                environment.change_pod(&uid, |pod| pod.status.phase = "Running".into());
                environment.set_ready(&uid, true);
            }
        });
    }
}

impl Environment {
    /// Makes the replicas that a workload lacks, as far as there are nodes for them.
    pub(super) fn replicate(&mut self, number: usize) {
        let wanted = self.workloads.get(number).map_or(0, |set| set.workload.replicas as usize);
        for _ in self.replicas(number).len()..wanted {
            let Some(node) = self.node_for(number) else { return };
            self.add_replica(number, &node);
        }
    }

    /// Lets each workload that lacks replicas make them soon: a node may have room again.
    pub(super) fn replicate_missing(&mut self) {
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
    fn replicas(&self, number: usize) -> Vec<Uid> {
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
    pub(super) fn evict(&mut self, evict: &EvictPod, by: Actor) -> EvictionOutcome {
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
