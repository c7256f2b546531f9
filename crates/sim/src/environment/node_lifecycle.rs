//! The lifecycle of nodes: they join, leave, go down, come back, and are tainted, cordoned and labelled.

use crate::environment::pod_lifecycle::{is_finished, is_ready};
use crate::environment::{Environment, ImagePull, Kubelet};
use crate::event::{Actor, Change, PodTrouble, is_up};
use crate::event_queue::{Timer, later};
use crate::random::Purpose;
use crate::requirements::Resources;
use crate::watch::WatchEvent;
use daemonset::internal::{Hasher, tolerated};
use daemonset::kubernetes::well_known::{TAINT_NOT_READY, TAINT_UNREACHABLE};
use daemonset::model::{Node, NodeCondition, NodeName, Taint, Uid};
use indexmap::{IndexMap, IndexSet};
use jiff::Timestamp;
use std::sync::Arc;

/// The condition of a node that shuts down gracefully.
const SHUTDOWN: &str = "GracefulNodeShutdownInProgress";

/// The taint of a cordoned node.
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

impl Environment {
    /// Stores a node. Its kubelet runs unless the node's Ready condition is False or Unknown.
    pub(crate) fn add_node(&mut self, by: Actor, mut node: Node, capacity: Resources) {
        let name = node.metadata.name.clone();
        if self.settings.runtime.is_some() {
            // Preconditions tell a node from the one before of its name.
            if node.metadata.uid.as_str().is_empty() {
                node.metadata.uid = self.new_uid();
            }
            if node.metadata.resource_version.is_empty() {
                node.metadata.resource_version = self.new_version();
            }
        }
        let there = ImagePull { since: self.now, until: self.now };
        let named = node.status.images.iter().flat_map(|image| image.names.iter().cloned());
        let images = named.filter(|_| self.settings.runtime.is_some()).map(|name| (name, there)).collect();
        let targets_it = |uid: &&Uid| self.runtimes.get(*uid).is_some_and(|runtime| runtime.node == name);
        let pods: Vec<Uid> = self.runtimes.keys().filter(targets_it).cloned().collect();
        let kubelet = Kubelet {
            up: is_up(&node),
            shuts_down: false,
            had_ready_pod: false,
            capacity: capacity.as_list(),
            pulled: IndexSet::default(),
            images,
            pods: pods.clone(),
            attempts: IndexMap::with_hasher(Hasher::default()),
            epoch: 0,
        };
        self.kubelets.insert(name.clone(), kubelet);
        self.removed_nodes.swap_remove(&name);
        self.store(WatchEvent::Node(Arc::new(node)));
        self.record_node(by, &name, Change::NodeAdded);
        self.retry_unbound_pods(&name);
        if self.kubelets.get(&name).is_some_and(|kubelet| kubelet.up) {
            self.resume(&pods);
        }
        self.update_absence_taint(&name);
    }

    /// Adds a node that is not Ready yet, and becomes Ready after a while.
    pub(crate) fn join(&mut self, mut node: Node, capacity: Resources) {
        let name = node.metadata.name.clone();
        set_condition(&mut node, "Ready", "False", self.now);
        node.spec.taints.push(taint(TAINT_NOT_READY, "NoSchedule"));
        self.add_node(Actor::Environment, node, capacity);
        let delay =
            self.settings.joining.sample(&mut self.random.stream(Purpose::Join, [name.as_str(), ""], 0));
        self.queue.push(later(self.now, delay), Timer::NodeReady { node: name, epoch: 0 });
    }

    /// Removes the node's object at once; the pod garbage collector removes its pods later.
    pub(crate) fn remove_node(&mut self, by: Actor, name: &NodeName) {
        if !self.objects.nodes.contains_key(name) {
            return;
        }
        self.store(WatchEvent::NodeGone(name.clone()));
        self.kubelets.swap_remove(name);
        for runtime in self.runtimes.values_mut().filter(|runtime| runtime.node == *name) {
            runtime.epoch += 1;
            runtime.started = false;
        }
        self.record(by, Change::NodeGone { node: name.clone() });
        self.schedule_garbage_collection(name.clone());
    }

    /// The pod garbage collector waits before it removes pods, because the node may come back.
    pub(crate) fn schedule_garbage_collection(&mut self, name: NodeName) {
        let at = later(self.now, self.settings.garbage_collection);
        self.removed_nodes.insert(name.clone(), at);
        self.queue.push(at, Timer::CollectGarbage(name));
    }

    /// Removes the bound pods of a deleted node. Unbound pods are left to their controller.
    pub(crate) fn collect_garbage(&mut self, name: &NodeName) {
        // The node has come back, or it was deleted a second time.
        if self.removed_nodes.get(name).is_none_or(|at| self.now < *at) {
            return;
        }
        self.removed_nodes.swap_remove(name);
        let pods = self.runtimes.iter().filter(|(_, runtime)| runtime.node == *name).map(|(uid, _)| uid);
        let bound = |uid: &&Uid| self.pod(uid).is_some_and(|pod| pod.is_bound());
        let orphans: Vec<Uid> = pods.filter(bound).cloned().collect();
        for uid in orphans {
            self.delete_pod(Actor::Environment, &uid, None);
            self.stopped(&uid);
        }
    }

    /// The kubelet stops reporting: the node lifecycle controller taints the node and marks its pods as not Ready.
    pub(crate) fn take_down(&mut self, by: Actor, name: &NodeName) {
        let Some(kubelet) = self.kubelets.get_mut(name).filter(|kubelet| kubelet.up) else { return };
        kubelet.up = false;
        kubelet.epoch += 1;
        // A pull under way is lost.
        let now = self.now;
        kubelet.images.retain(|_, pull| pull.until <= now);
        let epoch = kubelet.epoch;
        let pods = kubelet.pods.clone();
        for uid in &pods {
            if let Some(runtime) = self.runtimes.get_mut(uid) {
                runtime.epoch += 1;
                runtime.started = false;
            }
        }
        self.change_node(name, |node| {
            set_condition(node, "Ready", "Unknown", now);
            for effect in ["NoSchedule", "NoExecute"] {
                node.spec.taints.push(taint(TAINT_UNREACHABLE, effect));
            }
        });
        self.record_node(by, name, Change::NodeUnready);
        for uid in &pods {
            self.become_unready(uid, PodTrouble::NodeUnready);
        }
        self.evict_intolerant(name);
        if let Some(down_for) = self.settings.churn.down_for {
            let rng = &mut self.random.stream(Purpose::Join, [name.as_str(), "down"], epoch.into());
            let at = later(self.now, down_for.sample(rng));
            self.queue.push(at, Timer::NodeReady { node: name.clone(), epoch });
        }
    }

    /// Brings a node up, unless the timer is stale.
    pub(crate) fn node_ready(&mut self, name: &NodeName, epoch: u32) {
        if self.kubelets.get(name).is_some_and(|kubelet| kubelet.epoch == epoch) {
            self.bring_up(Actor::Environment, name);
        }
    }

    /// The kubelet is back: it ends terminating pods and restarts the others.
    pub(crate) fn bring_up(&mut self, by: Actor, name: &NodeName) {
        let away = |kubelet: &&mut Kubelet| !kubelet.up || kubelet.shuts_down;
        let Some(kubelet) = self.kubelets.get_mut(name).filter(away) else { return };
        kubelet.up = true;
        kubelet.shuts_down = false;
        kubelet.epoch += 1;
        let pods = kubelet.pods.clone();
        let now = self.now;
        self.change_node(name, |node| {
            set_condition(node, "Ready", "True", now);
            node.status.conditions.retain(|condition| condition.kind != SHUTDOWN);
            node.spec.taints.retain(|taint| taint.key != TAINT_UNREACHABLE && taint.key != TAINT_NOT_READY);
        });
        self.record_node(by, name, Change::NodeReady);
        self.resume(&pods);
        self.retry_unbound_pods(name);
    }

    /// The machine shuts down gracefully (KEP-2000): the kubelet reports it, ends its pods, and rejects each new one until
    /// the node is brought up again.
    pub(crate) fn shut_down(&mut self, by: Actor, name: &NodeName) {
        let stays = |kubelet: &&mut Kubelet| kubelet.up && !kubelet.shuts_down;
        let Some(kubelet) = self.kubelets.get_mut(name).filter(stays) else { return };
        kubelet.shuts_down = true;
        let pods = kubelet.pods.clone();
        let now = self.now;
        self.change_node(name, |node| {
            set_condition(node, SHUTDOWN, "True", now);
            set_condition(node, "Ready", "False", now);
            for effect in ["NoSchedule", "NoExecute"] {
                node.spec.taints.push(taint(TAINT_NOT_READY, effect));
            }
        });
        self.record_node(by, name, Change::NodeUnready);
        for uid in
            pods.iter().filter(|uid| self.pod(uid).is_some_and(|pod| pod.is_bound())).collect::<Vec<_>>()
        {
            self.fail(uid, PodTrouble::NodeShutdown);
        }
        self.evict_intolerant(name);
    }

    /// Sets a condition of the node that is not Ready: `DrainInProgress`, say.
    pub(crate) fn set_node_condition(&mut self, name: &NodeName, kind: &str, is_true: bool) {
        let now = self.now;
        let status = if is_true { "True" } else { "False" };
        self.change_node(name, |node| set_condition(node, kind, status, now));
    }

    /// Taints a node that has lost its Ready pod of the DaemonSet, and removes the taint when it has one again.
    pub(crate) fn update_absence_taint(&mut self, name: &NodeName) {
        let Some(absence) = self.settings.absence_taint.clone() else { return };
        let Some(kubelet) = self.kubelets.get(name) else { return };
        let is_served = kubelet.pods.iter().any(|uid| self.serves(uid));
        let had_ready_pod = kubelet.had_ready_pod || is_served;
        if let Some(kubelet) = self.kubelets.get_mut(name) {
            kubelet.had_ready_pod = had_ready_pod;
        }
        let taints = self.objects.nodes.get(name).map_or(&[][..], |node| &node.spec.taints);
        match (taints.contains(&absence), is_served) {
            (false, false) if had_ready_pod => self.add_taint(Actor::Environment, name, absence),
            (true, true) => self.remove_taint(Actor::Environment, name, &absence.key),
            _ => {}
        }
    }

    /// As [`Self::update_absence_taint`], for the node of a pod.
    pub(crate) fn update_absence_taint_for(&mut self, uid: &Uid) {
        if let Some(node) = self.runtimes.get(uid).map(|runtime| runtime.node.clone()) {
            self.update_absence_taint(&node);
        }
    }

    /// Whether a pod of the DaemonSet is Ready and stays.
    fn serves(&self, uid: &Uid) -> bool {
        let ours = self.runtimes.get(uid).is_some_and(|runtime| runtime.identity.is_some());
        ours && self.pod(uid).is_some_and(|pod| is_ready(pod) && pod.metadata.deletion_timestamp.is_none())
    }

    /// The kubelet continues with the pods that are bound to its node.
    fn resume(&mut self, pods: &[Uid]) {
        for uid in pods {
            let Some(pod) = self.pod(uid) else { continue };
            if pod.metadata.deletion_timestamp.is_some() {
                self.stopped(uid);
            } else if is_ready(pod) {
                if let Some(runtime) = self.runtimes.get_mut(uid) {
                    runtime.started = true;
                }
                self.plan_crash(uid);
            } else if pod.is_bound() && !is_finished(pod) {
                self.start(uid);
            }
        }
    }

    pub(crate) fn add_taint(&mut self, by: Actor, name: &NodeName, taint: Taint) {
        self.change_node(name, |node| {
            node.spec.taints.retain(|other| (&other.key, &other.effect) != (&taint.key, &taint.effect));
            node.spec.taints.push(taint);
        });
        self.record_node(by, name, Change::NodeTainted);
        self.evict_intolerant(name);
    }

    pub(crate) fn remove_taint(&mut self, by: Actor, name: &NodeName, key: &str) {
        self.change_node(name, |node| node.spec.taints.retain(|taint| taint.key != key));
        self.record_node(by, name, Change::NodeTainted);
        self.retry_unbound_pods(name);
    }

    pub(crate) fn cordon(&mut self, by: Actor, name: &NodeName) {
        self.change_node(name, |node| {
            node.spec.unschedulable = true;
            node.spec.taints.retain(|taint| taint.key != UNSCHEDULABLE);
            node.spec.taints.push(taint(UNSCHEDULABLE, "NoSchedule"));
        });
        self.record_node(by, name, Change::NodeTainted);
    }

    pub(crate) fn uncordon(&mut self, by: Actor, name: &NodeName) {
        self.change_node(name, |node| node.spec.unschedulable = false);
        self.remove_taint(by, name, UNSCHEDULABLE);
    }

    pub(crate) fn label_node(&mut self, by: Actor, name: &NodeName, key: &str, value: &str) {
        self.change_node(name, |node| node.metadata.labels.extend([(key, value)]));
        self.record_node(by, name, Change::NodeLabelled);
        self.retry_unbound_pods(name);
    }

    /// Deletes the pods of a node that do not tolerate one of its NoExecute taints (v1.36 `tainteviction`).
    fn evict_intolerant(&mut self, name: &NodeName) {
        let (Some(node), Some(kubelet)) = (self.objects.nodes.get(name), self.kubelets.get(name)) else {
            return;
        };
        let taints: Vec<&Taint> =
            node.spec.taints.iter().filter(|taint| taint.effect == "NoExecute").collect();
        let tolerates = |uid: &Uid| {
            let runtime = self.runtimes.get(uid);
            runtime.is_none_or(|runtime| {
                taints.iter().all(|taint| tolerated(*taint, &runtime.requirements.tolerations))
            })
        };
        let intolerant: Vec<Uid> = kubelet.pods.iter().filter(|uid| !tolerates(uid)).cloned().collect();
        for uid in intolerant {
            self.delete_pod(Actor::Environment, &uid, None);
        }
    }

    /// A random event: a node goes down (half of them), leaves, or joins.
    pub(crate) fn churn(&mut self, number: u64) {
        let Some(every) = self.settings.churn.every else { return };
        let mut rng = self.random.stream(Purpose::Churn, ["", ""], number);
        let next = later(self.now, every.sample(&mut rng));
        self.queue.push(next, Timer::Churn(number + 1));
        let Some((name, node)) = self.objects.nodes.get_index(rng.usize(0..self.objects.nodes.len().max(1)))
        else {
            return;
        };
        let (name, node) = (name.clone(), Node::clone(node));
        match rng.u8(0..4) {
            0 | 1 => self.take_down(Actor::Environment, &name),
            2 => self.remove_node(Actor::Environment, &name),
            _ => {
                let mut labels = node.metadata.labels;
                let name = format!("joined-{number}");
                labels.extend([("kubernetes.io/hostname", name.as_str())]);
                let mut node = Node::default();
                node.metadata.name = name.as_str().into();
                node.metadata.labels = labels;
                self.join(node, Resources::UNLIMITED);
            }
        }
    }
}

fn taint(key: &str, effect: &str) -> Taint {
    Taint { key: key.to_owned(), value: String::new(), effect: effect.to_owned() }
}

fn set_condition(node: &mut Node, kind: &str, status: &str, now: Timestamp) {
    let conditions = &mut node.status.conditions;
    conditions.retain(|condition| condition.kind != kind);
    conditions.push(NodeCondition {
        kind: kind.to_owned().into(),
        status: status.to_owned().into(),
        last_transition_time: Some(now),
    });
}
