//! Realistic fleets: objects of realistic size, in the arbitrary order of a reflector's store.

mod objects;
mod order;

use daemonset::model::{ControllerRevision, DaemonSet, Node, ObjectRef, Pod};
use daemonset::{Action, ActionOutcome, CreateReason, Observed, Plan, Policy, Snapshot, plan};
use daemonset_incremental::Tracker;
use jiff::Timestamp;
use objects::{Health, Kind, Made, NOW};
use serde_json::Value;
use std::fmt;

/// The state of the fleet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scenario {
    /// Steady: every pod is updated and available, and the status is current.
    Steady,
    /// maxUnavailable 10 %. About half of the pods are updated, some are starting, and there is room for more
    /// deletions.
    MidRollout,
    /// As mid-rollout, steered by a policy of three waves, of which two are open: nodes of the third are held on the old
    /// version.
    Waves,
    /// As mid-rollout, with turns and pulls: half of the nodes have the new image, and of the nodes in turn half have an open gate.
    Turns,
    /// maxSurge 10 %. About half of the pods are updated, some nodes have two pods, and there is room for more.
    Surge,
    /// maxUnavailable 10 %; every pod is outdated and not Ready.
    Broken,
    /// No pod exists yet.
    Bootstrap,
}

impl Scenario {
    pub const ALL: [Scenario; 7] = [
        Scenario::Steady,
        Scenario::MidRollout,
        Scenario::Waves,
        Scenario::Turns,
        Scenario::Surge,
        Scenario::Broken,
        Scenario::Bootstrap,
    ];
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Scenario::Steady => "steady",
            Scenario::MidRollout => "mid-rollout",
            Scenario::Waves => "waves",
            Scenario::Turns => "turns",
            Scenario::Surge => "surge",
            Scenario::Broken => "broken",
            Scenario::Bootstrap => "bootstrap",
        })
    }
}

/// The objects that a caller holds.
pub struct Fleet {
    daemon_set: DaemonSet,
    nodes: Vec<Node>,
    pods: Vec<Pod>,
    revisions: Vec<ControllerRevision>,
    policy: Policy,
    now: Timestamp,
}

impl Fleet {
    /// A fleet; equal arguments give the same one.
    pub fn new(scenario: Scenario, nodes: usize) -> Self {
        let mut fleet = Fleet {
            daemon_set: serde_json::from_value(objects::daemon_set(scenario)).unwrap(),
            nodes: objects::parse((0..nodes).map(|number| objects::node(number, Kind::of(number)))),
            pods: objects::parse((0..nodes).flat_map(|number| pods_of(scenario, number))),
            revisions: objects::parse(objects::revisions()),
            policy: Policy::default(),
            now: NOW,
        };
        if scenario == Scenario::Waves {
            fleet.policy = serde_json::from_value(objects::three_waves()).unwrap();
            fleet.revisions.iter_mut().for_each(objects::mark);
        }
        if scenario == Scenario::Turns {
            fleet.policy = serde_json::from_value(objects::turns_and_pulls()).unwrap();
            fleet.begin_turns();
        }
        order::shuffle(&mut fleet.nodes);
        order::shuffle(&mut fleet.pods);
        if scenario == Scenario::Steady {
            let status = plan(&fleet.snapshot()).status;
            fleet.daemon_set.status = status.unwrap();
        }
        fleet
    }

    /// Carries out one plan: its turns begin, its pull pods are there, and half of its gates are open.
    fn begin_turns(&mut self) {
        self.nodes.iter_mut().step_by(2).for_each(|node| objects::has_image(node, Made::Now));
        for (number, action) in plan(&self.snapshot()).actions.into_iter().enumerate() {
            match action {
                Action::PatchNode { node: on, unschedulable, annotations, .. } => {
                    let node = self.nodes.iter_mut().find(|node| node.metadata.name.as_str() == on.name);
                    let spec = unschedulable.unwrap_or_default();
                    node.into_iter()
                        .for_each(|node| objects::begin_turn(node, spec, &annotations, number % 2 == 0));
                }
                Action::CreatePod { reason: CreateReason::PullImages, pod, .. } => {
                    self.pods.push(objects::pulling(serde_json::to_value(&pod).unwrap(), number));
                }
                _ => {}
            }
        }
    }

    pub fn nodes(&self) -> usize {
        self.nodes.len()
    }

    pub fn pods(&self) -> usize {
        self.pods.len()
    }

    pub fn snapshot(&self) -> Snapshot<'_> {
        Snapshot::builder(self.observed(), self.now).policy(&self.policy).check().unwrap()
    }

    pub fn observed(&self) -> Observed<'_, &[Node], &[Pod], &[ControllerRevision]> {
        let Fleet { daemon_set, nodes, pods, revisions, .. } = self;
        Observed { daemon_set, nodes, pods, revisions }
    }

    /// The bytes of all names, and of the uids and versions of pods.
    pub fn bytes_of_names(&self) -> usize {
        let nodes = self.nodes.iter().map(|node| node.metadata.name.as_str().len());
        let pods = self.pods.iter().map(|pod| {
            let metadata = &pod.metadata;
            metadata.name.len() + metadata.uid.as_str().len() + metadata.resource_version.len()
        });
        nodes.chain(pods).sum()
    }

    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// A tracker that has planned the fleet, and whose actions on pods and nodes were accepted until no plan had one.
    pub fn settled(&self) -> Tracker {
        let (mut tracker, mut plan) = self.first_plan();
        let mut created = 0;
        loop {
            let before = created;
            for action in &plan.actions {
                let outcome = match action {
                    Action::CreatePod { .. } => {
                        let name = format!("created-{created}");
                        let uid = name.as_str().into();
                        ActionOutcome::Created(ObjectRef { name, uid, ..ObjectRef::default() })
                    }
                    Action::DeletePod { .. } | Action::UpdatePodInPlace { .. } | Action::PatchNode { .. } => {
                        ActionOutcome::Done
                    }
                    _ => continue,
                };
                created += 1;
                let _ = tracker.record(action, &outcome, self.now);
            }
            if created == before {
                return tracker;
            }
            plan = tracker.plan(self.now).unwrap();
        }
    }

    /// A tracker that keeps the state of the fleet, with its plan.
    pub fn first_plan(&self) -> (Tracker, Plan) {
        let mut tracker = Tracker::new(self.daemon_set.metadata.uid.clone(), self.policy.clone());
        let plan = tracker.list(self.observed(), self.now).unwrap();
        (tracker, plan)
    }

    /// One of its Ready pods, chosen by a number, as it is now and once it is no longer Ready.
    pub fn blip(&self, number: usize) -> (Pod, Pod) {
        let is_ready = |pod: &&Pod| pod.status.conditions.iter().any(|condition| condition.status == "True");
        let ready: Vec<&Pod> = self.pods.iter().filter(is_ready).collect();
        let ready = ready[order::scatter(number as u64) as usize % ready.len()].clone();
        let mut unready = ready.clone();
        for condition in &mut unready.status.conditions {
            condition.status = "False".into();
            condition.last_transition_time = Some(self.now);
        }
        (ready, unready)
    }
}

/// The DaemonSet's pods on a node, and on some nodes a pod of another owner.
fn pods_of(scenario: Scenario, number: usize) -> Vec<Value> {
    let mut pods = daemon_pods(scenario, number, Kind::of(number));
    if number % 50 == 7 {
        pods.push(objects::stranger(number));
    }
    pods
}

fn daemon_pods(scenario: Scenario, number: usize, kind: Kind) -> Vec<Value> {
    let pod = |made, health| objects::pod(number, made, health);
    let old = if number % 10 == 3 { Made::LongAgo } else { Made::Before };
    let permille = order::scatter(number as u64) % 1000;
    let scenario = match scenario {
        Scenario::Waves | Scenario::Turns => Scenario::MidRollout,
        other => other,
    };
    match (kind, scenario, permille) {
        (Kind::Windows, _, _) | (_, Scenario::Bootstrap, _) => vec![],
        (_, Scenario::Broken, _) => vec![pod(old, Health::NotReady)],
        (Kind::Batch, _, 500..) => vec![],
        (Kind::Unreachable, _, _) => vec![pod(old, Health::NotReady)],
        (_, Scenario::Steady, _) | (_, _, 0..480) => vec![pod(Made::Now, Health::Available)],
        (_, Scenario::MidRollout, 480..500) => vec![pod(Made::Now, Health::Young)],
        (_, Scenario::MidRollout, 500..515) => vec![pod(Made::Now, Health::NotReady)],
        (_, Scenario::MidRollout, 515..520) => vec![pod(Made::Now, Health::Pending)],
        (_, Scenario::MidRollout, 520..530) => vec![pod(old, Health::Terminating)],
        (_, Scenario::MidRollout, 530..533) => vec![],
        (_, Scenario::MidRollout, 533..538) => vec![pod(old, Health::NotReady)],
        (_, Scenario::Surge, 480..500) => {
            vec![pod(old, Health::Available), pod(Made::Now, Health::Young)]
        }
        (_, Scenario::Surge, 500..520) => {
            vec![pod(old, Health::Available), pod(Made::Now, Health::Pending)]
        }
        (_, Scenario::Surge, 520..525) => {
            vec![pod(old, Health::Available), pod(Made::Now, Health::Available)]
        }
        (_, Scenario::Surge, 525..527) => vec![pod(old, Health::NotReady)],
        (_, Scenario::MidRollout | Scenario::Waves | Scenario::Turns | Scenario::Surge, _) => {
            vec![pod(old, Health::Available)]
        }
    }
}
