//! Everything around the turns of nodes that is no action of a plan: powers, free resources, drains, leftovers, events and metrics.
//!
//! The library decides; see [`Policy::turn`](field@daemonset::Policy::turn) and [`daemonset_drain`].

mod anothers;
mod daemons;
mod drain;
mod drained_pod;
mod drains;
mod free;
mod leftovers;
pub(crate) mod metrics;
mod powers;
mod side_watch;
pub(crate) mod story;
pub(crate) mod whole_pods;

pub(crate) use free::Free;
pub(crate) use side_watch::Reading;

use crate::caches::{Caches, Key};
use crate::clock::Clock;
use crate::executor::ActionExecutor;
use crate::other_controller::OtherController;
use crate::queue::Queue;
use crate::rollout::policy::Policies;
use crate::tasks::Tasks;
use crate::watches::Scope;
use anothers::AnothersTurns;
use daemons::DaemonReader;
use daemonset::model::{DaemonSet, NodeName};
use daemonset::policy::{DrainPolicy, Permissions};
use daemonset::report::Wait;
use daemonset::{Action, TurnReason, turns};
use drain::{DRAINED, DrainTarget, Tools};
use drains::Drains;
use free::FreeResources;
use kube::Client;
use kube::runtime::reflector::ObjectRef;
use leftovers::Leftovers;
use powers::WatchedPowers;
use std::sync::{Arc, OnceLock};
use tokio::sync::Notify;

/// The parts of the process around turns; clones are the same ones.
#[derive(Clone)]
pub struct Turns {
    powers: WatchedPowers,
    free: FreeResources,
    drains: Drains,
    /// Set where plans are executed.
    tools: Arc<OnceLock<Tools>>,
    /// A DaemonSet is gone, or asks for no turns any more.
    changed: Arc<Notify>,
    /// Those that look like nobody's.
    anothers: AnothersTurns,
}

impl Turns {
    /// Nothing is watched before a policy asks for it, and the process is connected.
    pub fn new(caches: &Caches, queue: &Arc<Queue<Key>>) -> Self {
        Turns {
            powers: WatchedPowers::new(caches.clone(), Arc::clone(queue)),
            free: FreeResources::new(caches.clone(), Arc::clone(queue)),
            drains: Drains::default(),
            tools: Arc::default(),
            changed: Arc::default(),
            anothers: AnothersTurns::default(),
        }
    }

    /// Lets the watches begin once they are asked for.
    pub(crate) fn connect(&self, reads: &Client, tasks: &Tasks) {
        self.powers.connect(reads, tasks);
        self.free.connect(reads, tasks);
    }

    /// Drains nodes, and ends turns that are nobody's, with this executor.
    pub(crate) fn act(
        &self,
        executor: &ActionExecutor,
        (caches, policies): (&Caches, &Policies),
        (reads, scope): (&Client, &Scope),
        (clock, other_controller): (&Clock, &OtherController),
        tasks: &Tasks,
    ) {
        let daemons = DaemonReader::new(caches.clone(), reads.clone(), scope);
        let leftovers = Leftovers {
            caches: caches.clone(),
            daemons: daemons.clone(),
            executor: executor.clone(),
            policies: policies.clone(),
            anothers: self.anothers.clone(),
            other_controller: other_controller.clone(),
            changed: Arc::clone(&self.changed),
        };
        tasks.spawn("turns of nobody", leftovers.run());
        let (caches, reads) = (caches.clone(), reads.clone());
        let (executor, clock, other_controller) = (executor.clone(), clock.clone(), other_controller.clone());
        let tools = Tools { caches, daemons, reads, executor, clock, other_controller };
        // A process starts once.
        let _ = self.tools.set(tools);
    }

    /// The powers of a namespace.
    pub(crate) fn powers_of(&self, namespace: &str) -> Reading<Permissions> {
        self.powers.of(namespace)
    }

    /// The free resources of all nodes now.
    pub(crate) fn free(&self) -> Reading<Free> {
        self.free.read()
    }

    /// Notes the turns that this plan ends for want of a policy.
    pub(crate) fn end_without_policy(&self, ds: &DaemonSet, actions: &[Action], caches: &Caches) {
        for action in actions {
            let Action::PatchNode { node, reason: TurnReason::TurnEnds, .. } = action else { continue };
            if let Some(node) = caches.nodes.get(&ObjectRef::new(node.name.as_str())) {
                self.anothers.ends(&node, &turns::key(ds));
            }
        }
    }

    /// Whether another process carries out turns of this DaemonSet, whose policy here asks for none.
    pub(crate) fn are_anothers(&self, ds: &DaemonSet, caches: &Caches) -> bool {
        self.anothers.has(&turns::key(ds), || caches.nodes.state())
    }

    /// The turns of this DaemonSet are this process's own.
    pub(crate) fn are_own(&self, ds: &DaemonSet) {
        self.anothers.forget(&turns::key(ds));
    }

    /// Drains the nodes that wait for it, and no others.
    pub(crate) fn drain(
        &self,
        key: &Key,
        ds: &Arc<DaemonSet>,
        waits: &[(&NodeName, &Wait)],
        policy: Option<&DrainPolicy>,
    ) {
        let (Some(policy), Some(tools)) = (policy, self.tools.get()) else { return self.stop(key) };
        let turn_key = turns::key(ds);
        let waiting = waits.iter().filter(|(_, wait)| waits_for_drain(wait));
        let target = |node: &NodeName| {
            let node = tools.caches.nodes.get(&ObjectRef::new(node.as_str()))?;
            DrainTarget::new(&node, &turn_key, policy)
        };
        let targets = waiting.filter_map(|(node, _)| target(node)).collect();
        self.drains.follow(key, ds, targets, tools);
    }

    /// Ends the drains of a DaemonSet that is not planned.
    pub(crate) fn stop(&self, key: &Key) {
        self.drains.stop(key);
    }

    /// Looks soon for turns that are nobody's.
    pub(crate) fn look_for_leftovers(&self) {
        self.changed.notify_one();
    }
}

fn waits_for_drain(wait: &Wait) -> bool {
    matches!(wait, Wait::Gates { gates, .. } if gates.iter().any(|gate| gate == DRAINED))
}
