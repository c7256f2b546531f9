//! The scheduler: binds pods to their target nodes when they fit.

use crate::environment::fit::has_room;
use crate::environment::pod_lifecycle::is_finished;
use crate::environment::{Environment, PodRuntime};
use crate::event_queue::{Timer, later};
use crate::random::Purpose;
use daemonset::internal::tolerated;
use daemonset::model::{NodeName, Pod, Uid};

impl Environment {
    /// Puts a pod into the scheduler's queue.
    pub(crate) fn enqueue_for_scheduling(&mut self, uid: &Uid) {
        let Some(runtime) = self.runtimes.get(uid) else { return };
        let rng = &mut self.random.stream(
            Purpose::Bind,
            [runtime.node.as_str(), &runtime.revision],
            runtime.attempt,
        );
        let delay = self.settings.scheduling.sample(rng);
        self.queue.push(later(self.now, delay), Timer::SchedulePod(uid.clone()));
    }

    /// Binds a pod if it fits. Otherwise the pod waits until something changes on its node.
    pub(crate) fn schedule(&mut self, uid: &Uid) {
        let Some((pod, runtime)) = self.pod(uid).zip(self.runtimes.get(uid)) else { return };
        let is_pending = !pod.is_bound() && pod.metadata.deletion_timestamp.is_none() && !is_finished(pod);
        if !is_pending || !self.fits(pod, runtime) {
            return;
        }
        let node = runtime.node.clone();
        self.change_pod(uid, |pod| pod.spec.node_name = node);
        self.start(uid);
    }

    /// Whether a pod fits on its node: taints, node selector, resources, host ports.
    fn fits(&self, pod: &Pod, runtime: &PodRuntime) -> bool {
        let (Some(node), Some(kubelet)) =
            (self.objects.nodes.get(&runtime.node), self.kubelets.get(&runtime.node))
        else {
            return false;
        };
        let requirements = &runtime.requirements;
        let repels = |effect: &str| effect == "NoSchedule" || effect == "NoExecute";
        let taints = node.spec.taints.iter().filter(|taint| repels(&taint.effect));
        if !taints.into_iter().all(|taint| tolerated(taint, &requirements.tolerations)) {
            return false;
        }
        if !requirements.node_selector.iter().all(|(key, value)| node.metadata.labels.get(key) == Some(value))
        {
            return false;
        }
        let bound = || kubelet.pods.iter().filter(|uid| self.occupies(uid));
        let uses = |port: &u32| requirements.host_ports.contains(port);
        if bound()
            .filter_map(|uid| self.runtimes.get(uid))
            .any(|other| other.requirements.host_ports.iter().any(uses))
        {
            return false;
        }
        has_room(&kubelet.capacity, bound().filter_map(|uid| self.pod(uid)).map(|pod| &**pod), pod)
    }

    /// Whether a pod is bound and holds its resources.
    pub(crate) fn occupies(&self, uid: &Uid) -> bool {
        self.pod(uid).is_some_and(|pod| pod.is_bound() && !is_finished(pod))
    }

    /// Puts the unbound pods of a node into the scheduler's queue again.
    pub(crate) fn retry_unbound_pods(&mut self, node: &NodeName) {
        self.replicate_missing();
        let Some(kubelet) = self.kubelets.get(node) else { return };
        let waiting = |uid: &&Uid| self.pod(uid).is_some_and(|pod| !pod.is_bound());
        let waiting: Vec<Uid> = kubelet.pods.iter().filter(waiting).cloned().collect();
        for uid in waiting {
            self.enqueue_for_scheduling(&uid);
        }
    }
}
