//! Nodes that join, leave, go down, come back, are tainted, cordoned and labelled.

use super::chance::Purpose;
use super::event::{Actor, Change, PodTrouble};
use super::kubelet::{is_finished, is_ready, later};
use super::needs::Resources;
use super::queue::Due;
use super::watch::Seen;
use super::world::{Machine, World};
use crate::kubernetes::hash::Hasher;
use crate::kubernetes::tolerations::tolerated;
use crate::kubernetes::well_known::{TAINT_NOT_READY, TAINT_UNREACHABLE};
use crate::model::{Node, NodeCondition, NodeName, Taint, Uid};
use indexmap::{IndexMap, IndexSet};
use std::sync::Arc;

/// Taint of a cordoned node.
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

impl World {
    /// A node whose kubelet runs, if the object says that it is Ready.
    pub(super) fn add_node(&mut self, by: Actor, node: Node, capacity: Resources) {
        let name = node.metadata.name.clone();
        let left_behind = |uid: &&Uid| self.lives.get(*uid).is_some_and(|life| life.node == name);
        let pods: Vec<Uid> = self.lives.keys().filter(left_behind).cloned().collect();
        let machine = Machine {
            up: node.ready() != Some(false),
            capacity,
            pulled: IndexSet::default(),
            pods: pods.clone(),
            tries: IndexMap::with_hasher(Hasher::default()),
            turn: 0,
        };
        self.machines.insert(name.clone(), machine);
        self.left.swap_remove(&name);
        self.store(Seen::Node(Arc::new(node)));
        self.tell_of_node(by, &name, Change::NodeAdded);
        self.retry_waiting(&name);
        if self.machines.get(&name).is_some_and(|machine| machine.up) {
            self.resume(&pods);
        }
    }

    /// A node that joins, and becomes Ready after a while.
    pub(super) fn join(&mut self, mut node: Node, capacity: Resources) {
        let name = node.metadata.name.clone();
        node.status.conditions = vec![ready_condition("False")];
        node.spec.taints.push(taint(TAINT_NOT_READY, "NoSchedule"));
        self.add_node(Actor::World, node, capacity);
        let delay = self.settings.joining.draw(&mut self.chance.of(Purpose::Join, [name.as_str(), ""], 0));
        self.queue.push(later(self.now, delay), Due::NodeUp { node: name, turn: 0 });
    }

    /// The object goes at once; the pod garbage collector follows later.
    pub(super) fn remove_node(&mut self, by: Actor, name: &NodeName) {
        if !self.objects.nodes.contains_key(name) {
            return;
        }
        self.store(Seen::NodeGone(name.clone()));
        self.machines.swap_remove(name);
        for life in self.lives.values_mut().filter(|life| life.node == *name) {
            life.turn += 1;
            life.started = false;
        }
        self.tell(by, Change::NodeGone { node: name.clone() });
        self.expect_garbage(name.clone());
    }

    /// The garbage collector waits for a while: the node may come back.
    pub(super) fn expect_garbage(&mut self, name: NodeName) {
        let at = later(self.now, self.settings.garbage_collection);
        self.left.insert(name.clone(), at);
        self.queue.push(at, Due::CollectGarbage(name));
    }

    /// Removes the bound pods of a node that is gone; those that were never bound are their controller's.
    pub(super) fn collect_garbage(&mut self, name: &NodeName) {
        // It has come back, or has left once more since.
        if self.left.get(name).is_none_or(|at| self.now < *at) {
            return;
        }
        self.left.swap_remove(name);
        let lives = self.lives.iter().filter(|(_, life)| life.node == *name).map(|(uid, _)| uid);
        let bound = |uid: &&Uid| self.pod(uid).is_some_and(|pod| pod.is_bound());
        let orphans: Vec<Uid> = lives.filter(bound).cloned().collect();
        for uid in orphans {
            self.delete_pod(Actor::World, &uid, None);
            self.stopped(&uid);
        }
    }

    /// Its kubelet is not heard of any more: the node controller taints it and takes its pods' readiness.
    pub(super) fn take_down(&mut self, by: Actor, name: &NodeName) {
        let Some(machine) = self.machines.get_mut(name).filter(|machine| machine.up) else { return };
        machine.up = false;
        machine.turn += 1;
        let turn = machine.turn;
        let pods = machine.pods.clone();
        for uid in &pods {
            if let Some(life) = self.lives.get_mut(uid) {
                life.turn += 1;
                life.started = false;
            }
        }
        self.change_node(name, |node| {
            node.status.conditions = vec![ready_condition("Unknown")];
            for effect in ["NoSchedule", "NoExecute"] {
                node.spec.taints.push(taint(TAINT_UNREACHABLE, effect));
            }
        });
        self.tell_of_node(by, name, Change::NodeUnready);
        for uid in &pods {
            self.become_unready(uid, PodTrouble::NodeUnready);
        }
        self.evict_intolerant(name);
        if let Some(down_for) = self.settings.churn.down_for {
            let rng = &mut self.chance.of(Purpose::Join, [name.as_str(), "down"], turn.into());
            let at = later(self.now, down_for.draw(rng));
            self.queue.push(at, Due::NodeUp { node: name.clone(), turn });
        }
    }

    /// What was planned for a node happens, unless it has changed since.
    pub(super) fn node_up(&mut self, name: &NodeName, turn: u32) {
        if self.machines.get(name).is_some_and(|machine| machine.turn == turn) {
            self.bring_up(Actor::World, name);
        }
    }

    /// Its kubelet is back: it ends what was to end, and starts the rest again.
    pub(super) fn bring_up(&mut self, by: Actor, name: &NodeName) {
        let Some(machine) = self.machines.get_mut(name).filter(|machine| !machine.up) else { return };
        machine.up = true;
        machine.turn += 1;
        let pods = machine.pods.clone();
        self.change_node(name, |node| {
            node.status.conditions = vec![ready_condition("True")];
            node.spec.taints.retain(|taint| taint.key != TAINT_UNREACHABLE && taint.key != TAINT_NOT_READY);
        });
        self.tell_of_node(by, name, Change::NodeReady);
        self.resume(&pods);
        self.retry_waiting(name);
    }

    /// A kubelet takes up the pods that are bound to its node.
    fn resume(&mut self, pods: &[Uid]) {
        for uid in pods {
            let Some(pod) = self.pod(uid) else { continue };
            if pod.metadata.deletion_timestamp.is_some() {
                self.stopped(uid);
            } else if is_ready(pod) {
                if let Some(life) = self.lives.get_mut(uid) {
                    life.started = true;
                }
                self.plan_crash(uid);
            } else if pod.is_bound() && !is_finished(pod) {
                self.start(uid);
            }
        }
    }

    pub(super) fn add_taint(&mut self, by: Actor, name: &NodeName, taint: Taint) {
        self.change_node(name, |node| {
            node.spec.taints.retain(|other| (&other.key, &other.effect) != (&taint.key, &taint.effect));
            node.spec.taints.push(taint);
        });
        self.tell_of_node(by, name, Change::NodeTainted);
        self.evict_intolerant(name);
    }

    pub(super) fn remove_taint(&mut self, by: Actor, name: &NodeName, key: &str) {
        self.change_node(name, |node| node.spec.taints.retain(|taint| taint.key != key));
        self.tell_of_node(by, name, Change::NodeTainted);
        self.retry_waiting(name);
    }

    pub(super) fn cordon(&mut self, by: Actor, name: &NodeName) {
        self.change_node(name, |node| {
            node.spec.unschedulable = true;
            node.spec.taints.retain(|taint| taint.key != UNSCHEDULABLE);
            node.spec.taints.push(taint(UNSCHEDULABLE, "NoSchedule"));
        });
        self.tell_of_node(by, name, Change::NodeTainted);
    }

    pub(super) fn uncordon(&mut self, by: Actor, name: &NodeName) {
        self.change_node(name, |node| node.spec.unschedulable = false);
        self.remove_taint(by, name, UNSCHEDULABLE);
    }

    pub(super) fn label_node(&mut self, by: Actor, name: &NodeName, key: &str, value: &str) {
        self.change_node(name, |node| node.metadata.labels.extend([(key, value)]));
        self.tell_of_node(by, name, Change::NodeLabelled);
        self.retry_waiting(name);
    }

    /// Deletes the pods of a node that do not tolerate a NoExecute taint (v1.36 `tainteviction`).
    fn evict_intolerant(&mut self, name: &NodeName) {
        let (Some(node), Some(machine)) = (self.objects.nodes.get(name), self.machines.get(name)) else {
            return;
        };
        let taints: Vec<&Taint> =
            node.spec.taints.iter().filter(|taint| taint.effect == "NoExecute").collect();
        let tolerates = |uid: &Uid| {
            let life = self.lives.get(uid);
            life.is_none_or(|life| taints.iter().all(|taint| tolerated(*taint, &life.needs.tolerations)))
        };
        let intolerant: Vec<Uid> = machine.pods.iter().filter(|uid| !tolerates(uid)).cloned().collect();
        for uid in intolerant {
            self.delete_pod(Actor::World, &uid, None);
        }
    }

    /// One of the things that happen to nodes by themselves.
    pub(super) fn churn(&mut self, time: u64) {
        let Some(every) = self.settings.churn.every else { return };
        let mut rng = self.chance.of(Purpose::Churn, ["", ""], time);
        let next = later(self.now, every.draw(&mut rng));
        self.queue.push(next, Due::Churn(time + 1));
        let Some((name, node)) = self.objects.nodes.get_index(rng.usize(0..self.objects.nodes.len().max(1)))
        else {
            return;
        };
        let (name, node) = (name.clone(), Node::clone(node));
        match rng.u8(0..4) {
            0 | 1 => self.take_down(Actor::World, &name),
            2 => self.remove_node(Actor::World, &name),
            _ => {
                let mut labels = node.metadata.labels;
                let name = format!("joined-{time}");
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

fn ready_condition(status: &str) -> NodeCondition {
    NodeCondition { kind: "Ready".to_owned(), status: status.to_owned() }
}
