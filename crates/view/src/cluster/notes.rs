//! Facts of pods and nodes that no decision reads, and that tell a person why nothing moves.

use crate::cluster::object::name;
use daemonset::model::Uid;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;

/// Those of all objects.
#[derive(Clone, Default)]
pub struct ClusterNotes {
    pods: BTreeMap<Uid, PodNotes>,
    /// Why the condition Ready is not True, by the name of the node.
    nodes: BTreeMap<String, Said>,
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
    /// Init containers first; only those that wait, have ended, or have been restarted.
    pub containers: Vec<ContainerNotes>,
    pub finalizers: Vec<String>,
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
    ready: bool,
    state: ContainerState,
    last_state: ContainerState,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ContainerState {
    waiting: Option<Said>,
    terminated: Option<Ended>,
}

impl ClusterNotes {
    pub fn pod(&self, uid: &Uid) -> Option<&PodNotes> {
        self.pods.get(uid)
    }

    pub fn node(&self, name: &str) -> Option<&Said> {
        self.nodes.get(name)
    }

    pub(super) fn add_pod(&mut self, uid: &Uid, pod: &Value) {
        let notes = PodNotes::of(pod);
        if notes != PodNotes::default() {
            self.pods.insert(uid.clone(), notes);
        }
    }

    pub(super) fn add_node(&mut self, node: &Value) {
        let not_ready = condition(node, "Ready").filter(|condition| status(condition) != "True");
        if let Some(said) = not_ready.map(said).filter(|said| *said != Said::default()) {
            self.nodes.insert(name(node).to_owned(), said);
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
            list(pod, statuses).filter_map(move |status| ContainerNotes::of(status, list(pod, specs)))
        });
        let finalizers = list(pod, "/metadata/finalizers").filter_map(Value::as_str);
        PodNotes {
            scheduler: unscheduled.map(said),
            containers: containers.collect(),
            finalizers: finalizers.map(str::to_owned).collect(),
        }
    }
}

impl ContainerNotes {
    fn of<'v>(status: &Value, mut specs: impl Iterator<Item = &'v Value>) -> Option<Self> {
        let ListedContainer { name, image, restart_count, ready, state, last_state } =
            ListedContainer::deserialize(status).ok()?;
        let spec = specs.find(|spec| spec.get("name").and_then(Value::as_str) == Some(&name));
        let written = spec.and_then(|spec| spec.get("image")?.as_str());
        let notes = ContainerNotes {
            // As a person wrote it: the runtime's name of an image may be a hash.
            image: written.map_or(image, str::to_owned),
            name,
            waits: state.waiting.filter(|waiting| !waiting.reason.is_empty()),
            // An init container that is done has ended well.
            ended: state.terminated.filter(|ended| !ended.is_done()).or(last_state.terminated),
            restarts: restart_count,
            is_ready: ready,
        };
        let is_quiet = notes.waits.is_none() && notes.ended.is_none() && notes.restarts == 0;
        (!is_quiet).then_some(notes)
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
        match (self.reason.as_str(), self.message.as_str()) {
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
