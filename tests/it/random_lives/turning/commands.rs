//! Events that may happen in a life with turns, beside those of every life.

use super::super::commands as common;
use super::super::commands::Limits;
use super::super::steering::edit_policy;
use super::beginning::{BACKUP, Choices, RolloutChoice, TurnChoice};
use super::other::{self, Other};
use daemonset::model::{DaemonSet, Node, Uid};
use daemonset::turns;
use daemonset_sim::{Behaviour, Cluster, Distribution, Probability, Resources};
use jiff::SignedDuration;
use serde_json::{Value, json};

/// One event. A number identifies a node or a pod: its position, modulo the number of nodes or pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    Common(common::Command),
    Release {
        version: u8,
    },
    /// Another annotation of the template.
    Metadata {
        value: u8,
    },
    AddNode,
    DeletePod {
        pod: u8,
    },
    CrashPod {
        pod: u8,
    },
    FailPod {
        pod: u8,
    },
    /// Somebody answers the turn of a node.
    Opens {
        node: u8,
    },
    /// Somebody answers another turn.
    AnswersAnother {
        node: u8,
    },
    /// A pod that nobody manages blocks a drain, and takes room.
    AddLonelyPod {
        node: u8,
    },
    RemoveLonelyPods,
    /// maxUnavailable.
    Limit {
        nodes: u8,
    },
    Turn(Option<TurnChoice>),
    Pull(Option<u8>),
    InPlace(bool),
    Rollout(Option<RolloutChoice>),
    Other(other::Command),
}

/// The things that a person edits beside the cluster.
pub struct Desk<'l> {
    pub cluster: &'l mut Cluster,
    pub choices: &'l mut Choices,
    pub limit: &'l mut u8,
    pub other: &'l mut Other,
}

impl Command {
    pub fn perform(self, desk: Desk<'_>) {
        let Desk { cluster, choices, limit, other } = desk;
        match self {
            Command::Common(command) => command.perform(cluster),
            Command::Release { version } => release(cluster, version),
            Command::Metadata { value } => cluster.edit(|ds| {
                ds.spec.template["metadata"]["annotations"] = json!({"note": value.to_string()});
            }),
            Command::AddNode => add_node(cluster),
            Command::DeletePod { pod } => on_daemon(cluster, pod, Cluster::delete_pod),
            Command::CrashPod { pod } => on_daemon(cluster, pod, Cluster::crash_pod),
            Command::FailPod { pod } => on_daemon(cluster, pod, Cluster::evict_pod),
            Command::Opens { node } => {
                if let Some(name) = node_name(cluster, node) {
                    open_gate(cluster, &name);
                }
            }
            Command::AnswersAnother { node } => answer_another(cluster, node),
            Command::AddLonelyPod { node } => add_lonely_pod(cluster, node),
            Command::RemoveLonelyPods => remove_lonely_pods(cluster),
            Command::Limit { nodes } => {
                *limit = nodes;
                if !choices.drives {
                    cluster.edit(|ds| ds.spec.update_strategy = Limits::MaxUnavailable(nodes).strategy());
                }
                write_policy(cluster, *choices, *limit);
            }
            Command::Turn(turn) => {
                choices.turn = turn;
                write_policy(cluster, *choices, *limit);
            }
            Command::Pull(pull) => {
                choices.pull = pull;
                write_policy(cluster, *choices, *limit);
            }
            Command::InPlace(in_place) => {
                choices.in_place = in_place;
                write_policy(cluster, *choices, *limit);
            }
            Command::Rollout(rollout) => {
                choices.rollout = rollout;
                write_policy(cluster, *choices, *limit);
            }
            Command::Other(command) => other.perform(command, cluster),
        }
    }
}

/// A person edits the policy, which is an annotation of the DaemonSet.
pub fn write_policy(cluster: &mut Cluster, choices: Choices, limit: u8) {
    cluster.configure_controller(|controller| controller.policy = choices.policy(limit));
    edit_policy(cluster, |_| {});
}

/// The first version that never becomes Ready.
pub const BROKEN: u8 = 4;
/// A version whose image nobody has.
pub const NO_IMAGE: u8 = 6;
/// A version that wants more than any node has.
pub const WIDE: u8 = 7;

pub fn release(cluster: &mut Cluster, version: u8) {
    cluster.release(behaviour(version), |template| set_version(template, version));
}

pub fn set_version(template: &mut Value, version: u8) {
    let container = &mut template["spec"]["containers"][0];
    container["image"] = format!("agent:v{version}").into();
    let cpu = if version == WIDE { "1100m" } else { "300m" };
    container["resources"] = json!({"requests": {"cpu": cpu}});
}

/// The behaviour of a version: some keep their condition Ready while they are changed in place, some are broken.
pub fn behaviour(version: u8) -> Behaviour {
    let millis = SignedDuration::from_millis;
    let quick = Behaviour::default()
        .pull(Distribution::uniform(millis(100), millis(6_000)))
        .start(Distribution::uniform(millis(100), millis(1_000)))
        .ready(Distribution::uniform(millis(200), millis(5_000)))
        .stop(Distribution::uniform(millis(100), millis(8_000)));
    match version {
        1 | 2 => quick.keeps_ready(Probability::ALWAYS),
        3 => quick.crash_at_start(Probability::percent(40)),
        BROKEN => quick.never_ready(Probability::ALWAYS),
        5 => quick.crash_loops(Probability::percent(60)),
        NO_IMAGE => quick.pull_fails(Probability::ALWAYS),
        _ => quick,
    }
}

/// It has room for three pods of most versions.
pub fn add_node(cluster: &mut Cluster) {
    let taken = |name: &String| cluster.nodes().any(|node| node.metadata.name.as_str() == name);
    let name = (0..).map(|number| format!("n{number}")).find(|name| !taken(name)).unwrap();
    add_node_named(cluster, &name);
}

pub fn add_node_named(cluster: &mut Cluster, name: &str) {
    let mut node = Node::default();
    node.metadata.name = name.into();
    cluster.add_node_with(node, Resources::UNLIMITED.cpu_millis(1_000).memory_bytes(1 << 36));
}

pub fn node_name(cluster: &Cluster, number: u8) -> Option<String> {
    let names: Vec<&str> = cluster.nodes().map(|node| node.metadata.name.as_str()).collect();
    names.get(usize::from(number) % names.len().max(1)).map(|name| (*name).to_owned())
}

fn on_daemon(cluster: &mut Cluster, number: u8, happens: impl FnOnce(&mut Cluster, &Uid)) {
    let daemons = cluster.pods().filter(|pod| pod.metadata.labels.get("app") == Some("agent"));
    let uids: Vec<Uid> = daemons.map(|pod| pod.metadata.uid.clone()).collect();
    if !uids.is_empty() {
        happens(cluster, &uids[usize::from(number) % uids.len()]);
    }
}

/// The key of the turns of a DaemonSet.
pub fn turn_key(ds: &DaemonSet) -> String {
    turns::key(ds)
}

/// Somebody answers the request of the DaemonSet's turn on a node.
pub fn open_gate(cluster: &mut Cluster, name: &str) {
    let Some(key) = cluster.daemon_set().map(turn_key) else { return };
    let Some(node) = cluster.nodes().find(|node| node.metadata.name.as_str() == name) else { return };
    let Some(request) = turns::request(node, &key).map(str::to_owned) else { return };
    cluster.annotate_node(name, &turns::gate_annotation(BACKUP, &key), Some(&request));
}

/// An answer to an earlier turn comes late. It takes back no right answer.
fn answer_another(cluster: &mut Cluster, number: u8) {
    let Some((name, key)) = node_name(cluster, number).zip(cluster.daemon_set().map(turn_key)) else {
        return;
    };
    let Some(node) = cluster.nodes().find(|node| node.metadata.name.as_str() == name) else { return };
    let gate = turns::gate_annotation(BACKUP, &key);
    if turns::request(node, &key).is_some_and(|request| node.metadata.annotations.get(&gate) == Some(request))
    {
        return;
    }
    cluster.annotate_node(&name, &gate, Some("1 2026-01-01T12:00:00Z"));
}

fn add_lonely_pod(cluster: &mut Cluster, number: u8) {
    let Some(node) = node_name(cluster, number) else { return };
    let name = format!("lonely-{}", cluster.now().as_millisecond());
    let pod = json!({"metadata": {"name": name, "namespace": "apps", "labels": {"lonely": "yes"}}, "spec": {
        "nodeName": node, "containers": [{"name": "c", "resources": {"requests": {"cpu": "400m"}}}]}});
    cluster.add_pod(&pod).unwrap();
}

pub fn remove_lonely_pods(cluster: &mut Cluster) {
    let lonely = cluster.pods().filter(|pod| pod.metadata.labels.get("lonely").is_some());
    let uids: Vec<Uid> = lonely.map(|pod| pod.metadata.uid.clone()).collect();
    uids.iter().for_each(|uid| cluster.delete_pod(uid));
}
