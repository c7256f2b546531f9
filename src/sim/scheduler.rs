//! Which pods are bound, and when.

use super::chance::Purpose;
use super::kubelet::{is_finished, later};
use super::needs::Resources;
use super::queue::Due;
use super::world::{Life, World};
use crate::kubernetes::tolerations::tolerated;
use crate::model::{NodeName, Uid};

impl World {
    /// The scheduler will look at it soon.
    pub(super) fn schedule_soon(&mut self, uid: &Uid) {
        let Some(life) = self.lives.get(uid) else { return };
        let rng = &mut self.chance.of(Purpose::Bind, [life.node.as_str(), &life.revision], life.attempt);
        let delay = self.settings.scheduling.draw(rng);
        self.queue.push(later(self.now, delay), Due::Schedule(uid.clone()));
    }

    /// Binds a pod, if it fits; if not, it waits until something changes on its node.
    pub(super) fn schedule(&mut self, uid: &Uid) {
        let Some((pod, life)) = self.pod(uid).zip(self.lives.get(uid)) else { return };
        let waits = !pod.is_bound() && pod.metadata.deletion_timestamp.is_none();
        if !waits || !self.fits(life) {
            return;
        }
        let node = life.node.clone();
        self.change_pod(uid, |pod| pod.spec.node_name = node);
        self.start(uid);
    }

    /// Whether the scheduler finds room for it on its node: taints, node selector, resources, host ports.
    fn fits(&self, life: &Life) -> bool {
        let (Some(node), Some(machine)) = (self.objects.nodes.get(&life.node), self.machines.get(&life.node))
        else {
            return false;
        };
        let needs = &life.needs;
        let keeps_out = |effect: &str| effect == "NoSchedule" || effect == "NoExecute";
        let taints = node.spec.taints.iter().filter(|taint| keeps_out(&taint.effect));
        if !taints.into_iter().all(|taint| tolerated(taint, &needs.tolerations)) {
            return false;
        }
        if !needs.node_selector.iter().all(|(key, value)| node.metadata.labels.get(key) == Some(value)) {
            return false;
        }
        let bound =
            machine.pods.iter().filter(|uid| self.occupies(uid)).filter_map(|uid| self.lives.get(uid));
        let mut taken = Resources::default();
        for other in bound {
            if other.needs.host_ports.iter().any(|port| needs.host_ports.contains(port)) {
                return false;
            }
            taken = taken.plus(other.needs.resources);
        }
        taken.plus(needs.resources).fits_in(machine.capacity)
    }

    /// Whether a pod is bound and holds what it asked for.
    fn occupies(&self, uid: &Uid) -> bool {
        self.pod(uid).is_some_and(|pod| pod.is_bound() && !is_finished(pod))
    }

    /// Whoever waits for this node is looked at again.
    pub(super) fn retry_waiting(&mut self, node: &NodeName) {
        let Some(machine) = self.machines.get(node) else { return };
        let waiting = |uid: &&Uid| self.pod(uid).is_some_and(|pod| !pod.is_bound());
        let waiting: Vec<Uid> = machine.pods.iter().filter(waiting).cloned().collect();
        for uid in waiting {
            self.schedule_soon(&uid);
        }
    }
}
