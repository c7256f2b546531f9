//! Facts of pods and nodes that no decision reads, and that tell a person why nothing moves.

use crate::cluster::object::{name, signs_of_life, times};
use crate::words;
use daemonset::model::Uid;
use daemonset_placement::HostPort;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// Those of all objects.
#[derive(Clone, Default)]
pub struct ClusterNotes {
    pods: BTreeMap<Uid, PodNotes>,
    /// By name.
    nodes: BTreeMap<String, NodeNotes>,
}

/// The troubles of a node.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NodeNotes {
    /// Why the condition Ready is not True.
    pub not_ready: Said,
    /// The conditions besides Ready that are bad: `DiskPressure`.
    pub pressure: Vec<String>,
}

/// A reason, and the message beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Said {
    #[serde(deserialize_with = "text")]
    pub reason: String,
    #[serde(deserialize_with = "text", skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// The troubles of a pod.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PodNotes {
    /// Why the scheduler has found no node.
    pub scheduler: Option<Said>,
    /// Why the condition Ready is not True.
    pub not_ready: Said,
    /// When it was created; `None` for a pod without other troubles.
    pub created: Option<Timestamp>,
    /// Why it has failed: `Evicted`.
    pub failed: Option<Failed>,
    /// Why its phase is Unknown, which counts as Pending.
    pub unknown: Option<Said>,
    /// Readiness gates whose condition is not True.
    pub gates: Vec<Gate>,
    /// Init containers first; only those that wait, have ended, have been restarted, or are not ready.
    pub containers: Vec<ContainerNotes>,
    pub finalizers: Vec<String>,
    /// Of any pod, since it may be in the way of another one.
    pub host_ports: Vec<HostPort>,
}

/// The end of a pod that has failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Failed {
    pub said: Said,
    /// The last change of a condition or of a container, as far as it has any: the kubelet rejects a pod without one.
    pub at: Option<Timestamp>,
    /// A container of it has run.
    pub ran: bool,
}

/// A readiness gate whose condition is not True.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gate {
    /// The type of the condition.
    pub name: String,
    /// Empty where the pod has no such condition.
    pub status: String,
    pub said: Said,
}

/// The troubles of a container.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContainerNotes {
    /// Empty in a Recording of lean pods.
    pub name: String,
    pub image: String,
    pub waits: Option<Said>,
    /// How it has ended, now or the last time.
    pub ended: Option<Ended>,
    pub restarts: u32,
    pub is_ready: bool,
    /// Since when it runs now.
    pub runs_since: Option<Timestamp>,
    /// It runs, and the pod is not Ready before it is.
    pub holds_ready: bool,
    /// An init container that runs: no later container starts before it has ended or, a sidecar, has started.
    pub holds_start: Option<Running>,
    /// An init container that goes on beside the others.
    pub is_sidecar: bool,
}

/// A container that runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Running {
    pub started_at: Option<Timestamp>,
}

/// The end of a container.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Ended {
    #[serde(flatten)]
    pub said: Said,
    pub exit_code: Option<i64>,
}

/// The form of a container's status.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ListedContainer {
    name: String,
    image: String,
    restart_count: u32,
    ready: Option<bool>,
    started: Option<bool>,
    state: ContainerState,
    last_state: ContainerState,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ContainerState {
    running: Option<Running>,
    waiting: Option<Said>,
    terminated: Option<Ended>,
}

/// The conditions of a node that are bad when they are True (the kubelet's and the cloud's, and node-problem-detector's).
const BAD_CONDITIONS: [&str; 6] = [
    "DiskPressure",
    "MemoryPressure",
    "PIDPressure",
    "NetworkUnavailable",
    "KernelDeadlock",
    "ReadonlyFilesystem",
];

/// The kubelet's word for a container that it starts again later (v1.36 `kubelet/kuberuntime/kuberuntime_manager.go`).
pub const CRASH_LOOP: &str = "CrashLoopBackOff";
/// Reasons for which the kubelet has no image for a container (v1.36 `kubelet/images/types.go`).
const NO_IMAGE: [&str; 7] = [
    "ErrImageNeverPull",
    "ErrImagePull",
    "ImageInspectError",
    "ImagePullBackOff",
    "InvalidImageName",
    "RegistryUnavailable",
    "SignatureValidationFailed",
];
/// Waiting that is a part of each start (v1.36 `kubelet_pods.go`).
const STARTS: [&str; 2] = ["ContainerCreating", "PodInitializing"];

/// Restarts that are no accident: one may be that of the node, or of a kubelet.
pub const AGAIN_AND_AGAIN: u32 = 2;

impl ClusterNotes {
    pub fn pod(&self, uid: &Uid) -> Option<&PodNotes> {
        self.pods.get(uid)
    }

    pub fn node(&self, name: &str) -> Option<&NodeNotes> {
        self.nodes.get(name)
    }

    pub(super) fn add_pod(&mut self, uid: &Uid, pod: &Value) {
        let mut notes = PodNotes::of(pod);
        if notes != PodNotes::default() {
            notes.created = created(pod);
            self.pods.insert(uid.clone(), notes);
        }
    }

    pub(super) fn add_node(&mut self, node: &Value) {
        let is_true =
            |kind: &&str| condition(node, kind).is_some_and(|condition| status(condition) == "True");
        let notes = NodeNotes {
            not_ready: not_ready(node),
            pressure: BAD_CONDITIONS.into_iter().filter(is_true).map(str::to_owned).collect(),
        };
        if notes != NodeNotes::default() {
            self.nodes.insert(name(node).to_owned(), notes);
        }
    }

    /// A later version of the pod has got over its trouble, or the pod is gone.
    pub(super) fn forget_pod(&mut self, uid: &Uid) {
        self.pods.remove(uid);
    }

    pub(super) fn forget_node(&mut self, name: &str) {
        self.nodes.remove(name);
    }

    pub(super) fn append(&mut self, mut other: ClusterNotes) {
        self.pods.append(&mut other.pods);
        self.nodes.append(&mut other.nodes);
    }
}

impl PodNotes {
    fn of(pod: &Value) -> Self {
        let unscheduled = condition(pod, "PodScheduled").filter(|condition| status(condition) == "False");
        let containers = [
            ("/spec/initContainers", "/status/initContainerStatuses"),
            ("/spec/containers", "/status/containerStatuses"),
        ];
        let containers = containers.into_iter().flat_map(|(specs, statuses)| {
            let is_init = specs.ends_with("initContainers");
            list(pod, statuses)
                .filter_map(move |status| ContainerNotes::of(status, is_init, list(pod, specs)))
        });
        let is_in_phase = |wanted| pod.pointer("/status/phase").is_some_and(|phase| phase == wanted);
        let finalizers = list(pod, "/metadata/finalizers").filter_map(Value::as_str);
        PodNotes {
            created: None,
            scheduler: unscheduled.map(said),
            not_ready: not_ready(pod),
            failed: is_in_phase("Failed").then(|| Failed::of(pod)),
            unknown: is_in_phase("Unknown").then(|| pod.get("status").map(said).unwrap_or_default()),
            gates: list(pod, "/spec/readinessGates").filter_map(|gate| Gate::of(gate, pod)).collect(),
            containers: containers.collect(),
            finalizers: finalizers.map(str::to_owned).collect(),
            host_ports: HostPort::all_of(pod),
        }
    }
}

impl Failed {
    fn of(pod: &Value) -> Self {
        let ended = |status: &Value| ContainerState::deserialize(status.get("state")?).ok()?.terminated;
        let ran =
            list(pod, "/status/containerStatuses").filter_map(ended).any(|ended| ended.exit_code.is_some());
        let changes = times(pod).filter_map(|(_, time)| time.parse().ok());
        let said = pod.get("status").map(said).unwrap_or_default();
        // Without a word of the kubelet its containers may have the reason.
        let ran = ran || said.reason.is_empty();
        Failed { said, at: changes.chain(signs_of_life(pod)).chain(created(pod)).max(), ran }
    }
}

impl Gate {
    /// `None` for one that is open.
    fn of(gate: &Value, pod: &Value) -> Option<Self> {
        let name = gate.get("conditionType")?.as_str()?;
        let condition = condition(pod, name);
        let status = condition.map(status).unwrap_or_default().to_owned();
        (status != "True").then(|| Gate {
            name: name.to_owned(),
            status,
            said: condition.map(said).unwrap_or_default(),
        })
    }

    /// The words of the condition, or what it is in the kubelet's (v1.36 `kubelet/status/generate.go GeneratePodReadyCondition`).
    pub fn said_or_missing(&self) -> Said {
        let message = || match self.status.as_str() {
            "" => "the pod has no such condition".to_owned(),
            status => format!("its condition is {status}"),
        };
        if self.said == Said::default() {
            Said { message: message(), ..Said::default() }
        } else {
            self.said.clone()
        }
    }
}

impl ContainerNotes {
    fn of<'v>(status: &Value, is_init: bool, mut specs: impl Iterator<Item = &'v Value>) -> Option<Self> {
        let ListedContainer { name, image, restart_count, ready, started, state, last_state } =
            ListedContainer::deserialize(status).ok()?;
        let spec = specs.find(|spec| spec.get("name").and_then(Value::as_str) == Some(&name));
        let written = spec.and_then(|spec| spec.get("image")?.as_str());
        let goes_on = spec.and_then(|spec| spec.get("restartPolicy")?.as_str()) == Some("Always");
        let is_sidecar = is_init && goes_on;
        let holds_start = state.running.filter(|_| is_init && !(is_sidecar && started == Some(true)));
        let runs_since = state.running.and_then(|running| running.started_at);
        let can_be_ready = state.running.is_some() && holds_start.is_none();
        let notes = ContainerNotes {
            // As a person wrote it: the runtime's name of an image may be a hash.
            image: written.map_or(image, str::to_owned),
            name,
            waits: state.waiting.filter(|waiting| !waiting.reason.is_empty()),
            // An init container that is done has ended well.
            ended: state.terminated.filter(|ended| !ended.is_done()).or(last_state.terminated),
            restarts: restart_count,
            is_ready: ready == Some(true),
            runs_since,
            holds_ready: can_be_ready && ready == Some(false),
            holds_start,
            is_sidecar,
        };
        let is_quiet = notes.waits.is_none() && notes.ended.is_none() && notes.restarts == 0;
        let is_quiet = is_quiet && !notes.holds_ready && notes.holds_start.is_none();
        (!is_quiet).then_some(notes)
    }
}

impl ContainerNotes {
    /// It has been restarted and is not ready, whether it waits for its next start, or has just been started once more.
    pub fn crashes(&self) -> bool {
        match &self.waits {
            Some(said) => said.reason == CRASH_LOOP,
            None => self.ended.is_some() && !self.is_ready && self.restarts >= AGAIN_AND_AGAIN,
        }
    }

    /// The mean time from one start to the next, where that is so short that the container has crashed since the pod was created: the kubelet forgets
    /// its back-off once a container has run for ten minutes (v1.36 `kubelet/kuberuntime/kuberuntime_manager.go doBackOff`).
    pub fn mean_run(&self, created: Timestamp, now: Timestamp) -> Option<SignedDuration> {
        let age = now.duration_since(created);
        let mean = SignedDuration::from_secs(age.as_secs().checked_div(self.restarts.into())?);
        (self.restarts >= AGAIN_AND_AGAIN && mean <= SignedDuration::from_mins(10)).then_some(mean)
    }

    /// It is ready now, and will hardly be for longer than after each start before.
    pub fn is_ready_for_a_moment(&self, created: Timestamp, now: Timestamp) -> bool {
        let runs_for = self.runs_since.map(|since| now.duration_since(since));
        let mean = self.mean_run(created, now).filter(|_| self.is_ready && self.restarts > AGAIN_AND_AGAIN);
        mean.zip(runs_for).is_some_and(|(mean, runs_for)| runs_for <= mean + mean)
    }

    /// Why it waits, if that is no part of each start.
    pub fn cannot_start(&self) -> Option<&Said> {
        self.waits
            .as_ref()
            .filter(|said| !STARTS.contains(&said.reason.as_str()) && said.reason != CRASH_LOOP)
    }
}

impl Said {
    /// The kubelet has no image for the container.
    pub fn lacks_image(&self) -> bool {
        NO_IMAGE.contains(&self.reason.as_str())
    }
}

impl Ended {
    fn is_done(&self) -> bool {
        self.said.reason == "Completed" && self.exit_code.is_none_or(|code| code == 0)
    }
}

/// `ErrImagePull (no such image)`.
impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.reason.as_str(), words::first_sentences(&self.message).as_str()) {
            (reason, "") => f.write_str(reason),
            ("", message) => f.write_str(message),
            (reason, message) => write!(f, "{reason} ({message})"),
        }
    }
}

fn list<'v>(object: &'v Value, pointer: &str) -> impl Iterator<Item = &'v Value> + use<'v> {
    object.pointer(pointer).and_then(Value::as_array).into_iter().flatten()
}

fn condition<'v>(object: &'v Value, kind: &str) -> Option<&'v Value> {
    list(object, "/status/conditions").find(|condition| condition.get("type").is_some_and(|it| it == kind))
}

fn created(object: &Value) -> Option<Timestamp> {
    object.pointer("/metadata/creationTimestamp")?.as_str()?.parse().ok()
}

/// Why its condition Ready is not True.
fn not_ready(object: &Value) -> Said {
    let ready = condition(object, "Ready").filter(|condition| status(condition) != "True");
    ready.map(said).unwrap_or_default()
}

fn status(condition: &Value) -> &str {
    condition.get("status").and_then(Value::as_str).unwrap_or_default()
}

fn said(condition: &Value) -> Said {
    Said::deserialize(condition).unwrap_or_default()
}

/// One line, whatever the kubelet wrote; null is empty.
fn text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.unwrap_or_default().trim().to_owned())
}
