//! Real objects for those of the model.

use super::memory::time;
use super::objects::{Changed, Node, Pod, Pull, Request, Turning};
use crate::model_check::controller::{Version, of_version, template_of};
use crate::model_check::objects::{Phase, node_name};
use crate::support::{agent, at, node, now, rolling};
use daemonset::model::{ControllerRevision, DaemonSet, Node as RealNode, OwnerReference, Pod as RealPod};
use daemonset::{Policy, turns};
use serde_json::{Value, json};
use std::sync::Mutex;

/// The one gate of each turn.
pub const GATE: &str = "ready";

/// The names of the DaemonSets.
const NAMES: [&str; 2] = ["agent", "other"];

pub struct Real {
    pub policy: Policy,
    limit: u8,
    versions: Vec<Version>,
    /// The keys of the turns.
    pub keys: [String; 2],
    /// The names of pods that plans have chosen, by number.
    names: Mutex<Vec<String>>,
}

impl Real {
    pub fn new(policy: Policy, limit: u8, versions: u8) -> Self {
        let mut real = Real {
            policy,
            limit,
            versions: (0..versions).map(of_version).collect(),
            keys: Default::default(),
            names: Mutex::default(),
        };
        real.keys = [0, 1].map(|ds| turns::key(&real.daemon_set(ds, 0)));
        real
    }

    /// The version with this hash.
    pub fn version(&self, hash: &str) -> u8 {
        let found = self.versions.iter().position(|version| version.hash == hash);
        u8::try_from(found.unwrap()).unwrap()
    }

    /// The number of a name.
    pub fn name_number(&self, name: &str) -> u8 {
        let mut names = self.names.lock().unwrap();
        let known = names.iter().position(|known| known == name);
        let number = known.unwrap_or_else(|| {
            names.push(name.to_owned());
            names.len() - 1
        });
        u8::try_from(number).unwrap()
    }

    pub fn daemon_set(&self, ds: u8, version: u8) -> DaemonSet {
        let mut real: DaemonSet =
            serde_json::from_value(agent(rolling(self.limit), template_of(version))).unwrap();
        real.metadata.name = name_of(ds).to_owned();
        real.metadata.uid = format!("uid-{}", name_of(ds)).into();
        real
    }

    pub fn revision(&self, ds: u8, version: u8, number: u8) -> ControllerRevision {
        let Version { hash, revision, .. } = &self.versions[usize::from(version)];
        let mut real = ControllerRevision { revision: number.into(), ..revision.clone() };
        real.metadata.name = format!("{}-{hash}", name_of(ds));
        owned_by(&mut real.metadata.owner_references, ds);
        real
    }

    pub fn node(&self, number: u8, state: &Node) -> RealNode {
        let mut real = story(&node_name(number));
        real.metadata.uid = format!("uid-{}", node_name(number)).into();
        real.spec.unschedulable = state.unschedulable;
        if state.unreachable {
            let conditions = json!([{"type": "Ready", "status": "Unknown"}]);
            real.status.conditions = serde_json::from_value(conditions).unwrap();
        }
        let mut annotations = Vec::new();
        for (key, Turning { turn, gate }) in self.keys.iter().zip(&state.of) {
            if let Some(turn) = turn {
                let cordoned = if turn.cordoned { " cordoned" } else { "" };
                annotations.push((format!("turn.daemonset/{key}"), request(turn.request) + cordoned));
            }
            annotations.extend(gate.map(|gate| (turns::gate_annotation(GATE, key), request(gate))));
        }
        real.metadata.annotations = annotations.into_iter().collect();
        real
    }

    pub fn pod(&self, pod: &Pod) -> RealPod {
        match pod.pull {
            Some(pull) => self.pull_pod(pod, pull),
            None => self.daemon(pod),
        }
    }

    fn daemon(&self, pod: &Pod) -> RealPod {
        let mut real = self.versions[usize::from(pod.version)].pod.clone();
        self.identify(&mut real, pod);
        owned_by(&mut real.metadata.owner_references, pod.id.ds);
        real.metadata.creation_timestamp = Some(time(pod.birth));
        let is_ready = match pod.phase {
            Phase::Starting => {
                real.status.phase = "Pending".into();
                false
            }
            Phase::Available => true,
            Phase::Terminating => {
                real.metadata.deletion_timestamp = Some(at(600));
                true
            }
            Phase::Crashed | Phase::Failing | Phase::Young => false,
        };
        // A container that has started again shows itself as not Ready, and a pod that was changed runs.
        if pod.changed.is_some() {
            real.status.phase = "Running".into();
        }
        real.status.conditions[0].status = if is_ready { "True" } else { "False" }.into();
        let runs = pod.changed.filter(|changed| !changed.has_started).map_or(pod.version, |of| of.from);
        real.spec.containers =
            serde_json::from_value(json!([{"name": "c", "image": image(pod.version)}])).unwrap();
        let started_at = pod.changed.map_or(at(-3600), |changed| time(changed.at));
        // Each change starts another container.
        let number = pod.changed.filter(|changed| changed.has_started).map_or(0, |of| of.at);
        let status = json!([{
            "name": "c", "containerID": format!("c-{runs}-{number}"), "imageID": format!("sha256:{runs}"),
            "restartCount": 0, "state": {"running": {"startedAt": started_at.to_string()}},
        }]);
        real.status.container_statuses = serde_json::from_value(status).unwrap();
        if let Some(Changed { at, from, .. }) = pod.changed {
            let was = json!({"c": {"id": format!("c-{from}-0"), "imageID": format!("sha256:{from}")}});
            let since = json!({"at": time(at).to_string(), "containers": was, "restarts": {"c": 0}});
            let annotations = json!({"in-place.daemonset/since": since.to_string()});
            real.metadata.annotations = serde_json::from_value(annotations).unwrap();
        }
        real
    }

    fn pull_pod(&self, pod: &Pod, pull: Pull) -> RealPod {
        let hash = &self.versions[usize::from(pod.version)].hash;
        let created_at = if pull == Pull::Late { at(-3600) } else { now() };
        let statuses = match pull {
            Pull::Pulling | Pull::Late => json!([]),
            Pull::Done => json!([{"name": "image-0", "imageID": "sha256:0"}]),
        };
        let real = json!({
            "metadata": {
                "namespace": "ns", "creationTimestamp": created_at.to_string(),
                "labels": {
                    "pull.daemonset/owner": format!("uid-{}", name_of(pod.id.ds)),
                    "pull.daemonset/revision": hash,
                },
            },
            "spec": {"containers": [{"name": "image-0", "image": image(pod.version)}]},
            "status": {"phase": "Pending", "containerStatuses": statuses},
        });
        let mut real: RealPod = serde_json::from_value(real).unwrap();
        self.identify(&mut real, pod);
        real
    }

    fn identify(&self, real: &mut RealPod, pod: &Pod) {
        let uid = pod.id.uid();
        let name = pod.name.map(|name| self.names.lock().unwrap()[usize::from(name)].clone());
        real.metadata.name = name.unwrap_or_else(|| uid.clone());
        real.metadata.uid = uid.into();
        real.spec.node_name = node_name(pod.id.node).as_str().into();
    }
}

fn image(version: u8) -> Value {
    template_of(version)["spec"]["containers"][0]["image"].clone()
}

fn name_of(ds: u8) -> &'static str {
    NAMES[usize::from(ds)]
}

fn owned_by(owners: &mut [OwnerReference], ds: u8) {
    for owner in owners {
        owner.name = name_of(ds).to_owned();
        owner.uid = format!("uid-{}", name_of(ds)).into();
    }
}

fn request(request: Request) -> String {
    format!("{} {}", request.number, time(request.at))
}

fn story(name: &str) -> RealNode {
    let fleet = crate::support::given(rolling(1)).node(node(name));
    fleet.recording().nodes.remove(0)
}
