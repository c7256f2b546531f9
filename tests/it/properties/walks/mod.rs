//! Long walks: a fleet lives through hundreds of changes of its nodes, pods, template and policy, one at a time, while its
//! plans are executed. After each change a reconciler that is given the change plans as one that is given all objects.

mod turns;

use super::changes::{Choices, Event, Pair, revision_name};
use super::reach::things;
use crate::support::{Reach, cases, on_delete, rolling, surging, with_waits};
use daemonset::model::{ControllerRevision, Node, NodeCondition, Pod, PodCondition, Taint};
use daemonset::report::WaitKind;
use daemonset::{Action, ActionOutcome, Plan, Recording, model::ObjectRef};
use jiff::SignedDuration;
use proptest::prelude::*;
use serde_json::{Value, from_value, json};
use std::collections::BTreeMap;

/// Changes of one walk.
const STEPS: u32 = 200;

/// The number of walks after which a thing counts as never reached.
const WALKS: u64 = 300;

/// A cluster on its way.
struct Walk {
    pair: Pair,
    /// Counts the names of pods, nodes and templates, so that none comes back.
    serial: u64,
    /// An action whose answer was lost, and that was not done.
    lost: Option<Action>,
    reached: BTreeMap<String, u32>,
    counts_reach: bool,
    /// Its policy asks for turns, pulls or changes in place.
    has_turns: bool,
}

/// So many tenths may be unavailable.
fn percent(tenths: usize) -> Value {
    rolling(format!("{tenths}0%"))
}

/// Some nodes, and a DaemonSet that was just created.
fn start(choices: &mut Choices, has_turns: bool) -> Recording {
    let nodes = 4 + choices.below(14);
    let limit = 1 + choices.below(7);
    let strategy = match choices.below(8) {
        0 => on_delete(),
        1 | 2 => surging(limit),
        3 => percent(limit),
        _ => rolling(limit),
    };
    let one_of = |choices: &mut Choices, values: &[Value]| values[choices.below(values.len())].clone();
    let policy = json!({
        "classification": one_of(choices, &[json!("TemplateGenerationFirst"), json!("HashFirst")]),
        "unready": one_of(choices, &[json!("AtOnce"), json!("WithinBudget")]),
        "podNames": one_of(choices, &[json!("Generated"), json!("Deterministic")]),
        "burst": one_of(choices, &[json!(250), json!(1), json!(2), json!(3)]),
        "downNodes": one_of(choices, &[json!("Count"), json!("ExcuseIfDownBefore")]),
        "lifecycle": one_of(choices, &[json!("Ignore"), json!("Respect")]),
        "conditions": choices.one_in(2),
        "inFlightExpirySeconds": one_of(choices, &[json!(300), json!(10)]),
        "takenExpirySeconds": one_of(choices, &[json!(3600), json!(60)]),
    });
    let mut policy = with_rollout(policy, choices, &strategy);
    if has_turns {
        policy.as_object_mut().unwrap().extend(turns::policy(choices).as_object().unwrap().clone());
    }
    // In every second walk the nodes of a zone have a taint that the first template tolerates.
    let (dedicated, tolerations) = match choices.below(2) {
        0 => (None, json!([])),
        _ => (Some("c"), json!([{"key": "dedicated", "operator": "Exists"}])),
    };
    let node = |number: usize| {
        let zone = ["a", "b", "c"][number % 3];
        let taints = match dedicated {
            Some(other) if other == zone => json!([{"key": "dedicated", "effect": "NoSchedule"}]),
            Some(_) | None => json!([]),
        };
        json!({
            "metadata": {"name": format!("n{number:02}"), "labels": {"pool": "web", "zone": zone}},
            "spec": {"taints": taints},
        })
    };
    let min_ready = one_of(choices, &[json!(0), json!(0), json!(7), json!(30)]);
    let history = one_of(choices, &[json!(10), json!(0), json!(1)]);
    from_value(json!({
        "now": "2026-01-01T12:00:00Z",
        "policy": policy,
        "nodes": Vec::from_iter((0..nodes).map(node)),
        "daemonSet": {
            "metadata": {"name": "agent", "namespace": "ns", "uid": "u", "generation": 1},
            "spec": {
                "selector": {"matchLabels": {"app": "agent"}},
                "minReadySeconds": min_ready,
                "revisionHistoryLimit": history,
                "updateStrategy": strategy,
                "template": {
                    "metadata": {"labels": {"app": "agent"}},
                    "spec": {
                        "nodeSelector": {"pool": "web"},
                        "tolerations": tolerations,
                        "containers": [{"name": "c", "image": "agent:1"}],
                    },
                },
            },
        },
    }))
    .unwrap()
}

/// Every second walk has a rollout that its policy steers, or that another controller's pods are driven to.
fn with_rollout(mut policy: Value, choices: &mut Choices, strategy: &Value) -> Value {
    if choices.one_in(2) {
        return policy;
    }
    let drives = strategy["type"] == "OnDelete" && choices.one_in(2);
    if drives {
        policy["drive"] = rolling(2);
        if choices.one_in(4) {
            return policy;
        }
    }
    let wave = |choices: &mut Choices| {
        let selectors = [
            Value::Null,
            Value::Null,
            json!({"matchLabels": {"zone": "a"}}),
            json!({"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["c"]}]}),
        ];
        let limits = [Value::Null, Value::Null, json!(1), json!(2), json!("25%"), json!("60%")];
        let bake_seconds = [0, 0, 0, 5, 20][choices.below(5)];
        json!({
            "nodes": selectors[choices.below(selectors.len())],
            "upTo": limits[choices.below(limits.len())],
            "bakeSeconds": bake_seconds,
            "needsApproval": choices.one_in(6),
        })
    };
    let waves = choices.below(4);
    let mut rollout = json!({"waves": Vec::from_iter((0..waves).map(|_| wave(choices)))});
    if choices.one_in(2) {
        let action = match drives {
            true => ["Pause", "Undo"][waves % 2],
            false => ["Pause", "RollBack", "Undo"][choices.below(3)],
        };
        let most = [json!(0), json!(2), json!("30%")];
        let seconds = [Value::Null, json!(40), json!(90)];
        let (restarts, waiting) = ([Value::Null, json!(2)], [Value::Null, json!(10)]);
        rollout["onFailure"] = json!({
            "action": action,
            "maxFailures": most[choices.below(most.len())],
            "maxRestarts": restarts[choices.below(2)],
            "waitingSeconds": waiting[choices.below(2)],
            "availableWithinSeconds": seconds[choices.below(3)],
            "progressDeadlineSeconds": seconds[choices.below(3)],
        });
    }
    policy["rollout"] = rollout;
    policy
}

impl Walk {
    fn new(seed: u64, counts_reach: bool) -> Self {
        let mut choices = Choices(seed);
        // The other walks are those of the seed alone.
        let has_turns = Choices(!seed).one_in(3);
        let mut recording = start(&mut choices, has_turns);
        if has_turns {
            let free = |node: &Node| (node.metadata.name.clone(), from_value(json!({"pods": "0"})).unwrap());
            recording.free = recording.nodes.iter().step_by(3).map(free).collect();
            let full = recording.free.values_mut().step_by(2);
            full.for_each(|free| *free = from_value(json!({"pods": "-1"})).unwrap());
        }
        let pair = Pair::new(&recording, choices.next());
        Walk { pair, serial: 1, lost: None, reached: BTreeMap::new(), counts_reach, has_turns }
    }

    fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    fn choose(&mut self, below: usize) -> usize {
        self.pair.choices.below(below)
    }

    /// Plans, compares, and executes most of the plan.
    fn plan(&mut self) -> Result<(), String> {
        let mut plan = self.pair.compare()?;
        // As in a random history: the second plan follows the orders alone.
        if self.choose(6) == 0 {
            plan = self.pair.compare()?;
        }
        let Some(plan) = plan else { return Ok(()) };
        if self.counts_reach {
            for thing in things(&plan) {
                *self.reached.entry(thing).or_default() += 1;
            }
        }
        self.execute(&plan);
        Ok(())
    }

    fn execute(&mut self, plan: &Plan) {
        let all = plan.actions.len();
        let length = if self.choose(4) == 0 { self.choose(all + 1) } else { all };
        for action in plan.actions.iter().take(length) {
            let outcome = self.outcome(action);
            if self.pair.record(action, &outcome) {
                break;
            }
        }
    }

    /// The outcome of an action, which most often takes effect at once.
    fn outcome(&mut self, action: &Action) -> ActionOutcome {
        // A controller that lacks the right is refused each time.
        if matches!(action, Action::RestoreTemplate { .. }) && self.choose(2) == 0 {
            return ActionOutcome::Rejected;
        }
        match self.choose(20) {
            0 => ActionOutcome::Rejected,
            1 => {
                self.lost = Some(action.clone());
                ActionOutcome::Unknown
            }
            2 => match action {
                // The watch does not show it: the memory waits until it expires.
                Action::DeletePod { .. } | Action::PatchNode { .. } | Action::UpdatePodInPlace { .. } => {
                    ActionOutcome::Done
                }
                _ => self.done(action),
            },
            3 if matches!(action, Action::PatchNode { .. }) => ActionOutcome::Conflict,
            _ => self.done(action),
        }
    }

    fn done(&mut self, action: &Action) -> ActionOutcome {
        let pair = &mut self.pair;
        match action {
            Action::DeletePod { pod, .. } => {
                let name = (pod.namespace.clone(), pod.name.clone());
                let Some(mut pod) = pair.cache.pods.get(&name).cloned() else { return ActionOutcome::Done };
                pod.metadata.deletion_timestamp = Some(pair.now + SignedDuration::from_secs(30));
                pod.metadata.deletion_grace_period_seconds = Some(30);
                pair.change(&Event::Pod(name, Some(Box::new(pod))));
            }
            Action::CreatePod { pod, .. } => {
                let serial = self.next_serial();
                let mut created: Pod = from_value(pod.to_value()).unwrap();
                let metadata = &mut created.metadata;
                if metadata.name.is_empty() {
                    metadata.name = format!("agent-{serial}");
                }
                metadata.uid = format!("pod-{serial}").into();
                metadata.resource_version = serial.to_string();
                metadata.creation_timestamp = Some(self.pair.now);
                created.status.phase = "Pending".into();
                let reference = ObjectRef::from(&created.metadata);
                let name = (created.metadata.namespace.clone(), created.metadata.name.clone());
                if self.pair.cache.pods.contains_key(&name) {
                    return ActionOutcome::AlreadyExists;
                }
                // The answer may come before the watch shows the pod.
                if self.choose(4) > 0 {
                    self.pair.change(&Event::Pod(name, Some(Box::new(created))));
                }
                return ActionOutcome::Created(reference);
            }
            Action::CreateRevision { revision, .. } => {
                let serial = self.next_serial();
                let mut created: ControllerRevision = from_value(revision.clone()).unwrap();
                created.metadata.uid = format!("revision-{serial}").into();
                created.metadata.creation_timestamp = Some(self.pair.now);
                self.pair.change(&Event::Revision(revision_name(&created), Some(Box::new(created))));
            }
            action => {
                let mut recording = self.pair.recording();
                crate::support::execute(&mut recording, action);
                self.pair.change_to(&recording);
            }
        }
        ActionOutcome::Done
    }

    fn any_pod(&mut self) -> Option<Pod> {
        let pods = self.pair.cache.pods.len();
        let chosen = self.choose(pods);
        self.pair.cache.pods.values().nth(chosen).cloned()
    }

    fn put_pod(&mut self, mut pod: Pod) {
        pod.metadata.resource_version = self.next_serial().to_string();
        let name = (pod.metadata.namespace.clone(), pod.metadata.name.clone());
        self.pair.change(&Event::Pod(name, Some(Box::new(pod))));
    }

    fn set_ready(&mut self, mut pod: Pod, is_ready: bool) {
        pod.status.phase = "Running".into();
        if self.has_turns && is_ready {
            self.start_containers(&mut pod);
        }
        if pod.spec.node_name.as_str().is_empty() {
            pod.spec.node_name = pod.spec.affinity_node.clone().unwrap_or_default();
        }
        let status = if is_ready { "True" } else { "False" }.to_owned();
        let mut condition =
            PodCondition { kind: "Ready".into(), status: status.into(), ..PodCondition::default() };
        condition.last_transition_time = Some(self.pair.now);
        pod.status.conditions = vec![condition];
        self.put_pod(pod);
    }

    /// The kubelet ends a terminating pod, or starts one that is not Ready.
    fn progress(&mut self) {
        let is_ready = |pod: &Pod| pod.status.conditions.iter().any(|condition| condition.status == "True");
        let pods = self.pair.cache.pods.values();
        let going = |pod: &&Pod| {
            pod.metadata.deletion_timestamp.is_some() || !is_ready(pod) || self.waits_for_kubelet(pod)
        };
        let pods: Vec<Pod> = pods.filter(going).cloned().collect();
        let chosen = self.choose(pods.len());
        let Some(pod) = pods.into_iter().nth(chosen) else { return };
        if pod.metadata.deletion_timestamp.is_some() {
            let name = (pod.metadata.namespace.clone(), pod.metadata.name.clone());
            self.pair.change(&Event::Pod(name, None));
        } else {
            self.set_ready(pod, true);
        }
    }

    /// The kubelet or a person changes a pod.
    fn change_pod(&mut self) {
        let Some(mut pod) = self.any_pod() else { return };
        let name = (pod.metadata.namespace.clone(), pod.metadata.name.clone());
        match self.choose(16) {
            13 => {
                let restarts = self.choose(5);
                let reason = ["ErrImagePull", "ContainerCreating"][self.choose(2)];
                let waits = json!({"waiting": {"reason": reason}});
                let status = json!({"name": "c", "restartCount": restarts, "state": waits});
                pod.status.container_statuses = vec![from_value(status).unwrap()];
                self.set_ready(pod, false);
            }
            0 | 1 => self.set_ready(pod, false),
            2 | 9 | 10 | 11 => {
                pod.status.phase = "Failed".into();
                self.put_pod(pod);
            }
            3 => {
                pod.status.phase = "Succeeded".into();
                self.put_pod(pod);
            }
            4 => self.pair.change(&Event::Pod(name, None)),
            5 => {
                pod.metadata.deletion_timestamp = Some(self.pair.now);
                self.put_pod(pod);
            }
            6 => {
                let label = ["controller-revision-hash", "app", "pod-template-generation"][self.choose(3)];
                pod.metadata.labels.extend([(label, "another")]);
                self.put_pod(pod);
            }
            12 => {
                let key = "controller-revision-hash";
                let labels = pod.metadata.labels.iter().filter(|(label, _)| *label != key);
                pod.metadata.labels = labels.collect();
                self.put_pod(pod);
            }
            7 => {
                pod.metadata.owner_references.clear();
                self.put_pod(pod);
            }
            // The API server binds a pod once: it never moves to another node.
            8 if pod.spec.node_name.as_str().is_empty() => {
                pod.spec.node_name = pod.spec.affinity_node.clone().unwrap_or_default();
                self.put_pod(pod);
            }
            _ => self.put_pod(pod),
        }
    }

    fn change_node(&mut self) {
        let nodes = self.pair.cache.nodes.len();
        let chosen = self.choose(nodes);
        let Some(mut node) = self.pair.cache.nodes.values().nth(chosen).cloned() else { return };
        let name = node.metadata.name.to_string();
        let key = ["dedicated", "karpenter.sh/disrupted", "x"][self.choose(3)];
        let effect = ["NoSchedule", "NoExecute"][self.choose(2)];
        match self.choose(10) {
            0 => return self.pair.change(&Event::Node(name, None)),
            1 => {
                let name = format!("n{:02}", self.choose(22));
                node.metadata.name = name.as_str().into();
                node.spec = Default::default();
                node.status = Default::default();
                return self.pair.change(&Event::Node(name, Some(Box::new(node))));
            }
            2 | 3 => {
                let status = ["True", "False", "Unknown"][self.choose(3)].to_owned();
                let mut condition =
                    NodeCondition { kind: "Ready".into(), status: status.into(), ..NodeCondition::default() };
                condition.last_transition_time = Some(self.pair.now);
                node.status.conditions = vec![condition];
            }
            4 => {
                let taint = json!({"key": key, "effect": effect});
                node.spec.taints = vec![from_value::<Taint>(taint).unwrap()];
            }
            5 | 6 => node.spec.taints.clear(),
            7 if self.choose(2) == 0 => {
                node.metadata.labels.extend([("zone", ["a", "b", "c"][self.choose(3)])]);
            }
            7 => node.metadata.labels.extend([("pool", "batch")]),
            8 => node.metadata.labels.extend([("pool", "web")]),
            _ => node.spec.unschedulable = !node.spec.unschedulable,
        }
        self.pair.change(&Event::Node(name, Some(Box::new(node))));
    }

    /// A person writes the DaemonSet.
    fn change_daemon_set(&mut self) {
        let serial = self.next_serial();
        let mut ds = self.pair.cache.daemon_set.clone();
        let images = 1 + self.choose(4);
        // A deletion is not taken back; here the walk goes on after it.
        ds.metadata.deletion_timestamp = None;
        match self.choose(15) {
            // The stable revision may want nodes that the new template does not.
            8 => {
                let zone = ["a", "b"][self.choose(2)];
                ds.spec.template["spec"]["nodeSelector"] = json!({"pool": "web", "zone": zone});
            }
            9 => ds.spec.template["spec"]["nodeSelector"] = json!({"pool": "web"}),
            0..4 => {
                let container = json!([{"name": "c", "image": format!("agent:{images}")}]);
                ds.spec.template["spec"]["containers"] = container;
            }
            4 => ds.spec.min_ready_seconds = [0, 5, 20][self.choose(3)],
            5 => {
                let limit = 1 + self.choose(6);
                ds.spec.update_strategy = from_value(rolling(limit)).unwrap();
            }
            // Nodes with the taint join, or leave while their pods tolerate it.
            6 | 13 | 14 => {
                let tolerations = [json!([{"key": "dedicated", "operator": "Exists"}]), json!([])];
                ds.spec.template["spec"]["tolerations"] = tolerations[self.choose(2)].clone();
            }
            10 => {
                let limit = 1 + self.choose(4);
                let strategy = match self.choose(3) {
                    0 => on_delete(),
                    1 => surging(limit),
                    _ => percent(limit),
                };
                ds.spec.update_strategy = from_value(strategy).unwrap();
            }
            11 => ds.spec.revision_history_limit = [None, Some(0), Some(2)][self.choose(3)],
            12 => ds.metadata.deletion_timestamp = Some(self.pair.now),
            _ => ds.metadata.annotations.extend([("note", serial.to_string().as_str())]),
        }
        ds.metadata.generation += 1;
        ds.metadata.resource_version = serial.to_string();
        self.pair.change(&Event::DaemonSet(Box::new(ds)));
    }

    fn change_revision(&mut self) {
        let revisions = self.pair.cache.revisions.len();
        let chosen = self.choose(revisions);
        let Some(mut revision) = self.pair.cache.revisions.values().nth(chosen).cloned() else { return };
        let name = revision_name(&revision);
        let other = self.choose(revisions);
        let other = self.pair.cache.revisions.values().nth(other).cloned().unwrap_or_default();
        match self.choose(9) {
            0 => self.pair.change(&Event::Revision(name, None)),
            // Two revisions share a hash, until one of them gets another one.
            7 => {
                let key = "controller-revision-hash";
                revision.metadata.labels.extend([(key, other.metadata.labels.get(key).unwrap_or("none"))]);
                self.pair.change(&Event::Revision(name, Some(Box::new(revision))));
            }
            8 => {
                revision.data = other.data;
                self.pair.change(&Event::Revision(name, Some(Box::new(revision))));
            }
            4..7 => {
                // A person edits the marks.
                let marks = revision.metadata.annotations.iter();
                let marks: Vec<(String, String)> =
                    marks.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
                let removed = self.choose(marks.len() + 1);
                let kept = marks.iter().enumerate().filter(|(mark, _)| *mark != removed);
                let kept = kept.map(|(_, (key, value))| (key.as_str(), value.as_str()));
                revision.metadata.annotations = kept.collect();
                let mark = format!("{} {} Failed", revision.revision, self.pair.now);
                let restored = format!("{} {}", other.revision, self.pair.now);
                match self.choose(8) {
                    0 | 1 => {
                        revision.metadata.annotations.extend([("rollout.daemonset/failed", mark.as_str())])
                    }
                    2 => revision
                        .metadata
                        .annotations
                        .extend([("rollout.daemonset/restored", restored.as_str())]),
                    _ => {}
                }
                self.pair.change(&Event::Revision(name, Some(Box::new(revision))));
            }
            1 => {
                revision.metadata.labels.extend([("controller-revision-hash", "edited")]);
                self.pair.change(&Event::Revision(name, Some(Box::new(revision))));
            }
            2 => {
                revision.metadata.owner_references.clear();
                self.pair.change(&Event::Revision(name, Some(Box::new(revision))));
            }
            _ => {
                revision.revision += 3;
                self.pair.change(&Event::Revision(name, Some(Box::new(revision))));
            }
        }
    }

    fn step(&mut self) -> Result<(), String> {
        if self.has_turns {
            match self.choose(16) {
                0 => self.change_turn(),
                1 | 2 => self.open_gates(),
                3 if self.choose(6) == 0 => self.change_policy_of_turns(),
                _ => {}
            }
        }
        match self.choose(100) {
            0..70 => self.progress(),
            70..77 => self.change_pod(),
            77..84 => self.change_node(),
            84..88 => self.change_daemon_set(),
            88 => self.change_revision(),
            89 => {
                let mut policy = self.pair.policy();
                policy.burst = [1, 2, 250][self.choose(3)];
                let numbers = self.pair.cache.revisions.values().map(|revision| revision.revision);
                let approved = numbers.map(|number| (number, 3)).collect();
                let paused = self.choose(3) == 0;
                if let Some(rollout) = &mut policy.rollout {
                    (rollout.approved, rollout.paused) = (approved, paused);
                }
                self.pair.set_policy(policy);
            }
            90 => self.pair.forget_objects(),
            91 => {
                if let Some(lost) = self.lost.take() {
                    self.pair.settle(&lost);
                }
            }
            _ => self.pair.pass_time(),
        }
        if self.choose(3) > 0 { self.plan() } else { Ok(()) }
    }
}

/// Walks. Returns how often each reason, verdict and warning was reached, if asked for.
pub fn walk(seed: u64, counts_reach: bool) -> Result<BTreeMap<String, u32>, String> {
    let mut walk = Walk::new(seed, counts_reach);
    walk.plan()?;
    for step in 0..STEPS {
        walk.step().map_err(|difference| format!("step {step}: {difference}"))?;
    }
    walk.reached.insert("plans from changes".to_owned(), walk.pair.kept_plans);
    walk.reached.append(&mut walk.pair.audits);
    Ok(walk.reached)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(10), failure_persistence: None, max_shrink_iters: 0, ..ProptestConfig::default() })]

    #[test]
    fn each_plan_of_a_walk_is_the_plan_of_all_objects(seed: u64) {
        if let Err(difference) = walk(seed, false) {
            prop_assert!(false, "{difference}");
        }
    }
}

/// A plan of all objects lets a node go last, its delete is refused, and no node may go in the next plan, which is capped.
#[test]
fn a_node_that_goes_last_in_one_plan_stays_in_the_next() {
    if let Err(difference) = walk(795_596_495_476_117_546, false) {
        panic!("{difference}");
    }
}

/// The parts of plans that walks reach; random fleets reach the others.
const REACHED: &[&str] = &[
    "AdoptPod SelectorMatches",
    "AdoptRevision SelectorMatches",
    "AnnotateRevision RolloutCompleted",
    "AnnotateRevision RolloutFailed",
    "AnnotateRevision RolloutPaused",
    "AnnotateRevision RolloutStarted",
    "AnnotateRevision RolloutUndone",
    "AnnotateRevision WaveOpened",
    "CreatePod MissingPod",
    "CreatePod PullImages",
    "CreatePod Surge",
    "CreateRevision NewTemplate",
    "DeletePod ExcessPod",
    "DeletePod FailedPod",
    "DeletePod NodeExcluded",
    "DeletePod OutdatedAvailable",
    "DeletePod OutdatedNotReady",
    "DeletePod OutdatedNotYetAvailable",
    "DeletePod OutdatedPending",
    "DeletePod PullDone",
    "DeletePod SucceededPod",
    "DeletePod SuccessorAvailable",
    "DeleteRevision HistoryLimit",
    "PatchNode TurnBegins",
    "PatchNode TurnEnds",
    "PatchNode TurnLosesCordon",
    "RecordEvent FailedDaemonPod",
    "ReleasePod SelectorNoLongerMatches",
    "RenumberRevision CurrentAgain",
    "Requeue BackOff",
    "Requeue Burst",
    "Requeue FailureDue",
    "Requeue InFlightExpiry",
    "Requeue MinReadySeconds",
    "Requeue ProgressDeadline",
    "Requeue TerminationOverdue",
    "Requeue UndoDue",
    "Requeue WaveDone",
    "RestoreTemplate RolledBack",
    "UpdatePodInPlace OutdatedAvailable",
    "UpdatePodInPlace OutdatedNotYetAvailable",
    "UpdateStatus Changed",
    "audits beside the stable revision",
    "audits beside other nodes",
    "audits of a rollout GoingOn",
    "audits of a rollout Over",
    "audits of a rollout Paused",
    "audits of a rollout RolledBack",
    "audits of a rollout Stopped",
    "audits of an undo",
    "audits of revisions beside other nodes",
    "audits of waves",
    "counts downBefore",
    "counts excused",
    "counts lost",
    "counts taken",
    "evidence CurrentRevision",
    "evidence NoHash",
    "evidence OldRevision",
    "evidence UnknownRevision",
    "found BaseDeleted",
    "found HistoryCutShort",
    "found LiveRevisionDeleted",
    "found NotReleased",
    "found WaveNotDue",
    "found WrongMark",
    "found WrongRevisionNumber",
    "no UpdateStatus",
    "outcome Create",
    "outcome Delete",
    "outcome NotTarget",
    "outcome UpToDate",
    "plans from changes",
    "situation BeingDeleted",
    "stuck NoRoom beside the report",
    "stuck DeletedByUpdate beside the report",
    "stuck NotReady beside the report",
    "stuck Overdue beside the report",
    "stuck RolloutFailed beside the report",
    "stuck RolloutPaused beside the report",
    "stuck WaitsForApproval beside the report",
    "stuck WaitsForDelete beside the report",
    "warning NoBase",
    "warning NodesTaken",
    "warning NotUndone",
    "warning NothingToRollBackTo",
    "warning PodsOnUnknownNodes",
    "warning TurnOverdue",
];

#[test]
fn the_walks_reach_most_reasons() {
    // The others are left to random fleets.
    let is_reached = |kind| !matches!(kind, WaitKind::NodeLeaves | WaitKind::Revision | WaitKind::NameTaken);
    let wanted = with_waits(REACHED, is_reached);
    let reached = Reach::of(
        &wanted,
        &[104, 61, 60, 57, 54, 42, 37, 35, 31, 28, 20, 19, 18, 13, 11, 10, 9, 8, 6, 5, 4, 3, 2, 1, 0],
        WALKS,
        |seed| walk(seed, true).unwrap(),
    );
    let generator = "`impl Walk` in tests/it/properties/walks/mod.rs";
    reached.assert_has(&wanted, &format!("{WALKS} walks"), generator);
}
