//! Events that may happen to a cluster: actions of users, failures of nodes, caches and the controller, and time.

use super::steering::{MarkEdit, Steering, edit_mark, edit_policy, is_current, put_back};
use daemonset::model::{IntOrString, RollingUpdate, SurgingRollingUpdate, Uid, UpdateStrategy};
use daemonset_sim::{Behaviour, Cluster, Distribution, Faults, Kind, Probability};
use jiff::SignedDuration;
use serde_json::{Value, json};

/// One event. A number identifies a node or a pod: its position, modulo the number of nodes or pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    Release {
        version: u8,
    },
    Strategy(Limits),
    MinReady {
        seconds: u8,
    },
    Tolerate {
        dedicated: bool,
    },
    Select {
        ssd: bool,
    },
    HistoryLimit {
        revisions: u8,
    },
    DeletePod {
        pod: u8,
    },
    FailPod {
        pod: u8,
    },
    CrashPod {
        pod: u8,
    },
    Taint {
        node: u8,
        execute: bool,
    },
    Untaint {
        node: u8,
    },
    Cordon {
        node: u8,
    },
    Uncordon {
        node: u8,
    },
    TakeDown {
        node: u8,
    },
    BringUp {
        node: u8,
    },
    ShutDown {
        node: u8,
    },
    Condition {
        node: u8,
        kind: u8,
        is_true: bool,
    },
    AddNode,
    RemoveNode {
        node: u8,
    },
    Label {
        node: u8,
        ssd: bool,
    },
    Crash {
        after: u8,
    },
    /// Of Kubernetes' own controller beside a driver.
    CrashOther {
        after: u8,
    },
    Refuse {
        percent: u8,
    },
    LoseAnswers {
        percent: u8,
    },
    Lag {
        kind: u8,
        seconds: u8,
    },
    Freeze {
        kind: u8,
    },
    Thaw {
        kind: u8,
    },
    LoseMemory,
    ListThePast {
        seconds: u8,
    },
    /// A new rollout policy, or none.
    Steer(Option<Steering>),
    Pause {
        paused: bool,
    },
    /// Approves this many waves of the current revision.
    Approve {
        waves: u8,
    },
    Mark {
        revision: u8,
        mark: u8,
        edit: MarkEdit,
    },
    /// A tool that applies what is written elsewhere finds another template in the cluster.
    PutBack,
}

/// Conditions of nodes that leave, but for the one of a shutdown.
pub const CONDITIONS: [&str; 3] = ["DrainInProgress", "Drained", "MaintenanceInProgress"];

/// An update strategy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limits {
    OnDelete,
    MaxUnavailable(u8),
    MaxUnavailablePercent(u8),
    MaxSurge(u8),
    Surging(u8),
}

impl Command {
    /// Whether no controller can keep a budget after this command: memory lost while caches stay stale, or lists from
    /// an older server.
    pub fn is_beyond_promises(self) -> bool {
        matches!(self, Command::LoseMemory | Command::ListThePast { .. })
    }

    /// Executes the command.
    pub fn perform(self, cluster: &mut Cluster) {
        match self {
            Command::Release { version } => {
                cluster.release(behaviour(version), |template| set_version(template, version));
            }
            Command::Strategy(limits) => edit_strategy(cluster, limits),
            Command::MinReady { seconds } => cluster.edit(|ds| ds.spec.min_ready_seconds = seconds.into()),
            Command::Tolerate { dedicated } => cluster.edit(|ds| {
                let tolerations = json!([{"key": "dedicated", "operator": "Exists"}]);
                ds.spec.template["spec"]["tolerations"] = if dedicated { tolerations } else { json!([]) };
            }),
            Command::Select { ssd } => cluster.edit(|ds| {
                ds.spec.template["spec"]["nodeSelector"] =
                    if ssd { json!({"disk": "ssd"}) } else { json!({}) };
            }),
            Command::HistoryLimit { revisions } => {
                cluster.edit(|ds| ds.spec.revision_history_limit = Some(revisions.into()));
            }
            Command::DeletePod { pod } => on_pod(cluster, pod, Cluster::delete_pod),
            Command::FailPod { pod } => on_pod(cluster, pod, Cluster::evict_pod),
            Command::CrashPod { pod } => on_pod(cluster, pod, Cluster::crash_pod),
            Command::Taint { node, execute } => {
                let effect = if execute { "NoExecute" } else { "NoSchedule" };
                on_node(cluster, node, |cluster, node| cluster.taint(node, "dedicated", effect));
            }
            Command::Untaint { node } => {
                on_node(cluster, node, |cluster, node| cluster.untaint(node, "dedicated"))
            }
            Command::Cordon { node } => on_node(cluster, node, Cluster::cordon),
            Command::Uncordon { node } => on_node(cluster, node, Cluster::uncordon),
            Command::TakeDown { node } => on_node(cluster, node, Cluster::take_down),
            Command::BringUp { node } => on_node(cluster, node, Cluster::bring_up),
            Command::ShutDown { node } => on_node(cluster, node, Cluster::shut_down),
            Command::Condition { node, kind, is_true } => on_node(cluster, node, |cluster, node| {
                let kind = CONDITIONS[usize::from(kind) % CONDITIONS.len()];
                cluster.set_node_condition(node, kind, is_true);
            }),
            Command::AddNode => add_node(cluster),
            Command::RemoveNode { node } => on_node(cluster, node, Cluster::remove_node),
            Command::Label { node, ssd } => {
                let disk = if ssd { "ssd" } else { "hdd" };
                on_node(cluster, node, |cluster, node| cluster.label_node(node, "disk", disk));
            }
            Command::Crash { after } => cluster.crash_controller_after(after.into()),
            Command::CrashOther { after } => {
                if let Some(mut other) = cluster.other_controller() {
                    other.crash_after(after.into());
                }
            }
            Command::Refuse { percent } => {
                cluster.configure_controller(|c| c.refused = Probability::percent(percent.into()))
            }
            Command::LoseAnswers { percent } => {
                cluster.configure_controller(|c| c.answer_lost = Probability::percent(percent.into()));
            }
            Command::Lag { kind, seconds } => {
                let most = SignedDuration::from_secs(seconds.into());
                let lag = Distribution::uniform(SignedDuration::from_millis(5), most);
                caches_of(cluster, kind).set_watch_lag(kind_of(kind), lag);
            }
            Command::Freeze { kind } => caches_of(cluster, kind).freeze(kind_of(kind)),
            Command::Thaw { kind } => caches_of(cluster, kind).thaw(kind_of(kind)),
            Command::LoseMemory => cluster.lose_memory(),
            Command::ListThePast { seconds } => {
                cluster.relist_from_the_past(SignedDuration::from_secs(seconds.into()));
            }
            Command::Steer(steering) => {
                edit_policy(cluster, |rollout| *rollout = steering.map(Steering::policy));
            }
            Command::Pause { paused } => edit_policy(cluster, |rollout| {
                rollout.iter_mut().for_each(|rollout| rollout.paused = paused);
            }),
            Command::Approve { waves } => approve(cluster, waves),
            Command::Mark { revision, mark, edit } => edit_mark(cluster, revision, mark, edit),
            Command::PutBack => put_back(cluster),
        }
    }
}

impl Limits {
    /// The nearest ones that can be driven: another controller creates the pods.
    pub fn driven(self) -> Self {
        match self {
            Limits::OnDelete => Limits::MaxUnavailable(1),
            Limits::MaxUnavailable(_) | Limits::MaxUnavailablePercent(_) => self,
            Limits::MaxSurge(number) | Limits::Surging(number) => Limits::MaxUnavailable(number),
        }
    }

    pub fn strategy(self) -> UpdateStrategy {
        let rolling = |max_unavailable, max_surge| UpdateStrategy {
            kind: "RollingUpdate".to_owned(),
            rolling_update: Some(RollingUpdate { max_unavailable: Some(max_unavailable), max_surge }),
            ..UpdateStrategy::default()
        };
        match self {
            Limits::OnDelete => UpdateStrategy { kind: "OnDelete".to_owned(), ..UpdateStrategy::default() },
            Limits::MaxUnavailable(number) => rolling(IntOrString::Int(number.into()), None),
            Limits::MaxUnavailablePercent(percent) => rolling(IntOrString::Percent(percent.into()), None),
            Limits::MaxSurge(number) => rolling(IntOrString::Int(0), Some(IntOrString::Int(number.into()))),
            Limits::Surging(number) => UpdateStrategy {
                kind: "SurgingRollingUpdate".to_owned(),
                surging_rolling_update: Some(SurgingRollingUpdate {
                    max_surge: Some(IntOrString::Int(number.into())),
                }),
                ..UpdateStrategy::default()
            },
        }
    }
}

/// A person edits the strategy in force.
fn edit_strategy(cluster: &mut Cluster, limits: Limits) {
    let mut drives = false;
    cluster.configure_controller(|controller| {
        drives = controller.policy.external_controller.is_some();
        if drives {
            controller.policy.external_controller = Some(limits.driven().strategy());
        }
    });
    if !drives {
        cluster.edit(|ds| ds.spec.update_strategy = limits.strategy());
    }
}

/// The controller whose cache has this number: the first ones are those of the simulated controller, the others those of
/// Kubernetes' own one beside it.
fn caches_of(cluster: &mut Cluster, number: u8) -> Faults<'_> {
    let is_of_other = usize::from(number) / KINDS.len() % 2 == 1;
    if is_of_other && cluster.other_controller().is_some() {
        cluster.other_controller().unwrap()
    } else {
        cluster.controller()
    }
}

fn approve(cluster: &mut Cluster, waves: u8) {
    let Some(ds) = cluster.daemon_set() else { return };
    let current = cluster.revisions().filter(|revision| is_current(revision, ds));
    let Some(number) = current.map(|revision| revision.revision).max() else { return };
    edit_policy(cluster, |rollout| {
        rollout.iter_mut().for_each(|rollout| {
            rollout.approved.insert(number, waves.into());
        });
    });
}

pub fn set_version(template: &mut Value, version: u8) {
    template["spec"]["containers"][0]["image"] = format!("v{version}").into();
}

/// The first version that never becomes Ready.
pub const BROKEN: u8 = 6;

/// The behaviour of a version: some versions crash, some never become Ready, some are evicted.
pub fn behaviour(version: u8) -> Behaviour {
    let millis = SignedDuration::from_millis;
    let quick = Behaviour::default()
        .pull(Distribution::uniform(millis(100), millis(2_000)))
        .start(Distribution::uniform(millis(100), millis(1_000)))
        .ready(Distribution::uniform(millis(200), millis(5_000)))
        .stop(Distribution::uniform(millis(100), millis(8_000)));
    match version {
        2 => quick.crash_at_start(Probability::percent(40)),
        3 => quick.never_ready(Probability::percent(60)),
        4 => quick.evicted(Probability::percent(30)),
        5 => quick.lifetime(Some(Distribution::uniform(millis(1_000), millis(30_000)))),
        BROKEN.. => quick.never_ready(Probability::ALWAYS),
        _ => quick,
    }
}

pub fn add_node(cluster: &mut Cluster) {
    let number = cluster.nodes().count();
    let taken = |name: &String| cluster.nodes().any(|node| node.metadata.name.as_str() == name);
    let name = (number..).map(|number| format!("n{number}")).find(|name| !taken(name)).unwrap();
    cluster.add_node(&name, serde_json::from_value(json!({"disk": "ssd"})).unwrap());
}

fn on_node(cluster: &mut Cluster, number: u8, happens: impl FnOnce(&mut Cluster, &str)) {
    let names: Vec<String> = cluster.nodes().map(|node| node.metadata.name.to_string()).collect();
    if !names.is_empty() {
        happens(cluster, &names[usize::from(number) % names.len()]);
    }
}

fn on_pod(cluster: &mut Cluster, number: u8, happens: impl FnOnce(&mut Cluster, &Uid)) {
    let uids: Vec<Uid> = cluster.pods().map(|pod| pod.metadata.uid.clone()).collect();
    if !uids.is_empty() {
        happens(cluster, &uids[usize::from(number) % uids.len()]);
    }
}

const KINDS: [Kind; 4] = [Kind::Pods, Kind::Nodes, Kind::DaemonSets, Kind::Revisions];

/// The number of caches of two controllers.
pub const CACHES: u8 = 2 * KINDS.len() as u8;

pub fn kind_of(number: u8) -> Kind {
    KINDS[usize::from(number) % KINDS.len()]
}
