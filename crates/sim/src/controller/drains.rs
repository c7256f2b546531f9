//! The drains of the simulated controller: it evicts the pods of each node that waits for the gate `drained`, and opens the gate.

use crate::controller::SimulatedController;
use crate::environment::Environment;
use crate::event::Actor;
use crate::event_queue::{Timer, later};
use daemonset::model::{Node, NodeName, Uid};
use daemonset::report::Wait;
use daemonset::{Plan, turns};
use daemonset_drain::{
    DaemonOwner, DrainState, EmptyDir, EvictionOutcome, Pod, PodSpec, PodStatus, RETRY_AFTER, Volume, drain,
};
use daemonset_incremental::Tracker;
use jiff::{SignedDuration, Timestamp};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The gate that a drain opens.
const DRAINED: &str = "drained";

/// After a node has changed under the write of its gate, the cache needs a moment to show it.
const AFTER_CONFLICT: SignedDuration = SignedDuration::from_millis(250);

/// The pods of a node that a drain has asked for, and when it may ask again.
pub(crate) type Asked = BTreeMap<Uid, Timestamp>;

/// The nodes that wait for their drain by the last plan of a tracker.
pub(crate) fn waiting(tracker: &Tracker, plan: &Plan) -> Vec<NodeName> {
    let waits =
        |wait: &Wait| matches!(wait, Wait::Gates { gates, .. } if gates.iter().any(|gate| gate == DRAINED));
    tracker.waits(plan).filter(|(_, wait)| waits(wait)).map(|(node, _)| node.clone()).collect()
}

impl SimulatedController {
    /// Drains these nodes, and no others.
    pub(crate) fn follow_drains(&mut self, nodes: Vec<NodeName>, environment: &mut Environment) {
        self.drains.retain(|node, _| nodes.contains(node));
        for node in nodes {
            if let Entry::Vacant(place) = self.drains.entry(node.clone()) {
                environment.queue.push(environment.now, Timer::Drain(node));
                place.insert(Asked::default());
            }
        }
        environment.drained.clone_from(&self.drains.keys().cloned().collect());
    }

    /// Looks at a node and its pods, and does what is due.
    pub(crate) fn look_at_drain(&mut self, name: &NodeName, environment: &mut Environment) {
        let Some(policy) = self.tracker.policy().drain.clone().filter(|_| !self.is_down()) else { return };
        let Some(target) = self.drain_target(name) else { return };
        let owners = environment.daemon_owners();
        let (pods, now) = (environment.pods_to_drain(name), environment.now);
        let decided = drain(&target.node, &pods, &owners, &policy, now);
        match decided.state {
            DrainState::Drained => self.open_drained(&target, environment),
            _ => self.evict(name, decided, environment),
        }
    }

    /// A node in turn as the cache has it, whose gate is closed; `None` where nothing is to be drained.
    fn drain_target(&mut self, name: &NodeName) -> Option<DueDrain> {
        let key = turns::key(self.cache.objects.daemon_set.as_ref()?);
        let gate = turns::gate_annotation(DRAINED, &key);
        let node = self.cache.objects.nodes.get(name).filter(|_| self.drains.contains_key(name));
        let open = |node: &Node| {
            let request = turns::request(node, &key)?.to_owned();
            (node.metadata.annotations.get(&gate) != Some(&request)).then_some(request)
        };
        let request = node.and_then(|node| open(node));
        let Some((node, request)) = node.zip(request) else {
            self.drains.remove(name);
            return None;
        };
        Some(DueDrain { node: Node::clone(node), turn: key, request })
    }

    /// Opens the gate, if the node is exactly the one that was looked at.
    fn open_drained(&mut self, target: &DueDrain, environment: &mut Environment) {
        let DueDrain { node, turn, request } = target;
        let name = &node.metadata.name;
        let is_same = environment.objects.nodes.get(name).is_some_and(|stored| {
            let (stored, shown) = (&stored.metadata, &node.metadata);
            (&stored.uid, &stored.resource_version) == (&shown.uid, &shown.resource_version)
        });
        let look_in = if self.is_refused() {
            RETRY_AFTER
        } else if is_same {
            environment.open_gate(Actor::Controller, name, (turn, request), DRAINED);
            return;
        } else {
            AFTER_CONFLICT
        };
        environment.queue.push(later(environment.now, look_in), Timer::Drain(name.clone()));
    }

    /// Sends the evictions that are due.
    fn evict(&mut self, name: &NodeName, decided: daemonset_drain::Drain, environment: &mut Environment) {
        let now = environment.now;
        let again = later(now, RETRY_AFTER);
        for evict in decided.evict {
            let asked = self.drains.get(name).and_then(|asked| asked.get(&evict.pod.uid));
            if asked.is_some_and(|again| *again > now) {
                continue;
            }
            let _: EvictionOutcome = match self.is_refused() {
                true => EvictionOutcome::Rejected,
                false => environment.evict(&evict, Actor::Controller),
            };
            if let Some(asked) = self.drains.get_mut(name) {
                asked.insert(evict.pod.uid, again);
            }
        }
        let next = self.drains.get(name).into_iter().flat_map(|asked| asked.values().copied());
        let look_at = next.filter(|at| *at > now).chain(decided.look_again).min();
        if let Some(at) = look_at {
            environment.queue.push(at.max(now), Timer::Drain(name.clone()));
        }
    }
}

/// A node to drain, for one turn.
struct DueDrain {
    node: Node,
    turn: String,
    request: String,
}

impl Environment {
    /// All pods of a node as a drain reads them.
    fn pods_to_drain(&self, node: &NodeName) -> Vec<Pod> {
        let runtimes = self.runtimes.iter().filter(|(_, runtime)| runtime.node == *node);
        let pods = runtimes.filter_map(|(uid, runtime)| {
            let pod = self.pod(uid).filter(|pod| pod.is_bound())?;
            let volume = || Volume { empty_dir: Some(EmptyDir::default()) };
            let volumes = runtime.requirements.local_storage.then(volume).into_iter().collect();
            Some(Pod {
                metadata: pod.metadata.clone(),
                spec: PodSpec { node_name: pod.spec.node_name.clone(), volumes },
                status: PodStatus { phase: pod.status.phase.clone().into_owned() },
            })
        });
        pods.collect()
    }

    /// The DaemonSets that exist.
    fn daemon_owners(&self) -> Vec<DaemonOwner> {
        let others = self.other_daemon_sets.iter();
        self.objects.daemon_set.iter().map(|ds| &**ds).chain(others).map(DaemonOwner::from).collect()
    }
}
