//! Made-up runs to draw in tests: a controller of a few lines, and nodes that take their time.

use crate::run::Run;
use daemonset::DeleteReason;
use daemonset::model::{DaemonSetSpec, Labels, NodeName};
use daemonset::report::Budget;
use daemonset_sim::{Actor, Change, Event, NodeState, PodIdentity, PodTrouble, Reconciled};
use jiff::Timestamp;
use serde_json::{Value, json};
use std::sync::Arc;

/// A rollout that was never simulated.
#[derive(Clone)]
pub struct Fake {
    pub nodes: u32,
    pub max_unavailable: u32,
    pub max_surge: u32,
    pub min_ready: i64,
    /// Template changes, by second.
    pub changes: Vec<i64>,
    /// The pods of this revision fail when they start.
    pub broken: Option<usize>,
    pub crash_at: Option<i64>,
    /// A node that is not Ready for two minutes from then on.
    pub node_down_at: Option<i64>,
    pub length: i64,
}

impl Default for Fake {
    fn default() -> Self {
        Fake {
            nodes: 60,
            max_unavailable: 6,
            max_surge: 0,
            min_ready: 10,
            changes: vec![20],
            broken: None,
            crash_at: None,
            node_down_at: None,
            length: 600,
        }
    }
}

struct FakePod {
    identity: Arc<PodIdentity>,
    revision: usize,
    ready_at: i64,
    ready: bool,
    failed: bool,
    gone_at: Option<i64>,
}

struct FakeWorld {
    fake: Fake,
    pods: Vec<Vec<FakePod>>,
    events: Vec<Event>,
    revision: usize,
    serial: u64,
    now: i64,
}

pub fn at(second: i64) -> Timestamp {
    Timestamp::from_second(1_700_000_000 + second).unwrap()
}

pub fn run<'a>(label: &str, events: &'a [Event], length: i64) -> Run<'a> {
    Run { label: label.to_owned(), events, start: at(0), end: at(length), summary: Vec::new() }
}

impl Fake {
    pub fn events(&self) -> Vec<Event> {
        let pods = (0..self.nodes).map(|_| Vec::new()).collect();
        let mut world =
            FakeWorld { fake: self.clone(), pods, events: Vec::new(), revision: 0, serial: 0, now: -100 };
        world.spec(false, Actor::Environment);
        for node in 0..self.nodes as usize {
            world.record(Actor::Environment, Change::NodeAdded(state(node, true)));
            world.create(node);
        }
        for now in -99..=self.length {
            world.now = now;
            world.tick();
        }
        world.events
    }

    fn spec(&self) -> DaemonSetSpec {
        spec(self.min_ready, json!({"maxUnavailable": self.max_unavailable, "maxSurge": self.max_surge}))
    }
}

/// A spec that every node is a target of.
pub fn spec(min_ready: i64, limits: Value) -> DaemonSetSpec {
    let spec = json!({
        "selector": {"matchLabels": {"app": "agent"}},
        "template": {"metadata": {"labels": {"app": "agent"}}, "spec": {"containers": [{"name": "c"}]}},
        "minReadySeconds": min_ready,
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": limits},
    });
    serde_json::from_value(spec).unwrap()
}

fn name(node: usize) -> NodeName {
    NodeName::from(format!("worker-{}.eu-west-1", node + 1))
}

fn state(node: usize, ready: bool) -> NodeState {
    NodeState { node: name(node), ready, labels: Labels::default(), taints: Vec::new() }
}

impl FakeWorld {
    fn record(&mut self, by: Actor, change: Change) {
        self.events.push(Event { t: at(self.now), by, change });
    }

    fn spec(&mut self, template_changed: bool, by: Actor) {
        let spec = Box::new(self.fake.spec());
        self.record(by, Change::DaemonSetChanged { generation: 1, template_changed, spec });
    }

    fn tick(&mut self) {
        if self.fake.changes.contains(&self.now) {
            self.revision += 1;
            self.spec(true, Actor::User);
        }
        self.nodes_go_on();
        if self.fake.crash_at == Some(self.now) {
            self.record(
                Actor::Environment,
                Change::ControllerCrashed { after_actions: 3, memory_kept: false },
            );
        }
        let down = self.fake.crash_at.is_some_and(|at| (at..at + 30).contains(&self.now));
        if self.now >= 0 && !down {
            self.reconcile();
        }
        if let Some(at) = self.fake.node_down_at.filter(|at| self.now == *at || self.now == at + 120) {
            let ready = self.now != at;
            let change = if ready { Change::NodeReady } else { Change::NodeUnready };
            self.record(Actor::Environment, change(state(3, ready)));
        }
    }

    fn nodes_go_on(&mut self) {
        let mut changes = Vec::new();
        for pod in self.pods.iter_mut().flatten() {
            if self.now == pod.ready_at && pod.gone_at.is_none() {
                let identity = pod.identity.clone();
                pod.failed = self.fake.broken == Some(pod.revision);
                pod.ready = !pod.failed;
                changes.push(match pod.failed {
                    true => Change::PodUnready { pod: identity, reason: PodTrouble::Crashed },
                    false => Change::PodReady(identity),
                });
            }
            if pod.gone_at == Some(self.now) {
                changes.push(Change::PodGone(pod.identity.clone()));
            }
        }
        self.pods.iter_mut().for_each(|pods| pods.retain(|pod| pod.gone_at.is_none_or(|at| at > self.now)));
        changes.into_iter().for_each(|change| self.record(Actor::Environment, change));
    }

    fn available(&self, node: usize) -> bool {
        let ripe = |pod: &FakePod| self.now >= pod.ready_at + self.fake.min_ready;
        self.pods[node].iter().any(|pod| pod.ready && pod.gone_at.is_none() && ripe(pod))
    }

    fn reconcile(&mut self) {
        let count = |of: &dyn Fn(usize) -> bool| (0..self.pods.len()).filter(|node| of(*node)).count() as u32;
        let mut down = count(&|node| !self.available(node));
        let mut surging = count(&|node| self.pods[node].len() > 1);
        let (max_unavailable, max_surge) = (self.fake.max_unavailable, self.fake.max_surge);
        let mut budget = Budget::default();
        budget.desired = self.fake.nodes;
        budget.max_unavailable = max_unavailable;
        budget.max_surge = max_surge;
        budget.unavailable = down;
        budget.surging = surging;
        self.tell_reconciled(budget);
        // No node order: pods go in the order of something like a hash.
        let mut order: Vec<usize> = (0..self.pods.len()).collect();
        order.sort_by_key(|node| (node * 7919 + 13) % 1009);
        for node in order {
            let old =
                self.pods[node].iter().position(|pod| pod.revision != self.revision && pod.gone_at.is_none());
            let new = self.pods[node].iter().any(|pod| pod.revision == self.revision);
            match old {
                None if self.pods[node].is_empty() => self.create(node),
                Some(old) if max_surge > 0 && new => self.replace_surged(node, old),
                Some(_) if max_surge > 0 && surging < max_surge => {
                    surging += 1;
                    self.create(node);
                }
                Some(old) if max_surge == 0 && (!self.available(node) || down < max_unavailable) => {
                    down += u32::from(self.available(node));
                    self.delete(node, old, DeleteReason::OutdatedAvailable);
                }
                None | Some(_) => {}
            }
        }
    }

    fn replace_surged(&mut self, node: usize, old: usize) {
        let ripe = self.now - self.fake.min_ready;
        if self.pods[node]
            .iter()
            .any(|pod| pod.revision == self.revision && pod.ready && pod.ready_at <= ripe)
        {
            self.delete(node, old, DeleteReason::SuccessorAvailable);
        }
    }

    fn tell_reconciled(&mut self, budget: Budget) {
        let revision = format!("{:010x}", 0x006b_4c7c_96bb_u64 + 0x1234_5678 * self.revision as u64);
        let (number, requeue) = (1, None);
        let it =
            Reconciled { number, revision, budget, created: 0, deleted: 0, planned: 0, refused: 0, requeue };
        self.record(Actor::Controller, Change::Reconciled(Box::new(it)));
    }

    fn create(&mut self, node: usize) {
        self.serial += 1;
        let revision = format!("{:010x}", 0x006b_4c7c_96bb_u64 + 0x1234_5678 * self.revision as u64);
        let pod = format!("node-exporter-{:05x}", self.serial * 7919 % 1_048_573);
        let identity = Arc::new(PodIdentity { node: name(node), uid: pod.as_str().into(), pod, revision });
        self.record(Actor::Controller, Change::PodCreated(identity.clone()));
        let ready_at = self.now + 8 + (self.serial * 31 % 11) as i64;
        let revision = self.revision;
        self.pods[node].push(FakePod {
            identity,
            revision,
            ready_at,
            ready: false,
            failed: false,
            gone_at: None,
        });
    }

    fn delete(&mut self, node: usize, pod: usize, reason: DeleteReason) {
        self.serial += 1;
        let gone_at = self.now + 3 + (self.serial * 17 % 9) as i64;
        self.pods[node][pod].gone_at = Some(gone_at);
        let pod = self.pods[node][pod].identity.clone();
        self.record(Actor::Controller, Change::PodTerminating { pod, reason: Some(reason) });
    }
}
