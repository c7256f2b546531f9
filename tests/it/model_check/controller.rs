//! The controller of the model: it calls the crate's own `reconcile` and `Memory` with real objects.

use super::objects::{Mark, Marks, Objects, Phase, Pod, PodId, Revision, Spec, Strategy, Undone, node_name};
use super::world::Steering;
use crate::support::{agent, given, new, node, now, pod, rolling, surging, template};
use daemonset::model::{ControllerRevision, DaemonSet, Node, Pod as RealPod, Taint};
use daemonset::policy::{RolloutPolicy, UnreadyPolicy};
use daemonset::{Action, CreateReason, Memory, Policy, Recording, plan, reconcile};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};

/// A memory with its JSON form, by which it is compared.
#[derive(Debug, Clone)]
pub struct Remembered(Arc<(Memory, String)>);

impl Remembered {
    pub fn new(memory: Memory) -> Self {
        let json = serde_json::to_string(&memory).unwrap();
        Remembered(Arc::new((memory, json)))
    }

    pub fn memory(&self) -> &Memory {
        &self.0.0
    }

    /// Whether this text is a key or a value in it.
    pub fn mentions(&self, text: &str) -> bool {
        self.0.1.contains(&format!("\"{text}\""))
    }

    pub fn is_empty(&self) -> bool {
        self.0.1 == "{}"
    }
}

impl PartialEq for Remembered {
    fn eq(&self, other: &Self) -> bool {
        self.0.1 == other.0.1
    }
}

impl Eq for Remembered {}

impl Hash for Remembered {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.1.hash(state);
    }
}

/// One action of a plan that changes something in the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    CreateRevision {
        version: u8,
        number: u8,
        started: bool,
    },
    Renumber {
        version: u8,
        number: u8,
    },
    Mark {
        version: u8,
        mark: Mark,
    },
    Delete(PodId),
    Create {
        node: u8,
        version: u8,
        beside: bool,
    },
    /// With the version of the DaemonSet as a precondition.
    Restore {
        version: u8,
        writes: u8,
    },
}

/// The result of one reconcile.
#[derive(Debug)]
pub struct Reconciled {
    /// The memory after it has observed the snapshot.
    pub memory: Remembered,
    /// The steps, each with its action.
    pub steps: Vec<(Step, Action)>,
}

/// A hash that is the same on every run.
pub fn fingerprint(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Turns the model's objects into real ones, and plans for them.
pub struct Controller {
    nodes: Vec<Node>,
    policy: Policy,
    steering: Option<Steering>,
    min_ready_seconds: i32,
    versions: Vec<Version>,
    /// Plans by the fingerprint of cache, taints and memory, on which alone they depend.
    plans: Mutex<BTreeMap<u64, Arc<Reconciled>>>,
    /// The violations that the audit finds.
    #[cfg(daemonset_mutants)]
    pub mutant: Option<daemonset::mutants::Mutant>,
}

impl Controller {
    pub fn new(nodes: u8, versions: u8, min_ready_seconds: i32, unready: UnreadyPolicy) -> Self {
        let fleet = given(rolling(1)).nodes((0..nodes).map(node_name), new());
        Controller {
            nodes: fleet.recording().nodes,
            policy: Policy::default().unready(unready),
            steering: None,
            min_ready_seconds,
            versions: (0..versions).map(of_version).collect(),
            plans: Mutex::default(),
            #[cfg(daemonset_mutants)]
            mutant: None,
        }
    }

    /// The rollouts are steered.
    pub fn steered(self, steering: Option<Steering>) -> Self {
        Controller { steering, ..self }
    }

    /// `tainted` are the nodes with a taint that no template tolerates.
    pub fn reconcile(&self, cache: &Objects, tainted: &[u8], memory: &Remembered) -> Arc<Reconciled> {
        let key = fingerprint(&(cache, tainted, memory));
        if let Some(known) = self.plans.lock().unwrap().get(&key) {
            return Arc::clone(known);
        }
        #[cfg(not(daemonset_mutants))]
        let planned = self.plan(cache, tainted, memory);
        #[cfg(daemonset_mutants)]
        let planned = daemonset::mutants::with(self.mutant, || self.plan(cache, tainted, memory));
        let planned = Arc::new(planned);
        self.plans.lock().unwrap().insert(key, Arc::clone(&planned));
        planned
    }

    /// The number of different snapshots that were planned.
    pub fn plans(&self) -> usize {
        self.plans.lock().unwrap().len()
    }

    fn plan(&self, cache: &Objects, tainted: &[u8], memory: &Remembered) -> Reconciled {
        let mut recording = self.recording(cache, memory.memory());
        for node in tainted {
            let taint =
                Taint { key: "absent".to_owned(), effect: "NoSchedule".to_owned(), ..Taint::default() };
            recording.nodes[usize::from(*node)].spec.taints.push(taint);
        }
        if self.steering == Some(Steering::Undo) {
            // No template is restored in a plan that writes the status, which an earlier plan has done here.
            recording.daemon_set.status = plan(&recording.snapshot().unwrap()).status.unwrap();
        }
        let snapshot = recording.snapshot().unwrap();
        let mut memory = memory.memory().clone();
        memory.observe(&snapshot);
        let actions = reconcile(&snapshot);
        let steps = actions.into_iter().filter_map(|action| Some((self.step(&action)?, action))).collect();
        Reconciled { memory: Remembered::new(memory), steps }
    }

    fn recording(&self, cache: &Objects, memory: &Memory) -> Recording {
        let mut recording = Recording::new(daemon_set(cache.spec, self.min_ready_seconds), now());
        recording.nodes.clone_from(&self.nodes);
        recording.pods = cache.pods.iter().map(|pod| self.real_pod(pod)).collect();
        let revisions = cache.revisions.iter().map(|revision| {
            let Version { revision: stored, .. } = &self.versions[usize::from(revision.version)];
            let mut stored = ControllerRevision { revision: revision.number.into(), ..stored.clone() };
            stored.metadata.annotations = annotations(revision).into_iter().collect();
            stored
        });
        recording.revisions = revisions.collect();
        recording.policy =
            self.policy.clone().rollout(self.steering.map(|steering| rollout(steering, cache.spec)));
        recording.memory = Some(memory.clone());
        recording
    }

    fn real_pod(&self, pod: &Pod) -> RealPod {
        let mut real = self.versions[usize::from(pod.version)].pod.clone();
        real.metadata.name = pod.id.name();
        real.metadata.uid = pod.id.name().into();
        real.spec.node_name = node_name(pod.id.node).as_str().into();
        let ready = &mut real.status.conditions[0];
        let is_ready = match pod.phase {
            Phase::Starting => {
                real.status.phase = "Pending".into();
                false
            }
            Phase::Crashed => false,
            Phase::Failing => {
                real.status.container_statuses =
                    serde_json::from_value(json!([{"restartCount": 1}])).unwrap();
                false
            }
            Phase::Young => {
                ready.last_transition_time = Some(now());
                true
            }
            Phase::Available => true,
            Phase::Terminating => {
                real.metadata.deletion_timestamp = Some(crate::support::at(30));
                true
            }
        };
        ready.status = if is_ready { "True" } else { "False" }.into();
        real
    }

    /// `None` for actions that change no input of a plan: status, events, requeues.
    fn step(&self, action: &Action) -> Option<Step> {
        match action {
            Action::CreateRevision { revision, .. } => Some(Step::CreateRevision {
                version: self.version(revision["metadata"]["labels"]["controller-revision-hash"].as_str()),
                number: u8::try_from(revision["revision"].as_i64().unwrap()).unwrap(),
                started: !revision["metadata"]["annotations"].is_null(),
            }),
            Action::RenumberRevision { revision, number, .. } => Some(Step::Renumber {
                version: self.version(revision.name.strip_prefix("agent-")),
                number: u8::try_from(*number).unwrap(),
            }),
            Action::AnnotateRevision { revision, annotations, .. } => Some(Step::Mark {
                version: self.version(revision.name.strip_prefix("agent-")),
                mark: annotations.iter().map(|(key, value)| mark(key, value.as_deref())).next().unwrap(),
            }),
            Action::DeletePod { pod, .. } => Some(Step::Delete(pod_id(&pod.name))),
            Action::CreatePod { node, pod, reason, .. } => Some(Step::Create {
                node: node_number(node.as_str()),
                version: self.version(Some(pod.revision_hash())),
                beside: *reason == CreateReason::Surge,
            }),
            Action::RestoreTemplate { daemon_set, revision, .. } => Some(Step::Restore {
                version: self.version(revision.name.strip_prefix("agent-")),
                writes: daemon_set.resource_version.parse().unwrap(),
            }),
            Action::UpdateStatus { .. } | Action::RecordEvent { .. } | Action::Requeue { .. } => None,
            Action::AdoptPod { .. }
            | Action::ReleasePod { .. }
            | Action::AdoptRevision { .. }
            | Action::ReleaseRevision { .. }
            | Action::LabelRevision { .. }
            | Action::LabelPod { .. }
            | Action::UpdatePodInPlace { .. }
            | Action::PatchNode { .. }
            | Action::DeleteRevision { .. } => panic!("nothing in the model asks for {action:?}"),
        }
    }

    fn version(&self, hash: Option<&str>) -> u8 {
        let found = self.versions.iter().position(|version| Some(version.hash.as_str()) == hash);
        u8::try_from(found.unwrap()).unwrap()
    }
}

/// A canary, and everything else once both waves are approved.
fn rollout(steering: Steering, spec: Spec) -> RolloutPolicy {
    let action = match steering {
        Steering::Pause => "Pause",
        Steering::RollBack => "RollBack",
        Steering::Undo => "Undo",
    };
    serde_json::from_value(json!({
        "paused": spec.paused,
        "approved": if spec.approved { json!({"2": 2, "3": 2, "4": 2, "5": 2}) } else { json!({}) },
        "waves": [{"upTo": 1}, {"needsApproval": true}],
        "onFailure": {"action": action, "maxRestarts": 0},
    }))
    .unwrap()
}

fn annotations(revision: &Revision) -> Vec<(String, String)> {
    let Revision { number, marks: Marks { started, wave, failed, completed, restored, undone }, .. } =
        revision;
    let of = |name: &str, number: u8, rest: &str| {
        (format!("rollout.daemonset/{name}"), format!("{number} {} {rest}", now()).trim_end().to_owned())
    };
    let mark = |name: &str, rest: &str| of(name, *number, rest);
    let marks = [
        started.then(|| mark("started", "")),
        wave.map(|wave| mark("wave", &wave.to_string())),
        failed.then(|| mark("failed", "TooManyFailures")),
        completed.then(|| mark("completed", "")),
        restored.map(|failed| of("restored", failed, "")),
        undone.map(|undone| of("undone", undone.number, &undone.generation.to_string())),
    ];
    marks.into_iter().flatten().collect()
}

fn mark(key: &str, value: Option<&str>) -> Mark {
    let part = |part: Option<&str>| part.and_then(|part| part.parse().ok());
    let number = part(value.and_then(|value| value.split(' ').next()));
    let last = part(value.and_then(|value| value.rsplit(' ').next()));
    match key.strip_prefix("rollout.daemonset/").unwrap() {
        "started" => Mark::Started(value.is_some()),
        "wave" => Mark::Wave(Some(last.unwrap())),
        "failed" => Mark::Failed,
        "completed" => Mark::Completed,
        "restored" => Mark::Restored(number.unwrap()),
        "undone" => Mark::Undone(Some(Undone { number: number.unwrap(), generation: last.unwrap() })),
        other => panic!("no mark: {other}"),
    }
}

fn node_number(node: &str) -> u8 {
    node.strip_prefix('n').unwrap().parse().unwrap()
}

fn pod_id(name: &str) -> PodId {
    let (node, serial) = name.split_once('-').unwrap();
    PodId { node: node_number(node), serial: serial.parse().unwrap() }
}

pub fn template_of(version: u8) -> Value {
    template(&format!("v{version}"))
}

fn daemon_set(spec: Spec, min_ready_seconds: i32) -> DaemonSet {
    let strategy = match spec.strategy {
        Strategy::Replace(limit) => rolling(limit),
        Strategy::Surge(limit) => surging(limit),
    };
    let mut daemon_set: DaemonSet =
        serde_json::from_value(agent(strategy, template_of(spec.version))).unwrap();
    daemon_set.metadata.uid = "uid-agent".into();
    daemon_set.metadata.generation = spec.generation.into();
    daemon_set.metadata.resource_version = spec.writes.to_string();
    daemon_set.spec.min_ready_seconds = min_ready_seconds;
    daemon_set
}

/// A version of the template.
pub struct Version {
    pub hash: String,
    /// The revision that the crate creates for it.
    pub revision: ControllerRevision,
    /// One of its pods.
    pub pod: RealPod,
}

pub fn of_version(version: u8) -> Version {
    let plan = given(rolling(1)).revisions([]).with("/daemonSet/spec/template", template_of(version)).plan();
    let created = plan.actions.into_iter().find_map(|action| match action {
        Action::CreateRevision { revision, .. } => Some(revision),
        _ => None,
    });
    let mut revision: ControllerRevision = serde_json::from_value(created.unwrap()).unwrap();
    revision.metadata.uid = format!("uid-{}", revision.metadata.name).into();
    let hash = revision.metadata.labels.get("controller-revision-hash").unwrap().to_owned();
    let story = given(rolling(1)).node(node("n0").has(pod(&hash)));
    let pod = story.recording().pods.remove(0);
    Version { hash, revision, pod }
}
